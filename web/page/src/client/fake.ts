// A WebSocket for tests: what the page sends is kept, what it hears is said.

import { Connection, type Clock, type Follower, type Link, type Socket } from './connection';
import type { Refused, StreamEvent } from './messages';

export class FakeSocket implements Socket {
  readonly sent: Record<string, unknown>[] = [];
  onopen: ((e: never) => void) | null = null;
  onmessage: ((e: { data: unknown }) => void) | null = null;
  onclose: ((e: { code: number; reason: string }) => void) | null = null;

  send(data: string): void { this.sent.push(JSON.parse(data) as Record<string, unknown>); }
  close(): void { /* the page does not wait for an echo */ }

  say(message: object): void { this.onmessage?.({ data: JSON.stringify(message) }); }
  drop(code = 1006): void { this.onclose?.({ code, reason: '' }); }
  open(): void {
    this.onopen?.(undefined as never);
    this.say({ type: 'welcome', session: 's', server: 'test' });
  }
  /** The last message sent without its type. */
  last(): Record<string, unknown> { return this.sent[this.sent.length - 1] ?? {}; }
}

/** A clock that fires when told to. */
export class FakeClock implements Clock {
  readonly waits: { ms: number; run: () => void }[] = [];
  after(ms: number, run: () => void): () => void {
    const wait = { ms, run };
    this.waits.push(wait);
    return () => { const i = this.waits.indexOf(wait); if (i >= 0) this.waits.splice(i, 1); };
  }
  fire(): void { this.waits.splice(0).forEach((w) => w.run()); }
}

/** A connection over fakes, with everything that was opened and said. */
export class Bench {
  readonly sockets: FakeSocket[] = [];
  readonly links: Link[] = [];
  readonly clock = new FakeClock();
  readonly connection = new Connection({
    open: () => { const s = new FakeSocket(); this.sockets.push(s); return s; },
    token: () => 'secret',
    onLink: (l) => this.links.push(l),
    clock: this.clock,
  });

  get socket(): FakeSocket { return this.sockets[this.sockets.length - 1]!; }
  start(): this { this.connection.connect(); this.socket.open(); return this; }
  /** Loses the connection and gets a new one. */
  blink(): void { this.socket.drop(); this.clock.fire(); this.socket.open(); }
}

/** Writes down what a follower is told. */
export class Recorder implements Follower {
  events: StreamEvent[] = [];
  resets = 0;
  error: Refused | undefined;
  stream = '';
  epoch = '';
  event(e: StreamEvent): void { this.events.push(e); }
  reset(): void { this.resets++; this.events = []; }
  accepted(stream: string, epoch: string): void { this.stream = stream; this.epoch = epoch; }
  refused(error: Refused): void { this.error = error; }
  text(): string { return this.events.map((e) => (e.type === 'token' ? e.text : '')).join(''); }
}

export const token = (seq: number, text: string, from?: number, epoch = 'e1', stream = 'answer1'): object =>
  ({ type: 'token', stream, epoch, seq, text, ...(from === undefined ? {} : { from }) });
