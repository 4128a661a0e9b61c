"""Pieces of work that any revision can do, one per process, for ``compare``.

    python benchmarks/workloads.py NAME

prints one line of JSON: CPU seconds and, where they can be counted, instructions. Only names that have been public for
long are used, so that old revisions can be measured. Data are the Penn sample and TREC questions where they are found,
else generated trees.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np

import sapwood as sw
import treebank
from measure import interleaved
from places import corpus
from sapwood.kernels import PartialTree, SubsetTree, Subtree
from sapwood.learn import KernelSVC

TREES, QUESTIONS = 2000, 5452


def _gram(kernel: object) -> Callable[[], object]:
    trees = sw.TreeArray(treebank.load(TREES).lines)
    return lambda: kernel(trees[:])  # type: ignore[operator]


def _questions() -> tuple[list[str], np.ndarray]:
    import gzip

    path = corpus("trec-qc-trees") / "train.tsv.gz"
    if not path.exists():
        lines = treebank.load(TREES).lines
        return lines, np.arange(len(lines)) % 2 == 0
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream][:QUESTIONS]
    return [row[3] for row in rows], np.array([row[0] for row in rows])


def _training(kernel: object, one_class: bool, solver: str = "auto") -> Callable[[], object]:
    lines, labels = _questions()
    y = labels == "HUM" if one_class and labels.dtype.kind == "U" else labels
    return lambda: KernelSVC(kernel, solver=solver).fit(sw.TreeArray(lines), y)


def _prediction(kernel: object) -> Callable[[], object]:
    lines, labels = _questions()
    model = KernelSVC(kernel).fit(sw.TreeArray(lines[:TREES]), labels[:TREES])
    others = sw.TreeArray(lines[-500:])
    model.predict(others[:1])
    return lambda: [model.predict(others[:]) for _ in range(10)]


def _reading() -> Callable[[], object]:
    lines = treebank.load(TREES).lines
    return lambda: sw.TreeArray(lines)


WORKLOADS: dict[str, Callable[[], Callable[[], object]]] = {
    "read 2,000 trees": _reading,
    "Gram ST": lambda: _gram(Subtree(0.4)),
    "Gram SST": lambda: _gram(SubsetTree(0.4)),
    "Gram PTK": lambda: _gram(PartialTree(0.4)),
    "train one class, SST": lambda: _training(SubsetTree(0.4).normalized(), True),
    "train one class, PTK": lambda: _training(PartialTree(0.4).normalized(), True),
    "train one class, SST, sklearn": lambda: _training(SubsetTree(0.4).normalized(), True, "sklearn"),
    "train one class, SST, native": lambda: _training(SubsetTree(0.4).normalized(), True, "native"),
    "train one class, PTK, sklearn": lambda: _training(PartialTree(0.4).normalized(), True, "sklearn"),
    "train one class, PTK, native": lambda: _training(PartialTree(0.4).normalized(), True, "native"),
    "train six classes, SST": lambda: _training(SubsetTree(0.4).normalized(), False),
    "predict 500 trees, SST": lambda: _prediction(SubsetTree(0.4).normalized()),
}


if __name__ == "__main__":
    with sw.options(threads=1, progress=False):
        work = WORKLOADS[sys.argv[1]]()
        measured = interleaved({"work": work}, repeat=1, warm=False)["work"]
    print(json.dumps({"seconds": measured.seconds[0], "instructions": measured.counted}))
