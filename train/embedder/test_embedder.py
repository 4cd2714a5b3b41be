"""python -m unittest embedder.test_embedder (from train): formulas by hand and
by finite differences, small inputs, no packages."""

import pathlib
import struct
import tempfile
import unittest

import numpy as np

from . import distill, export, losses, moments, pairs, prose, student, tune
from .features import CHAR, PAIR, WORD, Rows, groups, hash64, read
from .lesson import DIM


def slope(f, x: np.ndarray, at: tuple, step: float = 1e-3) -> float:
    """Central difference of f at x in one place, in float64."""
    up, down = x.copy(), x.copy()
    up[at] += step
    down[at] -= step
    return (f(up) - f(down)) / (2 * step)


class Features(unittest.TestCase):
    def test_words_and_characters(self):
        self.assertEqual(read("Café, l'ami!"), [(WORD, "cafe"), (WORD, "l"), (WORD, "ami")])
        self.assertEqual(read("東京x 塔"), [(CHAR, "東"), (CHAR, "京"), (PAIR, "東京"), (WORD, "x"), (CHAR, "塔")])
        self.assertEqual(read("\ufffd ?! ★"), [(WORD, "★")])
        self.assertEqual([len(w) for _, w in read("x" * 100)], [64, 36])

    def test_groups_mark_the_bounds(self):
        self.assertEqual(groups("ab"), ["<ab>", "<ab", "ab>"])
        self.assertEqual(groups("abc"), ["<abc>", "<ab", "abc", "bc>", "<abc", "abc>"])

    def test_rows(self):
        rows = Rows([(WORD, "lens"), (CHAR, "東")], 10)
        known, weight = rows.feature(WORD, "lens")
        self.assertEqual((rows.hashes[known[0]], weight), (hash64(WORD, "lens"), 1.0))
        unknown, weight = rows.feature(WORD, "abc")
        self.assertTrue(all(2 <= r < 12 for r in unknown) and len(unknown) == 6)
        self.assertAlmostEqual(weight, 6**-0.5)


class Losses(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(1)

    def unit(self, n: int, d: int) -> np.ndarray:
        v = self.rng.normal(size=(n, d))
        return v / np.linalg.norm(v, axis=1, keepdims=True)

    def check(self, f, x: np.ndarray, gradient: np.ndarray):
        for at in np.ndindex(*x.shape):
            self.assertAlmostEqual(slope(f, x, at), gradient[at], places=4)

    def test_follow(self):
        v, t = self.unit(4, 5), self.unit(4, 5)
        self.check(lambda x: losses.follow(x, t, 3.0, 0.7)[0], v, losses.follow(v, t, 3.0, 0.7)[1])

    def test_marginal(self):
        s = self.rng.normal(size=(3, 5))
        positive = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 1]], bool)
        self.check(lambda x: losses.marginal(x, positive)[0], s, losses.marginal(s, positive)[1])
        self.assertAlmostEqual(losses.marginal(np.zeros((1, 4)), np.array([[1, 0, 0, 0]]))[0], np.log(4), places=6)

    def test_agree(self):
        s, inside = self.rng.normal(size=(2, 4)), np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool)
        target = np.array([[0.3, 0.7, 0, 0], [0, 0, 1.0, 0]])
        self.check(lambda x: losses.agree(x, inside, target)[0], s, losses.agree(s, inside, target)[1])


VIDEOS = [
    {"nodes": [{"start": 0, "end": 5, "text": "a dog runs"}, {"start": 5, "end": 9, "text": "a cat"}], "queries": [{"start": 0, "end": 6, "text": "the dog"}]},
    {"nodes": [{"start": 0, "end": 3, "text": "bread oven"}], "queries": [{"start": 1, "end": 3, "text": "an oven"}, {"start": 0, "end": 1, "text": "bread"}]},
]
WORDS = [(WORD, w) for w in "a dog runs cat the bread oven an".split()]


