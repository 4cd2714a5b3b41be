// Whether the question box beside a source asks that source or everything.

import { SvelteMap } from 'svelte/reactivity';

class Panel {
  #chosen = new SvelteMap<string, string>();

  scope(source: string): string { return this.#chosen.get(source) ?? source; }
  choose(source: string, scope: string): void { this.#chosen.set(source, scope); }
}

export const panel = new Panel();
