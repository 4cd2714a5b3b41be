// An answer as it grows: events in, something that can be drawn out.

import type { Citation, Done, Evidence, Round, StreamEvent, WireError, Span } from './messages';
import { sha256 } from './sha256';

export type Phase = 'sent' | 'queued' | 'searching' | 'writing' | 'done';

/** A stretch of text, or the mark of one piece of evidence. */
export type Piece = { kind: 'text'; text: string } | { kind: 'mark'; n: number; unsupported: boolean; span?: Span };

export interface AnswerState {
  phase: Phase;
  position: number;
  rounds: Round[];
  evidence: Evidence[];
  text: string;
  citations: Citation[];
  done: Done | undefined;
  error: WireError | undefined;
  /** The finished text is not what the service says it sent. */
  damaged: boolean;
}

export function emptyAnswer(): AnswerState {
  return { phase: 'sent', position: 0, rounds: [], evidence: [], text: '', citations: [], done: undefined, error: undefined, damaged: false };
}

/** Applies one event, in order, to the answer in place. */
export function applyEvent(a: AnswerState, e: StreamEvent): void {
  switch (e.type) {
    case 'queued':
      a.phase = 'queued';
      a.position = e.position;
      return;
    case 'round':
      a.phase = 'searching';
      a.rounds.push(e);
      if (e.replaced?.length) a.evidence = a.evidence.filter((x) => !e.replaced!.includes(x.n));
      return;
    case 'evidence':
      a.phase = 'searching';
      a.evidence.push(e);
      return;
    case 'token':
      a.phase = 'writing';
      a.text += e.text;
      return;
    case 'citation':
      a.citations.push(e);
      return;
    case 'revised':
      a.phase = 'searching';
      a.text = '';
      a.citations = [];
      return;
    case 'done':
      a.phase = 'done';
      a.done = e;
      a.error = e.error;
      a.damaged = e.text_sha256 !== undefined && e.text_sha256 !== sha256(a.text);
  }
}

/** The evidence of a citation, at the place where the sentence is said. */
export function closer(evidence: Map<number, Evidence>, c: { n: number; span?: Span }): Evidence | undefined {
  const e = evidence.get(c.n);
  return e && c.span ? { ...e, span: c.span } : e;
}

/** A stretch of a recording. */
export interface Moment { source: string; start: number; end: number }

/** Where the cited sentences are said, each place once; titles have no length and are not played. */
export function moments(evidence: Map<number, Evidence>, citations: Citation[]): Moment[] {
  const found = new Map<string, Moment>();
  for (const c of citations) {
    const e = closer(evidence, c);
    if (!e || !('start_ms' in e.span) || e.span.end_ms <= e.span.start_ms) continue;
    found.set(`${e.source.id} ${e.span.start_ms}`, { source: e.source.id, start: e.span.start_ms, end: e.span.end_ms });
  }
  return [...found.values()].sort((x, y) => x.source.localeCompare(y.source) || x.start - y.start);
}

/** The text cut at its marks. `at` counts code points, JavaScript counts units. */
export function pieces(text: string, citations: Citation[]): Piece[] {
  const out: Piece[] = [];
  let unit = 0;
  let point = 0;
  for (const c of citations) {
    const begin = unit;
    while (point < c.at && unit < text.length) {
      unit += text.codePointAt(unit)! > 0xffff ? 2 : 1;
      point++;
    }
    if (unit > begin) out.push({ kind: 'text', text: text.slice(begin, unit) });
    const before = out[out.length - 1];
    if (before?.kind === 'mark' && before.n === c.n) continue;
    out.push({ kind: 'mark', n: c.n, unsupported: c.unsupported ?? false, span: c.span });
  }
  if (unit < text.length) out.push({ kind: 'text', text: text.slice(unit) });
  return out;
}
