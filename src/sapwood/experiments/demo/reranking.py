"""Choosing among the parses of a stand-in parser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sapwood.corpora.nursery import Nursery
from sapwood.draw import Bar, bar_chart
from sapwood.draw.svg import weighted_svg
from sapwood.experiments.figures import Figure, Part, side_by_side
from sapwood.experiments.measuring import Stopwatch
from sapwood.experiments.tables import Cell, Table
from sapwood.kernels import Linear, SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.metrics import ParsevalSummary, SentenceScore
from sapwood.tasks.reranking import ParseReranker
from sapwood.trees import Tree
from sapwood.trees.nbest import NBest
from sapwood.trees.positions import Positions

__all__ = ["ABOUT", "TITLE", "run"]

TITLE = "Parse reranking"
ABOUT = (
    "A parser proposes several trees. The right one is often among them but not first; rerankers learn to choose it."
)

_TRAIN, _TEST = 300, 300
# Shorter sentences have nothing to show.
_SHORTEST = 6


def run(corpus: Nursery) -> Iterator[Part]:
    """Train both learners on n-best lists."""
    lists = [corpus.forest(number) for number in range(min(_TRAIN + _TEST, len(corpus.sentences)))]
    train, test = lists[:_TRAIN], lists[_TRAIN:]
    rows: list[tuple[Cell, ...]] = []
    for name, ranker in (
        ("kernel", KernelRanker(SubsetTree(decay=0.3).on("tree") + Linear().on("prior"), epochs=3, random_state=0)),
        ("recursive network", RecursiveRanker(epochs=3, random_state=0)),
    ):
        with Stopwatch() as training:
            model = ParseReranker(ranker).fit(train)
        scores = model.evaluate(test)
        if name == "kernel":
            chosen = list(model.rerank(test))
        if not rows:
            rows.append(("parser's first choice", *_cells(scores.first), None))
        rows.append((name, *_cells(scores.chosen), training.wall))
    rows.append(("oracle", *_cells(scores.oracle), None))
    yield Table(
        "reranking",
        f"Trained on {len(train):,} n-best lists, tested on {len(test):,} with {sum(map(len, test)):,} parses",
        ("choice", "LR", "LP", "F1", "0 CB", "seconds"),
        rows,
    )
    yield Figure(
        "Labelled brackets that are right",
        bar_chart(
            "Bracket F1 by choice",
            [Bar(str(row[0]), float(row[3] or 0)) for row in rows],
            label="F1 in %",
            start=90.0,
        ),
    )
    yield from _mended(test, chosen)


def _mended(test: Sequence[NBest], chosen: Sequence[object]) -> Iterator[Figure]:
    """Draw a short sentence whose first parse is wrong and whose chosen parse is right."""
    lists = [(one, one.gold, tree) for one, tree in zip(test, chosen, strict=True) if one.gold is not None]
    for one, gold, tree in sorted(lists, key=lambda each: len(each[1].leaves())):
        first = one.parses[0]
        assert isinstance(first, Tree)
        assert isinstance(tree, Tree)
        if first == gold or tree != gold or len(gold.leaves()) < _SHORTEST:
            continue
        right = set(_brackets(gold))
        pictures = []
        for title, shown in (("the parser's first choice", first), ("the reranker's choice", tree)):
            wrong = [float(bracket not in right) for bracket in _brackets(shown)]
            marked = [at for at, weight in enumerate(wrong) if weight]
            pictures.append((title, weighted_svg(shown, wrong, marked=marked)))
        yield Figure(
            "Before and after reranking",
            side_by_side(*pictures),
            notes=("Orange, framed: constituents that the right tree does not have.",),
            wide=True,
        )
        return


def _brackets(tree: Tree) -> list[tuple[str, int, int]]:
    """Return label, first and last word of each node in pre-order; the words of a sentence are right in any parse."""
    places = Positions(tree)
    return list(zip(places.labels, places.first, places.last, strict=True))


def _cells(scores: Sequence[SentenceScore]) -> tuple[float, ...]:
    summary = ParsevalSummary.of(scores)
    return tuple(100 * value for value in (summary.recall, summary.precision, summary.f1, summary.no_crossing))
