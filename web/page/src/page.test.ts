import { describe, expect, it } from 'vitest';
import type { Decision, Evidence, Tree } from './client/messages';
import { bytes, clock, length, linkTo, named, percent, place, ticketed } from './format';
import { firstSentence, frameAt, indexAt, marked, outline, spread, topics } from './outline';
import { walk } from './walk';

const id = 'abcdefghijklmnopqrstuvwxyz';
const tree: Tree = {
  roots: [{
    id: `${id}/0`, summary: 'A chapter. More.', time_range: [0, 9000],
    children: [{
      id: `${id}/0.0`, description: 'A section.', time_range: [0, 9000], evidence: { title: 'Named' },
      children: [
        { id: `${id}/0.0.0`, description: 'm', time_range: [0, 4000], evidence: { cues: [{ start_ms: 500, end_ms: 900, text: 'b' }, { start_ms: 100, end_ms: 400, text: 'a' }], frame: { id: 'f0', time_ms: 0 } } },
        { id: `${id}/0.0.1`, description: 'n', time_range: [4000, 9000], evidence: { screen: [{ start_ms: 1, end_ms: 2, text: 'S' }], frame: { id: 'f1', time_ms: 4000 } } },
      ],
    }],
  }],
};

describe('format', () => {
  it('writes times, lengths and sizes', () => {
    expect([0, 999, 61_500, 3_600_000, 90_061_000, -5].map(clock)).toEqual(['0:00:00', '0:00:00', '0:01:01', '1:00:00', '25:01:01', '0:00:00']);
    expect([45_000, 600_000, 7_500_000].map(length)).toEqual(['45 s', '10 min', '2 h 5 min']);
    expect([12, 1500, 916_226, 20e9].map(bytes)).toEqual(['12 B', '1.5 KB', '916 KB', '20 GB']);
    expect(percent(0.999)).toBe('99 %');
  });

  it('takes the ending of a file off its title, and nothing else', () => {
    expect(['Light across the sea.mp4', 'notes.MD', 'v1.2 is out', 'a.b.c', '.mp4', 'archive.tar.gz', 'what.'].map(named))
      .toEqual(['Light across the sea', 'notes', 'v1.2 is out', 'a.b.c', '.mp4', 'archive.tar.gz', 'what.']);
  });

  it('names and links places of every kind', () => {
    const text = { page: 0, paragraph: 4, start_char: 0, end_char: 3 };
    expect([place({ start_ms: 88_500, end_ms: 90_000 }), place(text), place({ ...text, page: 2 }), place({ table: 0, row_start: 1, row_end: 4 })])
      .toEqual(['0:01:28', '¶ 4', 'p. 2 ¶ 4', 'rows 1–3']);
    expect(linkTo(id, { start_ms: 88_500, end_ms: 1 })).toBe(`#/s/${id}?t=88.5`);
    expect(linkTo(id, text, `${id}/0.1.2`)).toBe(`#/s/${id}?n=0.1.2`);
    expect(linkTo(id)).toBe(`#/s/${id}`);
    expect([ticketed('/a', undefined), ticketed('/a', '1.x+y')]).toEqual(['/a', '/a?ticket=1.x%2By']);
  });
});

