// What the library holds and what is on its way into it, live.

import { ApiError } from '../client/api';
import type { Job, Progress, Source } from '../client/messages';
import { session } from './session.svelte';
import { t } from '../strings';

/** A file or an address that is not a source yet. */
export class Incoming {
  sent = $state(0);
  stage = $state<'upload' | 'stored' | 'fetch' | 'failed'>('upload');
  progress = $state<Progress | undefined>(undefined);
  error = $state('');
  job = '';
  abort: () => void = () => {};

  constructor(readonly name: string, readonly size: number, readonly again: (() => void) | undefined) {}
}

/** How long a deletion can be taken back. */
export const undoTime = 10_000;
const manyChanges = 20;
const gather = 150;

class Library {
  sources = $state.raw<Source[]>([]);
  loaded = $state(false);
  error = $state('');
  incoming = $state<Incoming[]>([]);
  progress = $state<Record<string, Progress>>({});
  /** Sources to be deleted soon. */
  leaving = $state<Source[]>([]);

  #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #jobs = new Map<string, () => void>();
  #deletions = new Map<string, ReturnType<typeof setTimeout>>();

  start(): void {
    session.onWelcome(() => void this.load());
    session.connection.follow('library', {
      event: (e) => { if (e.type === 'source') this.#note(e.id, e.op === 'removed'); },
      reset: () => { void this.load(); },
    });
    addEventListener('pagehide', () => this.#deletions.forEach((_, id) => this.#delete(id)));
  }

  find(id: string): Source | undefined { return this.sources.find((s) => s.id === id); }
  get shown(): Source[] { return this.sources.filter((s) => !this.leaving.some((l) => l.id === s.id)); }

  async load(): Promise<void> {
    try {
      const [sources, jobs] = await Promise.all([session.api.sources(), session.api.jobs()]);
      this.#set(sources);
      this.#resume(jobs);
      this.loaded = true;
      this.error = '';
    } catch (e) {
      this.error = reason(e);
    }
  }

  #set(sources: Source[]): void {
    this.sources = sources.toSorted((a, b) => b.created.localeCompare(a.created) || a.id.localeCompare(b.id));
    for (const s of sources) this.#watch(s);
  }

  /** Addresses that are being fetched, found again after a reload. */
  #resume(jobs: Job[]): void {
    for (const j of jobs) {
      if (j.source || !j.url || (j.state !== 'queued' && j.state !== 'running')) continue;
      if (!this.incoming.some((i) => i.job === j.id)) this.#fetching(new Incoming(j.url, 0, undefined), j.id);
    }
  }

  #note(id: string, removed: boolean): void {
    if (removed) this.sources = this.sources.filter((s) => s.id !== id);
    else this.#changed.add(id);
    this.#timer ??= setTimeout(() => void this.#refresh(), gather);
  }

  async #refresh(): Promise<void> {
    this.#timer = undefined;
    const ids = [...this.#changed];
    this.#changed.clear();
    if (ids.length > manyChanges) return this.load();
    const fresh = await Promise.all(ids.map((id) => session.api.source(id).catch(() => undefined)));
    const got = fresh.filter((s) => s !== undefined);
    if (got.length) this.#set([...this.sources.filter((s) => !got.some((g) => g.id === s.id)), ...got]);
  }

  /** Follows the job of a source for as long as it works. */
  #watch(s: Source): void {
    if (!s.job || this.#jobs.has(s.job) || (s.state !== 'queued' && s.state !== 'running')) return;
    const job = s.job;
    const end = (): void => {
      this.#jobs.delete(job);
      delete this.progress[s.id];
      this.#note(s.id, false);
    };
    this.#jobs.set(job, session.connection.follow(job, {
      event: (e) => {
        if (e.type === 'progress') this.progress[s.id] = e;
        if (e.type === 'done') end();
      },
      reset: () => { delete this.progress[s.id]; },
      refused: end,
    }));
  }

  addFiles(files: File[]): void {
    const subtitles = files.filter((f) => isSubtitle(f.name));
    const media = files.filter((f) => !isSubtitle(f.name));
    const free = new Set(subtitles);
    for (const f of media) {
      const own = subtitles.find((s) => free.has(s) && s.name.startsWith(base(f.name) + '.'));
      if (own) free.delete(own);
      void this.#upload(f, own);
    }
    for (const f of free) void this.#upload(f, undefined);
  }

  async #upload(file: File, subtitles: File | undefined): Promise<void> {
    this.incoming.push(new Incoming(file.name, file.size, () => void this.#upload(file, subtitles)));
    const item = this.incoming[this.incoming.length - 1]!;
    const { started, abort } = session.api.upload(file, subtitles, (sent) => { item.sent = sent; });
    item.abort = () => { abort(); this.dismiss(item); };
    try {
      const s = await started;
      item.stage = 'stored';
      await this.#arrived(s.source);
      this.dismiss(item);
    } catch (e) {
      item.stage = 'failed';
      item.error = e instanceof ApiError && e.status === 0 ? t.adding.network : reason(e);
    }
  }

  async #arrived(id: string): Promise<void> {
    this.#changed.add(id);
    await this.#refresh();
  }

  /** Adds what an address leads to; throws the refusal. */
  async addAddress(url: string): Promise<void> {
    const s = await session.api.add(url);
    if (s.source) return this.#arrived(s.source);
    this.#fetching(new Incoming(url, 0, () => void this.addAddress(url)), s.stream);
  }

  #fetching(made: Incoming, job: string): void {
    made.stage = 'fetch';
    made.job = job;
    this.incoming.push(made);
    const item = this.incoming[this.incoming.length - 1]!;
    const end = session.connection.follow(job, {
      event: (e) => {
        if (e.type === 'progress') item.progress = e;
        if (e.type !== 'done') return;
        if (e.state === 'failed' || !e.source) {
          item.stage = 'failed';
          item.error = e.error?.message ?? t.state[e.state ?? 'failed'];
        } else void this.#arrived(e.source).then(() => this.dismiss(item));
      },
      reset: () => { item.progress = undefined; },
      refused: (e) => { item.stage = 'failed'; item.error = e.message; },
    });
    item.abort = () => { session.connection.cancel(job); end(); this.dismiss(item); };
  }

  dismiss(item: Incoming): void { this.incoming = this.incoming.filter((i) => i !== item); }

  /** Deletes a source unless it is taken back in time. */
  remove(s: Source): void {
    this.leaving.push(s);
    this.#deletions.set(s.id, setTimeout(() => this.#delete(s.id), undoTime));
  }

  keep(id: string): void {
    clearTimeout(this.#deletions.get(id));
    this.#deletions.delete(id);
    this.leaving = this.leaving.filter((s) => s.id !== id);
  }

  #delete(id: string): void {
    this.#deletions.delete(id);
    session.api.remove(id)
      .then(() => { this.sources = this.sources.filter((s) => s.id !== id); })
      .catch((e: unknown) => { this.error = reason(e); })
      .finally(() => { this.leaving = this.leaving.filter((s) => s.id !== id); });
  }
}

const isSubtitle = (name: string): boolean => /\.(srt|vtt|ass|ssa|smi|sami)$/i.test(name);
const base = (name: string): string => name.replace(/\.[^.]*$/, '');

/** One sentence for people. */
export function reason(e: unknown): string {
  if (e instanceof ApiError) return e.message || (e.status === 0 ? t.unreachable : t.unknownError);
  return e instanceof Error ? e.message : t.unknownError;
}

export const catalog = new Library();
