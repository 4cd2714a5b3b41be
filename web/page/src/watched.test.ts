import { describe, expect, it } from 'vitest';
import { leave, resumeAt, type Places } from './watched';

describe('what was watched', () => {
  it('goes on where it was left', () => {
    const places = leave({}, 'a', 61_900, 600_000, 1);
    expect(places['a']).toEqual({ at: 61, share: 61_900 / 600_000, when: 1 });
    expect(resumeAt(places['a'])).toBe(61);
    expect(resumeAt(leave(places, 'a', 300_000, 600_000, 2)['a'])).toBe(300);
  });

  it('begins anew when it was hardly begun or watched to its end', () => {
    expect([resumeAt(undefined), resumeAt(leave({}, 'a', 4999, 600_000, 1)['a']), resumeAt(leave({}, 'a', 590_000, 600_000, 1)['a'])]).toEqual([undefined, undefined, undefined]);
  });

  it('notes nothing without a length, and forgets the oldest', () => {
    expect(leave({}, 'a', 10, 0, 1)).toEqual({});
    expect(leave({}, 'a', 10, Number.NaN, 1)).toEqual({});
    let places: Places = {};
    for (let i = 0; i < 305; i++) places = leave(places, `s${i}`, 10_000, 100_000, i);
    expect(Object.keys(places)).toHaveLength(300);
    expect([places['s4'], places['s5']?.when]).toEqual([undefined, 5]);
  });
});
