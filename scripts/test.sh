#!/usr/bin/env bash
# make test: Go tests with the race detector, then the page's: types, units, and
# bin/reeltree in Chromium (REELTREE_BINARY and CHROMIUM name others).
set -euo pipefail
cd "$(dirname "$0")/.."
export REELTREE_SHARED=${REELTREE_SHARED:-$(dirname "$PWD")/shared}
if [ -d "$REELTREE_SHARED" ]; then echo "test: shared material in $REELTREE_SHARED"
else echo "test: no shared material at $REELTREE_SHARED, its tests skip (set REELTREE_SHARED)"; fi

log=$(mktemp); page=$(mktemp); trap 'rm -f "$log" "$page"' EXIT
go test -race -timeout 40m -v ./... >"$log" 2>&1 && status=0 || status=$?
grep -E '^(ok|FAIL|panic|---? FAIL|\?)' "$log" | grep -v 'no test files' || true
if [ "$status" != 0 ]; then
  echo 'test: failing output follows'
  grep -nE -B2 -A40 -- '--- FAIL|^panic|^WARNING: DATA RACE|build failed|^# ' "$log" | head -400
  exit "$status"
fi
passed=$(grep -cE '^\s*--- PASS' "$log" || true); skipped=$(grep -cE '^\s*--- SKIP' "$log" || true)
if [ -d "$REELTREE_SHARED" ] && grep -q 'shared material is absent' "$log"; then
  echo 'test: the shared folder exists but a corpus test skipped:'; grep -B1 'shared material is absent' "$log"; exit 1
fi
if [ "$(go env GOARCH)" = amd64 ]; then
  echo 'test: vector instructions, as make build uses them'
  GOEXPERIMENT=simd go test -timeout 20m ./retrieve ./model
fi
if [ -f web/page/package.json ]; then
  echo 'test: page'
  (cd web/page && npm run --silent check && NO_COLOR=1 npm run --silent test) | tee "$page"
  passed=$((passed + $(sed -nE 's/^ *Tests +([0-9]+) passed.*/\1/p' "$page")))
  echo 'test: page in Chromium'
  (cd web/page && NO_COLOR=1 npm run --silent e2e) | tee "$page"
  passed=$((passed + $(sed -nE 's/^ℹ pass ([0-9]+)$/\1/p' "$page")))
fi
echo "$passed passed, 0 failed, $skipped skipped"
