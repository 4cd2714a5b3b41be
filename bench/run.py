"""make bench: our index engines and embedder beside their peers.

Every engine runs in a process of its own and gets its turns in rotation, so
that all of them share what else the machine does; what counts is processor
time. run.py --out FILE writes one JSON object for `reeltree bench page`.
"""

import argparse
import json
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DIM, CENTRES, NOISE, HITS = 256, 2000, 0.8, 10
ROUNDS, TURN = 10, 100  # searches of one engine: ROUNDS turns of TURN queries
TUNING = 1000  # further queries that choose the width
WIDTHS, WANTED = (16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 768), 0.992  # so that .99 holds on other queries too
READERS, SHARED = 16, ("reeltree exact", "reeltree hnsw")  # engines that are searched by many beside a writer
GRAPHS = ("reeltree hnsw", "hnswlib", "faiss HNSW")  # engines with a width


def clustered(n, random, centres):
    """Unit vectors around random centres: noise of norm NOISE on unit centres."""
    out = np.empty((n, DIM), dtype="<f4")
    for at in range(0, n, 10_000):
        part = out[at : at + 10_000]
        noise = random.standard_normal(part.shape)
        noise *= NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
        part[:] = centres[random.integers(len(centres), size=len(part))] + noise
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return out


def material(n, folder):
    """Rows, queries and the true neighbours of the queries."""
    random = np.random.default_rng(1)
    centres = random.standard_normal((CENTRES, DIM))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows, queries = clustered(n, random, centres), clustered(ROUNDS * TURN + TUNING, random, centres)
    paths = os.path.join(folder, f"rows-{n}.f32"), os.path.join(folder, f"queries-{n}.f32")
    rows.tofile(paths[0])
    queries.tofile(paths[1])
    truth = np.empty((len(queries), HITS), dtype=int)
    for at in range(0, len(queries), 100):
        scores = queries[at : at + 100] @ rows.T
        best = np.argpartition(-scores, HITS, axis=1)[:, :HITS]
        truth[at : at + 100] = best
    return paths, truth


def right(found, truth):
    """How many of the true neighbours were found."""
    return sum(len(set(hits) & set(true.tolist())) for hits, true in zip(found, truth))


class Engine:
    """One measured process."""

    def __init__(self, name, command, turns=ROUNDS):
        self.name, self.turns = name, turns
        self.took = {"cpu_s": 0.0, "n": 0, "right": 0}
        self.turn_cpu, self.p50 = [], []
        self.width = 0
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def end(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bench: {self.name} ended before it had answered; run it alone to see why")
        return json.loads(line)

    def say(self, command):
        self.begin(command)
        return self.end()

    def tune(self, truth):
        """The smallest width with the wanted recall on queries that are not measured."""
        for self.width in WIDTHS:
            self.say(f"ef {self.width}")
            got = self.say(f"search {ROUNDS * TURN} {ROUNDS * TURN + TUNING}")
            if right(got["hits"], truth[ROUNDS * TURN :]) >= WANTED * TUNING * HITS:
                return

    def search(self, turn, truth):
        first, last = turn * TURN, (turn + 1) * TURN
        got = self.say(f"search {first} {last}")
        for key in ("cpu_s", "n"):
            self.took[key] += got[key]
        self.turn_cpu.append(got["cpu_s"] / got["n"])
        self.p50.append(got.get("p50_ms", 0))
        self.took["right"] += right(got["hits"], truth[first:last])

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f"bench: {self.name} failed")


