"""Words and character groups of a text: the Python twin of model/builtin_features.go.

Both sides must read every text alike; golden vectors written by export.py and
checked by the Go tests hold them together.
"""

import unicodedata

import regex

LONGEST_WORD = 64  # code points; what goes on longer is cut into words of this length
GROUP_SIZES = (3, 4)  # characters in a group of an unknown word, its bounds counted in
WORD, CHAR, PAIR, GROUP = 1, 5, 6, 3  # kinds of features, mixed into their hashes
MASK = (1 << 64) - 1
UNBLANKED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")


def hash64(kind: int, text: str) -> int:
    """FNV-1a over the code points, then the finalizer of SplitMix64."""
    h = 14695981039346656037 ^ kind
    for c in text:
        h = ((h ^ ord(c)) * 1099511628211) & MASK
    h ^= h >> 30
    h = (h * 0xBF58476D1CE4E5B9) & MASK
    h ^= h >> 27
    h = (h * 0x94D049BB133111EB) & MASK
    return h ^ (h >> 31)


def dropped(c: str) -> bool:
    r = ord(c)
    return 0x300 <= r <= 0x36F or 0x591 <= r <= 0x5C7 or 0x64B <= r <= 0x65F or r in (0x670, 0x640)


def read(text: str) -> list[tuple[int, str]]:
    """The features of text in order: (WORD, word), (CHAR, c), (PAIR, cc)."""
    out, word, prev = [], [], ""

    def end_word():
        if word:
            out.append((WORD, "".join(word)))
            word.clear()

    for c in unicodedata.normalize("NFKD", text):
        category = unicodedata.category(c)
        if dropped(c):
            continue
        if UNBLANKED.match(c):
            end_word()
            out.append((CHAR, c))
            if prev:
                out.append((PAIR, prev + c))
            prev = c
        elif category[0] == "M" and not word:
            continue
        elif category[0] in "LM" or category == "Nd":
            if len(word) == LONGEST_WORD:
                end_word()
            prev = ""
            lower = c.lower()
            word.append(lower if len(lower) == 1 else c)
        else:
            end_word()
            prev = ""
            if category == "So" and c != "\ufffd":
                out.append((WORD, c))
    end_word()
    return out


def groups(word: str) -> list[str]:
    """Character groups of a word, bounds marked, for words without a row."""
    w = "<" + word + ">"
    out = [w]
    for n in GROUP_SIZES:
        if len(w) > n:
            out += [w[i : i + n] for i in range(len(w) - n + 1)]
    return out


class Rows:
    """Maps features to rows of the table: [0, known) for those of the
    vocabulary in the order of their hashes, then `buckets` rows for groups."""

    def __init__(self, vocabulary: list[tuple[int, str]], buckets: int):
        self.hashes = sorted(hash64(kind, text) for kind, text in vocabulary)
        self.row = {h: i for i, h in enumerate(self.hashes)}
        self.known, self.buckets = len(self.hashes), buckets
        self.count = self.known + buckets
        self.seen: dict[tuple[int, str], tuple[list[int], float]] = {}
        if len(self.row) != len(vocabulary):
            raise ValueError("two features share a hash")

    def feature(self, kind: int, text: str) -> tuple[list[int], float]:
        """Rows of one feature and the weight of each of them."""
        got = self.seen.get((kind, text))
        if got is None:
            row = self.row.get(hash64(kind, text))
            got = ([row], 1.0) if row is not None else self.spelled(kind, text)
            self.seen[(kind, text)] = got
        return got

    def spelled(self, kind: int, text: str) -> tuple[list[int], float]:
        """The rows of a feature as if it were not in the vocabulary."""
        if kind != WORD:
            return [self.bucket(hash64(kind, text))], 1.0
        rows = [self.bucket(hash64(GROUP, g)) for g in groups(text)]
        return rows, len(rows) ** -0.5

    def bucket(self, h: int) -> int:
        return self.known + h % self.buckets
