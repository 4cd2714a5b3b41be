"""Videos described twice (moments-train): one annotator's captions are found
by the other's, in their video and in a library of all videos."""

import gzip
import json
import pathlib

import numpy as np


def load(shared: pathlib.Path, name: str) -> list[dict]:
    with gzip.open(shared / "bench" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def texts(videos: list[dict]) -> list[str]:
    return [part["text"].strip() for v in videos for side in ("nodes", "queries") for part in v[side]]


class Side:
    """The captions of one annotator over all videos."""

    def __init__(self, videos: list[dict], side: str):
        parts = [(i, p) for i, v in enumerate(videos) for p in v[side]]
        self.texts = [p["text"].strip() for _, p in parts]
        self.video = np.array([i for i, _ in parts])
        self.start = np.array([p["start"] for _, p in parts], np.float32)
        self.end = np.array([p["end"] for _, p in parts], np.float32)

    def of(self, videos: np.ndarray) -> np.ndarray:
        return np.flatnonzero(np.isin(self.video, videos))


def overlap(a: Side, i: np.ndarray, b: Side, j: np.ndarray) -> np.ndarray:
    """Intersection over union of the spans i of a and j of b."""
    first = np.minimum(a.end[i][:, None], b.end[j][None]) - np.maximum(a.start[i][:, None], b.start[j][None])
    union = np.maximum(a.end[i][:, None], b.end[j][None]) - np.minimum(a.start[i][:, None], b.start[j][None])
    return np.maximum(first, 0) / np.maximum(union, 1e-6)


def recall(videos: list[dict], embed) -> dict[str, float]:
    """Library recall of the right video, by the best caption of each video
    (R1, R5, R10), by its joined captions (joined_R10) and by both added."""
    nodes, queries = Side(videos, "nodes"), Side(videos, "queries")
    q = embed(queries.texts)
    s = q @ embed(nodes.texts).T
    best = np.full((len(q), len(videos)), -9.0, np.float32)
    for j, v in enumerate(nodes.video):
        best[:, v] = np.maximum(best[:, v], s[:, j])
    whole = q @ embed([" ".join(n["text"] for n in v["nodes"]) for v in videos]).T
    out = {}
    for name, scores, ks in (("", best, (1, 5, 10)), ("joined_", whole, (1, 10)), ("both_", best + whole, (1, 10))):
        rank = (scores > scores[np.arange(len(q)), queries.video][:, None]).sum(1)
        out.update({f"{name}R{k}": round(float((rank < k).mean()), 4) for k in ks})
    return out
