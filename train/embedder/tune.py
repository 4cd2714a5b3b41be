"""Contrastive tuning: a question must find the right video among all videos
of a batch, and the right caption inside it, without leaving the teacher."""

from dataclasses import dataclass

import numpy as np

from .features import Rows
from .losses import agree, follow, marginal
from .meetings import Speech
from .moments import Side, overlap
from .student import Adam, Bags, rate_at


@dataclass
class Settings:
    epochs: int = 20
    videos: int = 512  # in a batch
    rate: float = 3e-3
    scale: float = 20.0
    drop: float = 0.3  # share of features left out
    inside: float = 0.3  # weight of the choice inside the video
    joined: float = 1.0  # weight of finding the joined captions
    anchor: float = 1.0  # weight of staying with the teacher
    anchors: int = 512  # texts a step for that
    speech: float = 0.3  # weight of finding a question's stretch of a recording
    seed: int = 11


def unit(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    length = np.sqrt((x * x).sum(1, keepdims=True) + 1e-12)
    return x / length, length


class Tuner:
    def __init__(self, rows: Rows, table: np.ndarray, videos: list[dict], anchors: tuple[Bags, np.ndarray], s: Settings, speech: Speech | None = None):
        self.s, self.table, self.adam = s, table, Adam(table)
        self.rng = np.random.default_rng(s.seed)
        self.count = len(videos)
        self.nodes, self.queries = Side(videos, "nodes"), Side(videos, "queries")
        self.node_bags, self.query_bags = Bags(rows, self.nodes.texts), Bags(rows, self.queries.texts)
        self.anchors, self.speech = anchors, speech

    def run(self, report=None) -> None:
        steps_each = max(1, self.count // self.s.videos)
        steps = self.s.epochs * steps_each
        for epoch in range(self.s.epochs):
            order, loss = self.rng.permutation(self.count), 0.0
            for k in range(steps_each):
                rate = rate_at(epoch * steps_each + k, steps, self.s.rate)
                loss += self.step(order[k * self.s.videos : (k + 1) * self.s.videos], rate)
            if report:
                report(epoch, loss / steps_each)

    def step(self, videos: np.ndarray, rate: float) -> float:
        loss, grads = self.contrast(videos)
        if self.s.anchor > 0:
            bags, targets = self.anchors
            which = self.rng.integers(0, len(bags), self.s.anchors)
            batch = bags.batch(which, self.rng, 0.1)
            more, dv = follow(batch.forward(self.table), targets[which], 20.0, 0.2)
            grads.append((batch.rows, batch.backward(self.s.anchor * dv)))
            loss += more
        if self.speech and self.s.speech > 0:
            more, found = self.speech.step(self.table, self.rng, self.s.scale, self.s.drop)
            grads += [(rows, self.s.speech * g) for rows, g in found]
            loss += self.s.speech * more
        self.adam.step(grads, rate)
        return loss

    def contrast(self, videos: np.ndarray):
        s = self.s
        ni, qi = self.nodes.of(videos), self.queries.of(videos)
        nb, qb = self.node_bags.batch(ni, self.rng, s.drop), self.query_bags.batch(qi, self.rng, s.drop)
        n, q = nb.forward(self.table), qb.forward(self.table)
        scores = s.scale * q @ n.T
        same = self.queries.video[qi][:, None] == self.nodes.video[ni][None]
        l1, d1 = marginal(scores, same)
        l2, d2 = marginal(scores.T, same.T)
        target = np.where(same, np.exp(8 * overlap(self.queries, qi, self.nodes, ni)), 0)
        l3, d3 = agree(0.5 * scores, same, target / target.sum(1, keepdims=True))
        ds = s.scale * (d1 + d2.T + s.inside * 0.5 * d3)
        dq, dn = ds @ n, ds.T @ q
        l4, dq4, dn4 = self.join(nb, n, q, np.searchsorted(np.sort(videos), self.nodes.video[ni]), np.searchsorted(np.sort(videos), self.queries.video[qi]), len(videos))
        dq += s.joined * dq4
        dn_raw = s.joined * dn4
        grads = [(nb.rows, nb.backward(dn) + nb.m.T @ dn_raw.astype(np.float32)), (qb.rows, qb.backward(dq))]
        return l1 + l2 + s.inside * l3 + s.joined * l4, grads

    def join(self, nb, n, q, node_video, query_video, count):
        """The same with the joined captions of a video as its only node; its
        vector is the sum of the captions' sums. Gradients by q and by those sums."""
        sums = n * nb.length
        add = np.zeros((count, len(n)), np.float32)
        add[node_video, np.arange(len(n))] = 1
        v, length = unit(add @ sums)
        own = query_video[:, None] == np.arange(count)[None]
        loss, d = marginal(self.s.scale * q @ v.T, own)
        d *= self.s.scale
        dv = d.T @ q
        dv = (dv - v * (dv * v).sum(1, keepdims=True)) / length
        return loss, d @ v, add.T @ dv
