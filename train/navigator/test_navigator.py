"""python -m unittest navigator.test_navigator"""

import pathlib
import tempfile
import unittest

import jax
import jax.numpy as jnp
import numpy as np

from . import chart, export, golden, halt, learn, model
from .lessons import Layout, Lessons, Question, overlap


class Labels(unittest.TestCase):
    def test_by_hand(self):
        self.assertEqual(halt.labels([0.0, 1.0]), [0, 1])  # the next round is worth .9 - .1
        self.assertEqual(halt.labels([0.4, 0.4]), [1, 1])  # the next round is worth .36 - .1
        self.assertEqual(halt.labels([0.0, 0.0, 1.0]), [0, 0, 1])  # two rounds on: .81 - .2
        self.assertEqual(halt.labels([0.7]), [1])

    def test_a_stop_is_learned(self):
        states = np.array([[1.0, 0.0], [0.0, 1.0]] * 50, np.float32)
        w = halt.fit(states, states[:, 0], True)
        p = states[:2] @ w["halt"] + w["halt_bias"]
        self.assertTrue(p[0] > 0 > p[1], p)
        self.assertEqual(set(halt.fit(states, states[:, 0], False)), {"halt_bias"})


class Model(unittest.TestCase):
    shape = model.Shape(dim=4, heads=2, head=2, gated=1, rank=1, hidden=3, blocks=1, cycles=2)

    def test_start_ranks_alike_and_keeps_the_state(self):
        w = model.start(jax.random.PRNGKey(0), self.shape, 3, True)
        q, node, phi = jnp.ones((1, 4)), jax.random.normal(jax.random.PRNGKey(1), (1, 5, 4)), jnp.ones((1, 5, 3))
        s = model.logits(w, self.shape, 2 * q, node, phi)
        self.assertEqual(float(abs(s).max()), 0)
        z = model.update(w, self.shape, q, q, s, node, jnp.ones((1, 5), bool))
        np.testing.assert_array_equal(z, q)

    def test_block_by_hand(self):
        w = {"norm0": jnp.array([1.0, 2.0]), "gate0": jnp.array([[1.0, 0.0]]), "up0": jnp.array([[0.0, 1.0]]), "down0": jnp.array([[1.0], [-1.0]])}
        z = model.block(w, 0, jnp.array([[1.0, 0.0]]), jnp.array([[2.0, 4.0]]))
        rms = np.sqrt(12.5 + 1e-6)
        step = 3 / rms / (1 + np.exp(-3 / rms)) * 8 / rms
        np.testing.assert_allclose(z[0], [1 + step, -step], rtol=1e-5)

    def test_a_step_without_nodes_changes_nothing(self):
        w = golden.weights(1, 3)
        q = jnp.ones((1, 16))
        node, phi = jnp.zeros((1, 2, 16)), jnp.zeros((1, 2, 3))
        s = model.logits(w, golden.SMALL, 2 * q, node, phi)
        np.testing.assert_array_equal(model.update(w, golden.SMALL, q, q, s, node, jnp.zeros((1, 2), bool)), q)


