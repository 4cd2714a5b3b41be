"""Reads what `go test ./retrieve -run TestWriteLessons -lessons FOLDER` wrote:
per source the nodes of every level with their vectors, per question their
features and gold. Lays questions out in batches of one shape."""

import dataclasses
import json
import pathlib

import numpy as np


@dataclasses.dataclass
class Question:
    """One question on one source; rows count in the order roots, clips, leaves, regions."""

    series: str
    counts: tuple[int, int, int, int]  # of roots, clips, leaves, regions
    clip_root: np.ndarray
    leaf_clip: np.ndarray
    vectors: int  # row of the first node's vector
    ask: int  # row of the question's vector
    notes: int  # row of the first node's features
    nodes: np.ndarray | None = None  # of a part of a tree: row of the vector of every node

    def range(self, level: int) -> slice:
        start = sum(self.counts[:level])
        return slice(start, start + self.counts[level])

    def rows(self, at: np.ndarray) -> np.ndarray:
        """Rows of the vectors of nodes."""
        return self.vectors + at if self.nodes is None else self.nodes[at]


class Lessons:
    """All questions of a set with gold."""

    def __init__(self, folder: pathlib.Path):
        listed = json.loads((folder / "trees.json").read_text())
        self.features, self.embedder = listed["features"], listed["embedder"]
        self.vectors = np.fromfile(folder / "vectors.f32", np.float32).reshape(-1, listed["dim"])
        self.phi = np.fromfile(folder / "phi.f32", np.float32).reshape(-1, self.features)
        self.gold = np.fromfile(folder / "gold.f32", np.float32).reshape(-1, 4)  # seconds, gold of them, all gold, tokens
        self.questions = []
        for tree in listed["trees"]:
            counts = tree["roots"], len(tree["clips"]), len(tree["leaves"] or []), len(tree["regions"])
            nodes = np.array(tree["nodes"]) if tree["nodes"] else None
            for ask, notes in zip(tree["ask"] or [], tree["phi"] or []):
                q = Question(tree["series"], counts, np.array(tree["clips"]), np.array(tree["leaves"] or [], int), tree["at"], ask, notes, nodes)
                if self.gold[notes : notes + sum(counts), 1].max() > 0:
                    self.questions.append(q)

    def gold_of(self, q: Question) -> np.ndarray:
        return self.gold[q.notes : q.notes + sum(q.counts)]


def overlap(gold: np.ndarray) -> np.ndarray:
    """Intersection over union of nodes with the gold."""
    return gold[..., 1] / np.maximum(1e-6, gold[..., 0] + gold[..., 2] - gold[..., 1])


def pad(rows: list[np.ndarray], width: int, dtype) -> np.ndarray:
    out = np.zeros((len(rows), width), dtype)
    for i, r in enumerate(rows):
        out[i, : len(r)] = r[:width]
    return out


class Step:
    """The candidates of one step for all questions: rows of vectors and of features, what is
    there, what its softmax shall be, and what is added to its logits."""

    def __init__(self, layout: "Layout", questions: list[Question], rows: list[np.ndarray], width: int):
        self.nodes = pad([q.rows(r) for q, r in zip(questions, rows)], width, np.int32)
        self.notes = pad([q.notes + r for q, r in zip(questions, rows)], width, np.int32)
        self.open = pad([np.ones(len(r), bool) for r in rows], width, bool)
        self.target = pad([layout.target(q, r) for q, r in zip(questions, rows)], width, np.float32)
        self.size = pad([layout.size(q, r) for q, r in zip(questions, rows)], width, np.float32)


class Layout:
    """Lays questions out: gold paths of so many rounds, or all nodes of a level at once where a
    walk keeps several children; then everything that may be shown."""

    def __init__(self, lessons: Lessons, seen: bool, sharpness: float, beam: bool = False):
        self.lessons, self.seen, self.sharpness, self.beam = lessons, seen, sharpness, beam

    def worth(self, q: Question) -> np.ndarray:
        """How much every node is gold: overlap where spans may be joined, else its share."""
        gold = self.lessons.gold_of(q)
        return overlap(gold) if self.seen else gold[:, 1] / np.maximum(gold[:, 0], 1e-6)

    def path(self, q: Question, visited: set[int]) -> list[np.ndarray]:
        """Rows of the candidates on the gold path to the best leaf not visited."""
        free = np.array([i not in visited for i in range(q.counts[2])])
        if not free.any():
            return [np.zeros(0, int)] * 3
        best = int(np.argmax(np.where(free, self.worth(q)[q.range(2)], -1)))
        clip = q.leaf_clip[best]
        visited.add(best)
        return [self.children(q, free, 0, 0), self.children(q, free, 1, q.clip_root[clip]), self.children(q, free, 2, clip)]

    def children(self, q: Question, free: np.ndarray, level: int, parent: int) -> np.ndarray:
        """Rows of the children of a node that hold leaves not visited."""
        start = q.range(level).start
        if level == 2:
            return start + np.flatnonzero(free & (q.leaf_clip == parent))
        clips = np.zeros(q.counts[1], bool)
        clips[q.leaf_clip[free]] = True
        if level == 1:
            return start + np.flatnonzero(clips & (q.clip_root == parent))
        return start + np.unique(q.clip_root[clips])

    def target(self, q: Question, rows: np.ndarray) -> np.ndarray:
        gold = self.lessons.gold_of(q)[rows]
        if len(rows) == 0 or gold[:, 1].max() <= 0:
            return np.zeros(len(rows))
        share = gold[:, 1]
        if self.seen and not (self.beam and rows[0] < q.counts[0]):  # an L1 of ten minutes overlaps a moment little
            share = np.exp(self.sharpness * overlap(gold)) * (gold[:, 1] > 0 if self.beam else 1)
        return share / share.sum()

    def size(self, q: Question, rows: np.ndarray) -> np.ndarray:
        """Log of the seconds: a long piece of speech is as likely gold as its parts together."""
        return np.zeros(len(rows)) if self.seen else np.log(np.maximum(self.lessons.gold_of(q)[rows, 0], 0.1))

    def lay(self, questions: list[Question], rounds: int) -> list[Step]:
        """Three steps for each round, or one for L1 and L2 each; then the regions."""
        visited = [set() for _ in questions]
        rows = []
        for _ in range(rounds):
            paths = [self.path(q, v) for q, v in zip(questions, visited)]
            rows += [[p[level] for p in paths] for level in range(3)]
        for level in range(2 if self.beam else 0):
            rows.append([np.arange(q.range(level).start, q.range(level).stop) for q in questions])
        rows.append([np.arange(q.range(3).start, q.range(3).stop) for q in questions])
        return [Step(self, questions, r, max(1, max(map(len, r)))) for r in rows]
