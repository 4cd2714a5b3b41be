"""python -m unittest refiner.test_refiner"""

import base64
import json
import pathlib
import tempfile
import unittest

import numpy as np

from . import golden, learn, model
from .lessons import LEVELS, preferences, read


def text(values) -> str:
    return base64.b64encode(np.array(values, "<f4").tobytes()).decode()


def lessons(folder: str, junctions: list[list[tuple[float, list[float]]]]):
    """Junctions of sides with gold and terms; vectors are one dimension."""
    file = pathlib.Path(folder) / "set.jsonl"
    with open(file, "w") as out:
        for n, sides in enumerate(junctions):
            rows = [{"level": "l2" if i == 0 else "l3", "gold": gold, "terms": text(terms), "vector": text([1])} for i, (gold, terms) in enumerate(sides)]
            out.write(json.dumps({"cluster": f"c{n % 4}", "asked": text([1]), "sides": rows}) + "\n")
    return read(file)


class Preferences(unittest.TestCase):
    def test_by_hand(self):
        self.assertEqual(preferences([1, 1, 1]), [(0, 1), (0, 2)])
        self.assertEqual(preferences([0.5, 1, 0]), [(0, 2), (1, 0), (1, 2)])
        self.assertEqual(preferences([0.5, 0.2, 0.8]), [(1, 0), (2, 0)])

    def test_kept_junctions_keep_theirs(self):
        with tempfile.TemporaryDirectory() as folder:
            j = lessons(folder, [[(1, [0]), (1, [0]), (1, [0])], [(0.5, [0]), (1, [1]), (0, [0])]])
        second = j.of(np.array([False, True]))
        self.assertEqual((len(second), second.clusters, second.junction.tolist()), (1, ["c1"], [0, 0, 0]))
        self.assertEqual(list(zip(second.better.tolist(), second.worse.tolist())), [(3, 5), (4, 3), (4, 5)])
        self.assertEqual(learn.held(j, np.array([1, 0, 2, 0, 1, -1.0])).tolist(), [0.5, 1.0])
        self.assertEqual(learn.accuracy(j, np.array([1, 0, 2, 0, 1, -1.0])), 0.5)


class Learning(unittest.TestCase):
    def made(self, folder: str):
        rng = np.random.default_rng(1)
        out = []
        for _ in range(60):
            gold = rng.integers(0, 2, 3).tolist()
            whole = sum(gold) / 3
            out.append([(whole, [whole, rng.random()])] + [(float(g), [g, rng.random()]) for g in gold])
        return lessons(folder, [j for j in out if 0 < j[0][0] < 1])

    def test_what_tells_gold_is_found_and_twice_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            j = self.made(folder)
        for r in (learn.Recipe(steps=80, hidden=0), learn.Recipe(steps=80, hidden=4, rank=1)):
            w, curve = learn.learned(j, r)
            again, _ = learn.learned(j, r)
            self.assertLess(curve[-1], curve[0])
            self.assertGreater(learn.accuracy(j, learn.scores(w, j)), 0.95)
            for name in w:
                np.testing.assert_allclose(w[name], again[name], atol=1e-6)
            self.assertEqual(w["knows"].tolist(), [1, 0, 1, 0, 0, 0])

    def test_what_is_not_read_counts_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            j = self.made(folder)
        w, _ = learn.learned(j, learn.Recipe(steps=5, hidden=4, reads=1))
        self.assertEqual(float(abs(w["terms"][:, 1]).max()), 0)
        self.assertEqual(float(abs(w["hidden"][:, 1]).max()), 0)


class Model(unittest.TestCase):
    def test_by_hand(self):
        w = {"terms": np.array([[0.0], [2.0]]), "offset": np.array([0.0, 1.0]), "down": np.array([[0.0, 1.0]]), "up": np.array([[2.0, 0.0]])}
        q, v = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])  # v becomes (2, 1)
        self.assertAlmostEqual(float(model.score(w, q, v, np.array([[3.0]]), np.array([1]))[0]), 2 / 5**0.5 + 7, places=5)
        w |= {"hidden": np.array([[1.0, 0.0, 5.0]]), "hidden_bias": np.array([-8.0]), "out": np.array([4.0])}
        self.assertAlmostEqual(float(model.score(w, q, v, np.array([[3.0]]), np.array([1]))[0]), 2 / 5**0.5 + 7, places=5)  # SiLU(0)

    def test_goldens_are_finite(self):
        self.assertTrue(np.isfinite(golden.score(golden.weights(7, 9), 3, golden.DIM, 9)))
        self.assertEqual(golden.weights(7, 9)["hidden"].shape, (golden.HIDDEN, 9 + len(LEVELS)))


if __name__ == "__main__":
    unittest.main()
