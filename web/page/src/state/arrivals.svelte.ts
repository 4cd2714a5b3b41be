// What is on its way into the library: uploads and addresses.

import { ApiError } from '../client/api';
import type { Job, Progress } from '../client/messages';
import { paired } from '../intake';
import { t } from '../strings';
import { catalog, reason } from './library.svelte';
import { session } from './session.svelte';

/** A file or an address that is not a source yet. */
export class Incoming {
  sent = $state(0);
  stage = $state<'waiting' | 'upload' | 'stored' | 'fetch' | 'failed'>('waiting');
  progress = $state<Progress | undefined>(undefined);
  error = $state('');
  job = '';
  abort: () => void = () => {};

  constructor(readonly name: string, readonly size: number, readonly again: (() => void) | undefined) {}

  fail(why: string): void {
    this.stage = 'failed';
    this.error = why;
  }
}

/** Browsers open six connections to a service; the page needs some itself. */
const uploadsAtOnce = 2;

class Arrivals {
  items = $state<Incoming[]>([]);
  #waiting: (() => Promise<void>)[] = [];
  #uploading = 0;

  start(): void { catalog.onJobs((jobs) => this.#resume(jobs)); }

  addFiles(files: File[]): void {
    for (const { file, subtitles } of paired(files)) this.#enqueue(file, subtitles);
  }

  /** Adds what an address leads to; throws the refusal. */
  async addAddress(url: string): Promise<void> {
    const s = await session.api.add(url);
    if (s.source) return catalog.arrived(s.source);
    this.#fetching(new Incoming(url, 0, () => this.addAddresses([url])), s.stream);
  }

  /** Adds addresses without a form around them: a refusal stands in the list. */
  addAddresses(urls: string[]): void {
    for (const url of urls) {
      this.addAddress(url).catch((e: unknown) => this.#show(new Incoming(url, 0, () => this.addAddresses([url]))).fail(reason(e)));
    }
  }

  dismiss(item: Incoming): void { this.items = this.items.filter((i) => i !== item); }

  #show(made: Incoming): Incoming {
    this.items.push(made);
    return this.items[this.items.length - 1]!; // the one whose changes are seen
  }

  #enqueue(file: File, subtitles: File | undefined): void {
    const item = this.#show(new Incoming(file.name, file.size, () => this.#enqueue(file, subtitles)));
    const run = (): Promise<void> => this.#upload(item, file, subtitles);
    item.abort = () => {
      this.#waiting = this.#waiting.filter((w) => w !== run);
      this.dismiss(item);
    };
    this.#waiting.push(run);
    this.#next();
  }

  #next(): void {
    while (this.#uploading < uploadsAtOnce && this.#waiting.length) {
      this.#uploading++;
      void this.#waiting.shift()!().finally(() => { this.#uploading--; this.#next(); });
    }
  }

  async #upload(item: Incoming, file: File, subtitles: File | undefined): Promise<void> {
    item.stage = 'upload';
    const { started, abort } = session.api.upload(file, subtitles, (sent) => { item.sent = sent; });
    item.abort = () => { abort(); this.dismiss(item); };
    try {
      const s = await started;
      item.stage = 'stored';
      await catalog.arrived(s.source);
      this.dismiss(item);
    } catch (e) {
      item.fail(e instanceof ApiError && e.status === 0 ? t.adding.network : reason(e));
    }
  }

  /** Addresses that are being fetched, found again after a reload. */
  #resume(jobs: Job[]): void {
    for (const j of jobs) {
      if (j.source || !j.url || (j.state !== 'queued' && j.state !== 'running')) continue;
      if (!this.items.some((i) => i.job === j.id)) this.#fetching(new Incoming(j.url, 0, undefined), j.id);
    }
  }

  #fetching(made: Incoming, job: string): void {
    made.stage = 'fetch';
    made.job = job;
    const item = this.#show(made);
    const end = session.connection.follow(job, {
      event: (e) => {
        if (e.type === 'progress') item.progress = e;
        if (e.type !== 'done') return;
        if (e.state === 'failed' || !e.source) item.fail(e.error?.message ?? t.state[e.state ?? 'failed']);
        else void catalog.arrived(e.source).then(() => this.dismiss(item));
      },
      reset: () => { item.progress = undefined; },
      refused: (e) => item.fail(e.message),
    });
    item.abort = () => { session.connection.cancel(job); end(); this.dismiss(item); };
  }
}

export const arrivals = new Arrivals();
