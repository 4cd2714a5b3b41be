#!/usr/bin/env bash
# make run: start the service, ingest VIDEO (a file or an address) or the demo
# talk, ask QUESTION, print the answer and the page's address, keep serving.
set -euo pipefail
cd "$(dirname "$0")/.."
reeltree=bin/reeltree
listen=${REELTREE_LISTEN:-127.0.0.1:8400}
video=${VIDEO:-demo/talk.mp4}
question=${QUESTION:-}
if [ -z "$question" ]; then
  if [ "$video" = demo/talk.mp4 ]; then question='From how many kilometres could the light be seen?'
  else question='What is this about?'; fi
fi

log=$(mktemp -t reeltree-run.XXXXXX)
"$reeltree" serve --listen "$listen" --log info 2>"$log" & server=$!
stop() { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -f "$log"; }
trap stop EXIT
trap 'exit 130' INT TERM
# Its own word, not that of the port: another service may answer there.
listens() { grep -q 'msg=listening' "$log"; }
ended() { echo "run: the service has ended; its log:" >&2; cat "$log" >&2; exit 1; }
for _ in $(seq 300); do
  listens && break
  kill -0 "$server" 2>/dev/null || ended
  sleep 0.1
done
listens || { echo "run: the service did not listen on $listen within 30 s; its log:" >&2; cat "$log" >&2; exit 1; }

echo "ingesting $video"
args=(); [ -z "${SUBTITLES:-}" ] || args=(--subtitles "$SUBTITLES")
"$reeltree" ingest --server "http://$listen" "${args[@]}" -- "$video"
echo
echo "question: $question"
"$reeltree" ask --server "http://$listen" -- "$question"
echo
echo "the page: http://$listen/    (Ctrl-C stops the service)"
wait "$server" || ended
