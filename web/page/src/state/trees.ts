// Trees as outlines, fetched once per step of their source: the card that
// showed a picture has already fetched what the watch page needs.

import { frameAddress, outline, type Outline } from '../outline';
import { session } from './session.svelte';

const most = 40;
const known = new Map<string, Promise<Outline>>();

/** The outline of a source at a step of its reading; fails while nothing is read. */
export function outlineOf(source: string, step: string): Promise<Outline> {
  const key = `${source} ${step}`;
  const found = known.get(key) ?? session.api.tree(source).then(outline);
  known.delete(key); // the one used last is the last to go
  known.set(key, found);
  found.catch(() => known.delete(key));
  if (known.size > most) known.delete(known.keys().next().value!);
  return found;
}

const pictures = new Map<string, Promise<string>>();

/** The address of a picture that stands for a source; empty if it has none. */
export function thumbnail(source: string, step: string): Promise<string> {
  const key = `${source} ${step}`;
  const found = pictures.get(key) ?? outlineOf(source, step).then(({ shots }) => {
    const shot = shots[Math.floor(shots.length / 4)];
    return shot ? frameAddress(shot.frame) : '';
  }, () => { pictures.delete(key); return ''; });
  pictures.set(key, found);
  return found;
}
