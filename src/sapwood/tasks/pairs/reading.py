"""From pairs as they are given to pairs of trees: text through a parser, with a flag where it did not get through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import SapwoodError
from sapwood.parse.texts import parse_texts
from sapwood.tasks.pairs.members import as_pairs
from sapwood.trees.examples import Examples
from sapwood.trees.tree import Tree

__all__ = ["PairReading", "read_pairs_of"]


@dataclass(frozen=True)
class PairReading:
    """Pairs of trees, and which of them hold a text without a whole parse.

    Attributes
    ----------
    pairs : Examples
        With the views ``first`` and ``second``.
    unparsed : array of bool
    """

    pairs: Examples
    unparsed: NDArray[np.bool_]


def read_pairs_of(X: Any, parser: Any) -> PairReading:
    """Turn pairs of texts or trees into pairs of trees.

    Parameters
    ----------
    X : Examples, or sequence of pairs
        As ``as_pairs`` takes them; a member may also be text, of one sentence or several.
    parser : PCFGParser, callable or object with ``parse``
        See ``sapwood.parse.texts.ask_parser``. A sentence that it has no tree for gets a flat one.

    Examples
    --------
    >>> reading = read_pairs_of([("Who ran ?", "(S (WP Who) (VBD ran))")], parser=lambda text: None)
    >>> str(reading.pairs["first"][0][0]), reading.unparsed.tolist()
    ('(X (WP Who) (NN ran) (. ?))', [True])
    """
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(X, Examples) or isinstance(rows, str) or not isinstance(rows, (Sequence, np.ndarray)):
        pairs = as_pairs(X)
        return PairReading(pairs, np.zeros(len(pairs), dtype=np.bool_))
    texts = [member for row in rows for member in (row if _is_pair(row) else ()) if _is_text(member)]
    parsed = parse_texts(texts, parser)
    flags = [any(_is_text(one) and one in parsed.unparsed for one in row) if _is_pair(row) else False for row in rows]
    members = [
        tuple(parsed.trees[one] if _is_text(one) else one for one in row) if _is_pair(row) else row for row in rows
    ]
    return PairReading(as_pairs(members), np.array(flags, dtype=np.bool_))


def _is_pair(row: Any) -> bool:
    return isinstance(row, (list, tuple, np.ndarray)) and len(row) == 2


def _is_text(member: Any) -> bool:
    """Whether a member is plain text rather than a tree in brackets, or nothing."""
    if not isinstance(member, str) or not member.strip():
        return False
    if not member.lstrip().startswith("("):
        return True
    try:
        Tree.fromstring(member)
    except SapwoodError:
        return True  # a text may well begin with a bracket
    return False
