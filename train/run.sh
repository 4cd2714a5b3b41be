#!/usr/bin/env bash
# Learns model/weights again: makes the locked Python environment, fetches the
# pinned packages, trains on one thread.
set -euo pipefail
cd "$(dirname "$0")"
export REELTREE_SHARED=${REELTREE_SHARED:-$(cd ../.. && pwd)/shared}
environment=../.cache/train/python

fail() { printf 'train: %s\n' "$*" >&2; exit 1; }
for tool in python3 apt-get dpkg-deb mvn; do
  command -v "$tool" >/dev/null || fail "$tool is missing and fetches or reads what the weights are learned from; install it and run make train again"
done
[ -f "$REELTREE_SHARED/bench/moments-train.jsonl.gz" ] ||
  fail "$REELTREE_SHARED holds no bench/moments-train.jsonl.gz, which the weights are learned from; set REELTREE_SHARED to the folder that does"

if [ ! -f "$environment/.whole" ]; then
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --require-hashes -r requirements.txt
  touch "$environment/.whole"
fi
PATH=$(cd "$environment/bin" && pwd):$PATH exec python -m embedder "$@"
