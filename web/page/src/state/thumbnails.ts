// One picture per source, looked up when it is first seen.

import { frameAddress, outline } from '../outline';
import { session } from './session.svelte';

const known = new Map<string, Promise<string>>();

/** The address of a picture that stands for a source; empty if it has none. */
export function thumbnail(source: string, state: string): Promise<string> {
  const key = `${source} ${state}`;
  let found = known.get(key);
  if (!found) {
    found = session.api.tree(source).then((tree) => {
      const { shots } = outline(tree);
      const shot = shots[Math.floor(shots.length / 4)];
      return shot ? frameAddress(shot.frame) : '';
    }, () => { known.delete(key); return ''; });
    known.set(key, found);
  }
  return found;
}
