"""How much dearer similar words are than equal ones: the semantic kernel beside the subset-tree kernel, in one run.

Both compute the Gram matrix of the first trees of the Penn Treebank sample on one thread. The kernels take turns, and
each is represented by its best CPU time, because other programs share the machine. Reading WordNet happens once per
process and is timed apart.

    python benchmarks/semantic.py [--trees 2000] [--repeat 5]
"""

from __future__ import annotations

import argparse
import io
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import sapwood as sw
from sapwood.errors import DataError
from sapwood.kernels import Kernel, PartialTree, SemanticSubsetTree, SmoothedPartialTree, SubsetTree
from sapwood.words import Table, WordNet

ARCHIVE = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "nltk-zips" / "treebank.zip"
LARGEST_RATIO = 5.0


def load(count: int) -> sw.TreeArray:
    if not ARCHIVE.exists():
        raise SystemExit(f"{ARCHIVE.resolve()} is missing: this benchmark runs on NLTK's Penn Treebank sample.")
    with zipfile.ZipFile(ARCHIVE) as files:
        names = sorted(name for name in files.namelist() if "/combined/" in name and name.endswith(".mrg"))
        text = "\n".join(files.read(name).decode() for name in names)
    return sw.read_trees(io.StringIO(text))[:count]


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def race(kernels: dict[str, Kernel], X: sw.TreeArray, repeat: int) -> dict[str, float]:
    """Return the best CPU time of each kernel over rounds in which they take turns."""
    best = dict.fromkeys(kernels, float("inf"))
    for _ in range(repeat):
        for name, kernel in kernels.items():
            best[name] = min(best[name], cpu_seconds(lambda kernel=kernel: kernel(X)))
    return best


def show(times: dict[str, float], pairs: float) -> None:
    first = next(iter(times.values()))
    for name, seconds in times.items():
        print(f"  {name:44s} {seconds:8.3f} s {pairs / seconds / 1e6:8.2f} M pairs/s {seconds / first:7.2f} x")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args(argv)
    X = load(options.trees)
    X.node_count()
    pairs = len(X) * (len(X) + 1) / 2
    try:
        reading = cpu_seconds(lambda: WordNet()("dog", "cat"))
    except DataError as error:
        raise SystemExit(str(error)) from None
    print(f"Gram matrix of {X!r}, one thread, best of {options.repeat}; reading WordNet once took {reading:.2f} s")
    with sw.options(threads=1):
        times = race(
            {
                "SubsetTree": SubsetTree(),
                "SemanticSubsetTree, no similar words": SemanticSubsetTree(Table({})),
                "SemanticSubsetTree, WordNet lin": SemanticSubsetTree(WordNet()),
                "SemanticSubsetTree, WordNet path, all senses": SemanticSubsetTree(
                    WordNet(weights="path", senses="all")
                ),
            },
            X,
            options.repeat,
        )
        show(times, pairs)
        few = X[: max(1, options.trees // 10)]
        print(f"the same for partial trees, on {len(few)} trees")
        show(
            race(
                {
                    "PartialTree": PartialTree(),
                    "SmoothedPartialTree, no similar words": SmoothedPartialTree(Table({})),
                    "SmoothedPartialTree, WordNet lin": SmoothedPartialTree(WordNet()),
                },
                few,
                options.repeat,
            ),
            len(few) * (len(few) + 1) / 2,
        )
    ratio = times["SemanticSubsetTree, WordNet lin"] / times["SubsetTree"]
    verdict = "met" if ratio <= LARGEST_RATIO else "MISSED"
    print(f"WordNet within {LARGEST_RATIO:g} x of equal words: {verdict} ({ratio:.2f} x)")
    return 0 if ratio <= LARGEST_RATIO else 1


if __name__ == "__main__":
    raise SystemExit(main())
