// The places of watched.ts, kept by the browser.

import { leave, resumeAt, type Places } from '../watched';
import { keep, kept } from './kept';

const key = 'watched';

class Watched {
  #places = $state.raw<Places>(kept<Places>(key, {}));

  note(source: string, ms: number, duration: number): void {
    this.#places = leave(this.#places, source, ms, duration, Date.now());
    keep(key, this.#places);
  }

  /** The second to go on at. */
  resume(source: string): number | undefined { return resumeAt(this.#places[source]); }

  /** How much was watched, 0..1; 0 where nothing is to be shown. */
  share(source: string): number { return this.resume(source) === undefined ? 0 : this.#places[source]!.share; }
}

export const watched = new Watched();
