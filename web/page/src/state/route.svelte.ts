// Where the page is: #/ is the library, #/s/SOURCE?t=SECONDS a source.

export interface Place {
  source: string;
  /** Seconds to begin at. */
  seconds: number | undefined;
  /** a.b.c of a node to show, for documents. */
  node: string | undefined;
}

export function parse(hash: string): Place {
  const match = /^#\/s\/([a-z2-7]{16,64})(?:\?(.*))?$/.exec(hash);
  if (!match) return { source: '', seconds: undefined, node: undefined };
  const query = new URLSearchParams(match[2] ?? '');
  const t = query.get('t');
  const seconds = t !== null && /^\d+(\.\d+)?$/.test(t) ? Number(t) : undefined;
  const n = query.get('n');
  return { source: match[1]!, seconds, node: n && /^\d+(\.\d+)*$/.test(n) ? n : undefined };
}

class Route {
  place = $state.raw<Place>(parse(location.hash));

  start(): void {
    addEventListener('hashchange', () => { this.place = parse(location.hash); });
  }

  /** Goes to a link, also to the one the page is at already. */
  go(link: string): void {
    if (location.hash === link) this.place = parse(link);
    else location.hash = link;
  }
}

export const route = new Route();
