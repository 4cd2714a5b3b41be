#!/usr/bin/env bash
# Rewrites the generated pages of docs/ from the binary.
set -euo pipefail
cd "$(dirname "$0")/.."
bin/reeltree config >docs/config.md
bin/reeltree config --errors >docs/errors.md
