"""Labels on spans: which label, if any, each candidate span carries.

Labelled spans do not overlap; some labels occur at most once, some only together with another, some only
after another. This is the inference of PropBank-style role labelling, but nothing here knows what the labels
mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from sapwood._core import decode as _native
from sapwood.checks import check_choice
from sapwood.decode.solution import SpanResult
from sapwood.decode.validation import Pairs, check_seconds, mask, matrix, native_limit, pairs
from sapwood.decode.validation import spans as span_array
from sapwood.errors import DataError

__all__ = ["decode_labels"]

_MAX_STATES = 1 << 20


def decode_labels(
    scores: ArrayLike,
    spans: ArrayLike,
    *,
    unique: Iterable[int] = (),
    implies: Pairs = (),
    after: Pairs = (),
    allowed: ArrayLike | None = None,
    tokens: int | None = None,
    method: str = "exact",
    time_limit: float | None = None,
    max_nodes: int | None = None,
    max_states: int | None = None,
) -> SpanResult:
    """Find the best label for every span under the constraints.

    Parameters
    ----------
    scores : array-like of float, spans × labels
        What it earns to give a span a label. Label 0 is NONE: the span carries nothing.
    spans : array-like of int, spans × 2
        First and last token of each span, both included. No two labelled spans overlap.
    unique : iterable of label numbers
        Labels that occur at most once.
    implies : pairs of label numbers
        ``(a, b)``: where any span carries a, some span carries b (R-A0 needs A0).
    after : pairs of label numbers
        ``(a, b)``: a span that carries a needs an earlier span that carries b (C-A1 needs an A1 before it).
    allowed : array-like of bool, spans × labels, optional
        False where a span may not carry a label; False at NONE means the span must carry one.
    tokens : int, optional
        Number of tokens, so that spans beyond the last are noticed.
    method : {"exact", "ad3-exact"}
        Dynamic programming with branch and bound behind it, or branch and bound alone.
    time_limit, max_nodes, max_states
        As in `decode_roles`.

    Returns
    -------
    SpanResult

    Examples
    --------
    Label 2 leans on label 1, which is worth taking for its sake:

    >>> from sapwood.decode import decode_labels
    >>> scores = [[0.0, -1.0, -5.0], [0.0, -5.0, 3.0]]
    >>> result = decode_labels(scores, [(0, 1), (2, 3)], unique=[1], implies=[(2, 1)])
    >>> result.assignment.tolist(), result.value, result.status
    ([1, 2], 2.0, 'optimal')
    """
    check_choice(method, "method", ("exact", "ad3-exact"))
    table, places = matrix(scores, "spans", "labels"), span_array(spans)
    if len(table) != len(places):
        raise DataError(
            f"scores has {len(table)} rows for {len(places)} spans; pass one row per span and one column per label."
        )
    if len(table) and table.shape[1] == 0:
        raise DataError("scores has no columns; the first column is NONE, the score of leaving a span unlabelled.")
    unique = list(unique)
    labels = table.shape[1] if len(table) else 1 + max(_mentioned(unique, implies, after), default=0)
    table = table if len(table) else np.zeros((0, labels))
    once = np.zeros(labels, np.uint8)
    for label in unique:
        if isinstance(label, bool) or not isinstance(label, (int, np.integer)) or not 0 <= label < labels:
            raise DataError(f"unique holds {label!r}, but labels are numbers from 0 to {labels - 1}.")
        if label == 0:
            raise DataError(
                "unique holds 0, which is NONE; spans may always stay unlabelled. Use allowed= to forbid it."
            )
        once[label] = 1
    needs, follows = pairs(implies, "implies"), pairs(after, "after")
    for name, array in (("implies", needs), ("after", follows)):
        if (array == 0).any():
            raise DataError(f"{name} mentions label 0, which is NONE and asks for nothing; remove that pair.")
    outcome = _native.decode_labels(
        table,
        places,
        once,
        needs,
        follows,
        mask(allowed, table.shape),
        -1 if tokens is None else native_limit(tokens, "tokens"),
        method == "exact",
        check_seconds(time_limit),
        native_limit(max_nodes, "max_nodes"),
        native_limit(max_states, "max_states", _MAX_STATES),
    )
    if isinstance(outcome, str):
        raise DataError(outcome)
    value, bound, status, assignment, nodes, states = outcome
    found = None if value == -math.inf else assignment
    return SpanResult(found, value, bound, _native.STATUS[status], nodes, states)


def _mentioned(unique: Iterable[int], implies: Pairs, after: Pairs) -> list[int]:
    """Return every label number that the constraints mention: without spans, all that says how many there are."""
    return [*unique, *(int(label) for pair in (*implies, *after) for label in pair)]
