"""How much dearer similar words are than equal ones: kernels with WordNet beside plain ones, in one run.

All compute the Gram matrix of the first trees of the treebank on one thread. The kernels take turns, and
medians of CPU time are compared, because other programs share the machine. WordNet is read once per process, before
the clock starts.
"""

from __future__ import annotations

import io
from dataclasses import replace

import sapwood as sw
import treebank
from measure import Measured, interleaved
from sapwood.errors import DataError
from sapwood.kernels import Kernel, PartialTree, SemanticSubsetTree, SmoothedPartialTree, SubsetTree
from sapwood.words import Table, WordNet
from table import Row

TREES = 2000
REPEAT = 5
# How many times the plain kernel's time the semantic one may take.
LARGEST_RATIO = 3.0


def main() -> list[Row]:
    """Measure and return the rows."""
    try:
        WordNet()("dog", "cat")
    except DataError as error:
        raise SystemExit(str(error)) from None
    X = sw.read_trees(io.StringIO("\n".join(treebank.load(TREES).lines)))
    similar: dict[str, Kernel] = {
        "no similar words": SemanticSubsetTree(Table({})),
        "WordNet, Lin": SemanticSubsetTree(WordNet()),
        "WordNet, path, all senses": SemanticSubsetTree(WordNet(weights="path", senses="all")),
    }
    smoothed: dict[str, Kernel] = {
        "no similar words": SmoothedPartialTree(Table({})),
        "WordNet, Lin": SmoothedPartialTree(WordNet()),
    }
    with sw.options(threads=1, progress=False):
        rows = compare("SSTK", "SST", SubsetTree(), similar, X, LARGEST_RATIO)
        rows += compare("SPTK", "PTK", PartialTree(), smoothed, X[: TREES // 8], None)
    return rows


def compare(
    name: str, plain_name: str, plain: Kernel, kernels: dict[str, Kernel], X: sw.TreeArray, target: float | None
) -> list[Row]:
    """Race kernels against the plain one; the ratio is how many times its time they take."""
    X.node_count()
    times = race({"": plain, **kernels}, X)
    pairs = len(X) * (len(X) + 1) / 2
    note = f"times the CPU time of the other kernel; {len(X):,} trees"
    # Compared the other way round: the ratio is how much longer ours takes.
    return [
        replace(
            Row.compare(f"Gram {name}, {what}", f"our {plain_name}", times[""], times[what], pairs, "pairs", target),
            rate=pairs / times[what].median,
            against=pairs / times[""].median,
            at_most=True,
            note=note,
        )
        for what in kernels
    ]


def race(kernels: dict[str, Kernel], X: sw.TreeArray) -> dict[str, Measured]:
    """Measure the kernels in turns."""
    return interleaved({name: lambda kernel=kernel: kernel(X) for name, kernel in kernels.items()}, repeat=REPEAT)


if __name__ == "__main__":
    from table import show

    print(show(main()))
