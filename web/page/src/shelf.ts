// How the library stands on its shelf: what is shown, and in which order.

import type { Kind, Source } from './client/messages';

export const orders = ['newest', 'oldest', 'title', 'longest'] as const;
export type Order = (typeof orders)[number];

export interface Wish {
  query: string;
  order: Order;
  /** '' is every kind. */
  kind: Kind | '';
  /** '' is every collection. */
  collection: string;
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
const first: Record<Order, (a: Source, b: Source) => number> = {
  newest: (a, b) => b.created.localeCompare(a.created),
  oldest: (a, b) => a.created.localeCompare(b.created),
  title: (a, b) => byName.compare(a.title, b.title),
  longest: (a, b) => b.duration_ms - a.duration_ms || (b.bytes ?? 0) - (a.bytes ?? 0),
};

/** The sources that fit, in order; equal ones by id, so that nothing jumps. */
export function shelf(sources: Source[], wish: Wish): Source[] {
  const words = wish.query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (s: Source): boolean => {
    const text = [s.title, ...s.collections].join(' ').toLowerCase();
    return (!wish.kind || s.kind === wish.kind) && (!wish.collection || s.collections.includes(wish.collection)) && words.every((w) => text.includes(w));
  };
  return sources.filter(fits).sort((a, b) => first[wish.order](a, b) || a.id.localeCompare(b.id));
}

/** The kinds there are, in the order of the first. */
export const kindsOf = (sources: Source[]): Kind[] => (['video', 'audio', 'document', 'image'] as const).filter((k) => sources.some((s) => s.kind === k));

export const collectionsOf = (sources: Source[]): string[] => [...new Set(sources.flatMap((s) => s.collections))].sort(byName.compare);
