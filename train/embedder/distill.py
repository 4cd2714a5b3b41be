"""Distillation: the student's vectors follow the teacher's."""

from dataclasses import dataclass

import numpy as np

from .features import Rows, hash64
from .lesson import DIM, Lesson
from .losses import follow
from .student import Adam, Bags, rate_at


@dataclass
class Settings:
    epochs: int = 4
    batch: int = 1024
    rate: float = 3e-3
    scale: float = 20.0
    share: float = 0.2  # of the contrastive part of the loss
    drop: float = 0.1  # share of features left out
    seed: int = 7
    group_norm: float = 0.5  # length of a row that no text has taught yet
    smooth: float = 1e-3  # a / (a + frequency) weighs words at the start (Arora et al. 2017)


def start(lesson: Lesson, rows: Rows, s: Settings) -> np.ndarray:
    """An English word starts at the teacher's vector of the word alone, every
    other feature at a random direction, so that what no text teaches still
    tells words apart; both the shorter the more frequent they are."""
    table = np.random.default_rng(s.seed).normal(size=(rows.count, DIM)).astype(np.float32)
    table *= s.group_norm / np.linalg.norm(table, axis=1, keepdims=True)
    for word, vector in zip(lesson.vocabulary, lesson.words):
        row = rows.row[hash64(*word)]
        if vector.any():
            table[row] = vector
        table[row] *= s.smooth / (s.smooth + lesson.frequency[word])
    return table


def lessons(lesson: Lesson, rows: Rows) -> list[tuple[Bags, np.ndarray]]:
    """The texts, and the known words spelled out: from those the groups of
    characters learn what words made of them mean (Pinter et al. 2017)."""
    own = np.flatnonzero(lesson.words.any(1))
    spelled = Bags(rows, [lesson.vocabulary[i][1] for i in own], whole_words=False)
    return [(Bags(rows, lesson.texts), lesson.targets), (spelled, lesson.words[own])]


def run(table: np.ndarray, taught: list[tuple[Bags, np.ndarray]], s: Settings, report=None) -> None:
    rng, adam = np.random.default_rng(s.seed), Adam(table)
    sizes = [len(bags) // s.batch for bags, _ in taught]
    steps, step = s.epochs * sum(sizes), 0
    for epoch in range(s.epochs):
        loss = 0.0
        orders = [rng.permutation(len(bags)) for bags, _ in taught]
        for part, k in rng.permutation([(p, k) for p, n in enumerate(sizes) for k in range(n)]):
            bags, targets = taught[part]
            which = orders[part][k * s.batch : (k + 1) * s.batch]
            batch = bags.batch(which, rng, s.drop)
            more, dv = follow(batch.forward(table), targets[which], s.scale, s.share)
            adam.step([(batch.rows, batch.backward(dv))], rate_at(step, steps, s.rate))
            loss, step = loss + more, step + 1
        if report:
            report(epoch, loss / sum(sizes))
