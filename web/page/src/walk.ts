// The decisions of a search as three columns of nodes.

import type { Decision, Evidence } from './client/messages';

export interface Walked {
  node: string;
  kept: boolean;
  /** Best score that any stage gave it. */
  score: number;
  /** Why it was dropped, if the search said so. */
  why: string;
  /** The evidence it became. */
  n: number | undefined;
}

const depth = (node: string): number => (node.split('/')[1] ?? '').split('.').length;
const parent = (node: string): string => node.slice(0, node.lastIndexOf('.'));

/**
 * Every node that was looked at, by level. Kept are the nodes that became
 * evidence and what stands above them; kept ones first, then by score, then by
 * id, so that the same search always looks the same.
 */
export function walk(trace: Decision[], evidence: Evidence[]): [Walked[], Walked[], Walked[]] {
  const numbers = new Map<string, number>();
  for (const e of evidence) if (!numbers.has(e.node)) numbers.set(e.node, e.n);
  const nodes = new Map<string, Walked>();
  const note = (node: string, score: number, why: string): void => {
    const had = nodes.get(node);
    if (had) {
      had.score = Math.max(had.score, score);
      had.why ||= why;
    } else nodes.set(node, { node, kept: false, score, why, n: numbers.get(node) });
  };
  for (const d of trace) note(d.node, d.score, d.action === 'dropped' ? d.why ?? '' : '');
  for (const e of evidence) {
    for (let id = e.node; id.includes('/'); id = id.includes('.') ? parent(id) : '') {
      note(id, id === e.node ? e.score : 0, '');
      nodes.get(id)!.kept = true;
    }
  }
  const columns: [Walked[], Walked[], Walked[]] = [[], [], []];
  for (const n of nodes.values()) columns[Math.min(3, depth(n.node)) - 1]?.push(n);
  for (const c of columns) c.sort((a, b) => Number(b.kept) - Number(a.kept) || b.score - a.score || a.node.localeCompare(b.node));
  return columns;
}
