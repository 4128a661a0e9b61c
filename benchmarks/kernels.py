"""Tree kernels: Gram matrices against the per-pair rival and plain Python, two threads against one, prediction.

One thread and CPU time unless a row says otherwise. Trees are read and interned beforehand on both sides; whatever the
library then still prepares counts, while the rival's sorting does not. All values are compared, and a difference stops
the run.
"""

from __future__ import annotations

import io
import os
import time

import numpy as np
from numpy.typing import NDArray

import plain
import rival
import sapwood as sw
import treebank
from sapwood.kernels import PartialTree, SubsetTree, Subtree
from sapwood.kernels.base import Kernel
from sapwood.learn import KernelSVC
from table import Row, best, show

TREES = 2000
QUERIES = 1000
SINGLES = 25
DECAY = 0.4
TOLERANCE = 1e-9
SEED = 7

# Per kernel: its name here and at the rival, how often each side runs, what it is compared with, and the target. Both
# sides run equally often: the best of more runs would be an advantage on a busy machine.
GRAMS: list[tuple[str, str, Kernel, int, str, float]] = [
    ("SST", "sst", SubsetTree(DECAY), 6, "sst", 7.0),
    ("ST", "st", Subtree(DECAY), 6, "sst", 20.0),
    ("PTK", "ptk", PartialTree(DECAY, DECAY), 4, "ptk", 2.5),
]


