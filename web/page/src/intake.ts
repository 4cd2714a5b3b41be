// What is dropped or pasted on the page: files, folders, addresses.

const readable = /\.(mp4|m4v|mov|mkv|webm|avi|ts|mts|flv|wmv|mp3|m4a|aac|ogg|oga|opus|flac|wav|wma|srt|vtt|ass|ssa|smi|sami|md|markdown|html?|txt|pdf|csv|xlsx|docx|pptx|epub|jpe?g|png|webp)$/i;

/** Every address in a text, in its order. */
export function addresses(text: string): string[] {
  return text.split(/\s+/).filter((word) => /^https?:\/\/\S+$/i.test(word));
}

export interface Intake { files: File[]; addresses: string[] }

/**
 * What a drop or a paste holds. A folder gives what can be read in it, however
 * deep; single files are taken as they are, so that a wrong one is refused in words.
 */
export async function taken(data: DataTransfer): Promise<Intake> {
  const folders: FileSystemDirectoryEntry[] = [];
  const files: File[] = [];
  for (const item of data.items) { // entries and files exist only until the event is over
    const entry = item.kind === 'file' ? item.webkitGetAsEntry?.() : undefined;
    if (entry?.isDirectory) folders.push(entry as FileSystemDirectoryEntry);
    else if (item.kind === 'file') files.push(...[item.getAsFile()].filter((f) => f !== null));
  }
  const text = data.getData('text/uri-list') || data.getData('text/plain');
  for (const folder of folders) files.push(...(await inside(folder)));
  return { files, addresses: files.length ? [] : addresses(text) };
}

async function inside(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const found: File[] = [];
  for (const e of (await entriesOf(folder)).sort((a, b) => a.name.localeCompare(b.name))) {
    if (e.isDirectory) found.push(...(await inside(e as FileSystemDirectoryEntry)));
    else if (readable.test(e.name) && !e.name.startsWith('.')) found.push(await new Promise<File>((done, failed) => (e as FileSystemFileEntry).file(done, failed)));
  }
  return found;
}

/** Everything in a folder: browsers hand over at most 100 entries a call. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

const isSubtitle = (name: string): boolean => /\.(srt|vtt|ass|ssa|smi|sami)$/i.test(name);
const base = (name: string): string => name.replace(/\.[^.]*$/, '');

/** Media with the subtitles of the same name; subtitles without media stand alone. */
export function paired<F extends { name: string }>(files: F[]): { file: F; subtitles: F | undefined }[] {
  const free = new Set(files.filter((f) => isSubtitle(f.name)));
  const media = files.filter((f) => !isSubtitle(f.name)).map((file) => {
    const subtitles = [...free].find((s) => s.name.startsWith(base(file.name) + '.'));
    if (subtitles) free.delete(subtitles);
    return { file, subtitles };
  });
  return [...media, ...[...free].map((file) => ({ file, subtitles: undefined }))];
}
