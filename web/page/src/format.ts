// Numbers and places as people read them.

import type { Source, Span } from './client/messages';

/** h:mm:ss, rounded down. */
export function clock(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(s / 3600)}:${String(Math.floor(s / 60) % 60).padStart(2, '0')}:${String(s % 60).padStart(2, '0')}`;
}

/** A length in words that need no counting: 45 s, 12 min, 2 h 5 min. */
export function length(ms: number): string {
  const s = Math.round(ms / 1000);
  if (s < 90) return `${s} s`;
  const m = Math.round(s / 60);
  return m < 60 ? `${m} min` : `${Math.floor(m / 60)} h${m % 60 ? ` ${m % 60} min` : ''}`;
}

export function bytes(n: number): string {
  for (const unit of ['B', 'KB', 'MB', 'GB']) {
    if (n < 1000 || unit === 'GB') return `${n < 10 && unit !== 'B' ? n.toFixed(1) : Math.round(n)} ${unit}`;
    n /= 1000;
  }
  return '';
}

export const percent = (share: number): string => `${Math.floor(share * 100)} %`;

/** A title as people say it: the ending of a file name says what the kind says already. */
export const named = (title: string): string => title.replace(/(?<=\S)\.(mp4|m4v|mov|mkv|webm|avi|ts|mp3|m4a|ogg|opus|flac|wav|md|markdown|html?|txt|pdf|csv|xlsx|docx|pptx|epub|srt|vtt|ass|jpe?g|png|webp)$/i, '');

/** Where a span begins, in ms; undefined for text and tables. */
export function startOf(span: Span): number | undefined {
  return 'start_ms' in span ? span.start_ms : undefined;
}

/** The place as a chip shows it. */
export function place(span: Span): string {
  if ('start_ms' in span) return clock(span.start_ms);
  if ('paragraph' in span) return span.page > 0 ? `p. ${span.page} ¶ ${span.paragraph}` : `¶ ${span.paragraph}`;
  return `rows ${span.row_start}–${Math.max(span.row_start, span.row_end - 1)}`;
}

/** The link that opens a source at a place. */
export function linkTo(source: string, span?: Span, node?: string): string {
  if (!span) return `#/s/${source}`;
  if ('start_ms' in span) return `#/s/${source}?t=${span.start_ms / 1000}`;
  return `#/s/${source}?n=${node?.split('/')[1] ?? ''}`;
}

/** Adds a ticket to an address that a media element loads. */
export function ticketed(path: string, ticket: string | undefined): string {
  return ticket ? `${path}?ticket=${encodeURIComponent(ticket)}` : path;
}

export const isMedia = (s: Pick<Source, 'kind'>): boolean => s.kind === 'video' || s.kind === 'audio';
