"""The teacher: MiniLM sentence vectors through ONNX Runtime, one thread."""

import hashlib
import pathlib

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

WIDTH = 384
MAX_TOKENS = 64
BATCH = 64


class Teacher:
    """Gives unit vectors of texts; what it once gave is kept in a folder."""

    def __init__(self, package: pathlib.Path, cache: pathlib.Path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = next(package.glob("*.onnx"))
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.tokens = Tokenizer.from_file(str(next(package.glob("*-tokenizer.json"))))
        self.tokens.no_padding()
        self.tokens.enable_truncation(MAX_TOKENS)
        self.cache = cache
        cache.mkdir(parents=True, exist_ok=True)

    def __call__(self, texts: list[str]) -> np.ndarray:
        key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]
        file = self.cache / f"{key}.npy"
        if not file.exists():
            np.save(file.with_suffix(".part.npy"), self.encode(texts))
            file.with_suffix(".part.npy").rename(file)
        return np.load(file)

    def encode(self, texts: list[str]) -> np.ndarray:
        ids = [e.ids for e in self.tokens.encode_batch(texts)]
        order = np.argsort([len(i) for i in ids], kind="stable")
        out = np.zeros((len(texts), WIDTH), np.float32)
        for k in range(0, len(order), BATCH):
            part = order[k : k + BATCH]
            out[part] = self.batch([ids[i] for i in part])
        return out

    def batch(self, ids: list[list[int]]) -> np.ndarray:
        """Mean of the token vectors, at unit length."""
        padded = np.zeros((len(ids), max(map(len, ids))), np.int64)
        mask = np.zeros_like(padded)
        for row, i in enumerate(ids):
            padded[row, : len(i)], mask[row, : len(i)] = i, 1
        feed = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
        hidden = self.session.run(None, {i.name: feed[i.name] for i in self.session.get_inputs()})[0]
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)
