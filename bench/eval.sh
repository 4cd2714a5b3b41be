#!/usr/bin/env bash
# make eval: every benchmark task with its ablation, written into docs/results.md.
# The sets are found in $REELTREE_SHARED/bench, else ../shared/bench; PART names
# the part of each set (dev).
set -euo pipefail
cd "$(dirname "$0")/.."
sets=${REELTREE_SHARED:-$(dirname "$PWD")/shared}/bench
part=${PART:-dev}
[ -d "$sets" ] || { echo "eval: there are no benchmark sets in $sets; set REELTREE_SHARED to the folder that holds bench" >&2; exit 1; }
out=bin/eval
mkdir -p "$out"
rm -f "$out"/*.json

measure() { # name, task, further arguments
  local name=$1 task=$2; shift 2
  echo "eval: $name"
  bin/reeltree eval "$task" --log warn --out "$out/$name.predictions.jsonl" --report "$out/$name.json" "$@"
}
for task in meetings moments passages tables; do
  measure "$task-$part" "$task" --data "$sets/$task-$part.jsonl.gz" --ablate
done
for pool in clean noise redundancy; do
  measure "multihop-$pool-$part" multihop --data "$sets/multihop-$pool-$part.jsonl.gz" --pool "$sets/multihop-$pool-pool.jsonl.gz" --ablate
done
measure "answers-meetings-$part" answers --data "$sets/meetings-$part.jsonl.gz"
bin/reeltree eval page --data "$out" --out docs/results.md
