// One WebSocket for the whole page. It says hello, reconnects, and resumes
// every stream that is still followed after the last event it has seen.

import type { Ask, Gap, Refused, ServerMessage, StreamEvent, Welcome } from './messages';
import { Sequence } from './sequence';

/** The part of a WebSocket that is used, so that tests can bring their own. */
export interface Socket {
  send(data: string): void;
  close(code?: number): void;
  onopen: ((e: never) => void) | null;
  onmessage: ((e: { data: unknown }) => void) | null;
  onclose: ((e: { code: number; reason: string }) => void) | null;
}

/** connecting: first try; open: welcomed; lost: trying again; refused: a token is needed. */
export type Link = 'connecting' | 'open' | 'lost' | 'refused';

export interface Clock {
  after(ms: number, run: () => void): () => void;
}

export interface ConnectionConfig {
  open: () => Socket;
  token: () => string | undefined;
  onLink: (link: Link) => void;
  onWelcome?: (welcome: Welcome) => void;
  clock?: Clock;
}

/** What a follower of a stream is told. */
export interface Follower {
  event(e: StreamEvent): void;
  /** Everything so far is void: the stream starts over. */
  reset(): void;
  /** The stream has a name now: keep it to resume after a reload. */
  accepted?(stream: string, epoch: string): void;
  /** The request was refused; nothing follows. */
  refused?(error: Refused): void;
}

interface Followed {
  stream: string; // '' until accepted
  request: string;
  ask: Ask | undefined;
  sequence: Sequence;
  holes: number; // in a row, without one event between
  awaiting: boolean; // nothing counts before accepted: what comes belongs to the time before
  fresh: boolean; // asked anew on this connection already
  follower: Follower;
}

const firstDelay = 250;
const lastDelay = 8000;
const closeBadToken = 4003;
const codeNoStream = 1005;
/** Holes in a row after which a stream starts over, and after which it is given up. */
const startOver = 3;
const giveUp = 6;

