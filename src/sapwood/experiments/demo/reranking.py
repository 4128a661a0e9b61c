"""Choosing among the parses of a stand-in parser."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from sapwood.corpora.nursery import Nursery
from sapwood.experiments.tables import Cell, Table
from sapwood.kernels import Linear, SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.metrics.parseval import ParsevalSummary, SentenceScore
from sapwood.tasks.reranking import ParseReranker

__all__ = ["TITLE", "run"]

TITLE = "Rerank parses"

_TRAIN, _TEST = 300, 300


def run(garden: Nursery) -> Iterator[Table | str]:
    """Train both learners on n-best lists."""
    lists = [garden.forest(number) for number in range(min(_TRAIN + _TEST, len(garden.sentences)))]
    train, test = lists[:_TRAIN], lists[_TRAIN:]
    rows: list[tuple[Cell, ...]] = []
    for name, ranker in (
        ("kernel", KernelRanker(SubsetTree(decay=0.3).on("tree") + Linear().on("prior"), epochs=3, random_state=0)),
        ("recursive network", RecursiveRanker(epochs=3, random_state=0)),
    ):
        start = time.perf_counter()
        model = ParseReranker(ranker).fit(train)
        seconds = time.perf_counter() - start
        scores = model.evaluate(test)
        if not rows:
            rows.append(("parser's first choice", *_cells(scores.first), None))
        rows.append((name, *_cells(scores.chosen), seconds))
    rows.append(("oracle", *_cells(scores.oracle), None))
    yield Table(
        "reranking",
        f"Trained on {len(train):,} n-best lists, tested on {len(test):,} with {sum(map(len, test)):,} parses",
        ("choice", "LR", "LP", "F1", "0 CB", "seconds"),
        rows,
    )


def _cells(scores: Sequence[SentenceScore]) -> tuple[float, ...]:
    summary = ParsevalSummary.of(scores)
    return tuple(100 * value for value in (summary.recall, summary.precision, summary.f1, summary.no_crossing))
