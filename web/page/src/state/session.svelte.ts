// The one connection and the one token of this tab.

import { Api } from '../client/api';
import { Connection, type Link, type Socket } from '../client/connection';

const tokenKey = 'reeltree-token';
/** Tickets live an hour; a new welcome well before that brings a new one. */
const ticketRenewal = 50 * 60_000;

class Session {
  link = $state<Link>('connecting');
  online = $state(navigator.onLine);
  needsToken = $state(false);
  /** A token was given and refused. */
  wrongToken = $state(false);
  /** Opens media and frames where a token is set. */
  ticket = $state<string | undefined>(undefined);

  readonly api = new Api({ token: () => this.#token(), onUnauthorised: () => this.#refuse() });
  readonly connection = new Connection({
    open: () => new WebSocket(new URL('/v1/ws', location.href.replace(/^http/, 'ws')), 'reeltree.v1') as unknown as Socket,
    token: () => this.#token(),
    onLink: (link) => {
      this.link = link;
      if (link === 'refused') this.#refuse();
    },
    onWelcome: (w) => {
      this.needsToken = false;
      this.ticket = w.media_ticket;
      clearTimeout(this.#renewal);
      if (w.media_ticket) this.#renewal = setTimeout(() => this.connection.reconnect(), ticketRenewal);
      this.#welcomed.forEach((run) => run());
    },
  });
  #welcomed = new Set<() => void>();
  #renewal: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    addEventListener('online', () => { this.online = true; if (this.link !== 'open' && !this.needsToken) this.connection.reconnect(); });
    addEventListener('offline', () => { this.online = false; });
    this.connection.connect();
  }

  /** Runs now if the service is there, and after every reconnect. */
  onWelcome(run: () => void): () => void {
    this.#welcomed.add(run);
    if (this.link === 'open') run();
    return () => this.#welcomed.delete(run);
  }

  enter(token: string): void {
    sessionStorage.setItem(tokenKey, token);
    this.link = 'connecting';
    this.connection.reconnect();
  }

  #token(): string | undefined {
    return sessionStorage.getItem(tokenKey) ?? undefined;
  }

  #refuse(): void {
    this.wrongToken = this.#token() !== undefined;
    this.needsToken = true;
  }
}

export const session = new Session();
