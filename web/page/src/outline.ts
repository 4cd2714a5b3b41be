// A tree as the page draws it: chapters, sections, cues, pictures.

import type { Cue, Span, Tree, TreeNode } from './client/messages';

export interface Segment {
  id: string;
  title: string;
  text: string;
  start: number;
  end: number;
  frame: string | undefined;
  sections: Segment[];
}
export interface Shot { time: number; frame: string }
export interface Passage { id: string; heading: string; text: string; span: Span | undefined; header: string[]; rows: string[][] }
export interface Outline {
  chapters: Segment[];
  sections: Segment[];
  cues: Cue[];
  screen: Cue[];
  shots: Shot[];
  passages: Passage[];
  /** What a node is called, by its id. */
  names: Map<string, string>;
}

export const frameAddress = (id: string): string => `/v1/frames/${id}.jpg`;

export function outline(tree: Tree): Outline {
  const o: Outline = { chapters: [], sections: [], cues: [], screen: [], shots: [], passages: [], names: new Map() };
  for (const root of tree.roots) {
    const chapter = segment(root);
    for (const child of root.children ?? []) {
      const section = segment(child);
      let heading = section.title;
      for (const leaf of child.children ?? []) {
        readLeaf(o, leaf, heading);
        heading = '';
        section.frame ??= leaf.evidence?.frame?.id;
      }
      chapter.frame ??= section.frame;
      chapter.sections.push(section);
      o.sections.push(section);
      o.names.set(child.id, section.title);
    }
    o.chapters.push(chapter);
    o.names.set(root.id, chapter.title);
  }
  o.cues.sort((a, b) => a.start_ms - b.start_ms);
  o.shots.sort((a, b) => a.time - b.time);
  return o;
}

function segment(node: TreeNode): Segment {
  const text = node.summary ?? node.description ?? '';
  return {
    id: node.id, title: node.evidence?.title || firstSentence(text), text, frame: node.evidence?.frame?.id, sections: [],
    start: node.time_range?.[0] ?? 0, end: node.time_range?.[1] ?? 0,
  };
}

function readLeaf(o: Outline, leaf: TreeNode, heading: string): void {
  const e = leaf.evidence ?? {};
  o.cues.push(...(e.cues ?? []));
  o.screen.push(...(e.screen ?? []));
  if (e.frame) o.shots.push({ time: e.frame.time_ms, frame: e.frame.id });
  if (!leaf.time_range) {
    o.passages.push({ id: leaf.id, heading, text: e.passage ?? (e.rows ? '' : leaf.description ?? ''), span: leaf.span, header: e.header ?? [], rows: e.rows ?? [] });
  }
  o.names.set(leaf.id, leaf.description ?? '');
}

export function firstSentence(text: string): string {
  const end = text.search(/[.!?。！？](\s|$)/);
  return end < 0 || end > 90 ? text.slice(0, 90) : text.slice(0, end);
}

const topicLength = 60;

/** What a source speaks about: short titles of its sections, from all over it. */
export function topics(o: Outline, most: number): string[] {
  const titles = [...new Set(o.sections.map((s) => s.title))].filter((title) => title && title.length <= topicLength);
  const step = Math.max(1, titles.length / most);
  return titles.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step)).slice(0, most);
}

/** The last item that begins at or before `ms`; -1 before the first. */
export function indexAt<T>(items: T[], ms: number, start: (item: T) => number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start(items[middle]!) <= ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The address of the picture shown at `ms`, if there is one. */
export function frameAt(o: Outline, ms: number): string | undefined {
  const shot = o.shots[Math.max(0, indexAt(o.shots, ms, (s) => s.time))];
  return shot && frameAddress(shot.frame);
}

/** Text cut at the places where `words` stands, for marking; case does not matter. */
export function marked(text: string, words: string): { text: string; hit: boolean }[] {
  const needle = words.trim().toLowerCase();
  const hay = text.toLowerCase();
  if (!needle || hay.length !== text.length) return [{ text, hit: false }];
  const out: { text: string; hit: boolean }[] = [];
  let from = 0;
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, from)) {
    if (at > from) out.push({ text: text.slice(from, at), hit: false });
    out.push({ text: text.slice(at, at + needle.length), hit: true });
    from = at + needle.length;
  }
  if (from < text.length) out.push({ text: text.slice(from), hit: false });
  return out;
}

/** Places on a line of `width`, moved apart until neighbours are `gap` from each other; the order stays. */
export function spread(places: number[], gap: number, width: number): number[] {
  const step = Math.min(gap, places.length > 1 ? (width - gap) / (places.length - 1) : gap);
  const out: number[] = [];
  for (const [i, p] of places.entries()) out.push(Math.max(p, i === 0 ? gap / 2 : out[i - 1]! + step));
  for (let i = out.length - 1; i >= 0; i--) out[i] = Math.min(out[i]!, i === out.length - 1 ? width - gap / 2 : out[i + 1]! - step);
  return out;
}
