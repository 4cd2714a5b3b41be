"""python -m embedder [--shared FOLDER] [--work FOLDER]: learns
model/weights/embed.safetensors from pinned packages and the train parts of
the benchmark. One thread throughout, so that the file comes out the same."""

import argparse
import os
import pathlib

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import dataclasses

from . import distill, export, lesson, moments, tune
from .features import Rows
from .student import embed

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def learn(taught: lesson.Lesson, videos: list[dict], first: distill.Settings, then: tune.Settings, check=None):
    """Distils, then tunes on videos. check: videos to report recall on."""
    rows = Rows(taught.vocabulary, lesson.BUCKETS)
    table = distill.start(taught, rows, first)
    parts = distill.lessons(taught, rows)

    def report(epoch: int, loss: float) -> None:
        print(epoch, round(loss, 4), moments.recall(check, lambda t: embed(table, rows, t)) if check else "", flush=True)

    distill.run(table, parts, first, report)
    tune.Tuner(rows, table, videos, parts[0], then).run(report)
    return rows, table


def main() -> None:
    arguments = argparse.ArgumentParser(prog="embedder", description=__doc__)
    arguments.add_argument("--shared", type=pathlib.Path, default=os.environ.get("REELTREE_SHARED", REPOSITORY.parent / "shared"))
    arguments.add_argument("--work", type=pathlib.Path, default=REPOSITORY / ".cache/train")
    a = arguments.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    first, then = distill.Settings(), tune.Settings()
    taught = lesson.prepare(a.work, a.shared)
    rows, table = learn(taught, moments.load(a.shared, "moments-train"), first, then)
    recipe = {"distill": dataclasses.asdict(first), "tune": dataclasses.asdict(then), "bench": ["moments-train", "meetings-train"]}
    print(export.write(REPOSITORY, rows, table, recipe))


if __name__ == "__main__":
    main()
