"""python -m embedder.check: learns without 488 videos of moments-train and
reports recall on them after every epoch. Settings are chosen on this figure."""

from . import __main__ as recipe  # first: it pins the threads

import argparse
import os
import pathlib

import numpy as np

from . import distill, lesson, moments, tune

KEPT_OUT = 488


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
    videos = moments.load(a["shared"], "moments-train")
    order = np.random.default_rng(5).permutation(len(videos))
    out, rest = ([videos[i] for i in part_] for part_ in (order[:KEPT_OUT], order[KEPT_OUT:]))
    taught = without(lesson.prepare(a["work"], a["shared"]), set(moments.texts(out)))
    recipe.learn(taught, rest, distill.Settings(**part("distill_")), tune.Settings(**part("tune_")), out)


def without(taught: lesson.Lesson, hidden: set[str]) -> lesson.Lesson:
    keep = [i for i, t in enumerate(taught.texts) if t not in hidden]
    return lesson.Lesson([taught.texts[i] for i in keep], taught.targets[keep], taught.vocabulary, taught.words, taught.counts)


if __name__ == "__main__":
    main()
