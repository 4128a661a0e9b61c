"""Reading and interning bracketed trees, against NLTK's reader: from strings in memory, and from a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import sapwood as sw
import treebank
from measure import interleaved
from table import Row, show

TREES = 2000
TURNS = 12


def main() -> list[Row]:
    """Measure both readers and return the rows."""
    from nltk import Tree

    lines = treebank.load(TREES).lines
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trees.mrg")
        path.write_text("\n".join(lines), encoding="utf-8")

        def nltk_from_file() -> list[Tree]:
            with path.open(encoding="utf-8") as file:
                return [Tree.fromstring(line) for line in file]

        sources = {
            "strings": (lambda: sw.TreeArray(lines), lambda: [Tree.fromstring(line) for line in lines]),
            "a file": (lambda: sw.read_trees(path), nltk_from_file),
        }
        rows = []
        for name, (ours, theirs) in sources.items():
            if [str(tree) for tree in ours()] != [" ".join(str(tree).split()) for tree in theirs()]:
                raise SystemExit(f"the two readers disagree about the trees from {name}.")
            # Ours takes a fortieth of the time, and much of that would go into caches and pages that the other has
            # taken, so it runs twice, unmeasured, before it is measured.
            works = {"theirs": theirs, "": lambda ours=ours: (ours(), ours()), "ours": ours}
            found = interleaved(works, repeat=TURNS, warm=False)
            what = f"Reading from {name}"
            rows.append(Row.compare(what, "nltk.Tree.fromstring", found["ours"], found["theirs"], TREES, "trees", 30.0))
    return rows


if __name__ == "__main__":
    print(show(main()))