describe('outline', () => {
  const o = outline(tree);
  it('reads chapters, sections, cues in order and pictures', () => {
    expect(o.chapters.map((c) => [c.title, c.sections.length, c.frame])).toEqual([['A chapter', 1, 'f0']]);
    expect(o.sections[0]?.title).toBe('Named');
    expect(o.cues.map((c) => c.text)).toEqual(['a', 'b']);
    expect(o.screen).toHaveLength(1);
    expect(o.names.get(`${id}/0.0`)).toBe('Named');
  });

  it('finds what is shown at a time', () => {
    expect([frameAt(o, -1), frameAt(o, 3999), frameAt(o, 4000), frameAt(o, 1e9)].map((f) => f?.slice(-6))).toEqual(['f0.jpg', 'f0.jpg', 'f1.jpg', 'f1.jpg']);
    expect([indexAt([1, 3, 3, 7], 0, Number), indexAt([1, 3, 3, 7], 3, Number), indexAt([1, 3, 3, 7], 9, Number), indexAt([], 1, Number)]).toEqual([-1, 2, 3, -1]);
  });

  it('keeps the passages of a document with their headings', () => {
    const d = outline({ roots: [{ id: `${id}/0`, summary: 's', children: [{ id: `${id}/0.0`, description: 'H', children: [
      { id: `${id}/0.0.0`, description: 'x', span: { page: 0, paragraph: 1, start_char: 0, end_char: 1 }, evidence: { passage: '<script>' } },
      { id: `${id}/0.0.1`, description: 'y', evidence: { header: ['a'], rows: [['1']] } }] }] }] });
    expect(d.passages.map((p) => [p.heading, p.text, p.rows.length])).toEqual([['H', '<script>', 0], ['', '', 1]]);
  });

  it('names topics from all over a source, each once, none too long', () => {
    const of = (titles: string[]): ReturnType<typeof outline> => ({ ...o, sections: titles.map((title, i) => ({ id: `${i}`, title, text: '', start: i, end: i + 1, frame: undefined, sections: [] })) });
    expect(topics(of(['a', 'b', 'a', '', 'x'.repeat(61)]), 4)).toEqual(['a', 'b']);
    const many = topics(of(Array.from({ length: 60 }, (_, i) => `t${i}`)), 4);
    expect(many).toEqual(['t0', 't15', 't30', 't45']);
    expect(topics(of(Array.from({ length: 6 }, (_, i) => `t${i}`)), 4)).toHaveLength(4);
    expect(topics(of([]), 4)).toEqual([]);
  });

  it('marks words without changing the text', () => {
    expect(marked('A lens, a LENS', 'lens').map((m) => m.text + (m.hit ? '!' : ''))).toEqual(['A ', 'lens!', ', a ', 'LENS!']);
    for (const text of ['', 'İstanbul lens', 'x']) expect(marked(text, 'lens').map((m) => m.text).join('')).toBe(text);
    expect([firstSentence('One. Two.'), firstSentence('x'.repeat(200)).length, firstSentence('v1.2 is out. Now')]).toEqual(['One', 90, 'v1.2 is out']);
  });
});

describe('marks', () => {
  it('keep their distance and their order inside the line', () => {
    expect(spread([50, 52, 150], 20, 200)).toEqual([50, 70, 150]);
    expect(spread([190, 195, 199], 20, 200)).toEqual([150, 170, 190]);
    expect(spread([0], 20, 200)).toEqual([10]);
    const many = spread(Array.from({ length: 50 }, () => 100), 20, 200);
    expect(many[0]).toBeGreaterThanOrEqual(0);
    expect(many[49]).toBeLessThanOrEqual(200);
    for (let i = 1; i < 50; i++) expect(many[i]!).toBeGreaterThan(many[i - 1]!);
  });
});

describe('the walk', () => {
  const d = (node: string, action: string, score: number, why?: string): Decision => ({ stage: 's', node: `${id}/${node}`, action, score, ...(why ? { why } : {}) });
  it('lights up what became evidence and all above it', () => {
    const [l1, l2, l3] = walk(
      [d('1', 'hit', 0.9), d('0', 'hit', 0.1), d('0.2', 'hit', 0.5), d('0.2.1', 'step', 0.2), d('0.2.1', 'kept', 0.4), d('0.3.0', 'dropped', 0.8, 'overlap')],
      [{ node: `${id}/0.2.1`, n: 7, score: 0.3 } as Evidence],
    );
    expect(l1.map((n) => [n.node.slice(27), n.kept])).toEqual([['0', true], ['1', false]]);
    expect(l2.map((n) => [n.node.slice(27), n.kept])).toEqual([['0.2', true]]);
    expect(l3.map((n) => [n.node.slice(27), n.kept, n.n, n.score, n.why])).toEqual([['0.2.1', true, 7, 0.4, ''], ['0.3.0', false, undefined, 0.8, 'overlap']]);
  });
});
