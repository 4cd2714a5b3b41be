"""The navigator: cross-attention over the children of a node with a carried
state, as retrieve/navigate.go computes it. Shapes: D values of a vector, H
heads, d values of a head's key, F features, G gated values of a head's key."""

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Shape:
    dim: int = 256
    heads: int = 4
    head: int = 16  # d: linear values of a head's key, and values of its output
    gated: int = 16  # G
    rank: int = 8  # of the question's say in the features' weights
    hidden: int = 128  # of an L block
    blocks: int = 2
    cycles: int = 4


def start(key, s: Shape, features: int, reads_vectors: bool) -> dict:
    """Weights that leave z where it is and rank everything alike."""
    normal = iter(jax.random.split(key, 16))
    draw = lambda *shape: jax.random.normal(next(normal), shape) / jnp.sqrt(shape[-1])
    n = s.heads * s.head
    w = {
        "value": draw(n, s.dim),
        "out": jnp.zeros((s.dim, n)),
        "phi": jnp.zeros((s.heads, features)),
        "halt": jnp.zeros(s.dim),
        "halt_bias": jnp.full((1,), -5.0),
    }
    for i in range(s.blocks):
        w |= {f"norm{i}": jnp.ones(s.dim), f"gate{i}": draw(s.hidden, s.dim), f"up{i}": draw(s.hidden, s.dim), f"down{i}": jnp.zeros((s.dim, s.hidden))}
    if reads_vectors:
        g = s.heads * s.gated
        w |= {
            "query": jnp.zeros((n, s.dim)), "key": 4 * draw(n, s.dim),
            "encode": 4 * draw(g, s.dim), "encode_phi": 0.1 * jax.random.normal(next(normal), (g, features)), "encode_bias": jnp.zeros(g),
            "ask": jnp.zeros((g, s.dim)), "ask_bias": jnp.zeros(g),
            "lean": 4 * draw(s.rank, s.dim), "lean_phi": jnp.zeros((s.heads, s.rank, features)),
        }
    return w


def logits(w: dict, s: Shape, state, node, phi):
    """(B, H, N): W_q x · W_k m / sqrt(d) + (ask x + bias) · SiLU(encode [m; φ] + bias) + (w + lean x) · φ, x = q + z."""
    weights = w["phi"][None]
    out = 0.0
    if "query" in w:
        split = lambda a: a.reshape(*a.shape[:-1], s.heads, -1)
        out = jnp.einsum("bhd,bnhd->bhn", split(state @ w["query"].T), split(node @ w["key"].T)) / jnp.sqrt(s.head)
        coded = jax.nn.silu(node @ w["encode"].T + phi @ w["encode_phi"].T + w["encode_bias"])
        out += jnp.einsum("bhg,bnhg->bhn", split(state @ w["ask"].T + w["ask_bias"]), split(coded))
        weights = weights + jnp.einsum("br,hrf->bhf", state @ w["lean"].T, w["lean_phi"])
    return out + jnp.einsum("bhf,bnf->bhn", jnp.broadcast_to(weights, (phi.shape[0], *weights.shape[1:])), phi)


def block(w: dict, i: int, z, x):
    """z + Down (SiLU(Gate n) * Up n), n = RMSNorm(z + x)."""
    n = z + x
    n = n / jnp.sqrt((n * n).mean(-1, keepdims=True) + 1e-6) * w[f"norm{i}"]
    return z + (jax.nn.silu(n @ w[f"gate{i}"].T) * (n @ w[f"up{i}"].T)) @ w[f"down{i}"].T


def update(w: dict, s: Shape, q, z, scores, node, there):
    """z after a step whose logits are scores; a step without nodes changes nothing."""
    p = jax.nn.softmax(jnp.where(there[:, None], scores, -1e9), -1)
    heads = jnp.einsum("bhn,bnd->bhd", p, node)
    values = jnp.einsum("bhd,hvd->bhv", heads, w["value"].reshape(s.heads, s.head, s.dim)).reshape(len(q), -1)
    step = values @ w["out"].T
    x, new = step + q, z + step
    for _ in range(s.cycles):
        for i in range(s.blocks):
            new = block(w, i, new, x)
    return jnp.where(there.any(-1)[:, None], new, z)


def halt(w: dict, z):
    """The logit of having seen enough."""
    return z @ w["halt"] + w["halt_bias"][0]
