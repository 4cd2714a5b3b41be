"""The student: a text's vector is the sum of the rows of its features at unit
length. Forward and backward pass over sparse batches in NumPy, and Adam
(Kingma & Ba 2015) that touches only the rows of a batch.
"""

import numpy as np
from scipy.sparse import csr_matrix

from .features import Rows, read


class Bags:
    """Texts as a sparse matrix [texts, rows] of feature weights, in order."""

    def __init__(self, rows: Rows, texts: list[str], whole_words: bool = True):
        pointer, ids, weights = [0], [], []
        for text in texts:
            for kind, word in read(text):
                got, weight = rows.feature(kind, word) if whole_words else rows.spelled(kind, word)
                ids += got
                weights += [weight] * len(got)
            pointer.append(len(ids))
        shape = (len(texts), rows.count)
        self.matrix = csr_matrix((np.array(weights, np.float32), np.array(ids, np.int32), np.array(pointer, np.int64)), shape)

    def __len__(self) -> int:
        return self.matrix.shape[0]

    def batch(self, which, rng=None, drop: float = 0.0) -> "Batch":
        """Texts `which`; each feature is left out with probability drop."""
        m = self.matrix[which]
        if rng is not None and drop > 0:
            m.data = m.data * (rng.random(len(m.data)) >= drop)
        return Batch(m)


class Batch:
    """One batch: forward gives unit vectors, backward the rows' gradient."""

    def __init__(self, m: csr_matrix):
        self.rows, inverse = np.unique(m.indices, return_inverse=True)
        self.m = csr_matrix((m.data, inverse.astype(np.int32), m.indptr), (m.shape[0], len(self.rows)))

    def forward(self, table: np.ndarray) -> np.ndarray:
        sums = self.m @ table[self.rows]
        self.length = np.sqrt((sums * sums).sum(1, keepdims=True) + 1e-12)
        self.v = sums / self.length
        return self.v

    def backward(self, dv: np.ndarray) -> np.ndarray:
        d = (dv - self.v * (dv * self.v).sum(1, keepdims=True)) / self.length
        return self.m.T @ d.astype(np.float32)


class Adam:
    def __init__(self, table: np.ndarray):
        self.table, self.m, self.v, self.t = table, np.zeros_like(table), np.zeros_like(table), 0

    def step(self, grads: list[tuple[np.ndarray, np.ndarray]], rate: float) -> None:
        """grads: (rows, gradient of them), the same row at most once each."""
        rows = np.unique(np.concatenate([r for r, _ in grads]))
        g = np.zeros((len(rows), self.table.shape[1]), np.float32)
        for r, part in grads:
            g[np.searchsorted(rows, r)] += part
        self.t += 1
        m = self.m[rows] = 0.9 * self.m[rows] + 0.1 * g
        v = self.v[rows] = 0.999 * self.v[rows] + 0.001 * g * g
        rate *= np.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t)
        self.table[rows] -= np.float32(rate) * m / (np.sqrt(v) + 1e-8)


def embed(table: np.ndarray, rows: Rows, texts: list[str]) -> np.ndarray:
    """Unit vectors of texts, [len(texts), dim]; zeros for texts without features."""
    sums = Bags(rows, texts).matrix @ table
    length = np.sqrt((sums * sums).sum(1, keepdims=True))
    return sums / np.where(length > 0, length, 1)


def rate_at(step: int, steps: int, peak: float, warm: int = 20) -> float:
    """Learning rate: linear rise, then linear fall to a thirtieth."""
    return peak * min(1.0, (step + 1) / warm) * max(1 / 30, 1 - step / steps)
