"""python -m embedder [--shared FOLDER] [--work FOLDER]: learns
model/weights/embed.safetensors from pinned packages and the train parts of
the benchmark. One thread throughout, so that the file comes out the same."""

import argparse
import os
import pathlib

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import dataclasses

from . import distill, export, lesson, meetings, moments, tune
from .features import Rows
from .student import embed

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Pairs:
    """What tuning learns from, or what is kept out to report on."""

    videos: list[dict]
    recordings: list[dict]


def learn(taught: lesson.Lesson, pairs: Pairs, first: distill.Settings, then: tune.Settings, kept_out: Pairs | None = None):
    """Distils, then tunes; reports on what was kept out after every epoch."""
    rows = Rows(taught.vocabulary, lesson.BUCKETS)
    table = distill.start(taught, rows, first)
    parts = distill.lessons(taught, rows)

    def report(epoch: int, loss: float) -> None:
        found = ()
        if kept_out:
            by = lambda texts: embed(table, rows, texts)
            found = moments.recall(kept_out.videos, by), meetings.recall(kept_out.recordings, by)
        print(epoch, round(loss, 4), *found, flush=True)

    distill.run(table, parts, first, report)
    tune.Tuner(rows, table, pairs.videos, parts[0], then, meetings.Speech(rows, pairs.recordings)).run(report)
    return rows, table


def main() -> None:
    arguments = argparse.ArgumentParser(prog="embedder", description=__doc__)
    arguments.add_argument("--shared", type=pathlib.Path, default=os.environ.get("REELTREE_SHARED", REPOSITORY.parent / "shared"))
    arguments.add_argument("--work", type=pathlib.Path, default=REPOSITORY / ".cache/train")
    a = arguments.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    first, then = distill.Settings(), tune.Settings()
    taught = lesson.prepare(a.work, a.shared)
    pairs = Pairs(*(moments.load(a.shared, name) for name in ("moments-train", "meetings-train")))
    rows, table = learn(taught, pairs, first, then)
    recipe = {"distill": dataclasses.asdict(first), "tune": dataclasses.asdict(then), "bench": ["moments-train", "meetings-train"]}
    print(export.write(REPOSITORY, rows, table, recipe))


if __name__ == "__main__":
    main()
