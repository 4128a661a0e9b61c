"""Tables for the terminal, and scores of labels and parses, which several commands report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.metrics import LabelScores, ParsevalScores, ParsevalSummary

__all__ = ["label_report", "parseval_report", "parseval_table", "text_table"]

# What evalb leaves out, and how many trees of a kind are named; JSON names all.
_LEFT_OUT = {
    "errors": "Left out, since the two trees have different words",
    "skipped": "Left out, since there is no parse",
    "retagged": "Other words are tagged as punctuation than in the gold tree, so evalb leaves out",
}
_NAMED = 20


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


def parseval_report(scores: ParsevalScores) -> tuple[dict[str, Any], str]:
    """Return the scores of parses, all and by length, and which trees evalb leaves out, for JSON and as text.

    Trees have the numbers that they have in their file, from 1.
    """
    from dataclasses import asdict
    from textwrap import fill

    groups = {"all": scores.overall, f"<={scores.rules.cutoff}": scores.up_to()}
    groups |= {f"{first}-{last or ''}": found for (first, last), found in scores.by_length().items()}
    numbers = {name: [at + 1 for at in places] for name, places in scores.left_out.items()}
    record = {name: asdict(summary) for name, summary in groups.items()}
    texts = [parseval_table(groups)]
    for name, places in numbers.items():
        if not places:
            continue
        named = ", ".join(map(str, places[:_NAMED])) + (f" and {len(places) - _NAMED:,} more" * (len(places) > _NAMED))
        line = f"{_LEFT_OUT[name]}: {len(places):,} (tree {named})."
        if name == "retagged" and scores.rules.punctuation == "gold":
            line += " The gold tags decided which words to delete."
        texts.append(fill(line, 80))
    return record | {"left_out": numbers}, "\n\n".join(texts)


def parseval_table(groups: dict[str, ParsevalSummary]) -> str:
    """Set scores of parses below each other, one group of sentences per line."""
    rows = [["length", "trees", "LR", "LP", "F1", "CB", "0CB", "<=2CB", "exact", "tags", "errors", "skip"]]
    for name, one in groups.items():
        shares = (one.no_crossing, one.two_or_less_crossing, one.complete_match, one.tagging)
        rows.append(
            [name, f"{one.sentences}"]
            + [f"{100 * value:.2f}" for value in (one.recall, one.precision, one.f1)]
            + [f"{one.crossing:.2f}"]
            + [f"{100 * value:.2f}" for value in shares]
            + [f"{one.errors}", f"{one.skipped}"]
        )
    return text_table(rows)
