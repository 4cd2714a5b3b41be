import { beforeEach, describe, expect, it } from 'vitest';
import { Bench, Recorder, token } from './fake';

const question = { id: 'q1', question: 'Where?' };
const accept = (b: Bench, id: unknown = 'q1', stream = 'answer1', epoch = 'e1'): void => b.socket.say({ type: 'accepted', id, stream, epoch });
const done = (seq: number, epoch = 'e1', stream = 'answer1'): object => ({ type: 'done', finish: 'stop', stream, epoch, seq });

let bench: Bench;
let heard: Recorder;
beforeEach(() => { bench = new Bench(); heard = new Recorder(); });

describe('hello', () => {
  it('comes first, with the token, and everything else waits for the welcome', () => {
    bench.connection.connect();
    bench.connection.ask(question, heard);
    bench.socket.onopen?.(undefined as never);
    expect(bench.socket.sent).toEqual([{ type: 'hello', token: 'secret', client: 'page' }]);
    bench.socket.say({ type: 'welcome', session: 's', server: 'x' });
    expect(bench.socket.last()).toEqual({ type: 'ask', ...question });
    expect(bench.links).toEqual(['open']);
  });

  it('is not tried again with a refused token', () => {
    bench.start();
    bench.socket.drop(4003);
    expect(bench.links).toEqual(['open', 'refused']);
    expect(bench.clock.waits).toHaveLength(0);
    bench.connection.reconnect();
    expect(bench.sockets).toHaveLength(2);
  });

  it('waits longer after every failure and short again after a success', () => {
    bench.start();
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      bench.socket.drop();
      waits.push(bench.clock.waits[0]!.ms);
      bench.clock.fire();
    }
    expect(waits[0]).toBeLessThan(320);
    expect(waits[3]).toBeGreaterThan(waits[0]! * 3);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
    bench.socket.open();
    bench.socket.drop();
    expect(bench.clock.waits[0]!.ms).toBeLessThan(320);
  });
});

describe('order', () => {
  beforeEach(() => { bench.start().connection.ask(question, heard); accept(bench); });

  it('passes consecutive events on, joined ones too', () => {
    bench.socket.say(token(1, 'a'));
    bench.socket.say(token(4, 'bcd', 2));
    bench.socket.say(done(5));
    expect(heard.text()).toBe('abcd');
    expect(heard.events).toHaveLength(3);
  });

  it('drops what it has seen', () => {
    const sent = bench.socket.sent.length;
    bench.socket.say(token(1, 'a'));
    bench.socket.say(token(1, 'a'));
    bench.socket.say(token(3, 'bc', 2));
    bench.socket.say(token(2, 'b'));
    expect(heard.text()).toBe('abc');
    expect(bench.socket.sent).toHaveLength(sent); // nothing is asked for again
  });

  it('asks again after a hole and takes nothing until the service has heard it', () => {
    bench.socket.say(token(1, 'a'));
    bench.socket.say(token(3, 'c'));
    expect(bench.socket.last()).toMatchObject({ type: 'subscribe', stream: 'answer1', epoch: 'e1', after: 1 });
    bench.socket.say(token(2, 'LATE')); // still from the subscription before
    expect(heard.text()).toBe('a');
    accept(bench, bench.socket.last()['id']);
    bench.socket.say(token(2, 'b'));
    bench.socket.say(token(3, 'c'));
    expect(heard.text()).toBe('abc');
    expect(heard.resets).toBe(0);
  });

  it('takes a joined frame that begins inside what it has as a hole', () => {
    bench.socket.say(token(2, 'ab', 1));
    bench.socket.say(token(3, 'bc', 2));
    expect(heard.text()).toBe('ab');
    expect(bench.socket.last()).toMatchObject({ type: 'subscribe', after: 2 });
  });

  it('starts a stream over that stays broken, and gives it up at last', () => {
    for (let i = 0; i < 5; i++) {
      bench.socket.say(token(9, 'x'));
      accept(bench, bench.socket.last()['id']);
    }
    expect(heard.resets).toBe(1);
    bench.socket.say(token(9, 'x'));
    expect(heard.error).toMatchObject({ retry: true });
  });

  it('leaves other streams alone', () => {
    bench.socket.say(token(1, 'x', undefined, 'e1', 'other'));
    expect(heard.events).toHaveLength(0);
  });
});

