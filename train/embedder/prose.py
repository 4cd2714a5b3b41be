"""English teaching texts: captions, speech and questions, definitions, prose."""

import pathlib
import random
import re

from . import moments
from .pairs import catalogues, gettext_pairs, tidy

SPEECH_WORDS = (6, 48)  # a piece of speech has at least and at most so many words
DEFINITIONS = 60_000


def sentences(text: str) -> list[str]:
    """Sentences of a transcript, without its marks and its loose punctuation."""
    text = re.sub(r"\{[a-z]+\}", "", text)
    parts = re.split(r"(?<=[.?!])\s+", text)
    return [re.sub(r"\s+([,.?!;:'])", r"\1", " ".join(p.split())) for p in parts]


def speech(meetings: list[dict]) -> list[str]:
    out = []
    for m in meetings:
        for q in m["queries"] + m["general"]:
            out += [q["query"]] + sentences(q["answer"])
        for turn in m["turns"]:
            piece = ""
            for s in sentences(turn["text"]):
                piece = f"{piece} {s}".strip()
                if len(piece.split()) >= SPEECH_WORDS[0]:
                    out.append(" ".join(piece.split()[: SPEECH_WORDS[1]]))
                    piece = ""
    return out


def definitions(packages: pathlib.Path) -> list[str]:
    """WordNet: "word: gloss" of every sense, and its examples."""
    out = []
    for part in ("noun", "verb", "adj", "adv"):
        file = packages / "wordnet-base/usr/share/wordnet" / f"data.{part}"
        for line in file.read_text(encoding="latin-1").splitlines():
            if line.startswith(" "):  # the licence
                continue
            head, _, gloss = line.partition(" | ")
            word = head.split()[4].split("(")[0].replace("_", " ")
            out += re.findall(r'"([^"]{12,})"', gloss)
            meaning = gloss.split('; "')[0].strip()
            out.append(f"{word}: {meaning}")
    out = unique(out)
    random.Random(2).shuffle(out)
    return out[:DEFINITIONS]


def stories(packages: pathlib.Path) -> list[str]:
    """The English side of translated prose and dialogue, wherever it has a few words."""
    out = [e for file in catalogues(packages, "es") for e, _ in gettext_pairs(file)]
    help_pages = packages / "gnome-user-docs/usr/share/help/C"
    for page in sorted(help_pages.rglob("*.page")):
        out += [tidy(p) for p in re.findall(r"<p\b[^>]*>(.*?)</p>", page.read_text(encoding="utf-8"), re.S)]
    return unique([t for t in out if len(t.split()) >= 4])


def unique(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(t for t in texts if t))


def english(packages: pathlib.Path, shared: pathlib.Path) -> dict[str, list[str]]:
    return {
        "captions": unique(moments.texts(moments.load(shared, "moments-train"))),
        "speech": unique(speech(moments.load(shared, "meetings-train"))),
        "definitions": definitions(packages),
        "stories": stories(packages),
    }
