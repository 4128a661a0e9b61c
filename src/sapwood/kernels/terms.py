"""A kernel as a weighted sum of simpler ones: what ``Kernel.terms`` returns.

Explanations, the solver of support vector machines and the preference learners all work on terms, so a kernel that can
list its terms, which every kernel can, takes part in all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.callers import levels_to_user
from sapwood.kernels.data import pick_view
from sapwood.kernels.finite import check_diagonal

if TYPE_CHECKING:
    from sapwood.kernels.base import Kernel

__all__ = ["Norm", "Scales", "Term", "normalizing_scale"]

Matrix = NDArray[np.float64]


class Norm(NamedTuple):
    """A kernel whose self-kernels divide a term, and the view that it is on."""

    kernel: Kernel
    view: str | None


@dataclass(frozen=True)
class Term:
    """One summand of a kernel.

    Its value for two examples is ``weight * kernel(a, b)`` on the view, divided for each norm by the square roots of
    the norm's self-kernels of both examples.

    Attributes
    ----------
    weight : float
    kernel : Kernel
        Not itself a sum, scaling, normalisation or view.
    view : str, optional
        The view of ``Examples`` that the kernel is on.
    norms : tuple of Norm
        What the term is normalised by.
    """

    weight: float
    kernel: Kernel
    view: str | None = None
    norms: tuple[Norm, ...] = ()

    @property
    def self_normalized(self) -> bool:
        """Whether the term is normalised by its own kernel and nothing else, so that it is ``weight`` at most."""
        return len(self.norms) == 1 and self.norms[0].kernel is self.kernel

    def pick(self, X: Any) -> Any:
        """Return the examples as the kernel sees them."""
        return X if self.view is None else pick_view(X, self.view)

    def on(self, view: str) -> Term:
        """Return the term as seen from examples that have this view."""
        return replace(self, view=view, norms=tuple(Norm(norm.kernel, view) for norm in self.norms))


class Scales:
    """Factors by which normalisation multiplies examples, computed once per norm.

    Parameters
    ----------
    X : array of examples
    warn : bool
        Whether to warn of examples that share nothing with themselves.
    """

    def __init__(self, X: Any, *, warn: bool = True) -> None:
        self._X, self._warn = X, warn
        self._known: dict[tuple[int, str | None], tuple[Kernel, Matrix]] = {}

    def of(self, norms: Sequence[Norm]) -> Matrix:
        """Return one factor per example, the product over all norms."""
        total: Matrix = np.ones(self._X.shape[0])
        for kernel, view in norms:
            key = (id(kernel), view)
            if key not in self._known:
                diagonal = kernel._diag(self._X if view is None else pick_view(self._X, view))
                # The kernel is kept, too, or another one could get its identity.
                self._known[key] = (kernel, normalizing_scale(diagonal, warn=self._warn))
            total = total * self._known[key][1]
        return total


def normalizing_scale(diagonal: Matrix, *, warn: bool = True, side: str = "") -> Matrix:
    """Return what normalisation multiplies examples with these self-kernels by: 0 where the self-kernel is 0."""
    diagonal = np.asarray(diagonal, dtype=np.float64)
    check_diagonal(diagonal, side)
    empty = np.flatnonzero(diagonal <= 0)
    if len(empty) and warn:
        listed = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
        warnings.warn(
            f"{len(empty)} of {len(diagonal)} elements share nothing even with themselves (positions {listed}): "
            "their normalized kernel is 0 with everything. They are usually single leaves.",
            stacklevel=levels_to_user(),
        )
    scale = np.zeros_like(diagonal)
    np.divide(1.0, np.sqrt(diagonal, where=diagonal > 0, out=np.ones_like(diagonal)), where=diagonal > 0, out=scale)
    return scale
