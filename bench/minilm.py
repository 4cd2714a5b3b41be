"""The sentence encoder MiniLM as a peer of the built-in embedder.

minilm.py FOLDER --texts FILE reads `embed FROM TO` from standard input and
answers each with one line of JSON: op, n, cpu_s, wall_s. FOLDER holds the ONNX
file and the tokenizer that training fetches; it runs in training's environment.
"""

import argparse
import json
import pathlib
import resource
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "train"))
from embedder.teacher import Teacher  # noqa: E402


def cpu():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--texts", type=pathlib.Path, required=True)
    a = p.parse_args()
    texts = a.texts.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as cache:
        teacher = Teacher(a.folder, pathlib.Path(cache))
        for command in sys.stdin:
            op, first, last = command.split()
            wall, used = time.perf_counter(), cpu()
            teacher.encode(texts[int(first) : int(last)])
            took = {"op": op, "n": int(last) - int(first), "cpu_s": cpu() - used, "wall_s": time.perf_counter() - wall}
            print(json.dumps(took), flush=True)


if __name__ == "__main__":
    main()