def main() -> list[Row]:
    """Measure everything and return the rows."""
    data = treebank.load(TREES + QUERIES)
    lines = data.lines[:TREES]
    support, queries = _read(lines), _read(data.lines[TREES:])
    rows: list[Row] = []
    rates: dict[str, float] = {}
    rivals: dict[str, rival.Result] = {}
    evaluations = TREES * (TREES + 1) / 2
    with sw.options(threads=1, progress=False):
        for name, key, kernel, repeat, _, _ in GRAMS:
            # The rival runs between two halves of our runs, so that a busy spell does not meet one side only.
            seconds = _gram_seconds(kernel, support, repeat // 2)
            rivals[key] = rival.run(lines, key, decay=DECAY, depth_decay=DECAY, repeat=repeat)
            seconds = min(seconds, _gram_seconds(kernel, support, repeat - repeat // 2))
            rates[key] = evaluations / seconds
            _same(f"{name} of the rival", rivals[key].triangle, kernel(support)[np.triu_indices(TREES)])
        for name, key, _, _, other, target in GRAMS:
            rows.append(_row(f"Gram {name}", "rival's " + other.upper(), rates[key], rivals[other].rate, target))
            if other != key:
                rows.append(_row(f"Gram {name}", "rival's " + key.upper(), rates[key], rivals[key].rate))
        rows += _against_python(support, rates["sst"])
        rows += _prediction(support, queries, rivals)
    rows += _threads(support)
    return rows


def _read(lines: list[str]) -> sw.TreeArray:
    return sw.read_trees(io.StringIO("\n".join(lines)))


def _gram_seconds(kernel: Kernel, trees: sw.TreeArray, repeat: int) -> float:
    # A fresh view has nothing prepared.
    return best(lambda: kernel(trees[:]), repeat=repeat)


def _row(what: str, versus: str, rate: float, against: float, target: float | None = None, note: str = "") -> Row:
    return Row(what, versus, rate / against, rate, against, "evaluations", target, note=note)


def _same(what: str, theirs: NDArray[np.float64], ours: NDArray[np.float64]) -> None:
    worst = float(np.max(np.abs(theirs - ours) / np.maximum(np.abs(theirs), np.finfo(float).tiny)))
    if not worst <= TOLERANCE:
        raise SystemExit(f"values disagree with {what}: the largest relative difference is {worst:.3g}.")


def _against_python(trees: sw.TreeArray, rate: float) -> list[Row]:
    # Evenly spread over the treebank, so that the sample has trees of the usual sizes.
    chosen = trees[:: len(trees) // 25]
    nodes = [plain.Node.copy(tree) for tree in chosen]
    pairs = [(i, j) for i in range(len(nodes)) for j in range(i, len(nodes))]
    expected = SubsetTree(DECAY)(chosen)
    rows = []
    for name, function, target in (
        ("plain Python", plain.textbook, 20_000.0),
        ("plain Python with an index", plain.indexed, None),
    ):
        values = [function(nodes[i], nodes[j], DECAY) for i, j in pairs]
        _same(name, np.array(values), np.array([expected[pair] for pair in pairs]))
        seconds = best(lambda function=function: [function(nodes[i], nodes[j], DECAY) for i, j in pairs], repeat=6)
        note = f"plain Python on {len(nodes)} trees spread over the treebank, {len(pairs)} evaluations"
        rows.append(_row("Gram SST", name, rate, len(pairs) / seconds, target, note))
    return rows


def _prediction(support: sw.TreeArray, queries: sw.TreeArray, rivals: dict[str, rival.Result]) -> list[Row]:
    labels = np.random.default_rng(SEED).permutation(np.arange(len(support)) % 2)
    singles = [queries[i : i + 1] for i in range(0, len(queries), len(queries) // SINGLES)]
    together, apart = f"Prediction {{}}, {len(queries):,} trees", "Prediction {}, tree by tree"
    rows = []
    for name, key, kernel, repeat, _, _ in GRAMS:
        # With so small a C every tree is a support vector.
        model = KernelSVC(kernel, C=1e-9).fit(support, labels)
        weights = model.dual_coef_
        if weights.shape != (len(support), 1):
            raise SystemExit(f"{name}: {len(weights)} of {len(support)} trees became support vectors.")
        exact = kernel(queries, support) @ weights + model.intercept_
        # Positive and negative terms cancel, so the error is measured against what was added up.
        scale = kernel(queries, support) @ np.abs(weights)
        if not np.all(np.abs(model.decision_function(queries) - exact[:, 0]) <= TOLERANCE * scale[:, 0]):
            raise SystemExit(f"{name}: the compiled model disagrees with the Gram matrix.")

        note = (
            f"KernelSVC.predict with {len(support):,} support trees, in evaluations of the kernel; our Gram matrix too "
            "looks at a distinct subtree once per row, and makes its tables once per call"
        )
        for what, batches in ((together.format(name), [queries[:]]), (apart.format(name), singles)):
            count = len(support) * sum(len(batch) for batch in batches)
            # Prediction runs between two halves of the Gram's runs, so that a busy spell does not meet one side only.
            slow = _multiplied(kernel, batches, support, weights, repeat // 2)
            fast = best(lambda model=model, batches=batches: [model.predict(batch) for batch in batches], repeat=repeat)
            slow = min(slow, _multiplied(kernel, batches, support, weights, repeat - repeat // 2))
            rows.append(_row(what, "own Gram @ weights", count / fast, count / slow, 10.0, note))
            # Tree by tree most of the time goes into Python's calls, which the rival does without.
            target = 10.0 if batches is not singles else None
            rows.append(_row(what, "rival's " + key.upper(), count / fast, rivals[key].rate, target, note))
    return rows


def _multiplied(
    kernel: Kernel, batches: list[sw.TreeArray], support: sw.TreeArray, weights: NDArray[np.float64], repeat: int
) -> float:
    # The product is NumPy's own loop: threads of BLAS spin, and their time would count as the Gram's.
    return best(lambda: [np.einsum("ij,jk->ik", kernel(rows, support), weights) for rows in batches], repeat=repeat)


def _threads(trees: sw.TreeArray) -> list[Row]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores < 2:
        return []
    rows = []
    evaluations = len(trees) * (len(trees) + 1) / 2
    note = "wall time; other work on the machine lowers this ratio"
    for name, _, kernel, _, _, _ in GRAMS:
        seconds = {1: float("inf"), 2: float("inf")}
        grams = {}
        # Taking turns keeps a busy spell from meeting one side only.
        for _ in range(5):
            for threads in seconds:
                with sw.options(threads=threads, progress=False):
                    start = time.perf_counter()
                    grams[threads] = kernel(trees[:])
                    seconds[threads] = min(seconds[threads], time.perf_counter() - start)
        if not np.array_equal(grams[1], grams[2]):
            raise SystemExit(f"{name}: two threads do not give the same bits as one.")
        rate = {threads: evaluations / value for threads, value in seconds.items()}
        rows.append(_row(f"Two threads {name}", "one thread", rate[2], rate[1], 1.6, note))
    return rows


if __name__ == "__main__":
    print(show(main()))
