"""Writes the table as int8 rows with a scale each, its manifest, and golden
vectors that hold the Go reader to this side."""

import hashlib
import json
import pathlib
import platform

import numpy as np
from safetensors.numpy import save

from . import packages
from .features import Rows
from .student import Bags

GOLDEN = [
    "A man in a red shirt throws a ball to the dog.",
    "What did the Professor say about the 2 microphones?",
    "Don't re-record the speaker's café naïveté: ﬁlm, Ångström, ½ of 1,234.5!",
    "zyzzyva qwertyuiop supercalifragilisticexpialidocious",
    "¿Dónde está la biblioteca de la universidad?",
    "那个男人在公园里弹吉他。東京タワーのガラス",
    "الكلاب تركض في الحديقةِ العامّة",
    "कुत्ता पार्क में दौड़ रहा है",
    "маяк на берегу моря, Ελλάδα, 등대, ประภาคาร",
    "😀 ★ №",
    "the the the the cat",
]


def quantise(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int8 rows and float32 scales: row = scale * int8, the largest value at 127."""
    scales = (np.abs(table).max(1) / 127).astype(np.float32)
    rows = np.rint(table / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return rows, scales


def vectors(rows: Rows, table8: np.ndarray, scales: np.ndarray, texts: list[str]) -> np.ndarray:
    """What the int8 table gives, in float64."""
    sums = Bags(rows, texts).matrix.astype(np.float64) @ (table8.astype(np.float64) * scales[:, None].astype(np.float64))
    length = np.sqrt((sums * sums).sum(1, keepdims=True))
    return sums / np.where(length > 0, length, 1)


def write(repository: pathlib.Path, rows: Rows, table: np.ndarray, recipe: dict) -> str:
    """Writes model/weights and the golden vectors; gives the embedder's name."""
    table8, scales = quantise(table)
    hashes = np.array(rows.hashes, np.uint64)
    content = hashlib.sha256(hashes.tobytes() + scales.tobytes() + table8.tobytes()).hexdigest()
    name = f"builtin-static-{content[:8]}"
    file = save({"hashes": hashes, "scales": scales, "rows": table8}, {"name": name})
    weights = repository / "model/weights"
    weights.mkdir(parents=True, exist_ok=True)
    (weights / "embed.safetensors").write_bytes(file)
    manifest = {
        "name": name,
        "file": "embed.safetensors",
        "sha256": hashlib.sha256(file).hexdigest(),
        "known": rows.known,
        "buckets": rows.buckets,
        "dim": table.shape[1],
        "machine": platform.machine(),
        **recipe,
        "packages": packages.listed(),
    }
    dump(weights / "embed.json", manifest)
    golden = vectors(rows, table8, scales, GOLDEN)
    cases = [{"text": t, "vector": [float(f"{x:.7f}") for x in v]} for t, v in zip(GOLDEN, golden)]
    dump(repository / "model/testdata/builtin_golden.json", cases, indent=None)
    return name


def dump(file: pathlib.Path, value, indent: int | None = 1) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")