class Learning(unittest.TestCase):
    def lessons(self) -> Lessons:
        """Two leaves and two regions; feature 1 tells which of them is gold."""
        l = Lessons.__new__(Lessons)
        rng = np.random.default_rng(0)
        l.features, l.embedder, l.questions = 3, "none", []
        l.vectors, phi, gold = rng.normal(size=(400, 4)).astype(np.float32), [], []
        for i in range(60):
            good = i % 2
            for row in (-1, -1, 0, 1, 0, 1):
                phi.append([1.0, float(row == good), rng.normal()])
                gold.append([10, 5 if row < 0 else 10 * (row == good), 10, 9])
            l.questions.append(Question("s", (1, 1, 2, 2), np.array([0]), np.array([0, 0]), 6 * i, 399 - i, 6 * i))
        l.phi, l.gold = np.array(phi, np.float32), np.array(gold, np.float32)
        return l

    def recipe(self, **kw):
        return learn.Recipe(**{"seen": True, "reads": None, "reads_vectors": False, "epochs": 30, "batch": 20, "rate": 5e-2, **kw})

    def test_the_feature_that_tells_is_learned_and_it_is_repeatable(self):
        l, shape = self.lessons(), Model.shape
        runs = []
        for _ in range(2):
            x = learn.Learner(l, l.questions, shape, self.recipe())
            first = x.run_epoch()
            for _ in range(29):
                last = x.run_epoch()
            runs.append(learn.folded(x.weights, x.scale))
        self.assertLess(last, 0.8 * first)
        w = runs[0]["phi"].mean(0)
        self.assertGreater(w[1], 3 * abs(w[2]))
        for k in runs[0]:
            np.testing.assert_allclose(runs[0][k], runs[1][k], atol=1e-6)
        self.assertNotIn("out", runs[0])

    def test_a_stopped_run_goes_on(self):
        l = self.lessons()
        whole = learn.Learner(l, l.questions, Model.shape, self.recipe(epochs=4))
        for _ in range(4):
            whole.run_epoch()
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "c.npz"
            first = learn.Learner(l, l.questions, Model.shape, self.recipe(epochs=4))
            first.run_epoch()
            first.keep(file)
            second = learn.Learner(l, l.questions, Model.shape, self.recipe(epochs=4))
            second.resume(file)
            while second.epoch < 4:
                second.run_epoch()
        np.testing.assert_allclose(second.weights["phi"], whole.weights["phi"], atol=1e-6)
        np.testing.assert_allclose(second.curve, whole.curve, rtol=1e-5)

    def test_features_that_may_not_be_read_count_nothing(self):
        l = self.lessons()
        x = learn.Learner(l, l.questions, Model.shape, self.recipe(reads=(0, 2)))
        x.run_epoch()
        self.assertFalse(learn.folded(x.weights, x.scale)["phi"][:, 1].any())

    def test_gold_paths_close_what_was_visited(self):
        l = self.lessons()
        q = l.questions[1]
        steps = Layout(l, True, 6.0).lay([q], 3)
        self.assertEqual([int(s.open.sum()) for s in steps], [1, 1, 2, 1, 1, 1, 0, 0, 0, 2])
        np.testing.assert_allclose(steps[2].target[0], np.exp([0, 6]) / np.exp([0, 6]).sum(), rtol=1e-5)

    def test_a_beam_chooses_among_all_of_a_level(self):
        l = self.lessons()
        rows = np.array([7, 8, 9, 10, 11])  # two L1, two L2, one region
        q = Question("s", (2, 2, 0, 1), np.array([0, 1]), np.array([], int), 0, 3, 0, rows)
        l.gold = np.array([[100, 3, 4, 0], [100, 1, 4, 0], [4, 3, 4, 0], [9, 0, 4, 0], [4, 4, 4, 0]], np.float32)
        steps = Layout(l, True, 6.0, beam=True).lay([q], 0)
        self.assertEqual([list(s.nodes[0][s.open[0]]) for s in steps], [[7, 8], [9, 10], [11]])
        np.testing.assert_allclose(steps[0].target[0], [0.75, 0.25])  # an L1 counts by its share of the gold
        np.testing.assert_allclose(steps[1].target[0], [1.0, 0.0])
        self.assertEqual(halt.coverage(l, q, [1, 0], 1), [0.0, 0.75])

    def test_overlap_by_hand(self):
        self.assertAlmostEqual(float(overlap(np.array([10.0, 4.0, 6.0, 0.0]))), 4 / 12)


class Files(unittest.TestCase):
    def test_export_and_chart(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            sha = export.write(folder, {"seen": {"phi": np.ones((2, 3), np.float32), "lean_phi": np.ones((2, 5, 3), np.float32)}}, "e", {})
            from safetensors.numpy import load_file

            self.assertEqual(load_file(folder / "navigator.safetensors")["seen.lean_phi"].shape, (10, 3))
            self.assertIn(sha, (folder / "navigator.json").read_text())
            chart.write(folder / "c.svg", {"a": [2.0, 1.0]})
            self.assertIn("polyline", (folder / "c.svg").read_text())


if __name__ == "__main__":
    unittest.main()
