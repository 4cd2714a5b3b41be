#!/usr/bin/env bash
# Fails on a relative link in a Markdown file that leads nowhere.
set -euo pipefail
cd "$(dirname "$0")/.."
dead=0
while IFS=: read -r file link; do
  target=${link%%#*}
  [ -n "$target" ] || continue
  if [ ! -e "$(dirname "$file")/$target" ]; then echo "docs: $file links to $target, which does not exist"; dead=1; fi
done < <(git ls-files '*.md' | grep -v testdata | xargs grep -oE '\]\([^)]+\)' | sed -E 's/\]\(([^) ]+).*\)/\1/' | grep -vE ':(https?|mailto)')
exit $dead
