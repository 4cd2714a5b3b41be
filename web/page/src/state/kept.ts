// Small things this browser remembers, such as where a video was left. Private
// windows may forbid it: then everything works and nothing is remembered.

const prefix = 'reeltree:';

/** What was kept under `key`, or `otherwise`. */
export function kept<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(prefix + key);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(prefix + key, JSON.stringify(value));
  } catch { /* full or forbidden */ }
}
