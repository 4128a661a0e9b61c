"""A kernel between pairs: two pairs are similar if their members are, in either order.

Values of a kernel within pairs, member with member, are what ``Kernel.pairwise`` gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.errors import DataError, ParameterError
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.data import join
from sapwood.kernels.evaluation import changeable
from sapwood.trees.examples import Examples

__all__ = ["CrossPair"]


class CrossPair(Kernel):
    """The cross-pair kernel: K((a, b), (c, d)) = k(a, c)·k(b, d) + k(a, d)·k(b, c).

    It does not care which member of a pair comes first. It is a kernel if k is.

    Parameters
    ----------
    kernel : Kernel
        k, between members; best ``normalized()``, so that long members do not outweigh short ones.
    first, second : str
        The views of ``Examples`` that hold the members.

    Examples
    --------
    >>> from sapwood.kernels import SubsetTree
    >>> from sapwood.trees import Examples
    >>> pairs = Examples(first=["(NP (NN dog))", "(NP (NN cat))"], second=["(NP (NN dog))", "(NP (NN dog))"])
    >>> CrossPair(SubsetTree(decay=1.0))(pairs)
    array([[18.,  6.],
           [ 6., 10.]])
    """

    def __init__(self, kernel: Kernel, first: str = "first", second: str = "second") -> None:
        self.kernel, self.first, self.second = kernel, first, second
        self._validate()

    def _validate(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ParameterError(f"kernel must be a kernel, got {self.kernel!r}.")
        if not isinstance(self.first, str) or not isinstance(self.second, str) or self.first == self.second:
            raise ParameterError(
                f"first and second must name two different views, got {self.first!r}, {self.second!r}."
            )

    def views(self) -> set[str]:
        """Return the views of both members."""
        return {self.first, self.second}

    def _members(self, X: Any) -> tuple[Any, Any]:
        if not isinstance(X, Examples):
            raise DataError(
                f"a kernel between pairs needs Examples with the views {self.first!r} and {self.second!r}, "
                f"not {type(X).__name__}."
            )
        return X[self.first], X[self.second]

    def _arrays(self) -> int:
        return 2 + self.kernel._arrays()

    def _bind(self, X: Any) -> Kernel:
        return CrossPair(self.kernel._bind(join(*self._members(X))), self.first, self.second)

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        a, b = self._members(X)
        if Y is None:
            K = changeable(self.kernel._gram(a, None))
            K *= self.kernel._gram(b, None)
            across = self.kernel._gram(a, b)
            K += across * across.T
            return K
        c, d = self._members(Y)
        K = changeable(self.kernel._gram(a, c))
        K *= self.kernel._gram(b, d)
        across = changeable(self.kernel._gram(a, d))
        across *= self.kernel._gram(b, c)
        K += across
        return K

    def _diag(self, X: Any) -> Matrix:
        a, b = self._members(X)
        return np.asarray(self.kernel._diag(a) * self.kernel._diag(b) + self.kernel._pairwise(join(a, b)) ** 2)

    def _pairwise(self, X: Any) -> Matrix:
        firsts, seconds = self._members(X)
        half = X.shape[0] // 2
        straight = self.kernel._pairwise(firsts) * self.kernel._pairwise(seconds)
        across = self.kernel._pairwise(join(firsts[:half], seconds[half:]))
        return np.asarray(straight + across * self.kernel._pairwise(join(seconds[:half], firsts[half:])))
