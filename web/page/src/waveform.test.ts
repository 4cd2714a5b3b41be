import { describe, expect, it } from 'vitest';
import { bars } from './waveform';

describe('bars of a waveform', () => {
  it('show the loudest of their share', () => {
    expect(bars([0, 0, -127, 20, -3, 64, 0, 5], 2)).toEqual([1, 64 / 127]);
    expect(bars([-128, 0], 1)).toEqual([1]);
  });
  it('are never more than there is to show, and each pair is in one', () => {
    expect(bars([0, 127, 0, 0, 0, 0], 9)).toEqual([1, 0, 0]);
    const loud = Array.from({ length: 2000 }, (_, i) => (i === 1399 ? 127 : 0));
    expect(bars(loud, 333).filter((b) => b === 1)).toHaveLength(1);
    expect(bars([], 10)).toEqual([]);
  });
});
