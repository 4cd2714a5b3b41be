"""Losses over unit vectors; each gives its value and its gradients."""

import numpy as np


def softmax(s: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(s - s.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def follow(v: np.ndarray, target: np.ndarray, scale: float, share: float) -> tuple[float, np.ndarray]:
    """Distillation: 1 - cosine to the teacher's vector, plus share times the
    symmetric InfoNCE of matching each text with its own teacher vector
    (van den Oord et al. 2018). Gives the loss and its gradient by v."""
    n = len(v)
    cosine = (v * target).sum(1)
    s = scale * v @ target.T
    own = np.arange(n)
    across, down = softmax(s, 1), softmax(s, 0)
    nce = -0.5 * (np.log(across[own, own]).mean() + np.log(down[own, own]).mean())
    ds = 0.5 * (across + down) / n
    ds[own, own] -= 1 / n
    return float((1 - cosine).mean() + share * nce), -target / n + share * scale * ds @ target


def marginal(s: np.ndarray, positive: np.ndarray) -> tuple[float, np.ndarray]:
    """-log of the share of softmax(s) that falls on the positives of a row,
    mean over rows, and its gradient by s. Every row has a positive."""
    p = softmax(s, 1)
    hit = (p * positive).sum(1, keepdims=True) + 1e-30
    return float(-np.log(hit).mean()), (p - p * positive / hit) / len(s)


def agree(s: np.ndarray, inside: np.ndarray, target: np.ndarray) -> tuple[float, np.ndarray]:
    """Cross-entropy of softmax(s) over the columns `inside` of a row with the
    target distribution, mean over rows, and its gradient by s."""
    p = softmax(np.where(inside, s, -1e9), 1)
    return float(-(target * np.log(p + 1e-30)).sum(1).mean()), (p - target) / len(s)
