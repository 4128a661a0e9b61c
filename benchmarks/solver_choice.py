"""Does ``solver="auto"`` choose the quickest way? All are timed on a grid of examples, classes and kernels.

    python benchmarks/solver_choice.py [--sizes 500 1000 2000 5452] [--json FILE] [--repeat 1]

The ways are scikit-learn's solver, and the native one on a Gram matrix and on tables over distinct trees.

TREC questions (``trec-qc-trees`` in a data folder): one coarse class against the rest, six coarse classes, fifty fine
ones. Sizes above 5,452 take questions again with other words, so that trees differ as new questions would. CPU time of
training, one thread, in turns.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from pathlib import Path
from unittest import mock

import numpy as np

import sapwood as sw
from places import corpus
from sapwood import corpora
from sapwood.kernels import Linear, PartialTree, SubsetTree
from sapwood.learn import KernelSVC, svm
from sapwood.learn.solver import choice

KERNELS = {
    "SST": SubsetTree(decay=0.4).normalized().on("tree"),
    "PTK": PartialTree(decay=0.4).normalized().on("tree"),
    "PTK, bare": PartialTree(decay=0.4).normalized().on("bare"),
    "composite": SubsetTree(decay=0.4).normalized().on("tree") + Linear().normalized().on("words"),
}
WAYS = {"sklearn": ("sklearn", None), "Gram": ("native", True), "tables": ("native", False)}
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
    bare = sw.TreeArray([sw.trees.map_leaves(tree, lambda _: "word") for tree in trees])  # many are the same
    return sw.Examples(tree=X, bare=bare, words=words), {2: labels == "HUM", 6: labels, 50: np.array(fine)}


def seconds(kernel: object, X: sw.Examples, y: np.ndarray, way: str) -> float:
    solver, on_gram = WAYS[way]
    gc.collect()
    with mock.patch.object(svm, "gram_is_quicker", return_value=on_gram):
        start = time.process_time()
        KernelSVC(kernel, solver=solver).fit(X, y)
        return time.process_time() - start


def chosen(X: sw.Examples, problems: int) -> str:
    """Return what "auto" takes."""
    if len(X) < choice.FEW:
        return "sklearn"
    return "Gram" if choice.gram_is_quicker(X, [len(X)] * problems, 2) else "tables"


def grid(sizes: list[int], repeat: int, ways: tuple[str, ...]) -> list[dict]:
    rows = []
    print("examples classes kernel      " + "".join(f"{way:>10}" for way in ways) + "   auto / best", flush=True)
    for size in sizes:
        X, labels = load(size)
        for classes, y in labels.items():
            for name, kernel in KERNELS.items():
                spent: dict[str, list[float]] = {way: [] for way in ways}
                for _ in range(repeat):
                    for way in ways:
                        spent[way].append(seconds(kernel, X, y, way))
                found = {way: float(np.median(times)) for way, times in spent.items()}
                auto = chosen(X, 1 if classes == 2 else classes)
                ratio = found.get(auto, float("nan")) / min(found.values())
                verdict = "" if np.isnan(ratio) or ratio <= WITHIN else "  MISSED"
                shown = "".join(f"{found[way]:10.2f}" for way in ways)
                print(f"{size:8,} {classes:7} {name:<11} {shown}   {auto} {ratio:6.2f}{verdict}", flush=True)
                distinct = len(set(X["bare" if "bare" in name else "tree"]._roots.tolist()))
                rows.append(
                    {"examples": size, "classes": classes, "kernel": name, "distinct": distinct, "auto": auto, **found}
                )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000, 5452])
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with sw.options(threads=1, progress=False):
        measured = grid(options.sizes, options.repeat, tuple(options.ways))
    if options.json:
        options.json.write_text("".join(json.dumps(row) + "\n" for row in measured))
    sys.exit(0)
