"""python -m navigator [--lessons FOLDER] [--work FOLDER] [--held-out]: learns
retrieve/weights/navigator.safetensors from what `go test ./retrieve -run
TestWriteLessons -lessons FOLDER` wrote. One thread throughout, so that the file
comes out the same. A run that was stopped goes on after its last epoch."""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"  # before JAX is loaded

import argparse
import dataclasses
import hashlib
import pathlib

import numpy as np

from . import chart, export, golden, halt, learn, measure, model, walk
from .lessons import Lessons, Question

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

# Features of speech: its words, who speaks and the words around. The vectors of the built-in
# embedder were tuned on the same recordings and look better on them than they are.
SPOKEN = (0, 5, 6, 15, 16, 17, 18)

SHAPE = model.Shape(gated=64)
ROUNDS = 5  # of the walks the stop is learned on
WALKS = 1500  # questions it is learned on

RECIPES = {
    "seen": ("moments-train", learn.Recipe(seen=True, reads=None, reads_vectors=True, epochs=3, batch=256)),
    "long": ("moments-train-joined", learn.Recipe(seen=True, reads=None, reads_vectors=True, epochs=3, batch=64, most=1 << 30, beam=True)),
    "spoken": ("meetings-train", learn.Recipe(seen=False, reads=SPOKEN, reads_vectors=False, epochs=30, batch=16, rate=2e-2, most=1 << 30)),
}
HELD_OUT = {"seen": lambda q: q.series == "part0", "long": lambda q: q.series == "part0", "spoken": lambda q: q.series == "academic"}


def learned(name: str, lessons: Lessons, questions: list[Question], r: learn.Recipe, work: pathlib.Path):
    """Weights of one set and the loss of every epoch."""
    learner = learn.Learner(lessons, questions, SHAPE, r)
    key = hashlib.sha256(repr((r, SHAPE, len(questions), lessons.phi.sum(), lessons.vectors.sum())).encode()).hexdigest()[:16]
    checkpoint = work / f"navigator-{name}-{key}.npz"
    learner.resume(checkpoint)
    while learner.epoch < r.epochs:
        print(name, learner.epoch, round(learner.run_epoch(), 4), flush=True)
        learner.keep(checkpoint)
    weights = learn.folded(learner.weights, learner.scale)
    walker = walk.Walker(lessons, weights, SHAPE, walk.widths(lessons, questions))
    some = questions[:: max(1, len(questions) // WALKS)]
    states, marks = halt.examples(walker, some, ROUNDS)
    print(name, "stop:", len(marks), "rounds,", round(float(marks.mean()), 3), "of them the last that pays", flush=True)
    return weights | halt.fit(states, marks, r.reads_vectors), learner.curve


def report(name: str, lessons: Lessons, r: learn.Recipe, work: pathlib.Path) -> None:
    """What a set reaches on questions of the train part that it did not learn from."""
    out = HELD_OUT[name]
    weights, _ = learned(name + "-held-out", lessons, [q for q in lessons.questions if not out(q)], r, work)
    kept = [q for q in lessons.questions if out(q)]
    walker = walk.Walker(lessons, weights, SHAPE, walk.widths(lessons, kept))
    print(name, "held out:", (measure.first if r.seen else measure.tenth)(walker, kept, 0), flush=True)
    if r.beam:
        print(name, "held out, L1:", measure.routed(walker, kept), flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(prog="navigator", description=__doc__)
    arguments.add_argument("--work", type=pathlib.Path, default=REPOSITORY / ".cache/train")
    arguments.add_argument("--lessons", type=pathlib.Path)
    arguments.add_argument("--only", choices=list(RECIPES), help="with --held-out: this set alone")
    arguments.add_argument("--held-out", action="store_true", help="learn without a part of the train questions and report on it; writes nothing")
    a = arguments.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    sets, recipe, curves = {}, {}, {}
    for name, (data, r) in RECIPES.items():
        if a.only not in (None, name) and a.held_out:
            continue
        lessons = Lessons((a.lessons or a.work / "lessons") / data)
        if a.held_out:
            report(name, lessons, r, a.work)
            continue
        sets[name], curves[name] = learned(name, lessons, lessons.questions, r, a.work)
        recipe[name] = {"data": data, "questions": len(lessons.questions), **dataclasses.asdict(r)}
    if a.held_out:
        return
    golden.write(REPOSITORY, sets["seen"], SHAPE, lessons.features)
    chart.write(REPOSITORY / "docs/images/navigator-loss.svg", curves)
    print(export.write(REPOSITORY / "retrieve/weights", sets, lessons.embedder, {"shape": dataclasses.asdict(SHAPE), "sets": recipe}))


if __name__ == "__main__":
    main()
