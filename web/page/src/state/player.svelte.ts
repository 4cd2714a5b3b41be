// What plays: one media element at a time, and the moments played in a row.

import { keep, kept } from './kept';
import { route } from './route.svelte';
import { watched } from './watched.svelte';
import { linkTo } from '../format';
import type { Moment } from '../client/answer';
import type { Evidence } from '../client/messages';

const tastes = 'player';
const taste = kept(tastes, { volume: 1, muted: false, captions: true });
/** How often what plays is remembered, in ms of its own time. */
const rememberEvery = 5000;

class Player {
  source = $state('');
  time = $state(0);
  duration = $state(0);
  playing = $state(false);
  /** Loaded from the playhead on, up to here, in ms. */
  buffered = $state(0);
  captions = $state(taste.captions);
  muted = $state(taste.muted);
  volume = $state(taste.volume);
  rate = $state(1);
  /** Moments still to be played, the running one first. */
  moments = $state.raw<Moment[]>([]);
  #element: HTMLMediaElement | undefined;
  #pending: { source: string; seconds: number; play: boolean } | undefined;

  /** Takes over a media element; the function returned gives it up. */
  attach(source: string, element: HTMLMediaElement): () => void {
    this.source = source;
    this.#element = element;
    element.playbackRate = this.rate;
    element.muted = this.muted;
    element.volume = this.volume;
    return () => {
      if (this.#element !== element) return;
      this.remember();
      this.#element = undefined;
      this.playing = false;
      this.time = this.duration = this.buffered = 0;
    };
  }

  /** The element knows its length: whatever waited for it happens now. */
  loaded(): void {
    this.duration = (this.#element?.duration ?? 0) * 1000;
    const p = this.#pending;
    if (p && p.source === this.source) this.#jump(p.seconds, p.play);
  }

  /** Jumps inside the source that is shown, or as soon as it is. */
  seek(source: string, seconds: number, play: boolean): void {
    this.#pending = { source, seconds, play };
    if (this.#element && this.source === source && this.#element.readyState > 0) this.#jump(seconds, play);
  }

  #jump(seconds: number, play: boolean): void {
    this.#pending = undefined;
    const e = this.#element!;
    e.currentTime = seconds;
    this.time = seconds * 1000;
    if (play) void e.play().catch(() => { /* the browser wants a click first */ });
  }

  /** A seek has ended. */
  arrived(): void {
    if (this.#element) this.time = this.#element.currentTime * 1000;
    this.loadedMore();
  }

  loadedMore(): void {
    const e = this.#element;
    if (!e) return;
    for (let i = 0; i < e.buffered.length; i++) {
      if (e.buffered.start(i) <= e.currentTime + 0.1 && e.buffered.end(i) >= e.currentTime) this.buffered = e.buffered.end(i) * 1000;
    }
  }

  /** Keeps the place, so that the source goes on from it another day. */
  remember(): void {
    if (this.duration > 0) watched.note(this.source, this.time, this.duration);
  }

  /** Plays a piece of evidence from its beginning. */
  open(e: Pick<Evidence, 'source' | 'span' | 'node'>): void {
    this.moments = [];
    this.#go(e.source.id, e);
  }

  #go(source: string, e: Pick<Evidence, 'span' | 'node'>): void {
    route.go(linkTo(source, e.span, e.node));
    if ('start_ms' in e.span) this.seek(source, e.span.start_ms / 1000, true);
  }

  /** Plays moments one after the other. */
  playAll(moments: Moment[]): void {
    this.moments = moments;
    this.#playFirst();
  }

  stopAll(): void { this.moments = []; }

  #playFirst(): void {
    const m = this.moments[0];
    if (m) this.#go(m.source, { span: { start_ms: m.start, end_ms: m.end }, node: '' });
  }

  ticked(ms: number): void {
    if (Math.floor(ms / rememberEvery) !== Math.floor(this.time / rememberEvery)) this.remember();
    this.time = ms;
    const m = this.moments[0];
    if (!m || m.source !== this.source || ms < m.end) return;
    this.moments = this.moments.slice(1);
    if (this.moments.length) this.#playFirst();
    else this.#element?.pause();
  }

  /** A hand on the controls ends the row of moments. */
  by(seconds: number): void { this.to(this.time / 1000 + seconds); }

  to(seconds: number): void {
    if (!this.#element) return;
    this.moments = [];
    this.#jump(Math.max(0, Math.min(seconds, this.duration / 1000 || seconds)), false);
  }

  toggle(): void {
    const e = this.#element;
    if (!e) return;
    if (e.paused) void e.play().catch(() => { /* nothing to play */ });
    else e.pause();
  }

  setRate(rate: number): void {
    this.rate = Math.min(3, Math.max(0.25, rate));
    if (this.#element) this.#element.playbackRate = this.rate;
  }

  setMuted(muted: boolean): void {
    this.muted = muted;
    if (this.#element) this.#element.muted = muted;
    this.#keep();
  }

  setVolume(volume: number): void {
    this.volume = Math.min(1, Math.max(0, volume));
    if (this.#element) this.#element.volume = this.volume;
    this.setMuted(false);
  }

  setCaptions(on: boolean): void {
    this.captions = on;
    this.#keep();
  }

  #keep(): void { keep(tastes, { volume: this.volume, muted: this.muted, captions: this.captions }); }

  get there(): boolean { return this.#element !== undefined; }
}

export const player = new Player();
