// Questions and their answers, one thread per source and one for the library.
// What was asked is kept for the tab, so that a reload finds the running answer
// again and shows all of it.

import { applyEvent, emptyAnswer, type AnswerState } from '../client/answer';
import type { Follower } from '../client/connection';
import type { AnswerRow, Ask, WireError } from '../client/messages';
import { session } from './session.svelte';
import { t } from '../strings';

interface Kept { ask: Ask; stream: string; epoch: string }

const keepOf = (scope: string): string => `reeltree-asked:${scope}`;
const keepMost = 8;

export class Asked implements Follower {
  answer = $state<AnswerState>(emptyAnswer());
  stream = $state('');
  epoch = '';
  #checked = false;
  #end: () => void = () => {};

  constructor(readonly ask: Ask, private readonly keep: () => void) {}

  begin(kept?: Kept): void {
    this.stream = kept?.stream ?? '';
    this.epoch = kept?.epoch ?? '';
    this.#end = this.stream
      ? this.#follow()
      : session.connection.ask(this.ask, this);
  }

  /** An answer of another day has no request of this page: it is read, not asked for again. */
  #follow(): () => void {
    return session.connection.follow(this.stream, this, { epoch: this.epoch, ...(this.ask.id ? { ask: this.ask } : {}) });
  }

  accepted(stream: string, epoch: string): void {
    this.stream = stream;
    this.epoch = epoch;
    this.keep();
  }

  event(e: Parameters<typeof applyEvent>[1]): void {
    applyEvent(this.answer, e);
    if (this.answer.damaged && !this.#checked) { // once more from the beginning
      this.#checked = true;
      this.reset();
      this.#end = this.#follow();
    }
  }

  reset(): void { this.answer = emptyAnswer(); }

  refused(e: WireError): void {
    this.answer.phase = 'done';
    this.answer.error = { code: e.code, message: e.message || t.ask.broken, retry: true };
  }

  stop(): void { session.connection.cancel(this.stream); }
  leave(): void { this.#end(); }
  get running(): boolean { return this.answer.phase !== 'done'; }
}

export class Thread {
  asked = $state<Asked[]>([]);
  #conversation = crypto.randomUUID?.() ?? String(Math.random());

  constructor(readonly scope: string) {
    try {
      const kept = JSON.parse(sessionStorage.getItem(keepOf(scope)) ?? '[]') as Kept[];
      for (const k of kept) this.#begin(k.ask, k);
    } catch {
      sessionStorage.removeItem(keepOf(scope));
    }
  }

  get last(): Asked | undefined { return this.asked[this.asked.length - 1]; }

  put(question: string): void {
    this.#begin({
      id: `page-${randomID()}`, question, conversation: this.last?.ask.conversation ?? this.#conversation,
      ...(this.scope === library ? {} : { sources: [this.scope] }), options: { trace: true },
    });
    this.#keep();
  }

  /** Shows an answer that the service has recorded. */
  recall(row: AnswerRow): void {
    const ask: Ask = { id: '', question: row.question, sources: row.sources, ...(row.conversation ? { conversation: row.conversation } : {}) };
    this.#begin(ask, { ask, stream: row.stream, epoch: '' });
    this.#keep();
  }

  clear(): void {
    for (const a of this.asked) {
      if (a.running) a.stop();
      a.leave();
    }
    this.asked = [];
    this.#keep();
  }

  #begin(ask: Ask, kept?: Kept): void {
    const a = new Asked(ask, () => this.#keep());
    this.asked.push(a);
    a.begin(kept);
  }

  #keep(): void {
    const kept = this.asked.slice(-keepMost).map((a): Kept => ({ ask: $state.snapshot(a.ask) as Ask, stream: a.stream, epoch: a.epoch }));
    sessionStorage.setItem(keepOf(this.scope), JSON.stringify(kept));
  }
}

/** The scope of questions to everything. */
export const library = 'library';

const recalled = 5;

/** What was asked of a scope before, each question once, the newest first. */
export async function asked(scope: string): Promise<AnswerRow[]> {
  const rows = await session.api.answers(scope === library ? '' : scope);
  const mine = rows.filter((r) => (scope === library ? r.sources.length === 0 : r.sources.length === 1));
  mine.sort((a, b) => b.created.localeCompare(a.created));
  return mine.filter((r, i) => mine.findIndex((o) => o.question === r.question) === i).slice(0, recalled);
}

function randomID(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, '0')).join('');
}

const threads = new Map<string, Thread>();

export function thread(scope: string): Thread {
  let found = threads.get(scope);
  if (!found) threads.set(scope, found = new Thread(scope));
  return found;
}
