// A chat endpoint in the OpenAI style that answers from the evidence it is
// given, and finds it enough for everything but bananas. A question that says
// "slowly" gets half of its answer, and the rest when the test lets it go.
// A question that says "unpaid" is refused. Pictures are described at once, those after the first `describes` calls when
// the test lets them go.
import { once } from 'node:events';
import { createServer } from 'node:http';

export class Model {
  #server;
  #held = [];
  describes = Infinity;

  static async start() {
    const m = new Model();
    m.#server = createServer((request, reply) => { void m.#answer(request, reply); });
    m.#server.listen(0, '127.0.0.1');
    await once(m.#server, 'listening');
    m.url = `http://127.0.0.1:${m.#server.address().port}/v1`;
    return m;
  }

  /** Lets every held answer go on. */
  release() { for (const go of this.#held.splice(0)) go(); }

  async #answer(request, reply) {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { messages, stream } = JSON.parse(body);
    const text = messages.map((m) => (typeof m.content === 'string' ? m.content : m.content.map((p) => p.text ?? '').join('\n'))).join('\n');
    if (/\nQuestion: [^\n]*unpaid[^\n]*\s*$/.test(text)) {
      reply.writeHead(401, { 'Content-Type': 'application/json' });
      reply.end(JSON.stringify({ error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } }));
      return;
    }
    const pictures = messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((p) => p.type === 'image_url').length;
    if (pictures && this.describes-- <= 0) await Promise.race([new Promise((go) => this.#held.push(go)), once(reply, 'close')]);
    if (reply.destroyed) return;
    const judging = /"sufficient"/.test(text); // the critic's prompt, which holds the question too
    const answer = judging ? JSON.stringify({ sufficient: !/bananas/.test(text), missing: [], follow_up: '' }) : pictures && /JSON/.test(text) ? JSON.stringify(Array.from({ length: pictures }, (_, i) => `Slide ${i + 1} is shown.`)) : pictures ? 'A slide is shown.' : fromEvidence(text);
    if (!stream) {
      reply.setHeader('Content-Type', 'application/json');
      reply.end(JSON.stringify({ id: 'x', object: 'chat.completion', model: 'scripted', choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: answer } }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }));
      return;
    }
    reply.setHeader('Content-Type', 'text/event-stream');
    const send = (delta, finish = null) => reply.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    const slowly = !judging && /slowly/.test(text);
    const words = answer.match(/\S+\s*/g);
    for (const [i, word] of words.entries()) {
      if (slowly && i === Math.floor(words.length / 2)) await Promise.race([new Promise((go) => this.#held.push(go)), once(reply, 'close')]);
      if (reply.destroyed) return;
      send({ content: word });
      await new Promise((go) => setImmediate(go));
    }
    send({}, 'stop');
    reply.end('data: [DONE]\n\n');
  }

  async stop() {
    this.release();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Three sentences of the evidence, each with its number, in two paragraphs. */
function fromEvidence(prompt) {
  const inside = /<evidence>\n([\s\S]*?)\n<\/evidence>/g;
  const all = [...prompt.matchAll(inside)].map((m) => m[1]).join('\n');
  const found = [...all.matchAll(/^\[(\d+)\][^\n]*\n([^\n[]+)/gm)].slice(0, 3);
  if (!found.length) return 'The evidence does not answer this.';
  return found.map(([, n, quote], i) => `${quote.trim().replace(/\.$/, '')} [${n}].${i === 1 ? '\n\n' : ' '}`).join('').trim();
}
