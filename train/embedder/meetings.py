"""Recordings with questions and their gold stretches (meetings-train): a
question, or a sentence of its answer, is found where people spoke of it."""

import numpy as np

from .features import Rows
from .losses import marginal
from .prose import sentences
from .student import Bags

WINDOW_WORDS = 60


class Recording:
    """Windows of whole turns, and questions with the windows they touch."""

    def __init__(self, meeting: dict):
        self.texts, self.words, window_of = [], [], []
        for turn in meeting["turns"]:
            text = " ".join(sentences(turn["text"]))
            if not self.texts or self.words[-1] >= WINDOW_WORDS:
                self.texts.append("")
                self.words.append(0)
            self.texts[-1] = f"{self.texts[-1]} {text}".strip()
            self.words[-1] += len(text.split())
            window_of.append(len(self.texts) - 1)
        self.questions, self.gold = [], []
        for q in meeting["queries"]:
            gold = np.zeros(len(self.texts), bool)
            for first, last in q["turns"]:
                gold[window_of[first] : window_of[min(last, len(window_of) - 1)] + 1] = True
            for text in [q["query"]] + [s for s in sentences(q["answer"]) if len(s.split()) >= 5]:
                self.questions.append(text)
                self.gold.append(gold)
        self.asked = [q["query"] for q in meeting["queries"]]


class Speech:
    """Recordings ready for contrastive steps."""

    def __init__(self, rows: Rows, meetings: list[dict]):
        self.parts = []
        for r in map(Recording, meetings):
            gold = np.array(r.gold).reshape(len(r.questions), -1)
            if gold.any():
                keep = gold.any(1)
                questions = [q for q, k in zip(r.questions, keep) if k]
                self.parts.append((Bags(rows, r.texts), Bags(rows, questions), gold[keep]))

    def step(self, table: np.ndarray, rng: np.random.Generator, scale: float, drop: float):
        """Loss of one recording and the gradients of the rows it touches."""
        windows, questions, gold = self.parts[rng.integers(len(self.parts))]
        wb, qb = (b.batch(np.arange(len(b)), rng, drop) for b in (windows, questions))
        w, q = wb.forward(table), qb.forward(table)
        loss, d = marginal(scale * q @ w.T, gold)
        d *= scale
        return loss, [(wb.rows, wb.backward(d.T @ q)), (qb.rows, qb.backward(d @ w))]


def recall(meetings: list[dict], embed, share: float = 0.1) -> float:
    """Mean share of the gold windows' words among the best windows that hold
    `share` of a recording's words."""
    out = []
    for m in meetings:
        r = Recording(m)
        windows, words = embed(r.texts), np.array(r.words)
        for text in r.asked:
            gold = r.gold[r.questions.index(text)]
            order = np.argsort(-(windows @ embed([text])[0]), kind="stable")
            taken = order[np.cumsum(words[order]) <= share * words.sum()]
            if gold.any():
                out.append(words[taken][gold[taken]].sum() / max(1, words[gold].sum()))
    return round(float(np.mean(out)), 4)
