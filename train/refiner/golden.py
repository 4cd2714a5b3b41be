"""Weights and regions drawn from a generator that Go has too, and what JAX makes
of them: retrieve/testdata/refiner_golden.json holds inference to training."""

import json
import pathlib

import jax.numpy as jnp
import numpy as np

from navigator.golden import Draw

from . import model
from .lessons import LEVELS

REGIONS = 100
DIM, RANK, HIDDEN = 16, 3, 5


def weights(seed: int, terms: int) -> dict[str, np.ndarray]:
    """Weights of every kind, drawn in the order in which Go draws them."""
    d = Draw(seed)
    return {
        "down": d.matrix(RANK, DIM, 0.25), "up": d.matrix(RANK, DIM, 0.25), "terms": d.matrix(len(LEVELS), terms, 0.1), "offset": d.values(len(LEVELS)),
        "hidden": d.matrix(HIDDEN, terms + len(LEVELS), 0.1), "hidden_bias": d.values(HIDDEN), "out": d.values(HIDDEN),
    }


def score(w: dict, seed: int, dim: int, terms: int) -> float:
    d = Draw(seed)
    q, v, t = d.matrix(1, dim, 0.25), d.matrix(1, dim, 0.25), d.matrix(1, terms, 0.25)
    w = {k: jnp.array(x) for k, x in w.items()}
    return float(f"{float(model.score(w, q, v, t, np.array([d.below(len(LEVELS))]))[0]):.7g}")


def write(repository: pathlib.Path, sets: dict[str, dict[str, np.ndarray]]) -> None:
    terms = next(iter(sets.values()))["terms"].shape[1]
    whole = {"drawn": [score(weights(2000 + i, terms), i, DIM, terms) for i in range(REGIONS)]}
    for name, w in sets.items():
        dim = w["down"].shape[1] if "down" in w else 256
        whole[name] = [score(w, i, dim, terms) for i in range(REGIONS)]
    file = repository / "retrieve/testdata/refiner_golden.json"
    file.write_text(json.dumps(whole) + "\n")
