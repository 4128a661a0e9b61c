"""Tensors of binary variables: sliced like arrays, negated by ``~``. Factors over them belong to ``graph``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood.notebook import HtmlTable

if TYPE_CHECKING:
    from sapwood.decode.graph import FactorGraph

__all__ = ["Variables"]


class Variables(HtmlTable):
    """A tensor of binary variables of one graph, or of their negations.

    Slicing, fancy indexing, iteration, ``reshape`` and ``.T`` work as they do for arrays; ``~u`` is "not u".

    Examples
    --------
    >>> from sapwood.decode import FactorGraph
    >>> u = FactorGraph().variables([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> u.shape, u[:, 1].shape, (~u[0]).shape
    ((2, 3), (2,), (3,))
    """

    __slots__ = ("graph", "literals")

    def __init__(self, graph: FactorGraph, literals: NDArray[np.uint32]) -> None:
        self.graph, self.literals = graph, literals

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self.literals.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.literals.ndim

    @property
    def size(self) -> int:
        """Number of variables."""
        return self.literals.size

    @property
    def T(self) -> Variables:  # noqa: N802
        """The tensor with its axes reversed."""
        return Variables(self.graph, self.literals.T)

    def reshape(self, *shape: int) -> Variables:
        """Return the same variables in another shape."""
        return Variables(self.graph, self.literals.reshape(*shape))

    def __len__(self) -> int:
        return len(self.literals)

    def __getitem__(self, key: Any) -> Variables:
        return Variables(self.graph, np.asarray(self.literals[key]))

    def __iter__(self) -> Iterator[Variables]:
        return (self[i] for i in range(len(self)))

    def __invert__(self) -> Variables:
        return Variables(self.graph, self.literals ^ np.uint32(1))

    def __repr__(self) -> str:
        return f"Variables(shape={self.shape})"
