// What the library holds, live.

import { ApiError } from '../client/api';
import type { Job, Progress, Source } from '../client/messages';
import { session } from './session.svelte';
import { t } from '../strings';

/** How long a deletion can be taken back. */
export const undoTime = 10_000;
const manyChanges = 20;
const gather = 150;

class Library {
  sources = $state.raw<Source[]>([]);
  loaded = $state(false);
  error = $state('');
  progress = $state<Record<string, Progress>>({});
  /** Sources to be deleted soon. */
  leaving = $state<Source[]>([]);

  #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #listed = new Set<(jobs: Job[]) => void>();
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

  /** Runs with all jobs whenever the library is read anew. */
  onJobs(run: (jobs: Job[]) => void): void { this.#listed.add(run); }

  /** How far a source that is being read can be asked about already, in ms. */
  readyTo(s: Source): number {
    const ready = this.progress[s.id]?.ready;
    return ready && 'end_ms' in ready ? ready.end_ms : 0;
  }

  /** Changes whenever more of a source can be read. */
  step(s: Source): string { return `${s.state} ${s.nodes.l3} ${this.readyTo(s)}`; }

  async load(): Promise<void> {
    try {
      const [sources, jobs] = await Promise.all([session.api.sources(), session.api.jobs()]);
      this.#set(sources);
      this.#listed.forEach((run) => run(jobs));
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

  #note(id: string, removed: boolean): void {
    if (removed) {
      this.sources = this.sources.filter((s) => s.id !== id);
      this.#changed.delete(id); // the stream begins with what was: added, and removed since
    } else this.#changed.add(id);
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

  /** Reads a source that is new here. */
  async arrived(id: string): Promise<void> {
    this.#changed.add(id);
    await this.#refresh();
  }

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

/** One sentence for people. */
export function reason(e: unknown): string {
  if (e instanceof ApiError) return e.message || (e.status === 0 ? t.unreachable : t.unknownError);
  return e instanceof Error ? e.message : t.unknownError;
}

export const catalog = new Library();
