import { describe, expect, it } from 'vitest';
import { addresses, paired, taken } from './intake';

const names = (files: string[]): [string, string | undefined][] => paired(files.map((name) => ({ name }))).map((p) => [p.file.name, p.subtitles?.name]);

describe('addresses', () => {
  it('are found in a text, whatever stands between', () => {
    expect(addresses('https://youtu.be/abc?t=3\r\nsee http://127.0.0.1:8080/a.mp4 now')).toEqual(['https://youtu.be/abc?t=3', 'http://127.0.0.1:8080/a.mp4']);
    expect(['', 'javascript:alert(1)', 'file:///etc/passwd', 'https://', 'ftp://x/y'].flatMap(addresses)).toEqual([]);
  });
});

describe('subtitles', () => {
  it('go with the media of their name, in any language, and alone otherwise', () => {
    expect(names(['talk.en.srt', 'talk.mp4', 'other.vtt'])).toEqual([['talk.mp4', 'talk.en.srt'], ['other.vtt', undefined]]);
    expect(names(['talk.mp4', 'talk two.srt'])).toEqual([['talk.mp4', undefined], ['talk two.srt', undefined]]);
  });

  it('are given away once', () => {
    expect(names(['a.mp4', 'a.mp3', 'a.srt'])).toEqual([['a.mp4', 'a.srt'], ['a.mp3', undefined]]);
  });
});

describe('a drop', () => {
  interface Fake { name: string; isDirectory: boolean; file?: (done: (f: File) => void) => void; createReader?: () => { readEntries: (done: (e: Fake[]) => void) => void } }
  const file = (name: string): Fake => ({ name, isDirectory: false, file: (done) => done(new File([''], name)) });
  const folder = (name: string, inside: Fake[], batch = 2): Fake => ({
    name, isDirectory: true,
    createReader: () => {
      const rest = [...inside];
      return { readEntries: (done) => done(rest.splice(0, batch)) };
    },
  });
  const drop = (entries: Fake[], text = ''): DataTransfer => ({
    items: entries.map((e) => ({ kind: 'file', webkitGetAsEntry: () => e, getAsFile: () => (e.isDirectory ? null : new File([''], e.name)) })),
    getData: (type: string) => (type === 'text/plain' ? text : ''),
  } as unknown as DataTransfer);

  it('of a folder gives everything readable in it, in batches and however deep', async () => {
    const { files } = await taken(drop([folder('talks', [file('b.mp4'), file('.hidden.mp4'), file('a.mp4'), folder('deep', [file('c.srt'), file('Thumbs.db')]), file('d.PDF')])]));
    expect(files.map((f) => f.name)).toEqual(['a.mp4', 'b.mp4', 'd.PDF', 'c.srt']);
  });

  it('of a single file takes it whatever it is', async () => {
    const { files, addresses: none } = await taken(drop([file('strange.xyz')], 'https://example.org/a'));
    expect([files.map((f) => f.name), none]).toEqual([['strange.xyz'], []]);
  });

  it('of a text gives its addresses', async () => {
    expect((await taken(drop([], 'https://example.org/a.mp4'))).addresses).toEqual(['https://example.org/a.mp4']);
  });
});
