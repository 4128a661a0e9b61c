"""What all classifiers share on the command line: blocks of lines in, labels with margins out."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

__all__ = ["answer_lines", "unseen"]

_Row = TypeVar("_Row")

# Lines read at once: enough for all threads, few enough to be held.
_LINES = 256


def answer_lines(
    options: argparse.Namespace,
    tally: Counter[str],
    lines: Iterable[_Row],
    read: Callable[[list[_Row]], tuple[Any, Any, Sequence[bool]]],
    classes: Any,
    score: Callable[[Any], Any],
) -> Iterator[str]:
    """Yield one line per line: the label, with ``--margins`` all classes, and ``unparsed`` where it was so.

    ``read`` gives the examples of some lines, their labels, and which have no whole parse; ``score`` gives margins.
    """
    import numpy as np

    source = iter(lines)
    while block := list(islice(source, _LINES)):
        examples, _, unparsed = read(block)
        tally["items"] += len(unparsed)
        tally["flat"] += sum(map(bool, unparsed))
        scores = score(examples)
        if scores.ndim == 1:
            # Adding 0 makes 0 of -0.
            scores = np.column_stack([-scores, scores]) + 0.0
        for row, flat in zip(scores, unparsed, strict=True):
            order = np.argsort(-row, kind="stable")
            margins = [f"{classes[k]}={row[k]:.6g}" for k in order] if options.margins else []
            yield "\t".join([str(classes[order[0]]), *margins, *(["unparsed"] if flat else [])]) + "\n"


def unseen(gold: Sequence[str], classes: Iterable[Any]) -> str:
    """Say which right answers the model cannot give, if there are any: no training would have found them."""
    names = sorted(set(gold) - {str(label) for label in classes})
    if not names:
        return ""
    missed = sum(label in names for label in gold)
    return f"\n{missed:,} have a label that was not there in training, and count as wrong: {', '.join(names)}"
