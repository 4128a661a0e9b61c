"""The search for similar trees: time, memory and exactness beside brute force and vectors; and copies in source code.

    python benchmarks/search.py real       # 40,000 trees of the Penn sample, EWT and CRAFT
    python benchmarks/search.py sampled    # 1,000,000 trees from a grammar of EWT; --trees N for fewer
    python benchmarks/search.py pairs      # all pairs above 0.8 of 40,000 trees, and brute force on 5,000
    python benchmarks/search.py programs   # copies in generated programs
    python benchmarks/search.py library    # Python's own standard library

Everything runs on one thread, and times are processor time, which other work on the machine changes little.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import sapwood as sw
import student_programs
from places import corpus
from sampled_trees import sample
from sapwood.kernels import HashedFragmentMap, SubsetTree
from sapwood.search import TreeIndex, find_clones
from sapwood.trees import concatenate

KERNEL = SubsetTree(0.4)
RECALL = 0.99


def real(count: int) -> sw.TreeArray:
    names = ["nltk-zips/treebank.zip", "craft-treebank/craft-penn.tar.xz"]
    names += [f"ewt-propbank/{part}.trees.gz" for part in ("train", "dev", "test")]
    inside = {names[0]: "/treebank/combined/*.mrg", names[1]: "/*"}
    parts = [
        sw.read_trees(f"{corpus(name)}{inside.get(name, '')}", drop_traces=True, drop_function_tags=True)
        for name in names
    ]
    trees = concatenate(parts)
    chosen = np.random.default_rng(0).choice(len(trees), count, replace=False)
    return trees[np.sort(chosen)].detach()


def memory() -> float:
    """Return the memory of this process in bytes."""
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * resource.getpagesize()


def search(trees: sw.TreeArray, queries: int, target: float, *, vectors: bool) -> None:
    distinct = len(set(trees._roots.tolist()))
    print(f"{trees!r}, {1 - distinct / len(trees):.1%} of them duplicates; load {os.getloadavg()[0]:.1f}")
    before, start = memory(), time.process_time()
    index = TreeIndex(trees, KERNEL.normalized())
    len(index)
    seconds = time.process_time() - start
    used = memory() - before
    print(f"built: {len(trees) / seconds:,.0f} trees/s (target 20,000: {len(trees) / seconds / 20000:.1f}x)")
    print(f"memory per tree: {used / len(trees):,.0f} bytes beyond the trees")
    chosen = np.random.default_rng(1).choice(len(trees), queries, replace=False)
    times, near, exact = [], [], 0
    for number in chosen.tolist():
        query = trees[number]
        start = time.process_time()
        found = index.nearest(query, 10)
        times.append(time.process_time() - start)
        near.append(found.similarities[-1])
        exact += found.exact
    median = float(np.median(times))
    print(
        f"nearest 10: median {median * 1e3:.2f} ms, 95 % below {np.percentile(times, 95) * 1e3:.2f} ms "
        f"(target {target * 1e3:g} ms: {target / median:.1f}x); {exact} of {queries} certified; "
        f"the tenth has {np.median(near):.2f} (median)"
    )
    start = time.process_time()
    batch = index.nearest(trees[chosen], 10)
    print(f"the same in one batch: {(time.process_time() - start) / queries * 1e3:.2f} ms per query")
    times, discarded = [], []
    for number in chosen.tolist():
        start = time.process_time()
        found = index.within(trees[number], 0.8)
        times.append(time.process_time() - start)
        discarded.append(found.discarded / len(trees))
    print(f"all above 0.8: median {np.median(times) * 1e3:.2f} ms, {np.median(discarded):.2%} discarded by bounds")
    few = chosen[:5]
    start = time.process_time()
    values = np.concatenate([KERNEL.normalized()(trees[[number]], trees) for number in few.tolist()])
    brute = (time.process_time() - start) / len(few)
    for row, one in enumerate(batch[: len(few)]):
        assert np.allclose(np.sort(values[row])[::-1][:10], one.similarities, rtol=1e-9)
    print(f"brute force, kernel(query, trees): {brute * 1e3:.1f} ms, equal; the index is {brute / median:.0f}x faster")
    in_a_file(index, trees[chosen])
    if vectors:
        compare_vectors(trees, chosen, batch, median)


# What a process sees that opens an index in a file: seconds, and memory of its own.
_OPENED = """
import re, sys, time
import numpy as np
import sapwood as sw
from sapwood.search import TreeIndex

