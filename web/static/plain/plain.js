// The plain page: play, ask, stream, seek. One WebSocket, resumed by sequence.
'use strict';
const $ = (id) => document.getElementById(id);
const token = sessionStorage.getItem('reeltree-token') || undefined;
const headers = token ? { Authorization: 'Bearer ' + token } : {};
let socket, stream, sources = [], spans = new Map();

const clock = (ms) => { const s = Math.floor(ms / 1000); return `${Math.floor(s / 3600)}:${String(Math.floor(s / 60) % 60).padStart(2, '0')}:${String(s % 60).padStart(2, '0')}`; };
const say = (text) => { $('state').textContent = text; };
const ticketed = (path, ticket) => ticket ? `${path}?ticket=${encodeURIComponent(ticket)}` : path;

function timeLink(evidence) {
  const a = document.createElement('a');
  a.className = 'time';
  a.href = `#/s/${evidence.source.id}?t=${evidence.span.start_ms / 1000}`;
  a.textContent = clock(evidence.span.start_ms);
  a.onclick = (e) => { e.preventDefault(); seek(evidence); };
  return a;
}

function seek(evidence) {
  const player = $('player');
  const go = () => { player.currentTime = evidence.span.start_ms / 1000; player.play().catch(() => {}); };
  if ($('source').value !== evidence.source.id) { $('source').value = evidence.source.id; show(); player.addEventListener('loadedmetadata', go, { once: true }); } else go();
}

function show() {
  const source = sources.find((s) => s.id === $('source').value);
  if (source) $('player').src = ticketed(`/v1/sources/${source.id}/media`, source.ticket);
}

async function load() {
  const reply = await fetch('/v1/sources', { headers });
  if (!reply.ok) { say((await reply.json()).error.message); return; }
  sources = (await reply.json()).sources;
  const chosen = $('source').value;
  $('source').replaceChildren(...sources.map((s) => new Option(`${s.title} (${s.state})`, s.id)));
  if (sources.some((s) => s.id === chosen)) $('source').value = chosen; else show();
  say(sources.length ? '' : 'Nothing here yet: add a file.');
}

const handlers = {
  welcome: () => { load(); if (stream) send({ type: 'subscribe', stream: stream.id, epoch: stream.epoch, after: stream.seq }); else send({ type: 'subscribe', stream: 'library' }); },
  accepted: (m) => { if (m.id && m.id.startsWith('ask-')) stream = { id: m.stream, epoch: m.epoch, seq: 0 }; },
  queued: (m) => say(`Waiting, position ${m.position}`),
  evidence: (m) => {
    spans.set(m.n, m);
    const li = document.createElement('li');
    li.value = m.n;
    if (m.frame) { const img = new Image(); img.src = ticketed(m.frame, m.ticket); img.alt = ''; li.append(img); }
    li.append(timeLink(m), ' ', m.quote);
    $('evidence').append(li);
  },
  token: (m) => $('answer').append(m.text),
  citation: (m) => { const e = spans.get(m.n); if (e) $('answer').append(' ', timeLink(e), ' '); },
  done: () => { stream = undefined; $('stop').hidden = true; say(''); },
  gap: () => { $('answer').replaceChildren(); $('evidence').replaceChildren(); },
  source: () => load(),
  error: (m) => say(m.message),
};

const send = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));

function connect() {
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/ws`, 'reeltree.v1');
  socket.onopen = () => send({ type: 'hello', token, client: 'plain page' });
  socket.onmessage = (e) => {
    const m = JSON.parse(e.data);
    if (m.seq && stream && m.stream === stream.id) stream.seq = m.seq;
    if (handlers[m.type]) handlers[m.type](m);
  };
  socket.onclose = () => { say('Connection lost, trying again…'); setTimeout(connect, 1000); };
}

$('ask').onsubmit = (e) => {
  e.preventDefault();
  const question = $('question').value.trim();
  if (!question) return;
  $('answer').replaceChildren(); $('evidence').replaceChildren(); spans = new Map();
  $('stop').hidden = false;
  send({ type: 'ask', id: 'ask-' + crypto.randomUUID(), question, sources: $('source').value ? [$('source').value] : undefined });
};
$('stop').onclick = () => stream && send({ type: 'cancel', stream: stream.id });
$('source').onchange = show;
$('file').onchange = async () => {
  const form = new FormData();
  form.append('file', $('file').files[0]);
  say('Uploading…');
  const reply = await fetch('/v1/sources', { method: 'POST', body: form, headers });
  say(reply.ok ? 'Being read…' : (await reply.json()).error.message);
};
connect();
