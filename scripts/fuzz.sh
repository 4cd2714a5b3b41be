#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (30s), one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
for file in $(grep -lE '^func Fuzz' --include='*_test.go' -r . | sort); do
  for target in $(grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/func //'); do
    echo "fuzz: $target in $(dirname "$file")"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" "$(dirname "$file")"
  done
done
