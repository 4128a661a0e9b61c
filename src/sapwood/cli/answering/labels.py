"""What all classifiers share on the command line: how labels with margins, and scores per class, are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.corpora.sources import Line

__all__ = [
    "ClassScore",
    "as_json",
    "class_scores",
    "label_lines",
    "line_blocks",
    "print_scores",
    "print_unseen",
]


_LINES = 256


@dataclass(frozen=True)
class ClassScore:
    """How well one class was found."""

    name: str
    precision: float
    recall: float
    f1: float
    count: int


def _label_line(classes: Any, row: Any, *, margins: bool, mark: str | None = None) -> str:
    """Return the line of one answer: the best label, all classes with their margins if wanted, and a mark."""
    import numpy as np

    order = np.argsort(-row, kind="stable")
    cells = [str(classes[order[0]])]
    if margins:
        cells += [f"{classes[k]}={row[k]:.6g}" for k in order]
    return "\t".join([*cells, mark] if mark else cells) + "\n"


def label_lines(model: Any, scores: Any, unparsed: Iterable[bool], margins: bool) -> Iterator[str]:
    """Yield a line per answer, from margins or probabilities, marked where there is no whole parse."""
    import numpy as np

    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    for row, mark in zip(scores, unparsed, strict=True):
        yield _label_line(model.classes_, row, margins=margins, mark="unparsed" if mark else None)


def line_blocks(rows: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield lines a few hundred at a time: enough for all threads, few enough to be held."""
    source = iter(rows)
    while block := list(islice(source, _LINES)):
        yield block


def class_scores(gold: Any, predicted: Any, names: Any) -> list[ClassScore]:
    """Score the predictions of every class."""
    from sklearn.metrics import precision_recall_fscore_support

    found = precision_recall_fscore_support(gold, predicted, labels=names, zero_division=0.0)
    return [
        ClassScore(str(name), float(p), float(r), float(f), int(n))
        for name, p, r, f, n in zip(names, *found, strict=True)
    ]


def as_json(scores: Iterable[ClassScore]) -> dict[str, dict[str, float]]:
    """Return the scores by class, for JSON."""
    return {
        one.name: {"precision": one.precision, "recall": one.recall, "f1": one.f1, "count": one.count} for one in scores
    }


def print_scores(scores: Sequence[ClassScore], accuracy: float, count: int, **further: float | None) -> None:
    """Print a line per class, the accuracy, and whatever else was measured; a dash where it could not be."""
    width = max([len(one.name) for one in scores] + [len("accuracy")])
    print(f"{'class':<{width}}  precision  recall      f1   count")
    for one in scores:
        print(f"{one.name:<{width}}  {one.precision:9.4f}  {one.recall:6.4f}  {one.f1:6.4f}  {one.count:6d}")
    print(f"{'accuracy':<{width}}  {accuracy:9.4f}{'':16}  {count:6d}")
    for name, value in further.items():
        print(f"{name.replace('_', '-'):<{width}}  {'–' if value is None else format(value, '9.4f')}")


def print_unseen(gold: Sequence[str], classes: Iterable[Any]) -> None:
    """Say which right answers the model cannot give, if there are any: no training would have found them."""
    unseen = sorted(set(gold) - {str(label) for label in classes})
    if unseen:
        missed = sum(label in unseen for label in gold)
        print(f"{missed:,} have a label that was not there in training, and count as wrong: {', '.join(unseen)}")
