// The few requests that go over HTTP.

import type { AnswerRow, Evidence, Job, Source, Tree, WireError } from './messages';

/** A refusal of the service, or no answer at all (status 0). */
export class ApiError extends Error {
  constructor(readonly status: number, readonly code: number, message: string, readonly retry: boolean) {
    super(message);
  }
}

export interface ApiConfig {
  token: () => string | undefined;
  /** A request was answered with 401. */
  onUnauthorised: () => void;
  fetch?: typeof fetch;
}

/** What a player should play: the medium as it is, or a rendition that is made when it is first wanted. */
export interface Rendition { state: 'none' | 'making' | 'ready' | 'failed'; error?: string }

/** A waveform in the form of audiowaveform's version 2 files. */
export interface Peaks { bits: number; length: number; data: number[] }

export interface Started { source: string; job: string; stream: string }

export class Api {
  readonly #config: ApiConfig;

  constructor(config: ApiConfig) {
    this.#config = config;
  }

  sources = async (): Promise<Source[]> => (await this.#json<{ sources: Source[] }>('GET', '/v1/sources')).sources;
  source = (id: string): Promise<Source> => this.#json('GET', `/v1/sources/${id}`);
  tree = (id: string): Promise<Tree> => this.#json('GET', `/v1/sources/${id}/tree`);
  rendition = (id: string): Promise<Rendition> => this.#json('GET', `/v1/sources/${id}/rendition`);
  peaks = (id: string): Promise<Peaks> => this.#json('GET', `/v1/sources/${id}/peaks.json`);
  remove = (id: string): Promise<void> => this.#json('DELETE', `/v1/sources/${id}`);
  jobs = async (): Promise<Job[]> => (await this.#json<{ jobs: Job[] }>('GET', '/v1/jobs')).jobs;
  act = (job: string, action: 'pause' | 'resume' | 'retry' | 'cancel'): Promise<Job> => this.#json('POST', `/v1/jobs/${job}`, { action });
  add = (url: string): Promise<Started> => this.#json('POST', '/v1/sources', { url });
  search = async (q: string): Promise<Evidence[]> => (await this.#json<{ evidence: Evidence[] }>('GET', `/v1/search?q=${encodeURIComponent(q)}`)).evidence;
  answers = async (source: string): Promise<AnswerRow[]> =>
    (await this.#json<{ answers: AnswerRow[] }>('GET', `/v1/answers?source=${source}`)).answers;
  exported = async (id: string, format: string): Promise<Blob> => (await this.#request('GET', `/v1/sources/${id}/export?format=${format}`)).blob();

  /** Sends a file, with its subtitles if there are any. Uploads say how far they are only over XMLHttpRequest. */
  upload(file: File, subtitles: File | undefined, onProgress: (sent: number) => void): { started: Promise<Started>; abort: () => void } {
    const request = new XMLHttpRequest();
    const form = new FormData();
    if (subtitles) form.append('subtitles', subtitles, subtitles.name);
    form.append('file', file, file.name);
    const started = new Promise<Started>((resolve, reject) => {
      request.open('POST', '/v1/sources');
      const token = this.#config.token();
      if (token) request.setRequestHeader('Authorization', `Bearer ${token}`);
      request.upload.onprogress = (e) => onProgress(e.loaded);
      request.onerror = () => reject(new ApiError(0, 0, '', true));
      request.onabort = () => reject(new ApiError(0, -1, '', false));
      request.onload = () => {
        if (request.status === 401) this.#config.onUnauthorised();
        if (request.status < 300) resolve(JSON.parse(request.responseText) as Started);
        else reject(refusal(request.status, request.responseText));
      };
      request.send(form);
    });
    return { started, abort: () => request.abort() };
  }

  async #json<T>(method: string, path: string, body?: object): Promise<T> {
    const reply = await this.#request(method, path, body);
    return reply.status === 204 ? (undefined as T) : ((await reply.json()) as T);
  }

  async #request(method: string, path: string, body?: object): Promise<Response> {
    const headers: Record<string, string> = {};
    const token = this.#config.token();
    if (token) headers['Authorization'] = `Bearer ${token}`;
    if (body) headers['Content-Type'] = 'application/json';
    let reply: Response;
    try {
      reply = await (this.#config.fetch ?? fetch)(path, { method, headers, keepalive: method === 'DELETE', ...(body ? { body: JSON.stringify(body) } : {}) });
    } catch {
      throw new ApiError(0, 0, '', true);
    }
    if (reply.ok) return reply;
    if (reply.status === 401) this.#config.onUnauthorised();
    throw refusal(reply.status, await reply.text());
  }
}

function refusal(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as { error: WireError };
    return new ApiError(status, error.code, error.message, error.retry);
  } catch {
    return new ApiError(status, 0, '', status >= 500);
  }
}
