"""Writes minilm.json again from its own texts: the token numbers that the
library tokenizers gives, and where there is a vector, what onnxruntime gives
for that text alone on one thread.

minilm.py FOLDER runs in training's environment (make train); FOLDER is where
make minilm put the encoder.
"""

import json
import pathlib
import sys

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

folder, golden = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).with_suffix(".json")
tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokens.no_padding()
tokens.no_truncation()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])

lines = []
for case in json.loads(golden.read_text(encoding="utf-8")):
    ids = tokens.encode(case["text"]).ids
    case["ids"] = ids[1:-1]
    if "vector" in case:
        row = np.array([ids], np.int64)
        feed = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        mean = session.run(None, feed)[0][0].mean(0)
        case["vector"] = [round(float(x), 6) for x in mean / np.linalg.norm(mean)]
    lines.append(json.dumps(case, ensure_ascii=False, separators=(",", ":")))
golden.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
