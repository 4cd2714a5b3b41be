"""What the ranking of regions reaches on questions that were kept out."""

import numpy as np

from .lessons import overlap
from .walk import Walker


def first(walker: Walker, questions, rounds: int) -> list[float]:
    """Share of questions whose best region overlaps the gold by .3, .5, .7."""
    best = []
    for q in questions:
        scores = walker.regions(q, state(walker, q, rounds))
        best.append(overlap(walker.lessons.gold_of(q)[q.range(3)])[int(np.argmax(scores))])
    return [round(float(np.mean(np.array(best) >= t)), 4) for t in (0.3, 0.5, 0.7)]


def routed(walker: Walker, questions) -> list[float]:
    """Share of questions whose gold lies in the best 1, 2, 4, 8 of all L1."""
    place = []
    for q in questions:
        rows = np.arange(q.counts[0])
        scores = walker.scores(q, walker.lessons.vectors[q.ask], rows, walker.widths[0])
        place.append(int((scores > scores[np.argmax(walker.lessons.gold_of(q)[rows, 1])]).sum()))
    return [round(float(np.mean(np.array(place) < k)), 4) for k in (1, 2, 4, 8)]


def tenth(walker: Walker, questions, rounds: int) -> list[float]:
    """Mean recall and F1 of the gold seconds in the best tenth of a recording."""
    found = []
    for q in questions:
        gold = walker.lessons.gold_of(q)[q.range(3)]
        order = np.argsort(-walker.regions(q, state(walker, q, rounds)), kind="stable")
        room, hit, used = gold[:, 0].sum() / 10, 0.0, 0.0
        for i in order:
            part = min(1.0, (room - used) / max(gold[i, 0], 1e-9))
            hit, used = hit + part * gold[i, 1], used + part * gold[i, 0]
            if part < 1:
                break
        recall, precision = hit / gold[0, 2], hit / used
        found.append((recall, 2 * recall * precision / max(recall + precision, 1e-9)))
    return [round(float(x), 4) for x in np.mean(found, 0)]


def state(walker: Walker, q, rounds: int) -> np.ndarray:
    if rounds == 0:
        return walker.lessons.vectors[q.ask]
    return walker.walk(q, rounds)[1][-1]
