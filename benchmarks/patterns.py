"""Search by pattern in the treebanks that are there: seconds of one core, and beside NLTK's tgrep on a few trees."""

from __future__ import annotations

import time
import warnings

import sapwood as sw
import treebank
from places import corpus
from sapwood.errors import DataError
from sapwood.trees import concatenate
from table import Row, show

PATTERNS = (
    "NP < DT",
    "/^NP/ < (PP << of) !<< CC",
    "VP < (/^VB/ $.. (NP $. PP))",
    "S << (NP . (VP < MD)) | < SBAR",
    "NN < /ing$/",
)
FEW = 300


def load() -> sw.TreeArray:
    """Read the sample of the Penn Treebank, EWT and CRAFT; what is missing is replaced by the sample."""
    parts = [sw.TreeArray(treebank.load(3900).lines)]
    for name in ("ewt-propbank/*.trees.gz", "craft-treebank/craft-penn.tar.xz/**/*.tree*"):
        try:
            parts.append(sw.read_trees(str(corpus(name)), drop_traces=True))
        except DataError:
            parts.append(parts[0])
    return concatenate(parts)


def main() -> list[Row]:
    """Search for every pattern and return the rows."""
    warnings.simplefilter("ignore")
    from nltk import tgrep
    from nltk.tree import ParentedTree

    trees = load()
    few = [ParentedTree.convert(tree.to_nltk()) for tree in trees[:FEW]]
    print(f"{len(trees):,} trees, {trees.node_count():,} nodes")
    rows = []
    for pattern in PATTERNS:
        seconds = []
        for _ in range(5):
            start = time.process_time()
            found = trees.find(pattern)
            seconds.append(time.process_time() - start)
        start = time.process_time()
        theirs = sum(len(hits) for hits in tgrep.tgrep_positions(pattern, few))
        slow = (time.process_time() - start) / FEW
        if theirs != len(trees[:FEW].find(pattern)):
            raise SystemExit(f"the two disagree about {pattern}.")
        fast = min(seconds) / len(trees)
        print(f"{min(seconds):.3f} s for {len(found):,} matches of {pattern}")
        rows.append(Row(f"Search for {pattern}", "nltk.tgrep", slow / fast, 1 / fast, 1 / slow, "trees", 100.0))
    return rows


if __name__ == "__main__":
    print(show(main()))
