"""How long explanations take: one decision against 2,000 support trees, the fragments of a model, one kernel value.

All figures are CPU time, because other programs share the machine.

Run ``python benchmarks/explain.py``. Trees are those of NLTK's Penn Treebank sample (``nltk-zips/treebank.zip`` among
the corpora); name another place with ``--treebank``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sapwood as sw
from places import corpus
from sapwood.errors import DataError
from sapwood.kernels import (
    FragmentMap,
    GrammarDriven,
    Kernel,
    PartialTree,
    SemanticSubsetTree,
    SmoothedPartialTree,
    SubsetTree,
    Subtree,
)
from sapwood.learn import KernelSVC
from sapwood.trees import Grammar
from sapwood.words import Table, WordNet, WordSimilarity
from table import Row

# What one decision may take at most, and the fragments of a whole model, in milliseconds.
DECISION, MODEL = 50.0, 1000.0
HOME = corpus("nltk-zips/treebank.zip")


def milliseconds(work: Callable[[int], object], repeats: int) -> tuple[float, float]:
    """Median and largest time of one call."""
    times = []
    for turn in range(repeats):
        start = time.process_time()
        work(turn)
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times), max(times)


def machine(kernel: Kernel, support: sw.TreeArray, seed: int) -> KernelSVC:
    """A two-class machine whose support is all of the trees, so that the number is exact; weights are random."""
    rng = np.random.default_rng(seed)
    result = KernelSVC(kernel=kernel)
    result.classes_ = np.array(["no", "yes"])
    result.kernel_ = kernel
    coefficients = rng.normal(size=(len(support), 1))
    result._keep(support, np.arange(len(support)), coefficients - coefficients.mean(), np.zeros(1))
    return result


def similarity() -> WordSimilarity:
    """WordNet where there is one."""
    try:
        WordNet()("dog", "cat")
    except DataError:
        return Table({("big", "large"): 0.8, ("said", "told"): 0.6})
    return WordNet()


def measure(trees: sw.TreeArray, count: int, repeats: int, seed: int) -> list[dict[str, object]]:
    support, others = trees[:count], trees[count:]
    rows: list[dict[str, object]] = []

    def add(what: str, kernel: Kernel | None, times: tuple[float, float]) -> None:
        name = "" if kernel is None else repr(kernel)
        rows.append({"what": what, "kernel": name, "median_ms": times[0], "largest_ms": times[1]})

    words = similarity()
    kernels: list[Kernel] = [
        Subtree(),
        SubsetTree(),
        PartialTree(),
        PartialTree(terminal_factor=2.0),
        SemanticSubsetTree(words),
        SmoothedPartialTree(words),
        GrammarDriven(Grammar.from_trees(support)),
    ]
    for kernel in [kernel.normalized() for kernel in kernels]:
        model = machine(kernel, support, seed)
        add(
            "compile the model, once",
            kernel,
            milliseconds(lambda t, m=model: (m._explainer(), m.predict(others[:1])), 1),
        )
        add("one decision, nodes", kernel, milliseconds(lambda t, m=model: m.explain(others[t], top=0), repeats))
        add(
            "one decision, nodes and 10 fragments",
            kernel,
            milliseconds(lambda t, m=model: m.explain(others[t]), repeats),
        )
        add(
            "predict one tree, for comparison",
            kernel,
            milliseconds(lambda t, m=model: m.predict(others[t : t + 1]), repeats),
        )
        add("20 fragments of the model", kernel, milliseconds(lambda t, m=model: m.fragments("yes"), 1))
        add(
            "shared fragments of two trees",
            kernel,
            milliseconds(lambda t, k=kernel: k.explain(others[t], others[t + 1]), repeats),
        )
    fitted: list[FragmentMap] = []
    mine = FragmentMap(min_df=3, max_size=4)
    add("mine fragments (min_df=3, max_size=4)", None, milliseconds(lambda t: fitted.append(mine.fit(support)), 3))
    add(
        f"count {len(fitted[-1].fragments_):,} fragments in the trees",
        None,
        milliseconds(lambda t: mine.transform(support), 3),
    )
    return rows


def main() -> list[Row]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--treebank", type=Path, default=HOME, help="NLTK's treebank.zip")
    parser.add_argument("--support", type=int, default=2000, help="support trees")
    parser.add_argument("--repeats", type=int, default=50, help="trees explained")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    options = parser.parse_args()
    if not options.treebank.exists():
        print(f"{options.treebank}: not there, so nothing is measured; name NLTK's treebank.zip with --treebank.")
        return []
    trees = sw.read_trees(options.treebank / "treebank/combined/*.mrg")
    with sw.options(threads=1):
        rows = measure(trees, options.support, options.repeats, options.seed)
    print(f"{options.support:,} support trees, one thread; milliseconds of CPU time")
    print(f"{'median':>9} {'largest':>9}")
    kernel = None
    for row in rows:
        if row["kernel"] != kernel:
            kernel = row["kernel"]
            print(kernel or "FragmentMap")
        print(f"{row['median_ms']:9.2f} {row['largest_ms']:9.2f}  {row['what']}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    limits = {"one decision, nodes and 10 fragments": DECISION, "20 fragments of the model": MODEL}
    return [
        Row(
            f"explain: {row['what']}, {row['kernel']}"[:90],
            f"{limits[str(row['what'])]:g} ms",
            float(str(row["largest_ms"])) / limits[str(row["what"])],
            target=1.0,
            at_most=True,
            note=f"largest CPU time of {options.repeats} trees, {options.support:,} support trees",
        )
        for row in rows
        if row["what"] in limits
    ]


if __name__ == "__main__":
    main()