const realClock: Clock = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export class Connection {
  readonly #config: ConnectionConfig;
  readonly #clock: Clock;
  readonly #followed = new Set<Followed>();
  #socket: Socket | undefined;
  #welcomed = false;
  #delay = firstDelay;
  #cancelRetry: (() => void) | undefined;
  #requests = 0;

  constructor(config: ConnectionConfig) {
    this.#config = config;
    this.#clock = config.clock ?? realClock;
  }

  /** Connects now, also while a retry is waiting. */
  connect(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    if (this.#socket) return;
    const socket = this.#config.open();
    this.#socket = socket;
    socket.onopen = () => this.#sendNow({ type: 'hello', token: this.#config.token(), client: 'page' });
    socket.onmessage = (e) => { if (this.#socket === socket) this.#receive(String(e.data)); };
    socket.onclose = (e) => { if (this.#socket === socket) this.#closed(e.code); };
  }

  /** Gives the connection up and opens a new one, for instance with a new token. */
  reconnect(): void {
    this.#drop();
    this.#delay = firstDelay;
    this.connect();
  }

  close(): void {
    this.#cancelRetry?.();
    this.#drop();
  }

  /** Asks a question; asking with the same id again is the same answer. */
  ask(ask: Ask, follower: Follower): () => void {
    return this.#begin({ stream: '', request: ask.id, ask, sequence: new Sequence(), holes: 0, awaiting: true, fresh: true, follower });
  }

  /**
   * Follows a stream from its beginning. With `ask` a stream that is no longer
   * known is asked for again. The function returned ends it.
   */
  follow(stream: string, follower: Follower, from: { epoch?: string; ask?: Ask } = {}): () => void {
    const sequence = new Sequence(from.epoch ?? '', 0);
    return this.#begin({ stream, request: `follow-${++this.#requests}`, ask: from.ask, sequence, holes: 0, awaiting: true, fresh: false, follower });
  }

  /** Stops an answer or a job. */
  cancel(stream: string): void {
    if (stream) this.#send({ type: 'cancel', stream });
  }

  #begin(f: Followed): () => void {
    this.#followed.add(f);
    if (this.#welcomed) this.#start(f);
    return () => {
      if (this.#followed.delete(f) && f.stream && !this.#find(f.stream)) this.#send({ type: 'unsubscribe', stream: f.stream });
    };
  }

  /** Asks, or subscribes after what was seen. */
  #start(f: Followed): void {
    f.awaiting = true;
    if (!f.stream && f.ask) this.#send({ type: 'ask', ...f.ask });
    else this.#send({ type: 'subscribe', id: f.request, stream: f.stream, epoch: f.sequence.epoch || undefined, after: f.sequence.last });
  }

  #find(stream: string): Followed | undefined {
    for (const f of this.#followed) if (f.stream === stream) return f;
    return undefined;
  }

  #receive(data: string): void {
    const m = JSON.parse(data) as ServerMessage;
    switch (m.type) {
      case 'welcome': return this.#welcome(m);
      case 'accepted': return this.#accepted(m.id, m.stream, m.epoch);
      case 'gap': return this.#gap(m);
      case 'error': return this.#refused(m);
      case 'pong': return;
      default: if (typeof m.seq === 'number') this.#event(m);
    }
  }

  #welcome(m: Welcome): void {
    this.#welcomed = true;
    this.#delay = firstDelay;
    this.#config.onLink('open');
    this.#config.onWelcome?.(m);
    for (const f of this.#followed) this.#start(f);
  }

  #accepted(id: string | undefined, stream: string, epoch: string): void {
    for (const f of this.#followed) {
      if (f.request !== id && f.ask?.id !== id) continue;
      if (f.stream && f.stream !== stream) { // asked again after a restart: another stream
        f.sequence.restart(epoch);
        f.follower.reset();
      }
      f.stream = stream;
      f.awaiting = false;
      if (f.sequence.epoch === '') f.sequence.epoch = epoch;
      f.follower.accepted?.(stream, epoch);
    }
  }

  #event(e: StreamEvent): void {
    const f = this.#find(e.stream);
    if (!f || f.awaiting) return;
    switch (f.sequence.accept(e)) {
      case 'take':
        f.holes = 0;
        if (e.type === 'done') this.#followed.delete(f);
        f.follower.event(e);
        return;
      case 'hole':
        this.#again(f);
    }
  }

  /** Asks for what is missing; a stream that stays broken starts over, then is given up. */
  #again(f: Followed): void {
    f.holes++;
    if (f.holes === giveUp) {
      this.#followed.delete(f);
      f.follower.refused?.({ type: 'error', stream: f.stream, code: 0, message: '', retry: true });
      return;
    }
    if (f.holes === startOver) {
      f.sequence.restart('');
      f.follower.reset();
    }
    this.#start(f);
  }

  #gap(m: Gap): void {
    const f = this.#find(m.stream);
    if (!f) return;
    const lost = f.ask !== undefined && f.sequence.epoch !== m.epoch && !f.fresh;
    f.sequence.restart(m.epoch, m.first);
    f.follower.reset();
    if (lost) this.#askAgain(f); // the running text died with its process
  }

  #askAgain(f: Followed): void {
    f.fresh = true;
    f.stream = '';
    f.sequence.restart('');
    this.#start(f);
  }

  #refused(m: Refused): void {
    for (const f of this.#followed) {
      if (m.id === undefined ? f.stream !== m.stream : f.request !== m.id && f.ask?.id !== m.id) continue;
      if (m.code === codeNoStream && f.ask && !f.fresh) {
        f.follower.reset();
        this.#askAgain(f);
        continue;
      }
      this.#followed.delete(f);
      f.follower.refused?.(m);
    }
  }

  #closed(code: number): void {
    this.#drop();
    for (const f of this.#followed) { f.fresh = false; f.holes = 0; f.awaiting = true; }
    if (code === closeBadToken) return this.#config.onLink('refused');
    this.#config.onLink('lost');
    this.#cancelRetry = this.#clock.after(this.#delay * (0.75 + Math.random() / 2), () => this.connect());
    this.#delay = Math.min(this.#delay * 2, lastDelay);
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#welcomed = false;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #send(message: object): void {
    if (this.#welcomed) this.#sendNow(message);
  }

  #sendNow(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }
}
