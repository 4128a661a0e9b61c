"""What all classifiers share on the command line: blocks of lines in, labels with margins out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.text_files import Line

__all__ = ["label_lines", "line_blocks", "unseen"]


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


def unseen(gold: Sequence[str], classes: Iterable[Any]) -> str:
    """Say which right answers the model cannot give, if there are any: no training would have found them."""
    names = sorted(set(gold) - {str(label) for label in classes})
    if not names:
        return ""
    missed = sum(label in names for label in gold)
    return f"\n{missed:,} have a label that was not there in training, and count as wrong: {', '.join(names)}"
