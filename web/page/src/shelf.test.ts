import { describe, expect, it } from 'vitest';
import type { Kind, Source } from './client/messages';
import { collectionsOf, kindsOf, orders, shelf, type Wish } from './shelf';

const source = (id: string, title: string, kind: Kind, created: string, duration_ms: number, collections: string[] = []): Source =>
  ({ id, title, kind, created, duration_ms, collections, state: 'done', nodes: { l1: 0, l2: 0, l3: 0 } });
const all = [
  source('c', 'Talk 10', 'video', '2026-01-03', 900, ['Work']),
  source('a', 'talk 2', 'video', '2026-01-01', 100, ['Work', 'alpha']),
  source('d', 'Notes', 'document', '2026-01-02', 0),
  source('b', 'Äther', 'audio', '2026-01-02', 900),
];
const any: Wish = { query: '', order: 'newest', kind: '', collection: '' };
const ids = (wish: Partial<Wish>): string => shelf(all, { ...any, ...wish }).map((s) => s.id).join('');

describe('the shelf', () => {
  it('stands in the order that is wished, equal ones by id', () => {
    expect(orders.map((order) => ids({ order }))).toEqual(['cbda', 'abdc', 'bdac', 'bcad']);
  });

  it('finds words in titles and collections, all of them, in any case', () => {
    expect([ids({ query: 'TALK' }), ids({ query: 'talk 10' }), ids({ query: 'work 2' }), ids({ query: ' ' }), ids({ query: 'talk notes' })]).toEqual(['ca', 'c', 'a', 'cbda', '']);
  });

  it('keeps to a kind and a collection', () => {
    expect([ids({ kind: 'video' }), ids({ collection: 'alpha' }), ids({ kind: 'document', collection: 'Work' })]).toEqual(['ca', 'a', '']);
    expect([kindsOf(all), kindsOf([])]).toEqual([['video', 'audio', 'document'], []]);
    expect(collectionsOf(all)).toEqual(['alpha', 'Work']);
  });

  it('leaves the list it was given as it was', () => {
    const before = all.map((s) => s.id);
    ids({ order: 'title' });
    expect(all.map((s) => s.id)).toEqual(before);
  });
});
