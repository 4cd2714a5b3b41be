"""Learns one set by the pairwise loss over all preferences of a junction,

    log(1 + Σ exp(λ [s(q,b) − s(q,a)]))      a is to beat b, λ = 20

with Adam, the whole set a step, so that nothing depends on an order."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax

from . import model
from .lessons import LEVELS, Junctions

SHARPNESS = 20.0  # λ
STEEPEST = 60.0  # of an exponent, against overflow


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How one set of weights is learned."""

    steps: int
    hidden: int
    rank: int = 0  # of f; 0: the identity
    reads: int | None = None  # only so many of the terms; None: all
    decay: float = 1e-4  # of the squares of the layer and of f
    decay_rank: float = 1e-3
    rate: float = 2e-2
    seed: int = 0


def held(j: Junctions, scores: np.ndarray) -> np.ndarray:
    """Per junction, the share of its preferences that the scores hold."""
    right = np.bincount(j.junction, scores[j.better] > scores[j.worse], len(j))
    return right / np.bincount(j.junction, minlength=len(j))


def accuracy(j: Junctions, scores: np.ndarray) -> float:
    """The share of junctions at which all preferences hold."""
    return float((held(j, scores) == 1).mean())


def scale_of(j: Junctions, r: Recipe) -> np.ndarray:
    scale = 0.1 / (j.terms.std(0) + 0.02)
    if r.reads is not None:
        scale[r.reads :] = 0
    return scale.astype(np.float32)


def learned(j: Junctions, r: Recipe) -> tuple[dict[str, np.ndarray], list[float]]:
    """Weights for terms as they are, and the loss of every step."""
    scale = scale_of(j, r)
    w = model.start(jax.random.PRNGKey(r.seed), j.vector.shape[1], len(scale), len(LEVELS), r.rank, r.hidden)
    q, v, t, level = jnp.array(j.asked), jnp.array(j.vector), jnp.array(j.terms * scale), jnp.array(j.level)
    decay = {"hidden": r.decay, "terms": r.decay, "down": r.decay_rank, "up": r.decay_rank}

    def loss(w):
        s = model.score(w, q, v, t, level)
        over = jnp.exp(jnp.clip(SHARPNESS * (s[j.worse] - s[j.better]), -STEEPEST, STEEPEST))
        pairs = jnp.log1p(jax.ops.segment_sum(over, j.junction, len(j))).mean()
        return pairs + sum(by * (w[k] ** 2).sum() for k, by in decay.items() if k in w)

    optimizer = optax.adam(optax.cosine_decay_schedule(r.rate, r.steps))
    state, step = optimizer.init(w), jax.jit(jax.value_and_grad(loss))
    curve = []
    for _ in range(r.steps):
        value, g = step(w)
        change, state = optimizer.update(g, state)
        w = optax.apply_updates(w, change)
        curve.append(float(value))
    return folded(w, scale, j), curve


def folded(w: dict, scale: np.ndarray, j: Junctions) -> dict[str, np.ndarray]:
    """What the terms were scaled by is in the weights; with the levels that were learned from."""
    out = {k: np.asarray(v, np.float32) for k, v in w.items()}
    out["terms"] = out["terms"] * scale
    if "hidden" in out:
        out["hidden"] = np.concatenate([out["hidden"][:, : len(scale)] * scale, out["hidden"][:, len(scale) :]], 1)
    out["knows"] = np.isin(np.arange(len(LEVELS)), np.unique(j.level)).astype(np.float32)
    return out


def scores(w: dict, j: Junctions) -> np.ndarray:
    return np.asarray(model.score({k: jnp.array(v) for k, v in w.items()}, j.asked, j.vector, j.terms, j.level))
