"""Does ``solver="auto"`` choose the quicker solver? Both are timed on a grid of examples, classes and kernels.

    python benchmarks/solver_choice.py [--sizes 500 1000 2000 5452] [--json FILE] [--repeat 1]

TREC questions (``trec-qc-trees`` in a data folder): one coarse class against the rest, six coarse classes, fifty fine
ones. Sizes above 5,452 take questions again with other words, so that trees differ as new questions would. CPU time of
training, one thread, the two solvers in turns.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from pathlib import Path

import numpy as np

import sapwood as sw
from places import corpus
from sapwood import corpora
from sapwood.kernels import Linear, PartialTree, SubsetTree
from sapwood.learn import KernelSVC

KERNELS = {
    "SST": SubsetTree(decay=0.4).normalized().on("tree"),
    "PTK": PartialTree(decay=0.4).normalized().on("tree"),
    "composite": SubsetTree(decay=0.4).normalized().on("tree") + Linear().normalized().on("words"),
}
WITHIN = 1.15


def load(size: int) -> tuple[sw.Examples, dict[int, np.ndarray]]:
    """Return questions and their labels by number of classes."""
    path = next(path for path in sorted(corpus("trec-qc-trees").glob("*.tsv.gz")) if "train" in path.name)
    known = list(corpora.questions.read(path))
    rng = np.random.default_rng(0)
    order = rng.permutation(len(known))
    trees, coarse, fine = [], [], []
    for number in range(size):
        one = known[order[number % len(known)]]
        again = number // len(known)
        tree = one.tree
        if again:
            changed = rng.random(200) < 0.3
            words = iter(range(10**9))
            tree = sw.trees.map_leaves(
                tree, lambda word, c=changed, w=words, a=again: f"{word}{a}" if c[next(w) % 200] else word
            )
        trees.append(tree)
        coarse.append(one.coarse)
        fine.append(one.fine)
    X = sw.TreeArray(trees)
    words = [{word: 1.0 for word in leaves} for leaves in X.leaves()]
    labels = np.array(coarse)
    return sw.Examples(tree=X, words=words), {2: labels == "HUM", 6: labels, 50: np.array(fine)}


def seconds(kernel: object, X: sw.Examples, y: np.ndarray, solver: str) -> float:
    gc.collect()
    start = time.process_time()
    KernelSVC(kernel, solver=solver).fit(X, y)
    return time.process_time() - start


def grid(sizes: list[int], repeat: int, solvers: tuple[str, ...]) -> list[dict]:
    rows = []
    print(
        "examples classes kernel      " + "".join(f"{solver:>10}" for solver in solvers) + "   chosen / better",
        flush=True,
    )
    for size in sizes:
        X, labels = load(size)
        for classes, y in labels.items():
            for name, kernel in KERNELS.items():
                spent: dict[str, list[float]] = {solver: [] for solver in solvers}
                for _ in range(repeat):
                    for solver in solvers:
                        spent[solver].append(seconds(kernel, X, y, solver))
                found = {solver: float(np.median(times)) for solver, times in spent.items()}
                better = min(found["sklearn"], found["native"])
                ratio = found["auto"] / better if "auto" in found else float("nan")
                verdict = "" if np.isnan(ratio) or ratio <= WITHIN else "  MISSED"
                shown = "".join(f"{found[solver]:10.2f}" for solver in solvers)
                print(f"{size:8,} {classes:7} {name:<11} {shown}   {ratio:6.2f}{verdict}", flush=True)
                distinct = len(set(X["tree"]._roots.tolist()))
                rows.append({"examples": size, "classes": classes, "kernel": name, "distinct": distinct, **found})
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000, 5452])
    parser.add_argument("--solvers", nargs="+", default=["sklearn", "native", "auto"])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with sw.options(threads=1, progress=False):
        measured = grid(options.sizes, options.repeat, tuple(options.solvers))
    if options.json:
        options.json.write_text("".join(json.dumps(row) + "\n" for row in measured))
    sys.exit(0)
