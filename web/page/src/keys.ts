// The keyboard of the whole page, as video sites have taught it.

import { player } from './state/player.svelte';

export interface Keys {
  ask(): void;
  fullscreen(): void;
  help(): void;
}

/** Whether keys and pastes belong to a field of text. */
export const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && target.getAttribute('type') !== 'range');

/** Elements that use the space bar or the arrows themselves. */
const ownsKey = (target: EventTarget | null, key: string): boolean => {
  if (!(target instanceof HTMLElement)) return false;
  if (key === ' ') return target.closest('button, a, summary, [role="tab"]') !== null;
  return key.startsWith('Arrow') && target.closest('[role="slider"], [role="tablist"], [role="radiogroup"], input:not([data-seek])') !== null;
};

export function handleKey(e: KeyboardEvent, keys: Keys): void {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || ownsKey(e.target, e.key)) return;
  if (document.querySelector('dialog[open]')) return;
  const run = action(e.key, keys);
  if (!run) return;
  e.preventDefault();
  run();
}

function action(key: string, keys: Keys): (() => void) | undefined {
  if (key === '/') return keys.ask;
  if (key === '?') return keys.help;
  if (!player.there) return undefined;
  if (/^[0-9]$/.test(key)) return () => player.to((player.duration / 1000) * Number(key) / 10);
  const actions: Record<string, () => void> = {
    ' ': () => player.toggle(), k: () => player.toggle(), j: () => player.by(-10), l: () => player.by(10),
    ArrowLeft: () => player.by(-5), ArrowRight: () => player.by(5), ArrowUp: () => player.setVolume(player.volume + 0.1), ArrowDown: () => player.setVolume(player.volume - 0.1),
    c: () => player.setCaptions(!player.captions), m: () => player.setMuted(!player.muted), f: keys.fullscreen,
    '<': () => player.setRate(player.rate - 0.25), '>': () => player.setRate(player.rate + 0.25),
  };
  return actions[key];
}
