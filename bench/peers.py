"""Peers of make bench: hnswlib and faiss behind the protocol of `reeltree bench`.

peers.py ENGINE --vectors FILE --queries FILE --dim N reads commands
from standard input (build; ef N, the width of a search; search FROM TO; mapped, the memory that files stand behind) and answers each with one line of
JSON: op, n, cpu_s, wall_s, bytes of a build, hits of a search. One thread.
"""

import argparse
import json
import os
import resource
import sys
import time

import numpy as np

M, EF_BUILD, HITS = 16, 200, 10


def cpu():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def resident(kind):
    """Bytes of this process's memory: RssAnon, that no file stands behind, or RssFile."""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(kind + ":"):
                return int(line.split()[1]) << 10
    return 0


def parts(path, dim):
    """The rows of a file, a thousand at once: read, since a mapped file would count as memory."""
    with open(path, "rb") as f:
        while data := f.read(4000 * dim):
            yield np.frombuffer(data, dtype="<f4").reshape(-1, dim)


class Hnswlib:
    def build(self, path, n, dim):
        import hnswlib

        self.index = hnswlib.Index(space="ip", dim=dim)
        self.index.init_index(max_elements=n, M=M, ef_construction=EF_BUILD, random_seed=1)
        self.index.set_num_threads(1)
        for part in parts(path, dim):
            at = self.index.get_current_count()
            self.index.add_items(part, np.arange(at, at + len(part)))

    def ef(self, n):
        self.index.set_ef(n)

    def search(self, queries):
        return self.index.knn_query(queries, k=HITS)[0]


class Faiss:
    def build(self, path, _, dim):
        import faiss

        faiss.omp_set_num_threads(1)
        self.index = self.make(faiss, dim)
        for part in parts(path, dim):
            self.index.add(part)

    def search(self, queries):
        return self.index.search(queries, HITS)[1]


class FaissHNSW(Faiss):
    def make(self, faiss, dim):
        index = faiss.IndexHNSWFlat(dim, M, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = EF_BUILD
        return index

    def ef(self, n):
        self.index.hnsw.efSearch = n


class FaissFlat(Faiss):
    def make(self, faiss, dim):
        return faiss.IndexFlatIP(dim)


ENGINES = {"hnswlib": Hnswlib, "faiss-hnsw": FaissHNSW, "faiss-flat": FaissFlat}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("engine", choices=sorted(ENGINES))
    p.add_argument("--vectors", required=True)
    p.add_argument("--queries", required=True)
    p.add_argument("--dim", type=int, required=True)
    a = p.parse_args()
    n = os.path.getsize(a.vectors) // (4 * a.dim)
    queries = np.fromfile(a.queries, dtype="<f4").reshape(-1, a.dim)
    engine = ENGINES[a.engine]()
    for command in sys.stdin:
        op, *rest = command.split()
        out, wall, used = {"op": op}, time.perf_counter(), cpu()
        if op == "build":
            before, mapped = resident("RssAnon"), resident("RssFile")
            engine.build(a.vectors, n, a.dim)
            out["n"] = n
        elif op == "ef":
            engine.ef(int(rest[0]))
        elif op == "mapped":
            out["mapped"] = max(0, resident("RssFile") - mapped)
        else:
            first, last = map(int, rest)
            # One query at a time, as a service asks.
            hits, times = [], []
            for i in range(first, last):
                began = time.perf_counter()
                found = engine.search(queries[i : i + 1])
                times.append(time.perf_counter() - began)
                hits.append(found[0].tolist())
            out.update(n=last - first, hits=hits, p50_ms=1000 * float(np.median(times)))
        out.update(cpu_s=cpu() - used, wall_s=time.perf_counter() - wall)
        if op == "build":
            out["bytes"] = max(0, resident("RssAnon") - before)
        print(json.dumps(out), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
