"""python -m embedder.check: learns without some videos and recordings of the
train parts and reports recall on them. Settings are chosen on these figures."""

from . import __main__ as recipe  # first: it pins the threads

import argparse
import os
import pathlib

import numpy as np

from . import distill, lesson, moments, tune

KEPT_OUT = {"moments-train": 488, "meetings-train": 15}


def options(settings, parser: argparse.ArgumentParser, prefix: str) -> None:
    for name, value in vars(settings).items():
        parser.add_argument(f"--{prefix}-{name}", type=type(value), default=value)


def main() -> None:
    parser = argparse.ArgumentParser(prog="embedder.check", description=__doc__)
    parser.add_argument("--shared", type=pathlib.Path, default=os.environ.get("REELTREE_SHARED"))
    parser.add_argument("--work", type=pathlib.Path, default=recipe.REPOSITORY / ".cache/train")
    options(distill.Settings(), parser, "distill")
    options(tune.Settings(), parser, "tune")
    a = vars(parser.parse_args())
    part = lambda prefix: {k.removeprefix(prefix): v for k, v in a.items() if k.startswith(prefix)}
    out, rest = [], []
    for name, n in KEPT_OUT.items():
        whole = moments.load(a["shared"], name)
        order = np.random.default_rng(5).permutation(len(whole))
        out.append([whole[i] for i in order[:n]])
        rest.append([whole[i] for i in order[n:]])
    taught = without(lesson.prepare(a["work"], a["shared"]), set(moments.texts(out[0])))
    recipe.learn(taught, recipe.Pairs(*rest), distill.Settings(**part("distill_")), tune.Settings(**part("tune_")), recipe.Pairs(*out))


def without(taught: lesson.Lesson, hidden: set[str]) -> lesson.Lesson:
    keep = [i for i, t in enumerate(taught.texts) if t not in hidden]
    return lesson.Lesson([taught.texts[i] for i in keep], taught.targets[keep], taught.vocabulary, taught.words, taught.frequency)


if __name__ == "__main__":
    main()
