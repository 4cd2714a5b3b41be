// Starts the real binary on a folder of its own and tells where it listens.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export const root = resolve(import.meta.dirname, '../../..');
export const binary = process.env.REELTREE_BINARY ?? join(root, 'bin/reeltree');
export const talk = join(root, 'demo/talk.mp4');

const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL'))); // also when a test runs out of time

export class Service {
  #process;
  #lines = [];

  /** Starts on a new folder and a free port. */
  static async start(flags = [], program = binary) {
    const s = new Service();
    s.flags = flags;
    s.program = program;
    s.data = await mkdtemp(join(tmpdir(), 'reeltree-page-'));
    await s.#spawn('127.0.0.1:0');
    return s;
  }

  async #spawn(listen) {
    const child = spawn(this.program, ['serve', '--data', this.data, '--listen', listen, ...this.flags], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    const lines = createInterface({ input: child.stderr });
    this.url = await new Promise((found, failed) => {
      lines.on('line', (line) => {
        this.#lines.push(line);
        const at = line.includes('listening') && /http:\/\/[\d.]+:\d+/.exec(line);
        if (at) found(at[0]);
      });
      child.once('exit', () => failed(new Error(`the service ended before it listened:\n${this.#lines.join('\n')}`)));
      child.once('error', failed);
    });
  }

  log() { return this.#lines.join('\n'); }

  async ingest(...args) {
    const child = spawn(this.program, ['ingest', '--server', this.url, '--json', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (d) => { out += d; });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`ingest ended with ${code}: ${out}`);
    return JSON.parse(out.trim().split('\n').at(-1));
  }

  /** What the service has recorded of the newest answer to a question. */
  async recorded(question) {
    const { answers } = await (await fetch(`${this.url}/v1/answers`)).json();
    const { stream } = answers.filter((a) => a.question === question).at(-1);
    const sse = await (await fetch(`${this.url}/v1/answers/${stream}`)).text();
    const events = [...sse.matchAll(/^data: (.*)$/gm)].map((m) => JSON.parse(m[1]));
    return { text: events.filter((e) => e.type === 'token').map((e) => e.text).join(''), done: events.at(-1) };
  }

  async kill(signal = 'SIGTERM') {
    const child = this.#process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Ends the process and starts it again on the same folder and address. */
  async restart(signal) {
    await this.kill(signal);
    await this.#spawn(new URL(this.url).host);
  }

  async stop() {
    await this.kill();
    await rm(this.data, { recursive: true, force: true });
  }
}