class Student(unittest.TestCase):
    def test_backward_is_the_slope_of_forward(self):
        rows = Rows(WORDS, 7)
        rng = np.random.default_rng(2)
        table, want = rng.normal(size=(rows.count, 3)), rng.normal(size=(2, 3))
        batch = student.Bags(rows, ["a dog dog unknown", "oven"]).batch(np.array([0, 1]))
        f = lambda t: float((batch.forward(t) * want).sum())
        f(table)
        got = batch.backward(want)
        for i, r in enumerate(batch.rows):
            for d in range(3):
                self.assertAlmostEqual(slope(f, table, (r, d)), got[i, d], places=3)

    def test_tuning_follows_the_slope(self):
        rows = Rows(WORDS, 7)
        table = np.random.default_rng(3).normal(size=(rows.count, 4))
        tuner = tune.Tuner(rows, table, VIDEOS, (None, None), tune.Settings(drop=0, anchor=0, scale=3.0))
        both = np.array([1, 0])

        def f(t):
            tuner.table = t
            return tuner.contrast(both)[0]

        _, grads = tuner.contrast(both)
        for r in range(rows.known):
            for d in range(4):
                got = sum(g[np.flatnonzero(at == r), d].sum() for at, g in grads)
                self.assertAlmostEqual(slope(f, table, (r, d)), got, places=3)

    def test_adam_moves_only_the_rows_of_the_batch(self):
        table = np.ones((4, 2), np.float32)
        student.Adam(table).step([(np.array([1, 3]), np.ones((2, 2), np.float32)), (np.array([3]), np.ones((1, 2), np.float32))], 0.1)
        np.testing.assert_allclose(table, [[1, 1], [0.9, 0.9], [1, 1], [0.9, 0.9]], atol=1e-5)

    def test_rate(self):
        self.assertAlmostEqual(student.rate_at(0, 100, 1.0), 1 / 20)
        self.assertAlmostEqual(student.rate_at(50, 100, 1.0), 0.5)
        self.assertAlmostEqual(student.rate_at(99, 100, 1.0), 1 / 30)

    def test_distillation_learns(self):
        rows = Rows(WORDS, 7)
        rng = np.random.default_rng(4)
        table = rng.normal(size=(rows.count, DIM)).astype(np.float32)
        texts = [w for _, w in WORDS]
        target = rng.normal(size=(len(texts), DIM)).astype(np.float32)
        target /= np.linalg.norm(target, axis=1, keepdims=True)
        distill.run(table, [(student.Bags(rows, texts), target)], distill.Settings(epochs=200, batch=4, rate=0.05))
        self.assertGreater((student.embed(table, rows, texts) * target).sum(1).min(), 0.95)


class Moments(unittest.TestCase):
    def test_recall(self):
        rows = Rows(WORDS, 7)
        table = np.eye(rows.count, dtype=np.float32)
        got = moments.recall(VIDEOS, lambda t: student.embed(table, rows, t))
        self.assertEqual((got["R1"], got["R10"]), (1.0, 1.0))

    def test_overlap(self):
        nodes, queries = moments.Side(VIDEOS, "nodes"), moments.Side(VIDEOS, "queries")
        got = moments.overlap(queries, np.array([0]), nodes, np.array([0, 1]))
        np.testing.assert_allclose(got, [[5 / 6, 1 / 9]], atol=1e-6)


class Texts(unittest.TestCase):
    def test_gettext(self):
        messages = [(b"", b"head"), (b"one\n\ntwo", b"uno\n\ndos"), (b"menu\4<b>Open</b>", b"Abrir")]
        at, tables, blob = 28 + 16 * len(messages), [b"", b""], b""
        for side in (0, 1):
            for m in messages:
                tables[side] += struct.pack("<2I", len(m[side]), at + len(blob))
                blob += m[side] + b"\0"
        head = struct.pack("<7I", 0x950412DE, 0, len(messages), 28, 28 + 8 * len(messages), 0, 0)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "x.mo"
            file.write_bytes(head + tables[0] + tables[1] + blob)
            self.assertEqual(pairs.gettext_pairs(file), [("one", "uno"), ("two", "dos"), ("Open", "Abrir")])

    def test_usable(self):
        self.assertTrue(pairs.usable("a house", "房子", pairs.SCRIPTS["zh"]))
        self.assertFalse(pairs.usable("a house", "house", pairs.SCRIPTS["zh"]))

    def test_sentences(self):
        self.assertEqual(prose.sentences("Yeah {vocalsound} . It 's wired ."), ["Yeah.", "It's wired."])


class Export(unittest.TestCase):
    def test_quantise_keeps_half_a_step(self):
        table = np.random.default_rng(5).normal(size=(6, 8)).astype(np.float32)
        table[2] = 0
        rows, scales = export.quantise(table)
        self.assertLessEqual(np.abs(rows * scales[:, None] - table).max(), scales.max() / 2 + 1e-6)
        self.assertEqual(np.abs(rows[0]).max(), 127)


if __name__ == "__main__":
    unittest.main()
