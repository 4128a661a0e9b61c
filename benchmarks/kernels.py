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
from measure import Measured, interleaved
from sapwood.kernels import PartialTree, SubsetTree, Subtree
from sapwood.kernels.base import Kernel
from sapwood.learn import KernelSVC
from table import Row, show

TREES = 2000
QUERIES = 1000
SINGLES = 25
DECAY = 0.4
TOLERANCE = 1e-9
SEED = 7
UNIT = "evaluations"
# Prediction beside the rival's kernel, where that has a target, and microseconds that one tree may take.
PREDICTION = {"sst": 60.0, "ptk": 20.0}
SINGLE = {"sst": 60.0}

# Per kernel: its name here and at the rival, how often each side runs, what it is compared with, and the target. Both
# sides run equally often: the best of more runs would be an advantage on a busy machine.
GRAMS: list[tuple[str, str, Kernel, int, str, float]] = [
    ("SST", "sst", SubsetTree(DECAY), 6, "sst", 13.0),
    ("ST", "st", Subtree(DECAY), 6, "sst", 45.0),
    ("PTK", "ptk", PartialTree(DECAY, DECAY), 4, "ptk", 9.0),
]


def main() -> list[Row]:
    """Measure everything and return the rows."""
    data = treebank.load(TREES + QUERIES)
    lines = data.lines[:TREES]
    support, queries = _read(lines), _read(data.lines[TREES:])
    rows: list[Row] = []
    ours: dict[str, Measured] = {}
    theirs: dict[str, Measured] = {}
    evaluations = TREES * (TREES + 1) / 2
    with sw.options(threads=1, progress=False):
        for name, key, kernel, repeat, _, _ in GRAMS:
            # In turns, so that a busy spell does not meet one side only; the rival says what the Gram alone took.
            spent: list[float] = []
            own: list[float] = []
            for _ in range(repeat):
                # A fresh view has nothing prepared.
                own += interleaved({"": lambda kernel=kernel: kernel(support[:])}, repeat=1, warm=False)[""].seconds
                result = rival.run(lines, key, decay=DECAY, depth_decay=DECAY, repeat=1)
                spent.append(evaluations / result.rate)
            ours[key], theirs[key] = Measured(tuple(own)), Measured(tuple(spent))
            _same(f"{name} of the rival", result.triangle, kernel(support)[np.triu_indices(TREES)])
        for name, key, _, _, other, target in GRAMS:
            for versus, wanted in {other: target, key: None if other != key else target}.items():
                label = "rival's " + versus.upper()
                rows.append(Row.compare(f"Gram {name}", label, ours[key], theirs[versus], evaluations, UNIT, wanted))
        rows += _against_python(support, ours["sst"])
        rows += _prediction(support, queries, {key: evaluations / one.median for key, one in theirs.items()})
    rows += _threads(support)
    return rows


def _read(lines: list[str]) -> sw.TreeArray:
    return sw.read_trees(io.StringIO("\n".join(lines)))


def _same(what: str, theirs: NDArray[np.float64], ours: NDArray[np.float64]) -> None:
    worst = float(np.max(np.abs(theirs - ours) / np.maximum(np.abs(theirs), np.finfo(float).tiny)))
    if not worst <= TOLERANCE:
        raise SystemExit(f"values disagree with {what}: the largest relative difference is {worst:.3g}.")


def _against_python(trees: sw.TreeArray, ours: Measured) -> list[Row]:
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
        # Ours again beside it, since the machine may be another by now.
        work = {
            "ours": lambda: SubsetTree(DECAY)(trees[:]),
            "theirs": lambda function=function: [function(nodes[i], nodes[j], DECAY) for i, j in pairs],
        }
        turns = interleaved(work, repeat=6)
        evaluations = len(trees) * (len(trees) + 1) / 2
        rate, against = evaluations / turns["ours"].median, len(pairs) / turns["theirs"].median
        spread = turns["ours"].ratio_spread(turns["theirs"])
        note = f"plain Python on {len(nodes)} trees spread over the treebank, {len(pairs)} evaluations"
        rows.append(Row("Gram SST", name, rate / against, rate, against, UNIT, target, note=note, spread=spread))
    return rows


def _prediction(support: sw.TreeArray, queries: sw.TreeArray, rivals: dict[str, float]) -> list[Row]:
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
            # The product is NumPy's own loop: threads of BLAS spin, and their time would count as the Gram's.
            turns = interleaved(
                {
                    "model": lambda model=model, batches=batches: [model.predict(batch) for batch in batches],
                    "Gram": lambda kernel=kernel, batches=batches, weights=weights: [
                        np.einsum("ij,jk->ik", kernel(rows, support), weights) for rows in batches
                    ],
                },
                repeat=repeat,
            )
            rows.append(
                Row.compare(what, "own Gram @ weights", turns["model"], turns["Gram"], count, UNIT, 10.0, note=note)
            )
            rate = count / turns["model"].median
            # Tree by tree most of the time goes into Python's calls, which the rival does without.
            target = PREDICTION.get(key) if batches is not singles else None
            label, spread = "rival's " + key.upper(), turns["model"].spread
            rows.append(Row(what, label, rate / rivals[key], rate, rivals[key], UNIT, target, note=note, spread=spread))
            if batches is singles and key in SINGLE:
                spent = 1e6 * turns["model"].median / len(singles) / SINGLE[key]
                limit = f"{SINGLE[key]:.0f} µs"
                rows.append(Row(what, limit, spent, target=1.0, at_most=True, note=note, spread=spread))
    return rows


def _threads(trees: sw.TreeArray) -> list[Row]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores < 2:
        return []
    rows = []
    evaluations = len(trees) * (len(trees) + 1) / 2
    note = "wall time; other work on the machine lowers this ratio"
    for name, _, kernel, _, _, _ in GRAMS:
        seconds: dict[int, list[float]] = {1: [], 2: []}
        grams = {}
        # Taking turns keeps a busy spell from meeting one side only.
        for _ in range(5):
            for threads in seconds:
                with sw.options(threads=threads, progress=False):
                    start = time.perf_counter()
                    grams[threads] = kernel(trees[:])
                    seconds[threads].append(time.perf_counter() - start)
        if not np.array_equal(grams[1], grams[2]):
            raise SystemExit(f"{name}: two threads do not give the same bits as one.")
        two, one = (Measured(tuple(seconds[threads])) for threads in (2, 1))
        rows.append(Row.compare(f"Two threads {name}", "one thread", two, one, evaluations, UNIT, 1.75, note=note))
    return rows


if __name__ == "__main__":
    print(show(main()))
