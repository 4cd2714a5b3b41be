import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { applyEvent, closer, emptyAnswer, moments, pieces } from './answer';
import type { Citation, Evidence, Span, StreamEvent } from './messages';
import { sha256 } from './sha256';

const hex = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');
const at = (n: number, point: number): Citation => ({ type: 'citation', stream: 's', epoch: 'e', seq: 1, n, at: point, support: 1 });
const ev = (e: object): StreamEvent => ({ stream: 's', epoch: 'e', seq: 1, ...e }) as StreamEvent;

describe('sha256', () => {
  it('agrees with another implementation at every padding length and script', () => {
    for (let n = 0; n < 200; n++) expect(sha256('x'.repeat(n))).toBe(hex('x'.repeat(n)));
    for (const text of ['', 'abc', 'Größe 🗼 灯台 مَنارة', '\u0000', 'a'.repeat(100_000)]) expect(sha256(text)).toBe(hex(text));
  });
});

describe('an answer', () => {
  it('grows by its events and checks its text at the end', () => {
    const a = emptyAnswer();
    expect(a.phase).toBe('sent');
    applyEvent(a, ev({ type: 'queued', position: 2 }));
    expect([a.phase, a.position]).toEqual(['queued', 2]);
    applyEvent(a, ev({ type: 'evidence', n: 1, quote: 'q' }));
    expect(a.phase).toBe('searching');
    applyEvent(a, ev({ type: 'token', text: 'Thirty 🗼' }));
    applyEvent(a, ev({ type: 'token', text: ' km.' }));
    applyEvent(a, ev({ type: 'done', finish: 'stop', text_sha256: hex('Thirty 🗼 km.') }));
    expect([a.phase, a.text, a.damaged]).toEqual(['done', 'Thirty 🗼 km.', false]);
  });

  it('says so when the text is not what was sent', () => {
    const a = emptyAnswer();
    applyEvent(a, ev({ type: 'token', text: 'Thirty' }));
    applyEvent(a, ev({ type: 'done', finish: 'stop', text_sha256: hex('Thirty kilometres') }));
    expect(a.damaged).toBe(true);
  });

  it('withdraws replaced evidence and starts the text over when revised', () => {
    const a = emptyAnswer();
    for (const n of [1, 2, 3]) applyEvent(a, ev({ type: 'evidence', n }));
    applyEvent(a, ev({ type: 'round', round: 2, replaced: [2] }));
    expect(a.evidence.map((e) => e.n)).toEqual([1, 3]);
    applyEvent(a, ev({ type: 'token', text: 'old' }));
    applyEvent(a, ev({ type: 'citation', n: 1, at: 3 }));
    applyEvent(a, ev({ type: 'revised', because: [] }));
    applyEvent(a, ev({ type: 'token', text: 'new' }));
    applyEvent(a, ev({ type: 'done', finish: 'stop', text_sha256: hex('new') }));
    expect([a.text, a.citations.length, a.damaged]).toEqual(['new', 0, false]);
  });
});

describe('pieces', () => {
  it('cuts at code points, not at units', () => {
    expect(pieces('🗼🗼 far. Near.', [at(1, 7)])).toEqual([
      { kind: 'text', text: '🗼🗼 far.' }, { kind: 'mark', n: 1, unsupported: false }, { kind: 'text', text: ' Near.' },
    ]);
  });

  it('puts several marks at one place side by side and drops a repeated one', () => {
    expect(pieces('ab', [at(2, 1), at(1, 1), at(1, 1), at(3, 9)]).map((p) => (p.kind === 'mark' ? p.n : p.text))).toEqual(['a', 2, 1, 'b', 3]);
  });

  it('never loses or doubles a letter, wherever the marks stand', () => {
    const text = 'Grüße, 灯台 🗼 مَنارة!';
    for (let i = 0; i <= [...text].length + 2; i++) {
      for (let j = i; j <= [...text].length; j++) {
        const joined = pieces(text, [at(1, i), at(2, j)]).map((p) => (p.kind === 'text' ? p.text : '')).join('');
        expect(joined).toBe(text);
      }
    }
  });
});

describe('a mark', () => {
  it('stands for the place of its sentence', () => {
    const closer = { ...at(1, 2), span: { start_ms: 5000, end_ms: 7000 } };
    expect(pieces('ab', [closer, at(2, 2)])).toEqual([
      { kind: 'text', text: 'ab' },
      { kind: 'mark', n: 1, unsupported: false, span: { start_ms: 5000, end_ms: 7000 } },
      { kind: 'mark', n: 2, unsupported: false, span: undefined },
    ]);
  });
});

describe('moments', () => {
  const piece = (n: number, span: Span): [number, Evidence] => [n, { n, span, source: { id: n < 3 ? 'b' : 'a' } } as Evidence];
  const evidence = new Map([piece(1, { start_ms: 44_000, end_ms: 96_000 }), piece(2, { page: 1, paragraph: 2, start_char: 0, end_char: 4 }), piece(3, { start_ms: 5, end_ms: 9 })]);
  const said = (n: number, start_ms: number, end_ms: number): Citation => ({ ...at(n, 0), span: { start_ms, end_ms } });

  it('are where the sentences are said, in order, each once; a title has no length and is not played', () => {
    expect(moments(evidence, [said(1, 44_000, 44_000), said(1, 74_000, 81_000), said(1, 44_000, 51_000), at(2, 0), at(3, 0), said(1, 74_000, 81_000), at(9, 0)])).toEqual([
      { source: 'a', start: 5, end: 9 }, { source: 'b', start: 44_000, end: 51_000 }, { source: 'b', start: 74_000, end: 81_000 },
    ]);
  });

  it('are those of a mark where it says no closer place', () => {
    expect(closer(evidence, at(1, 0))?.span).toEqual({ start_ms: 44_000, end_ms: 96_000 });
    expect(closer(evidence, said(1, 50_000, 51_000))?.span).toEqual({ start_ms: 50_000, end_ms: 51_000 });
    expect(closer(evidence, at(9, 0))).toBeUndefined();
  });
});
