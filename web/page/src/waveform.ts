// A waveform made as narrow as the screen.

/** n bars of 0 to 1 out of pairs of least and greatest 8-bit samples: the loudest of each share. */
export function bars(pairs: number[], n: number): number[] {
  const count = Math.floor(pairs.length / 2);
  const out: number[] = [];
  for (let i = 0; i < Math.min(n, count); i++) {
    let loud = 0;
    for (let k = Math.floor((i * count) / Math.min(n, count)); k < Math.floor(((i + 1) * count) / Math.min(n, count)); k++) {
      loud = Math.max(loud, -pairs[2 * k]!, pairs[2 * k + 1]!);
    }
    out.push(Math.min(1, loud / 127));
  }
  return out;
}
