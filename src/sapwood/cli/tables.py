"""Tables for the terminal, and scores of labels, which several commands report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.metrics import LabelScores

__all__ = ["label_report", "text_table"]


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Set rows of cells below each other: the first column on the left, the others on the right.

    >>> print(text_table([["loss", "value"], ["pairwise", "0.5"]]))
    loss      value
    pairwise    0.5
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    # A table that would not fit a terminal is set closer.
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= 80 else " "
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append(gap.join(cells).rstrip())
    return "\n".join(lines)


def label_report(scores: LabelScores) -> tuple[dict[str, Any], str]:
    """Return the scores of labels, for JSON and as text."""
    names = ("precision", "recall", "f1", "gold", "predicted", "correct")
    classes = {str(label): {name: getattr(one, name) for name in names} for label, one in scores.classes.items()}
    micro = {name: getattr(scores.micro, name) for name in names}
    rows = [["label", "P", "R", "F1", *names[3:]]]
    for label, one in {**classes, "micro": micro}.items():
        rows.append([label, *(f"{100 * one[name]:.2f}" for name in names[:3]), *(str(one[name]) for name in names[3:])])
    record = {"count": scores.count, "accuracy": scores.accuracy, "micro": micro, "classes": classes}
    return record, f"accuracy {100 * scores.accuracy:.2f} on {scores.count:,} items\n\n{text_table(rows)}"
