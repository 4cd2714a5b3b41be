"""Trees and weights drawn from a generator that Go has too, and what JAX makes of
them: retrieve/testdata/navigator_golden.json holds inference to training."""

import json
import pathlib

import jax.numpy as jnp
import numpy as np

from . import model

TREES = 100
SMALL = model.Shape(dim=16, heads=4, head=3, gated=2, rank=5, hidden=7, blocks=2, cycles=2)


class Draw:
    """Numbers of a linear congruential generator (Numerical Recipes), the same everywhere."""

    def __init__(self, seed: int):
        self.x = seed

    def next(self) -> int:
        self.x = (self.x * 1664525 + 1013904223) % 2**32
        return self.x >> 8

    def below(self, n: int) -> int:
        return self.next() % n

    def values(self, n: int) -> np.ndarray:
        """In [-1, 1)."""
        return np.array([self.next() / 2**23 - 1 for _ in range(n)], np.float32)

    def matrix(self, rows: int, cols: int, scale: float) -> np.ndarray:
        return (self.values(rows * cols) * np.float32(scale)).reshape(rows, cols)


def weights(seed: int, features: int) -> dict[str, np.ndarray]:
    """Weights of every kind, drawn in the order in which Go draws them."""
    d, s = Draw(seed), SMALL
    n, g = s.heads * s.head, s.heads * s.gated
    w = {
        "query": d.matrix(n, s.dim, 0.25), "key": d.matrix(n, s.dim, 0.25), "value": d.matrix(n, s.dim, 0.25), "out": d.matrix(s.dim, n, 0.25),
        "encode": d.matrix(g, s.dim, 0.25), "encode_phi": d.matrix(g, features, 0.1), "encode_bias": d.values(g),
        "ask": d.matrix(g, s.dim, 0.25), "ask_bias": d.values(g),
        "phi": d.matrix(s.heads, features, 0.1), "lean": d.matrix(s.rank, s.dim, 0.25),
        "lean_phi": d.matrix(s.heads * s.rank, features, 0.1).reshape(s.heads, s.rank, features),
    }
    for i in range(s.blocks):
        w |= {f"norm{i}": d.values(s.dim), f"gate{i}": d.matrix(s.hidden, s.dim, 0.25), f"up{i}": d.matrix(s.hidden, s.dim, 0.25), f"down{i}": d.matrix(s.dim, s.hidden, 0.25)}
    return w | {"halt": d.values(s.dim), "halt_bias": d.values(1)}


def walk(w: dict, s: model.Shape, features: int, seed: int, rounds: int) -> dict:
    """Steps over drawn children: what is chosen, how it scores, the state after each."""
    d = Draw(seed)
    q = d.matrix(1, s.dim, 0.25)
    z, out = jnp.array(q), {"chosen": [], "scores": [], "halt": []}
    for _ in range(rounds):
        n = 1 + d.below(9)
        node, phi = d.matrix(n, s.dim, 0.25)[None], d.matrix(n, features, 0.25)[None]
        scores = model.logits(w, s, q + z, node, phi)
        mean = np.asarray(scores.mean(1)[0])
        out["chosen"].append(int(mean.argmax()))
        out["scores"].append(float(f"{mean.max():.7g}"))
        if "out" in w:
            z = model.update(w, s, q, z, scores, node, jnp.ones((1, n), bool))
        if "halt" in w:
            out["halt"].append(float(f"{float(model.halt(w, z)[0]):.7g}"))
    return out


def write(repository: pathlib.Path, trained: dict[str, np.ndarray], shape: model.Shape, features: int) -> None:
    trained = dict(trained)
    whole = {
        "drawn": [walk(weights(1000 + i, features), SMALL, features, i, 6) for i in range(TREES)],
        "trained": [walk(trained, shape, features, i, 3) for i in range(TREES)],
    }
    file = repository / "retrieve/testdata/navigator_golden.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(whole) + "\n")
