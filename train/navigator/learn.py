"""Stage 1: the softmax over the children on gold paths, and over all regions
before and after the walk, follows the gold (cross-entropy, AdamW)."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

from . import model
from .lessons import Layout, Lessons, Question, Step, overlap


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How one set of weights is learned."""

    seen: bool  # spans are joined and judged by overlap; else by the share of gold in a tenth
    reads: tuple[int, ...] | None  # features it may read; None: all
    reads_vectors: bool
    epochs: int
    batch: int
    rate: float = 3e-3
    decay: float = 1e-2
    sharpness: float = 6.0
    rounds: int = 0  # of the walks it learns on
    paths: float = 0.3  # what the steps of a walk count beside the regions
    most: int = 30  # regions of a source that is learned from; longer ones pad every batch
    seed: int = 0
    beam: bool = False  # it also learns to choose among all L1 and among the L2 of several


def inputs(lessons: Lessons, scale: np.ndarray, steps: list[Step], at: np.ndarray, ask: np.ndarray):
    take = lambda s: {
        "node": lessons.vectors[s.nodes[at]], "phi": lessons.phi[s.notes[at]] * scale,
        "open": s.open[at], "target": s.target[at], "size": s.size[at],
    }
    return lessons.vectors[ask[at]], [take(s) for s in steps]


def cross_entropy(scores, step):
    """Mean over heads of the logits against the target; a step without gold counts nothing."""
    s = jnp.where(step["open"], scores.mean(1) + step["size"], -1e9)
    return -(step["target"] * jax.nn.log_softmax(s)).sum(-1).mean()


def loss(w, shape, paths, q, steps):
    z, total = q, 0.0
    regions = lambda z: cross_entropy(model.logits(w, shape, q + z, steps[-1]["node"], steps[-1]["phi"]), steps[-1])
    total += 0.5 * regions(z)
    for step in steps[:-1]:
        scores = model.logits(w, shape, q + z, step["node"], step["phi"])
        total += paths * cross_entropy(scores, step)
        z = model.update(w, shape, q, z, scores, step["node"], step["open"])
    return total + 0.5 * regions(z)


# What moves the carried state, learned by walks after the rest; and what stage 2 learns.
STATE = ("value", "out", "norm", "gate", "up", "down")
STOP = ("halt",)


class Learner:
    """Without rounds it learns what nodes are held against the question by, with rounds what
    moves the state."""

    def __init__(self, lessons: Lessons, questions: list[Question], shape: model.Shape, r: Recipe, begun: dict | None = None):
        self.lessons, self.shape, self.recipe = lessons, shape, r
        self.questions = [q for q in questions if q.counts[3] <= r.most]
        self.steps = Layout(lessons, r.seen, r.sharpness, r.beam).lay(self.questions, r.rounds)
        self.ask = np.array([q.ask for q in self.questions])
        notes = self.steps[-1].notes[self.steps[-1].open]
        self.scale = np.zeros(lessons.features, np.float32)
        reads = list(r.reads) if r.reads else slice(None)
        self.scale[reads] = (1 / (lessons.phi[notes].std(0) + 1e-2))[reads]
        self.weights = begun or model.start(jax.random.PRNGKey(r.seed), shape, lessons.features, r.reads_vectors)
        total = r.epochs * (len(self.questions) // r.batch)
        self.optimizer = optax.adamw(optax.cosine_decay_schedule(r.rate, total), weight_decay=r.decay)
        self.state = self.optimizer.init(self.weights)
        self.grad = jax.jit(jax.value_and_grad(functools.partial(loss, shape=shape, paths=r.paths)))
        self.apply = jax.jit(self._apply)
        self.epoch, self.curve = 0, []

    def _apply(self, w, state, g):
        change, state = self.optimizer.update(g, state, w)
        still = lambda k: k.startswith(STOP) or k.startswith(STATE) != (self.recipe.rounds > 0)
        return optax.apply_updates(w, {k: jnp.zeros_like(v) if still(k) else v for k, v in change.items()}), state

    def run_epoch(self) -> float:
        order = np.random.default_rng([self.recipe.seed, self.epoch]).permutation(len(self.questions))
        losses = []
        for i in range(0, len(order) - self.recipe.batch + 1, self.recipe.batch):
            at = np.sort(order[i : i + self.recipe.batch])
            q, steps = inputs(self.lessons, self.scale, self.steps, at, self.ask)
            value, g = self.grad(self.weights, q=q, steps=steps)
            self.weights, self.state = self.apply(self.weights, self.state, g)
            losses.append(float(value))
        self.epoch += 1
        self.curve.append(float(np.mean(losses)))
        return self.curve[-1]

    def keep(self, file) -> None:
        """Writes everything that goes on from here."""
        leaves = jax.tree.leaves((self.weights, self.state))
        part = file.with_suffix(".part.npz")
        np.savez(part, *leaves, epoch=self.epoch, curve=self.curve)
        part.replace(file)

    def resume(self, file) -> None:
        """Goes on from what keep wrote, if anything."""
        if not file.exists():
            return
        with np.load(file) as saved:
            leaves, shape = jax.tree.flatten((self.weights, self.state))
            self.weights, self.state = jax.tree.unflatten(shape, [jnp.asarray(saved[f"arr_{i}"]) for i in range(len(leaves))])
            self.epoch, self.curve = int(saved["epoch"]), [float(x) for x in saved["curve"]]


def folded(weights: dict, scale: np.ndarray) -> dict[str, np.ndarray]:
    """The weights for features as they are: what they were scaled by is in the weights. What
    leaves the state as it is is left out."""
    out = {k: np.asarray(v, np.float32) for k, v in weights.items()}
    for name in ("phi", "encode_phi", "lean_phi"):
        if name in out:
            out[name] = out[name] * scale
    if not out["out"].any():
        out = {k: v for k, v in out.items() if k not in ("value", "out") and not k.startswith(("norm", "gate", "up", "down"))}
    return {k: v for k, v in out.items() if k != "halt" or v.any()}
