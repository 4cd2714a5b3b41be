"""Walks trees as retrieve/walk.go does: the best child of every level, visited
leaves closed."""

import functools

import jax
import numpy as np

from . import model
from .lessons import Layout, Lessons, Question


class Walker:
    """Walks with weights whose features are as they are."""

    def __init__(self, lessons: Lessons, weights: dict, shape: model.Shape, widths: tuple[int, int, int, int]):
        self.lessons, self.weights, self.shape, self.widths = lessons, weights, shape, widths
        self.step = jax.jit(functools.partial(self._step, shape=shape))
        self.score = jax.jit(lambda w, q, z, node, phi: model.logits(w, shape, q + z, node, phi).mean(1))

    @staticmethod
    def _step(w, q, z, node, phi, there, shape):
        scores = model.logits(w, shape, q + z, node, phi)
        return scores.mean(1), model.update(w, shape, q, z, scores, node, there) if "out" in w else z

    def children(self, q: Question, z, rows: np.ndarray, width: int):
        """One step for one question: the row chosen and the new state."""
        node, phi = np.zeros((1, width, z.shape[-1]), np.float32), np.zeros((1, width, self.lessons.features), np.float32)
        there = np.zeros((1, width), bool)
        node[0, : len(rows)], phi[0, : len(rows)], there[0, : len(rows)] = self.lessons.vectors[q.rows(rows)], self.lessons.phi[q.notes + rows], True
        scores, z = self.step(self.weights, self.lessons.vectors[[q.ask]], z, node, phi, there)
        scores = np.asarray(scores[0, : len(rows)])
        best = int(np.argmax(scores))
        return int(rows[best]), float(scores[best]), z

    def walk(self, q: Question, rounds: int):
        """The leaves in order, the state after every round, and the scores of each step."""
        layout = Layout(self.lessons, True, 1.0)
        free = np.ones(q.counts[2], bool)
        z = self.lessons.vectors[[q.ask]]
        leaves, states, scores = [], [], []
        while len(leaves) < rounds and free.any():
            parent, path = 0, []
            for level in range(3):
                rows = layout.children(q, free, level, parent)
                row, score, z = self.children(q, z, rows, self.widths[level])
                parent = row - q.range(level).start
                path.append(score)
            free[parent] = False
            leaves.append(parent)
            states.append(np.asarray(z[0]))
            scores.append(path)
        return leaves, states, scores

    def best(self, q: Question, rounds: int):
        """What a walk that keeps many children comes to: the best L2, and the state, which stays."""
        rows, width = np.arange(q.range(1).start, q.range(1).stop), self.widths[1]
        scores = self.scores(q, self.lessons.vectors[q.ask], rows, width)
        order = np.argsort(-scores, kind="stable")[:rounds]
        return rows[order], [self.lessons.vectors[q.ask]] * len(order)

    def regions(self, q: Question, z: np.ndarray) -> np.ndarray:
        return self.scores(q, z, np.arange(q.range(3).start, q.range(3).stop), self.widths[3])

    def scores(self, q: Question, z: np.ndarray, rows: np.ndarray, width: int) -> np.ndarray:
        """The head-mean logits of nodes in a state."""
        node, phi = np.zeros((1, width, len(z)), np.float32), np.zeros((1, width, self.lessons.features), np.float32)
        node[0, : len(rows)], phi[0, : len(rows)] = self.lessons.vectors[q.rows(rows)], self.lessons.phi[q.notes + rows]
        return np.asarray(self.score(self.weights, self.lessons.vectors[[q.ask]], z[None], node, phi))[0, : len(rows)]


def widths(lessons: Lessons, questions: list[Question]) -> tuple[int, int, int, int]:
    """The most children of any node, by level."""
    most = [1, 1, 1, 1]
    for q in questions:
        most[0] = max(most[0], q.counts[0])
        most[1] = max(most[1], q.counts[1] if q.nodes is not None else int(np.bincount(q.clip_root).max()))
        most[2] = max(most[2], int(np.bincount(q.leaf_clip).max()) if q.counts[2] else 1)
        most[3] = max(most[3], q.counts[3])
    return tuple(most)
