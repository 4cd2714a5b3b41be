"""Reads what `reeltree eval refiner --out FILE` wrote: the decisions of refinement
on trees whose gold is known, as the product scores them."""

import base64
import dataclasses
import json
import pathlib

import numpy as np

LEVELS = ("l2", "group", "l3", "part", "unit", "l1")  # in the order of Go's kinds of regions


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4")


@dataclasses.dataclass
class Junctions:
    """Sides in one row each; the preferences of a junction are pairs (better, worse)."""

    terms: np.ndarray  # side, scalar term
    vector: np.ndarray  # side, dimension
    asked: np.ndarray  # side, dimension: of the question
    level: np.ndarray  # side: index in LEVELS
    better: np.ndarray  # preference: row of a side
    worse: np.ndarray
    junction: np.ndarray  # preference: which junction it is of
    clusters: list[str]  # junction: what it shares with others
    whole: np.ndarray  # junction: the region is wholly gold

    def __len__(self) -> int:
        return len(self.clusters)

    def of(self, keep: np.ndarray) -> "Junctions":
        """The junctions that are kept, with their preferences."""
        taken = keep[self.junction]
        number = np.cumsum(keep) - 1
        return dataclasses.replace(
            self, better=self.better[taken], worse=self.worse[taken], junction=number[self.junction[taken]],
            clusters=[c for c, k in zip(self.clusters, keep) if k], whole=self.whole[keep],
        )


def preferences(gold: list[float]) -> list[tuple[int, int]]:
    """Pairs of sides, the whole first: wholly gold it beats each part; partly gold each part with
    gold beats it and every part without, and it beats those."""
    parts = range(1, len(gold))
    if gold[0] == 1:
        return [(0, i) for i in parts]
    none = [i for i in parts if gold[i] == 0]
    out = [(0, i) for i in none]
    for i in parts:
        if gold[i] > 0:
            out += [(i, 0)] + [(i, k) for k in none]
    return out


def read(file: pathlib.Path) -> Junctions:
    terms, vector, asked, level, pairs, clusters, whole = [], [], [], [], [], [], []
    with open(file) as lines:
        for n, line in enumerate(lines):
            j = json.loads(line)
            start, question = len(terms), numbers(j["asked"])
            for side in j["sides"]:
                terms.append(numbers(side["terms"]))
                vector.append(numbers(side["vector"]))
                asked.append(question)
                level.append(LEVELS.index(side["level"]))
            pairs += [(start + a, start + b, n) for a, b in preferences([s["gold"] for s in j["sides"]])]
            clusters.append(j["cluster"])
            whole.append(j["sides"][0]["gold"] == 1)
    better, worse, junction = np.array(pairs).T
    return Junctions(np.array(terms), np.array(vector), np.array(asked), np.array(level), better, worse, junction, clusters, np.array(whole))
