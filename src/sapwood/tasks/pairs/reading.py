"""From pairs as they are given to pairs of trees: text through a parser, with a flag where there is no parse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.parse.reading import Reading, read_examples
from sapwood.trees.array import TreeArray
from sapwood.trees.convert import is_nltk
from sapwood.trees.examples import Examples
from sapwood.trees.tree import Tree

__all__ = ["PairReading", "read_pair_trees"]

_VIEWS = ("first", "second")


@dataclass(frozen=True)
class PairReading(Reading):
    """The members of pairs, the first and the second of each in turn; none where ``Examples`` were given."""

    given: Examples | None = None

    @cached_property
    def pairs(self) -> Examples:
        """Trees in the views ``first`` and ``second``."""
        if self.given is not None:
            return self.given
        first, second = (Reading(self.examples[at::2]).array() for at in (0, 1))
        return Examples(first=first, second=second)

    @property
    def unparsed(self) -> NDArray[np.bool_]:
        """Which pairs have a flat tree, or one put together from pieces."""
        members = super().unparsed
        return np.zeros(len(self.given), dtype=np.bool_) if self.given is not None else members[::2] | members[1::2]


def read_pair_trees(X: Any, parser: Any = None) -> PairReading:
    """Turn pairs of texts or trees into pairs of trees.

    Parameters
    ----------
    X : Examples, or sequence of pairs
        Examples with the views ``first`` and ``second`` are taken as they are. Otherwise each row has two members, each
        of them anything that ``sapwood.parse.read_examples`` takes. An empty list, None or an empty string is a text
        without words.
    parser : optional
        See ``sapwood.parse.as_parser``. A sentence that it has no tree for gets a flat one.

    Examples
    --------
    >>> found = read_pair_trees([("Who ran?", "(S (WP Who) (VBD ran))")])
    >>> str(found.pairs["first"][0]), found.unparsed.tolist()
    ('(X (WP Who) (NN ran) (. ?))', [True])
    """
    if isinstance(X, Examples):
        if any(view not in X.views for view in _VIEWS):
            raise DataError(f"pairs need the views 'first' and 'second'; these examples have {', '.join(X.views)}.")
        for view in _VIEWS:
            if not isinstance(X[view], TreeArray):
                raise DataError(f"the view {view!r} holds no trees but a {type(X[view]).__name__}.")
        return PairReading([], "text", X)
    if isinstance(X, (str, Tree, TreeArray)) or is_nltk(X) or not isinstance(X, Iterable):
        raise DataError(f"expected pairs of trees, got a {type(X).__name__}; pass a list of (first, second).")
    members: list[Any] = []
    for number, row in enumerate(X.to_numpy() if hasattr(X, "to_numpy") else X):
        if isinstance(row, str) or is_nltk(row) or not isinstance(row, (Sequence, np.ndarray)) or len(row) != 2:
            raise DataError(f"pair {number} is {str(row)[:60]!r}; expected two members, (first, second).")
        members.extend(row)
    return PairReading(read_examples(members, parser, what="text").examples, "text")
