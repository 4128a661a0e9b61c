"""What all classifiers share on the command line: how labels with margins, and scores per class, are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.metrics import LabelScores
    from sapwood.sources import Line

__all__ = ["as_json", "label_lines", "line_blocks", "score_table", "unseen"]


_LINES = 256


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


def as_json(scores: LabelScores) -> dict[str, dict[str, float]]:
    """Return the scores by class, for JSON."""
    return {
        str(name): {"precision": one.precision, "recall": one.recall, "f1": one.f1, "count": one.gold}
        for name, one in scores.classes.items()
    }


def score_table(scores: LabelScores, **further: float | None) -> str:
    """Return a line per class, the accuracy, and whatever else was measured; a dash where it could not be."""
    width = max([len(str(name)) for name in scores.classes] + [len("accuracy")])
    lines = [f"{'class':<{width}}  precision  recall      f1   count"]
    for name, one in scores.classes.items():
        lines.append(f"{name!s:<{width}}  {one.precision:9.4f}  {one.recall:6.4f}  {one.f1:6.4f}  {one.gold:6d}")
    lines.append(f"{'accuracy':<{width}}  {scores.accuracy:9.4f}{'':16}  {scores.count:6d}")
    for name, value in further.items():
        lines.append(f"{name.replace('_', '-'):<{width}}  {'–' if value is None else format(value, '9.4f')}")
    return "\n".join(lines)


def unseen(gold: Sequence[str], classes: Iterable[Any]) -> str:
    """Say which right answers the model cannot give, if there are any: no training would have found them."""
    names = sorted(set(gold) - {str(label) for label in classes})
    if not names:
        return ""
    missed = sum(label in names for label in gold)
    return f"\n{missed:,} have a label that was not there in training, and count as wrong: {', '.join(names)}"
