"""Reading and interning bracketed trees, against NLTK's reader on the same text."""

from __future__ import annotations

import io

import sapwood as sw
import treebank
from table import Row, best, show

TREES = 2000


def main() -> list[Row]:
    """Measure both readers and return the row."""
    from nltk import Tree

    lines = treebank.load(TREES).lines
    text = "\n".join(lines)
    if [str(tree) for tree in sw.read_trees(io.StringIO(text))] != [
        " ".join(str(Tree.fromstring(line)).split()) for line in lines
    ]:
        raise SystemExit("the two readers disagree about the trees.")
    # Taking turns keeps a busy spell from meeting one side only.
    ours = theirs = float("inf")
    for _ in range(20):
        ours = min(ours, best(lambda: sw.read_trees(io.StringIO(text)), repeat=1))
        theirs = min(theirs, best(lambda: [Tree.fromstring(line) for line in lines], repeat=1))
    return [
        Row("Reading", "nltk.Tree.fromstring", theirs / ours, TREES / ours, TREES / theirs, "trees", 30.0),
    ]


if __name__ == "__main__":
    print(show(main()))
