// The plain page: play, ask, stream, seek. One WebSocket, resumed by sequence.
'use strict';
const $ = (id) => document.getElementById(id);
const tokenKey = 'reeltree-token';
const headers = () => { const token = sessionStorage.getItem(tokenKey); return token ? { Authorization: 'Bearer ' + token } : {}; };
let socket, stream, sources = [], moments = new Map(), wanted; // wanted: seconds to go to once the media is there

const clock = (ms) => { const s = Math.floor(ms / 1000); return `${Math.floor(s / 3600)}:${String(Math.floor(s / 60) % 60).padStart(2, '0')}:${String(s % 60).padStart(2, '0')}`; };
const place = (span) => 'start_ms' in span ? clock(span.start_ms) : 'paragraph' in span ? `¶ ${span.paragraph}` : `row ${span.row_start}`;
const say = (text) => { $('state').textContent = text; };
const ticketed = (path, ticket) => ticket ? `${path}?ticket=${encodeURIComponent(ticket)}` : path;
const refusal = async (reply) => (await reply.json()).error.message;

function timeLink(evidence) {
  const a = document.createElement('a');
  const seconds = (evidence.span.start_ms ?? 0) / 1000;
  a.className = 'time';
  a.href = `#/s/${evidence.source.id}?t=${seconds}`;
  a.textContent = place(evidence.span);
  a.onclick = (e) => { e.preventDefault(); go(evidence.source.id, seconds, true); };
  return a;
}

/** Shows a source, and its media at a time. */
function go(source, seconds, play) {
  const player = $('player');
  wanted = seconds;
  if ($('source').value !== source) { $('source').value = source; show(); }
  if (player.readyState > 0) arrive();
  if (play) player.play().catch(() => {}); // the browser may want a click first
}

function arrive() {
  if (wanted !== undefined) $('player').currentTime = wanted;
  wanted = undefined;
}

function show() {
  const source = sources.find((s) => s.id === $('source').value);
  const media = source && (source.kind === 'video' || source.kind === 'audio');
  $('player').hidden = !media;
  if (media) $('player').src = ticketed(`/v1/sources/${source.id}/media`, source.ticket);
  else $('player').removeAttribute('src');
}

async function load() {
  const reply = await fetch('/v1/sources', { headers: headers() });
  if (!reply.ok) return say(await refusal(reply));
  sources = (await reply.json()).sources;
  const [, linked, seconds] = /^#\/s\/([a-z2-7]+)(?:\?t=([\d.]+))?/.exec(location.hash) ?? [];
  const before = $('source').value;
  $('source').replaceChildren(...sources.map((s) => new Option(`${s.title} (${s.state})`, s.id)));
  if (sources.some((s) => s.id === before)) $('source').value = before;
  else if (sources.some((s) => s.id === linked)) { $('source').value = linked; show(); go(linked, Number(seconds ?? 0), false); }
  else show();
  const failed = sources.find((s) => s.id === $('source').value && s.error);
  say(failed ? failed.error : sources.length ? '' : 'Nothing here yet: add a file.');
}

function start() {
  $('answer').replaceChildren();
  $('evidence').replaceChildren();
  delete $('answer').dataset.finished;
  moments = new Map();
}

function finish(text) {
  stream = undefined;
  $('stop').hidden = true;
  $('answer').dataset.finished = '';
  say(text);
}

const handlers = {
  welcome: () => {
    load();
    send({ type: 'subscribe', stream: 'library' });
    if (stream) send({ type: 'subscribe', stream: stream.id, epoch: stream.epoch, after: stream.seq });
  },
  accepted: (m) => { if (m.id?.startsWith('ask-')) stream = { id: m.stream, epoch: m.epoch, seq: 0 }; },
  queued: (m) => say(`Waiting, position ${m.position}`),
  evidence: (m) => {
    moments.set(m.n, m);
    const li = document.createElement('li');
    li.value = m.n;
    if (m.frame) { const img = new Image(); img.src = ticketed(m.frame, m.ticket); img.alt = ''; li.append(img); }
    li.append(timeLink(m), ' ', m.quote);
    $('evidence').append(li);
  },
  token: (m) => $('answer').append(m.text),
  citation: (m) => { const e = moments.get(m.n); if (e) $('answer').append(' ', timeLink({ ...e, span: m.span ?? e.span }), ' '); },
  revised: () => $('answer').replaceChildren(),
  done: (m) => { if (stream && m.stream === stream.id) finish(m.error ? m.error.message : m.finish === 'cancelled' ? 'Stopped.' : m.note ?? ''); },
  gap: (m) => { if (stream && m.stream === stream.id) { start(); stream.epoch = m.epoch; stream.seq = m.first - 1; } },
  source: () => load(),
  error: (m) => finish(m.message),
};

const send = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));

function connect() {
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/ws`, 'reeltree.v1');
  socket.onopen = () => send({ type: 'hello', token: sessionStorage.getItem(tokenKey) ?? undefined, client: 'plain page' });
  socket.onmessage = (e) => {
    const m = JSON.parse(e.data);
    if (m.seq && stream && m.stream === stream.id) {
      if (m.seq <= stream.seq) return; // seen before the connection was lost
      stream.seq = m.seq;
    }
    handlers[m.type]?.(m);
  };
  socket.onclose = (e) => {
    if (e.code === 4003) {
      const token = prompt('This service asks for a token (--token).');
      if (token === null) return say('This service asks for a token: reload the page to enter it.');
      sessionStorage.setItem(tokenKey, token);
      return connect();
    }
    say('Connection lost, trying again…');
    setTimeout(connect, 1000);
  };
}

$('ask').onsubmit = (e) => {
  e.preventDefault();
  const question = $('question').value.trim();
  if (!question) return;
  start();
  $('stop').hidden = false;
  const id = 'ask-' + Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, '0')).join('');
  send({ type: 'ask', id, question, sources: $('source').value ? [$('source').value] : undefined });
};
$('stop').onclick = () => stream && send({ type: 'cancel', stream: stream.id });
$('source').onchange = () => { show(); load(); };
$('player').onloadedmetadata = arrive;
$('file').onchange = async () => {
  const form = new FormData();
  form.append('file', $('file').files[0]);
  say('Uploading…');
  const reply = await fetch('/v1/sources', { method: 'POST', body: form, headers: headers() });
  say(reply.ok ? 'Being read…' : await refusal(reply));
};
connect();
