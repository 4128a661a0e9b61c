"""Where the next word of a sentence hangs, by a kernel and by a network."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sapwood.corpora.nursery import Nursery
from sapwood.draw import outline
from sapwood.experiments.tables import Table
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.parse.incremental import ConnectionPaths, attachment_trees
from sapwood.tasks.attachment import AttachmentRanker, evaluate, frequency_utility
from sapwood.trees import Tree, TreeArray

__all__ = ["TITLE", "run"]

TITLE = "Attach words"

_TRAIN, _TEST = 100, 300


def run(garden: Nursery) -> Iterator[Table | str]:
    """Train both learners on a hundred sentences."""
    trees = attachment_trees(TreeArray([sentence.tree for sentence in garden.sentences[: _TRAIN + _TEST]]))
    train, test = trees[:_TRAIN], trees[_TRAIN:]
    paths = ConnectionPaths.from_trees(train)
    forests = paths.forests(test, reduction=1)
    largest = int(forests.sizes.argmax())
    right = forests.trees[int(forests.ends[largest] - forests.sizes[largest] + forests.gold[largest])]
    assert isinstance(right, Tree)
    tag = forests.feet[largest]
    yield f"{outline(right)}\n\nis one of {forests.sizes[largest]} ways to attach its last word, {tag}."
    base = evaluate(forests, frequency_utility(forests, paths.counts))
    rows: list[tuple[str, float, float | None]] = [("most frequent path, lowest anchor", 100 * base.error, None)]
    for name, ranker in (
        ("kernel", KernelRanker(SubsetTree(decay=0.5), random_state=0)),
        ("recursive network", RecursiveRanker(epochs=5, random_state=0)),
    ):
        start = time.perf_counter()
        model = AttachmentRanker(ranker, reduction=1, paths=paths).fit(train)
        seconds = time.perf_counter() - start
        rows.append((name, 100 * evaluate(forests, model.decision_function(forests)).error, seconds))
    yield Table(
        "attachment",
        f"Trained on {len(train):,} sentences, tested on {len(forests):,} words with {len(forests.trees):,} trees",
        ("choice", "wrong %", "seconds"),
        rows,
        {"wrong %": 1},
    )