def own():
    return 1024 * int(re.search("RssAnon:[^0-9]*([0-9]+)", open("/proc/self/status").read())[1])

queries = sw.read_trees(sys.argv[2])
TreeIndex(queries).nearest(queries)
seconds = []
for check in (True, False):
    before, start = own(), time.process_time()
    index = TreeIndex.load_mapped(sys.argv[1], check=check)
    len(index)
    seconds.append(time.process_time() - start)
times = []
for query in queries:
    start = time.process_time()
    index.nearest(query, 10)
    times.append(time.process_time() - start)
print(*seconds, own() - before, np.median(times))
"""


def in_a_file(index: TreeIndex, queries: sw.TreeArray) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, asked = Path(folder) / "index.map", Path(folder) / "queries.mrg"
        start = time.process_time()
        index.save_mapped(path)
        seconds = time.process_time() - start
        sw.write_trees(queries, asked)
        found = subprocess.run(
            [sys.executable, "-c", _OPENED, str(path), str(asked)],
            capture_output=True,
            text=True,
            check=True,
        )
        checked, opened, own, median = map(float, found.stdout.split())
        print(
            f"in a file: {path.stat().st_size / len(index):,.0f} bytes per tree, written in {seconds:.1f} s, opened in "
            f"{checked:.2f} s, without a check in {opened * 1e3:.1f} ms; after {len(queries)} queries the process has "
            f"{own / len(index):,.0f} bytes per tree of its own; median {median * 1e3:.2f} ms"
        )


def compare_vectors(trees: sw.TreeArray, chosen: np.ndarray, batch: list, median: float) -> None:
    """Compare with a vector index of hashed fragments: more and more of its hits are ranked again by the kernel, until
    it finds as many of the ten nearest as needed."""
    try:
        import faiss
    except ImportError:
        print("vectors: faiss is not installed, so they are left out (pip install faiss-cpu)")
        return
    faiss.omp_set_num_threads(1)
    exact = KERNEL.normalized()
    features = 512
    made = HashedFragmentMap(decay=KERNEL.decay, max_size=4, n_features=features).fit(trees[:1000])
    start = time.process_time()
    matrix = np.concatenate(
        [np.asarray(made.transform(trees[k : k + 2000]).todense(), np.float32) for k in range(0, len(trees), 2000)]
    )
    faiss.normalize_L2(matrix)
    mapped = time.process_time() - start
    for name, vectors in (
        ("all compared", faiss.IndexFlatIP(features)),
        ("HNSW", faiss.IndexHNSWFlat(features, 32, faiss.METRIC_INNER_PRODUCT)),
    ):
        start = time.process_time()
        vectors.add(matrix)
        built = mapped + time.process_time() - start
        for hits in (10, 100, 1000, 4000):
            if name == "HNSW":
                vectors.hnsw.efSearch = max(64, hits)
            recall, times = [], []
            for number, one in zip(chosen.tolist(), batch, strict=True):
                start = time.process_time()
                found = vectors.search(matrix[[number]], hits)[1][0]
                found = found[found >= 0]
                values = exact.pairwise(trees[[number] * len(found)], trees[found])
                best = values[np.argsort(-values)[:10]]
                times.append(time.process_time() - start)
                # Of equally similar trees any will do.
                recall.append((best >= one.similarities[-1] * (1 - 1e-9)).sum() / len(one))
            if np.mean(recall) >= RECALL or hits == 4000:
                break
        print(
            f"{features} hashed fragments, {name}, {hits} ranked again: {np.median(times) * 1e3:.2f} ms "
            f"({np.median(times) / median:.1f}x ours), recall {np.mean(recall):.3f}, {4 * features:,} bytes per "
            f"tree and more, {len(trees) / built:,.0f} trees/s"
        )


def pairs(count: int) -> None:
    trees = real(count)
    start = time.process_time()
    found = TreeIndex(trees, KERNEL.normalized()).pairs(0.8)
    groups = found.groups()
    seconds = time.process_time() - start
    share = found.evaluated / (count * (count - 1) / 2)
    print(
        f"{count:,} trees: {len(found):,} pairs above 0.8 in {len(groups):,} groups, {seconds:.1f} s "
        f"(target 60 s: {60 / seconds:.1f}x), {share:.4%} of all pairs compared; load {os.getloadavg()[0]:.1f}"
    )
    few = trees[: min(5000, count)].detach()
    start = time.process_time()
    found = TreeIndex(few, KERNEL.normalized()).pairs(0.8)
    ours = time.process_time() - start
    start = time.process_time()
    first, second = np.nonzero(np.triu(KERNEL.normalized()(few) >= 0.8, 1))
    brute = time.process_time() - start
    equal = {(i, j) for i, j, _ in found} == set(zip(first.tolist(), second.tolist(), strict=True))
    print(f"{len(few):,} trees: {len(found):,} pairs, {'equal' if equal else 'NOT EQUAL'} to brute force, {ours:.2f} s")
    print(f"beside {brute:.2f} s: {brute / ours:.1f}x")


def programs(functions: int) -> None:
    made = student_programs.generate(functions, functions // 3)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in made.files.items():
            (Path(folder) / name).write_text(text)
        start = time.process_time()
        report = find_clones(folder, blocks=False)
        seconds = time.process_time() - start
    original = {copy: source for source, copy in made.copies}
    joined: dict[str, set[str]] = {}
    right = 0
    for clone in report.clones:
        names = [one.name if "module_" in one.path else Path(one.path).stem for one in (clone.first, clone.second)]
        sources = {original.get(name, name) for name in names}
        right += len(sources) == 1
        if len(sources) == 1:
            joined.setdefault(sources.pop(), set()).update(names)
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for (source, copy), kind in made.copies.items():
        total[kind] += 1
        found[kind] += copy in joined.get(source, ())
    for kind in total:
        target = 0.85 if kind == "restructured" else 0.99
        print(f"{kind}: recall {found[kind] / total[kind]:.3f} of {total[kind]} (target {target})")
    print(f"precision {right / len(report.clones):.3f} of {len(report.clones)} (target 0.9), {seconds:.1f} s")


def library() -> None:
    folder = sysconfig.get_paths()["stdlib"]
    with tempfile.TemporaryDirectory() as top:
        # Without its tests and what is installed beside it.
        ignored = shutil.ignore_patterns("site-packages", "test", "tests", "idle_test", "__pycache__", "*.so")
        copied = shutil.copytree(folder, Path(top) / "lib", ignore=ignored)
        start = time.process_time()
        report = find_clones(copied)
        seconds = time.process_time() - start
    kinds = Counter(clone.kind for clone in report.clones)
    print(
        f"standard library: {report.files:,} files, {report.units:,} functions and blocks, {dict(kinds)}, "
        f"{seconds:.1f} s (target 60 s: {60 / seconds:.1f}x), {len(report.notes)} notes; load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("real", "sampled", "pairs", "programs", "library"))
    parser.add_argument("--trees", type=int)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--file", help="trees sampled before, by sampled_trees.py")
    options = parser.parse_args()
    with sw.options(threads=1):
        match options.what:
            case "real":
                search(real(options.trees or 40_000), options.queries, 0.02, vectors=True)
            case "sampled":
                lines = None if options.file else list(sample(options.trees or 1_000_000))
                trees = sw.read_trees(options.file) if lines is None else sw.TreeArray(lines)
                search(trees[: options.trees or 1_000_000], options.queries, 0.2, vectors=False)
            case "pairs":
                pairs(options.trees or 40_000)
            case "programs":
                programs(options.trees or 300)
            case "library":
                library()


if __name__ == "__main__":
    main()
