#!/usr/bin/env bash
# make eval: every benchmark task with its ablation, written into docs/results.md.
# The sets are found in $REELTREE_SHARED/bench, else ../shared/bench; PART names
# the part of each set (dev), JOBS how many tasks run at once.
set -euo pipefail
cd "$(dirname "$0")/.."
sets=${REELTREE_SHARED:-$(dirname "$PWD")/shared}/bench
part=${PART:-dev}
[ -d "$sets" ] || { echo "eval: there are no benchmark sets in $sets; set REELTREE_SHARED to the folder that holds bench" >&2; exit 1; }
export out=bin/eval
mkdir -p "$out"
rm -f "$out"/*

measure() { # name, task, further arguments
  local name=$1 task=$2; shift 2
  bin/reeltree eval "$task" --log warn --out "$out/$name.predictions.jsonl" --report "$out/$name.json" "$@" >"$out/$name.log" 2>&1 ||
    { echo "eval: $name failed: $(tail -1 "$out/$name.log")" >&2; return 1; }
  echo "$name $(tail -1 "$out/$name.log")"
}
export -f measure

{
  for task in moments passages tables meetings; do echo "$task-$part" "$task" --data "$sets/$task-$part.jsonl.gz" --ablate; done
  for pool in clean noise redundancy; do
    echo "multihop-$pool-$part" multihop --data "$sets/multihop-$pool-$part.jsonl.gz" --pool "$sets/multihop-$pool-pool.jsonl.gz" --ablate
  done
  for videos in 150 9999; do echo "moments-$part-joined-$videos" moments --data "$sets/moments-$part.jsonl.gz" --join "$videos"; done
  for stress in copies damage; do echo "meetings-$part-$stress" meetings --data "$sets/meetings-$part.jsonl.gz" --stress "$stress"; done
  echo "meetings-$part-halting" meetings --data "$sets/meetings-$part.jsonl.gz" --halting
  echo "answers-meetings-$part" answers --data "$sets/meetings-$part.jsonl.gz"
} | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -c 'measure "$@"' measure
bin/reeltree eval page --data "$out" --out docs/results.md
