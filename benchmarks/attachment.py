"""Building forests of attachments: natively, against a builder in Python that shares subtrees as well.

Run ``python benchmarks/run.py attachment``. One thread, CPU time; both start from trees that are read already.
"""

from __future__ import annotations

import io

import forests
import sapwood as sw
import treebank
from measure import interleaved
from sapwood.parse.incremental import ConnectionPaths, attachment_trees
from table import Row

SENTENCES, GRAMMAR = 300, 1000


def main() -> list[Row]:
    """Measure trees per second; the target is an absolute one, so its ratio is to half a million per second."""
    source = treebank.load(GRAMMAR)
    read = sw.read_trees(io.StringIO("\n".join(source.lines)), drop_traces=True, drop_function_tags=True)
    trees = attachment_trees(read)
    paths = ConnectionPaths.from_trees(trees)
    made = {}

    def native() -> None:
        made["whole"] = paths.forests(trees[:SENTENCES])

    def reduced() -> None:
        made["reduced"] = paths.forests(trees[:SENTENCES], reduction=1)

    def python() -> None:
        made["python"] = forests.load(SENTENCES // 10, grammar=GRAMMAR)

    with sw.options(threads=1):
        measured = interleaved({work.__name__: work for work in (native, reduced, python)}, repeat=3, warm=False)
    rate = len(made["whole"].trees) / measured["native"].median
    cut = len(made["reduced"].trees) / measured["reduced"].median
    slow = len(made["python"].X) / measured["python"].median
    spreads = {name: one.spread for name, one in measured.items()}
    return [
        Row(
            "forests of attachments",
            "half a million a second",
            rate / 5e5,
            rate,
            5e5,
            "trees",
            target=1.0,
            spread=spreads["native"],
        ),
        Row(
            "forests, reduced",
            "half a million a second",
            cut / 5e5,
            cut,
            5e5,
            "trees",
            target=1.0,
            spread=spreads["reduced"],
        ),
        Row(
            "forests of attachments",
            "Python, with its reading",
            rate / slow,
            rate,
            slow,
            "trees",
            spread=spreads["native"] + spreads["python"],
        ),
    ]
