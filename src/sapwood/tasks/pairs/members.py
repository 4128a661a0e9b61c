"""What a pair of sentences may be given as, and what all parts of this task take it as: two views of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood.errors import DataError
from sapwood.trees.array import TreeArray
from sapwood.trees.convert import is_nltk
from sapwood.trees.examples import Examples
from sapwood.trees.tree import Tree

__all__ = ["as_pairs"]


def as_pairs(X: Any) -> Examples:
    """Turn pairs of trees into ``Examples`` with the views ``first`` and ``second``.

    Parameters
    ----------
    X : Examples, or sequence of pairs
        Examples with the two views are returned as they are. Otherwise each row has two members: a tree, a string in
        bracket notation, an ``nltk.Tree``, or a list of these where a text has several sentences. An empty list, None
        or an empty string is a text without words.

    Examples
    --------
    >>> as_pairs([("(NP (NN dog))", "(NP (NN cat))"), ("(NP (NN dog))", "")])
    Examples(first, second; 2 rows)
    """
    if isinstance(X, Examples):
        missing = [view for view in ("first", "second") if view not in X.views]
        if missing:
            raise DataError(f"pairs need the views 'first' and 'second'; these examples have {', '.join(X.views)}.")
        for view in ("first", "second"):
            if not isinstance(X[view], TreeArray):
                raise DataError(f"the view {view!r} holds no trees but a {type(X[view]).__name__}.")
        return X
    if isinstance(X, (str, Tree, TreeArray)) or is_nltk(X):
        raise DataError(f"expected pairs of trees, got a {type(X).__name__}; pass a list of (first, second).")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    members: tuple[list[Any], list[Any]] = [], []
    for number, row in enumerate(X):
        if isinstance(row, str) or is_nltk(row) or not isinstance(row, (Sequence, np.ndarray)) or len(row) != 2:
            raise DataError(f"pair {number} is {str(row)[:60]!r}; expected two members, (first, second).")
        for side, member in zip(members, row, strict=True):
            side.append(_member(member, number))
    return Examples(first=_array(members[0]), second=_array(members[1]))


def _member(member: Any, number: int) -> Any:
    if member is None or (isinstance(member, float) and np.isnan(member)):
        return ()
    if isinstance(member, str):
        text = member.strip()
        if not text:
            return ()
        if not text.startswith("("):
            raise DataError(
                f"pair {number}: {text[:40]!r} is text, not a tree; parse it first and pass the tree, for example "
                "'(NP (DT a) (NN dog))'."
            )
        return text
    return tuple(member) if isinstance(member, (list, tuple)) and not is_nltk(member) else member


def _array(members: list[Any]) -> TreeArray:
    return TreeArray(members)
