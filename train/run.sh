#!/usr/bin/env bash
# Learns the shipped weights again: makes the locked Python environment, fetches
# the pinned packages, trains on one thread. run.sh embedder | navigator | refiner
# learns one of them, on the vectors of the embedder that is there.
set -euo pipefail
cd "$(dirname "$0")"
export REELTREE_SHARED=${REELTREE_SHARED:-$(cd ../.. && pwd)/shared}
work=../.cache/train
environment=$work/python

fail() { printf 'train: %s\n' "$*" >&2; exit 1; }
what=${1:-all}
case $what in
embedder | navigator | refiner | all) ;;
*) fail "$what is not a part that is learned; name embedder, navigator, refiner or nothing for all" ;;
esac
tools=(python3)
[ "$what" != embedder ] && [ "$what" != all ] || tools+=(apt-get dpkg-deb mvn)
[ "$what" = embedder ] || tools+=(go)
for tool in "${tools[@]}"; do
  command -v "$tool" >/dev/null || fail "$tool is missing and fetches or reads what the weights are learned from; install it and run make train again"
done
[ -f "$REELTREE_SHARED/bench/moments-train.jsonl.gz" ] ||
  fail "$REELTREE_SHARED holds no bench/moments-train.jsonl.gz, which the weights are learned from; set REELTREE_SHARED to the folder that does"

wanted=$(sha256sum requirements.txt)
if [ "$(cat "$environment/.whole" 2>/dev/null)" != "$wanted" ]; then
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --require-hashes -r requirements.txt
  printf '%s' "$wanted" >"$environment/.whole"
fi
PATH=$(cd "$environment/bin" && pwd):$PATH
if [ "$what" = embedder ] || [ "$what" = all ]; then
  python -m embedder "${@:2}"
fi
if [ "$what" = navigator ] || [ "$what" = all ]; then
  mkdir -p "$work/lessons"
  lessons=$(cd "$work/lessons" && pwd)
  (cd .. && go test ./retrieve -count=1 -run TestWriteLessons -lessons "$lessons" >/dev/null) ||
    fail "go test ./retrieve -run TestWriteLessons fails and writes what the navigator learns from; run it to see why"
  python -m navigator "${@:2}"
fi
if [ "$what" = refiner ] || [ "$what" = all ]; then
  mkdir -p "$work/refiner"
  make -s -C .. build >/dev/null || fail "make build fails and makes the program that writes what the refiner learns from; run it to see why"
  for set in moments-train meetings-train tables-dev; do
    ../bin/reeltree eval refiner --data "$REELTREE_SHARED/bench/$set.jsonl.gz" --out "$work/refiner/$set.jsonl" --report "$work/refiner/$set.json" >/dev/null
  done
  python -m refiner "${@:2}"
fi
