"""Stage 2: when a walk has seen enough. Walks of full rounds with the weights of
stage 1 are labelled by what they covered; the stop is learned by binary
cross-entropy on the state after every round."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from .lessons import Lessons, Question
from .walk import Walker

GAMMA, LAMBDA = 0.9, 0.1


def labels(coverage: list[float]) -> list[int]:
    """1 where no later round is worth its rounds: coverage_t >= max over k > t of
    GAMMA^(k-t) coverage_k - LAMBDA (k-t). The last round is always 1."""
    n = len(coverage)
    worth = lambda t, k: GAMMA ** (k - t) * coverage[k] - LAMBDA * (k - t)
    return [int(all(coverage[t] >= worth(t, k) for k in range(t + 1, n))) for t in range(n)]


def coverage(lessons: Lessons, q: Question, leaves: list[int], level: int = 2) -> list[float]:
    """The share of gold seconds in the nodes of a level visited after every round."""
    gold = lessons.gold_of(q)[q.range(level)]
    return [float(min(1.0, gold[leaves[: t + 1], 1].sum() / gold[0, 2])) for t in range(len(leaves))]


def examples(walker: Walker, questions: list[Question], rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """States and labels; questions whose gold no round reaches are left out."""
    states, marks = [], []
    for q in questions:
        if q.nodes is not None:
            rows, own = walker.best(q, rounds)
            covered = coverage(walker.lessons, q, list(rows - q.range(1).start), 1)
        else:
            leaves, own, _ = walker.walk(q, rounds)
            covered = coverage(walker.lessons, q, leaves)
        if covered[-1] > 0:
            states += own
            marks += labels(covered)
    return np.array(states), np.array(marks, np.float32)


def fit(states: np.ndarray, marks: np.ndarray, reads_vectors: bool, steps: int = 600) -> dict[str, np.ndarray]:
    """halt and halt_bias; without vectors the bias alone."""
    w = {"halt": jnp.zeros(states.shape[1]), "halt_bias": jnp.full((1,), -5.0)}
    optimizer = optax.adamw(3e-2, weight_decay=1e-2, mask={"halt": True, "halt_bias": False})
    state = optimizer.init(w)

    def loss(w):
        p = w["halt_bias"][0] + (states @ w["halt"] if reads_vectors else 0.0)
        return optax.sigmoid_binary_cross_entropy(jnp.broadcast_to(p, marks.shape), marks).mean()

    @jax.jit
    def step(w, state):
        change, state = optimizer.update(jax.grad(loss)(w), state, w)
        return optax.apply_updates(w, change), state

    for _ in range(steps):
        w, state = step(w, state)
    return {k: np.asarray(v) for k, v in w.items() if reads_vectors or k == "halt_bias"}
