"""The score of a region for a question, as retrieve/refiner.go has it:

    s(q,v) = cos(q, f(v)) + w_k·t + o_k + b·SiLU(H t + h_k + c)      f(v) = v + Σ_r (d_r·v) u_r

with scalar terms t and the level k of the region."""

import jax
import jax.numpy as jnp


def start(key, dim: int, terms: int, levels: int, rank: int, hidden: int) -> dict:
    down, up, layer = jax.random.split(key, 3)
    w = {"terms": jnp.zeros((levels, terms)), "offset": jnp.zeros(levels)}
    if rank:
        w |= {"down": 0.05 * jax.random.normal(down, (rank, dim)), "up": 0.01 * jax.random.normal(up, (rank, dim))}
    if hidden:
        w |= {"hidden": 0.2 * jax.random.normal(layer, (hidden, terms + levels)), "hidden_bias": jnp.zeros(hidden), "out": jnp.zeros(hidden)}
    return w


def cosine(w: dict, q, v):
    if "down" in w:
        v = v + (v @ w["down"].T) @ w["up"]
    return (q * v).sum(-1) / jnp.maximum(1e-9, jnp.sqrt((v * v).sum(-1)))


def score(w: dict, q, v, t, level):
    s = cosine(w, q, v) + (w["terms"][level] * t).sum(-1) + w["offset"][level]
    if "hidden" in w:
        where = jax.nn.one_hot(level, w["offset"].shape[0])
        s += jax.nn.silu(jnp.concatenate([t, where], -1) @ w["hidden"].T + w["hidden_bias"]) @ w["out"]
    return s
