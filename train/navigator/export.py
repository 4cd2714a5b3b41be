"""Writes the weights and their manifest."""

import hashlib
import json
import pathlib

import numpy as np
from safetensors.numpy import save


def write(folder: pathlib.Path, sets: dict[str, dict[str, np.ndarray]], embedder: str, recipe: dict) -> str:
    """Writes navigator.safetensors and navigator.json; gives the file's SHA-256."""
    tensors = {f"{name}.{key}": np.ascontiguousarray(flat(key, value)) for name, weights in sets.items() for key, value in weights.items()}
    file = save(tensors, {"embedder": embedder})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "navigator.safetensors").write_bytes(file)
    manifest = {"file": "navigator.safetensors", "sha256": hashlib.sha256(file).hexdigest(), "embedder": embedder, **recipe}
    (folder / "navigator.json").write_text(json.dumps(manifest, indent=1) + "\n")
    return manifest["sha256"]


def flat(key: str, value: np.ndarray) -> np.ndarray:
    """What a question adds to the features' weights has a row for each head and rank."""
    return value.reshape(-1, value.shape[-1]) if key == "lean_phi" else value
