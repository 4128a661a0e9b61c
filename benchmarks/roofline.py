"""The limits of this machine beside what the kernels reach: arithmetic, memory, and the writing of the result.

    python benchmarks/roofline.py

One thread, CPU time, in turns with the kernels, medians. A Gram matrix cannot take less time than its own memory does
to be written. Scattered additions are those of NumPy; the product of matrices is that of BLAS, which fuses
multiplications with additions, as the kernels do not.
"""

from __future__ import annotations

import io

import numpy as np

import sapwood as sw
import treebank
from measure import busy, interleaved
from sapwood.kernels import PartialTree, SubsetTree, Subtree

TREES = 2000
COPIED = 1 << 25  # numbers: 256 MB, more than fits a cache that is shared
SIDE = 1000  # of the matrices that are multiplied
ADDED = 1 << 22
REPEAT = 5


def main() -> None:
    """Measure and print."""
    X = sw.read_trees(io.StringIO("\n".join(treebank.load(TREES).lines)))
    X.node_count()
    rng = np.random.default_rng(0)
    source, target = np.ones(COPIED), np.ones(COPIED)
    left, right = (rng.random((SIDE, SIDE), dtype=np.float32) for _ in range(2))
    sums, places = np.zeros(TREES), rng.integers(0, TREES, ADDED)
    weights = rng.random(ADDED)
    watch = busy()
    with sw.options(threads=1, progress=False):
        spent = interleaved(
            {
                "fresh result": lambda: np.empty((TREES, TREES)).fill(1.0),
                "copy": lambda: np.copyto(target, source),
                "product": lambda: left @ right,
                "scattered": lambda: np.add(sums, np.bincount(places, weights, TREES)),
                "ST": lambda: Subtree(0.4)(X[:]),
                "SST": lambda: SubsetTree(0.4)(X[:]),
                "PTK": lambda: PartialTree(0.4)(X[:]),
            },
            repeat=REPEAT,
        )
    seconds = {name: one.median for name, one in spent.items()}
    print(f"copying             {2 * 8 * COPIED / seconds['copy'] / 1e9:8.1f} GB/s, read and written")
    print(f"product of matrices {2 * SIDE**3 / seconds['product'] / 1e9:8.1f} GFLOP/s in single precision (BLAS)")
    print(f"scattered additions {ADDED / seconds['scattered'] / 1e6:8.1f} M/s into {8 * TREES:,} bytes")
    print(f"writing the result  {1e3 * seconds['fresh result']:8.1f} ms: {TREES:,} x {TREES:,} numbers of fresh memory")
    for name in ("ST", "SST", "PTK"):
        ratio = seconds[name] / seconds["fresh result"]
        print(f"Gram {name:<14} {1e3 * seconds[name]:8.1f} ms, {ratio:.1f} times the writing of its result")
    if watch.note():
        print(watch.note())


if __name__ == "__main__":
    main()