describe('resume', () => {
  it('goes on after the last event seen', () => {
    bench.start().connection.ask(question, heard);
    accept(bench);
    bench.socket.say(token(1, 'a'));
    bench.socket.say(token(3, 'bc', 2));
    bench.blink();
    expect(bench.socket.last()).toMatchObject({ type: 'subscribe', stream: 'answer1', epoch: 'e1', after: 3 });
    accept(bench, bench.socket.last()['id']);
    bench.socket.say(token(4, 'd'));
    bench.socket.say(done(5));
    expect(heard.text()).toBe('abcd');
    expect(heard.resets).toBe(0);
    expect(bench.links).toEqual(['open', 'lost', 'open']);
  });

  it('asks with the same id when the answer had no name yet', () => {
    bench.start().connection.ask(question, heard);
    bench.blink();
    expect(bench.socket.last()).toEqual({ type: 'ask', ...question });
  });

  it('follows a named stream from its beginning after a reload', () => {
    bench.start().connection.follow('answer1', heard, { epoch: 'e1', ask: question });
    expect(bench.socket.last()).toMatchObject({ type: 'subscribe', stream: 'answer1', epoch: 'e1', after: 0 });
    accept(bench, bench.socket.last()['id']);
    bench.socket.say(token(2, 'ab', 1));
    bench.socket.say(done(3));
    expect(heard.text()).toBe('ab');
  });

  it('does not ask for what has ended', () => {
    bench.start().connection.ask(question, heard);
    accept(bench);
    bench.socket.say(done(1));
    bench.blink();
    expect(bench.socket.sent).toHaveLength(1);
  });

  it('unsubscribes when nobody follows any more', () => {
    const stop = bench.start().connection.follow('library', heard);
    stop();
    expect(bench.socket.last()).toEqual({ type: 'unsubscribe', stream: 'library' });
    bench.blink();
    expect(bench.socket.sent).toHaveLength(1);
  });
});

describe('gap', () => {
  it('starts over from the oldest event still held', () => {
    bench.start().connection.follow('library', heard);
    accept(bench, bench.socket.last()['id'], 'library');
    bench.socket.say({ type: 'gap', stream: 'library', epoch: 'e1', first: 501 });
    bench.socket.say({ type: 'source', op: 'changed', id: 'x', state: 'done', stream: 'library', epoch: 'e1', seq: 501 });
    expect(heard.resets).toBe(1);
    expect(heard.events).toHaveLength(1);
  });

  it('of another epoch asks the question again with the same id and never joins two runs', () => {
    bench.start().connection.ask(question, heard);
    accept(bench);
    bench.socket.say(token(1, 'old '));
    bench.blink();
    accept(bench, bench.socket.last()['id'], 'answer1', 'e2');
    bench.socket.say({ type: 'gap', stream: 'answer1', epoch: 'e2', first: 1 });
    expect(heard.text()).toBe('');
    expect(bench.socket.last()).toEqual({ type: 'ask', ...question });
    bench.socket.say(token(1, 'from the gap', undefined, 'e2'));
    accept(bench, 'q1', 'answer2', 'e3');
    bench.socket.say(token(1, 'new', undefined, 'e3', 'answer2'));
    expect(heard.text()).toBe('new');
  });

  it('an unknown stream is asked for again once, then refused', () => {
    bench.start().connection.follow('answer1', heard, { epoch: 'e1', ask: question });
    const unknown = { type: 'error', code: 1005, message: 'nothing is known', retry: false };
    bench.socket.say({ ...unknown, id: bench.socket.last()['id'] });
    expect(bench.socket.last()).toEqual({ type: 'ask', ...question });
    bench.socket.say({ ...unknown, id: 'q1' });
    expect(heard.error?.code).toBe(1005);
  });

  it('events of another epoch are never mixed in', () => {
    bench.start().connection.ask(question, heard);
    accept(bench);
    bench.socket.say(token(1, 'a'));
    bench.socket.say(token(2, 'b', undefined, 'e2'));
    expect(heard.text()).toBe('a');
  });
});

describe('refusal', () => {
  it('reaches the one who asked', () => {
    bench.start().connection.ask(question, heard);
    const other = new Recorder();
    bench.connection.ask({ id: 'q2', question: 'Who?' }, other);
    bench.socket.say({ type: 'error', id: 'q1', code: 1501, message: 'too much waits', retry: true });
    expect(heard.error?.message).toBe('too much waits');
    expect(other.error).toBeUndefined();
  });
});
