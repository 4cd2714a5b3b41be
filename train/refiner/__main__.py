"""python -m refiner --lessons FOLDER [--held-out]: learns
retrieve/weights/refiner.safetensors from what `reeltree eval refiner --out
FOLDER/SET.jsonl --report FOLDER/SET.json` wrote of each set. One thread throughout, so that the file
comes out the same."""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"  # before JAX is loaded

import argparse
import dataclasses
import hashlib
import json
import pathlib

import numpy as np
from safetensors.numpy import save

from . import golden, learn
from .lessons import Junctions, read

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FOLDS = 5

# Terms before the place in the source, which tells nothing in a page.
PLACELESS = 25

# Pages of tables have no train part: what their set reaches is said by five folds of pages.
RECIPES = {
    "seen": ("moments-train", learn.Recipe(steps=60, hidden=32, rank=16)),
    "spoken": ("meetings-train", learn.Recipe(steps=200, hidden=32)),
    "written": ("tables-dev", learn.Recipe(steps=200, hidden=16, reads=PLACELESS, decay=1e-3)),
}
PLAIN = {  # beside them: what the rank alone gives, and the terms alone
    "offsets": dict(hidden=0, rank=0, reads=0),
    "rank": dict(hidden=0, rank=16, reads=0, steps=60),
    "terms": dict(hidden=0, rank=0),
    "terms and rank": dict(hidden=0, rank=16, steps=60),
    "terms and layer": dict(rank=0, steps=200),
}


def folds(j: Junctions) -> np.ndarray:
    """The fold of every junction: junctions of one source stay together."""
    order = {c: i % FOLDS for i, c in enumerate(sorted(set(j.clusters)))}
    return np.array([order[c] for c in j.clusters])


def report(name: str, j: Junctions, r: learn.Recipe, tests: int) -> None:
    """What a recipe reaches on junctions of sources it did not learn from."""
    fold = folds(j)
    for label, change in {"as shipped": {}, **PLAIN}.items():
        right = []
        for k in range(tests):
            w, _ = learn.learned(j.of(fold != k), dataclasses.replace(r, **change))
            kept = j.of(fold == k)
            right.append(learn.held(kept, learn.scores(w, kept)) == 1)
        right = np.concatenate(right)
        print(f"{name}, {label}: {right.mean():.3f} of {len(right)} held out", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(prog="refiner", description=__doc__)
    arguments.add_argument("--lessons", type=pathlib.Path, default=REPOSITORY / ".cache/train/refiner")
    arguments.add_argument("--held-out", action="store_true", help="learn without a fifth of the sources in turn and report on it; writes nothing")
    a = arguments.parse_args()
    sets, recipe, embedder = {}, {}, ""
    for name, (data, r) in RECIPES.items():
        j = read(a.lessons / f"{data}.jsonl")
        if a.held_out:
            report(name, j, r, FOLDS if data == "tables-dev" else 1)
            continue
        embedder = json.loads((a.lessons / f"{data}.json").read_text())["embedder"]
        sets[name], curve = learn.learned(j, r)
        recipe[name] = {"data": data, "junctions": len(j), "loss": [round(curve[0], 4), round(curve[-1], 4)], **dataclasses.asdict(r)}
        print(name, "learned:", round(learn.accuracy(j, learn.scores(sets[name], j)), 3), "of its own junctions", flush=True)
    if sets:
        golden.write(REPOSITORY, sets)
        write(sets, embedder, recipe)


def write(sets: dict, embedder: str, recipe: dict) -> None:
    file = save({f"{n}.{k}": np.ascontiguousarray(v) for n, w in sets.items() for k, v in w.items()}, {"embedder": embedder})
    folder = REPOSITORY / "retrieve/weights"
    (folder / "refiner.safetensors").write_bytes(file)
    manifest = {"file": "refiner.safetensors", "sha256": hashlib.sha256(file).hexdigest(), "embedder": embedder, "sharpness": learn.SHARPNESS, "sets": recipe}
    (folder / "refiner.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(manifest["sha256"])


if __name__ == "__main__":
    main()
