// The one rule of a stream: every event follows the last one without a hole.

/** What to do with an event. */
export type Verdict = 'take' | 'seen' | 'hole';

/** Where a reader of a stream stands. */
export class Sequence {
  epoch: string;
  /** The last sequence taken; 0 before the first. */
  last: number;

  constructor(epoch = '', last = 0) {
    this.epoch = epoch;
    this.last = last;
  }

  /**
   * Judges an event and moves on when it is taken. `from` (or `seq`) must be
   * the last seen plus one. A joined frame that begins inside what was seen is
   * a hole too: its text cannot be cut, so it must be sent again from `last`.
   */
  accept(event: { epoch: string; seq: number; from?: number }): Verdict {
    if (this.epoch !== '' && event.epoch !== this.epoch) return 'hole';
    if (event.seq <= this.last) return 'seen';
    if ((event.from ?? event.seq) !== this.last + 1) return 'hole';
    this.epoch = event.epoch;
    this.last = event.seq;
    return 'take';
  }

  /** Starts over before `first`, in the incarnation a gap names. */
  restart(epoch: string, first = 1): void {
    this.epoch = epoch;
    this.last = first - 1;
  }
}
