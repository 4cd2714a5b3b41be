// Where each source was left, so that it goes on from there.

/** Where a source was left: seconds, and the share of its length. */
export interface Left { at: number; share: number; when: number }
export type Places = Record<string, Left>;

const most = 300; // sources remembered
const begun = 5; // s: before that, nothing was watched
const ended = 0.97; // share: after that, it was watched to its end

/** `places` with one more, without the oldest if there are too many. */
export function leave(places: Places, source: string, ms: number, duration: number, when: number): Places {
  if (!(duration > 0)) return places;
  const next = { ...places, [source]: { at: Math.floor(ms / 1000), share: Math.min(1, ms / duration), when } };
  const ids = Object.keys(next);
  if (ids.length > most) delete next[ids.reduce((a, b) => (next[a]!.when <= next[b]!.when ? a : b))];
  return next;
}

/** The second to go on at; undefined for what was not begun or was watched to its end. */
export function resumeAt(left: Left | undefined): number | undefined {
  return left && left.at >= begun && left.share < ended ? left.at : undefined;
}
