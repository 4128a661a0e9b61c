"""How much longer six and fifty classes take to learn than one class against the rest.

TREC questions (``trec-qc-trees`` in a data folder), normalized subset trees, from bracketed trees to a fitted model:
one thread, CPU time, in turns.
"""

from __future__ import annotations

import numpy as np

import sapwood as sw
from measure import interleaved
from places import corpus
from sapwood import corpora
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelSVC
from table import Row

REPEAT = 3
# How many times the time of one class the others may take.
LARGEST = {"six classes": 1.5, "fifty classes": 4.0}


def main() -> list[Row]:
    """Measure and return the rows."""
    folder = corpus("trec-qc-trees")
    if not folder.exists():
        raise SystemExit(f"{folder} is missing: this benchmark learns from TREC questions.")
    known = max((list(corpora.questions.read(path)) for path in sorted(folder.glob("*.tsv.gz"))), key=len)
    lines = [str(one.tree) for one in known]
    coarse = np.array([one.coarse for one in known])
    labels = {"one class": coarse == "HUM", "six classes": coarse, "fifty classes": np.array([o.fine for o in known])}
    kernel = SubsetTree(0.4).normalized()
    with sw.options(threads=1, progress=False):
        spent = interleaved(
            {name: lambda y=y: KernelSVC(kernel).fit(sw.TreeArray(lines), y) for name, y in labels.items()},
            repeat=REPEAT,
        )
    one = spent["one class"]
    return [
        Row(
            f"Training {name}", "one class", one.over(spent[name]), len(lines) / spent[name].median,
            len(lines) / one.median, "questions", most, at_most=True, spread=one.ratio_spread(spent[name]),
            note=f"times the CPU time of one class; {len(lines):,} questions, trees to model",
        )
        for name, most in LARGEST.items()
    ]  # fmt: skip


if __name__ == "__main__":
    from table import show

    print(show(main()))