def indexes(n, args, folder, names):
    (rows, queries), truth = material(n, folder)
    files = ["--vectors", rows, "--queries", queries, "--dim", str(DIM)]
    commands = {
        "reeltree exact": [args.reeltree, "bench", "exact", *files],
        "reeltree exact (plain)": [args.plain, "bench", "exact", *files],
        "reeltree hnsw": [args.reeltree, "bench", "hnsw", *files],
        "coder/hnsw adapter": [args.reeltree, "bench", "coder-hnsw", *files],
        "hnswlib": [sys.executable, os.path.join(HERE, "peers.py"), "hnswlib", *files],
        "faiss HNSW": [sys.executable, os.path.join(HERE, "peers.py"), "faiss-hnsw", *files],
        "faiss flat": [sys.executable, os.path.join(HERE, "peers.py"), "faiss-flat", *files],
        "chromem-go": [args.chromem, *files],
    }
    engines = [Engine(name, commands[name], 2 if name == "chromem-go" else ROUNDS) for name in names]
    builds = {}
    for e in engines:  # side by side: who builds alone would have the caches alone
        e.begin("build")
    for e in engines:
        builds[e.name] = e.end()
        print(f"bench: {n} vectors into {e.name}: {builds[e.name]['cpu_s']:.1f} s of processor time", file=sys.stderr)
    for e in engines:
        if e.name in GRAPHS:
            e.tune(truth)
    for turn in range(ROUNDS):
        # Whoever began last time ends this time.
        for e in engines[turn % len(engines) :] + engines[: turn % len(engines)]:
            if turn < e.turns:
                e.search(turn, truth)
    out = []
    for e in engines:
        beside = e.say(f"readers {READERS}")["beside"] if e.name in SHARED else None
        mapped = e.say("mapped").get("mapped", 0)
        e.close()
        n_asked, build = e.took["n"], builds[e.name]
        out.append({
            "engine": e.name, "width": e.width, "vectors": n, "queries": n_asked, "recall": e.took["right"] / (n_asked * HITS),
            "build_cpu_s": build["cpu_s"], "bytes": build["bytes"], "mapped": mapped, "search_cpu_ms": 1000 * e.took["cpu_s"] / n_asked,
            "turn_cpu_ms": [1000 * x for x in e.turn_cpu],
            "p50_ms": float(np.median(e.p50)), "beside": beside,
        })
    os.remove(rows)
    os.remove(queries)
    return out


def embedders(args, folder):
    """Captions a second of processor time."""
    words = json.load(open(os.path.join(HERE, "captions.json"), encoding="utf-8"))
    random = np.random.default_rng(2)
    pick = lambda kind: words[kind][random.integers(len(words[kind]))]
    texts = [f"{pick('who')} {pick('does')} {pick('what')} {pick('where')}." for _ in range(20_000)]
    path = os.path.join(folder, "texts")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(texts) + "\n")
    engines = [(Engine("reeltree built-in", [args.reeltree, "bench", "embedder", "--texts", path]), 2000)]
    if args.minilm:
        command = [args.minilm_python, os.path.join(HERE, "minilm.py"), args.minilm, "--texts", path]
        engines.append((Engine("MiniLM (int8, ONNX Runtime)", command), 50))
    for e, _ in engines:
        e.say("embed 0 20")  # tables and sessions are made ready at their first use
    for turn in range(ROUNDS):
        for e, n in engines:
            got = e.say(f"embed {turn * n} {(turn + 1) * n}")
            e.took["cpu_s"] += got["cpu_s"]
            e.took["n"] += got["n"]
    out = []
    for e, _ in engines:
        e.close()
        n = e.took["n"]
        out.append({"engine": e.name, "texts": n, "words": sum(len(t.split()) for t in texts[:n]) / n, "per_cpu_s": n / e.took["cpu_s"]})
    os.remove(path)
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--reeltree", required=True)
    p.add_argument("--plain", required=True, help="reeltree built without vector instructions")
    p.add_argument("--chromem", required=True)
    p.add_argument("--folder", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--minilm", help="folder of the sentence encoder; without it the embedder is measured alone")
    p.add_argument("--minilm-python", default=sys.executable)
    p.add_argument("--sizes", default="36000,100000")
    p.add_argument("--engines", default="reeltree exact,reeltree exact (plain),reeltree hnsw,hnswlib,faiss HNSW,faiss flat,chromem-go")
    args = p.parse_args()
    version = subprocess.run([args.reeltree, "version"], capture_output=True, text=True, check=True).stdout.strip()
    result = {"version": version, "dim": DIM, "centres": CENTRES, "noise": NOISE, "hits": HITS, "indexes": []}
    for n in map(int, args.sizes.split(",")):
        result["indexes"] += indexes(n, args, args.folder, args.engines.split(","))
    result["embedders"] = embedders(args, args.folder)
    with open(args.out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)


if __name__ == "__main__":
    main()
