"""A kernel as a weighted sum of simpler ones: what ``Kernel.terms`` returns.

Explanations, the solver of support vector machines and the preference learners all work on terms, so a kernel that can
list its terms, which every kernel can, takes part in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sapwood.kernels.data import pick_view

if TYPE_CHECKING:
    from sapwood.kernels.base import Kernel

__all__ = ["Norm", "Term"]


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
        Not itself a sum, scaling, normalization or view.
    view : str, optional
        The view of ``Examples`` that the kernel is on.
    norms : tuple of Norm
        What the term is normalized by.
    """

    weight: float
    kernel: Kernel
    view: str | None = None
    norms: tuple[Norm, ...] = ()

    @property
    def self_normalized(self) -> bool:
        """Whether the term is normalized by its own kernel and nothing else, so that it is ``weight`` at most."""
        return len(self.norms) == 1 and self.norms[0].kernel is self.kernel

    def pick(self, X: Any) -> Any:
        """Return the examples as the kernel sees them."""
        return X if self.view is None else pick_view(X, self.view)

    def on(self, view: str) -> Term:
        """Return the term as seen from examples that have this view."""
        return replace(self, view=view, norms=tuple(Norm(norm.kernel, view) for norm in self.norms))
