"""python -m navigator --lessons FOLDER [--shared FOLDER] [--work FOLDER]: learns
retrieve/weights/navigator.safetensors. One thread throughout, so that the file
comes out the same."""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"  # before JAX is loaded

import argparse
import dataclasses
import pathlib

from . import export, learn, model
from .lessons import Lessons

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

# Features of speech: its words, who speaks and the words around. The vectors of the built-in embedder
# were tuned on the same recordings and look better on them than they are.
SPOKEN = (0, 5, 6, 15, 16, 17, 18)

RECIPES = {
    "seen": ("moments-train", learn.Recipe(seen=True, reads=None, reads_vectors=True, epochs=3, batch=256)),
    "spoken": ("meetings-train", learn.Recipe(seen=False, reads=SPOKEN, reads_vectors=False, epochs=30, batch=16, rate=2e-2, most=1 << 30)),
}


def main() -> None:
    arguments = argparse.ArgumentParser(prog="navigator", description=__doc__)
    arguments.add_argument("--lessons", type=pathlib.Path, required=True)
    a = arguments.parse_args()
    shape, sets, recipe = model.Shape(gated=64), {}, {}
    for name, (data, r) in RECIPES.items():
        lessons = Lessons(a.lessons / data)
        learner = learn.Learner(lessons, lessons.questions, shape, r)
        for epoch in range(r.epochs):
            print(name, epoch, round(learner.run_epoch(), 4), flush=True)
        sets[name] = learn.folded(learner.weights, learner.scale)
        recipe[name] = {"data": data, **dataclasses.asdict(r)}
    print(export.write(REPOSITORY / "retrieve/weights", sets, lessons.embedder, {"shape": dataclasses.asdict(shape), "sets": recipe}))


if __name__ == "__main__":
    main()
