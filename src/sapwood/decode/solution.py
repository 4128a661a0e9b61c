"""What decoding returns: an assignment, its value, and an upper bound on the value of every other.

Nothing here computes; solving belongs to ``graph``, ``roles``, ``labels`` and ``programs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.notebook import HtmlTable

if TYPE_CHECKING:
    from sapwood.decode.variables import Variables

__all__ = ["Solution", "SpanResult", "Trace"]

_CONSTRAINTS = ("overlap", "excludes", "requires", "allowed")


class _Certified(HtmlTable):
    """A value with a bound that no other assignment exceeds."""

    __slots__ = ()

    status: str
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """How far the bound lies above the value: 0 when nothing is left to prove."""
        return 0.0 if self.status == "infeasible" else max(0.0, self.bound - self.value)

    def _summary(self) -> dict[str, Any]:
        return {"status": self.status, "value": self.value, "bound": self.bound, "gap": self.gap}


class SpanResult(_Certified):
    """The outcome of ``decode_roles`` or ``decode_labels``.

    Attributes
    ----------
    assignment : ndarray of int, or None
        Of roles, the number of the span that each takes; null's number where it takes none. Of labels, the label of
        each span; 0 for NONE. None when no assignment is known.
    value : float
        The sum of the scores taken; minus infinity without an assignment.
    bound : float
        No assignment that obeys the constraints is worth more.
    status : str
        ``optimal``: proven best. ``fractional``: rounded from a relaxation whose solution was not whole.
        ``limit``: no proof, because a limit came first or because the method (local, beam) gives none.
        ``infeasible``: no assignment obeys the constraints.
    nodes, states : int
        Nodes of branch and bound and states of dynamic programming that it took; 0 where neither was needed.
    """

    __slots__ = ("_broken", "assignment", "bound", "nodes", "states", "status", "value")

    def __init__(
        self,
        assignment: NDArray[np.int32] | None,
        value: float,
        bound: float,
        status: str,
        nodes: int,
        states: int,
        broken: Sequence[int] = (0, 0, 0, 0),
    ) -> None:
        self.assignment, self.value, self.bound, self.status = assignment, value, bound, status
        self.nodes, self.states, self._broken = nodes, states, broken

    @property
    def violations(self) -> dict[str, int]:
        """Broken constraints, which only methods without proof leave.

        Pairs of roles that overlap, pairs that break an exclusion or a requirement, and spans that are not allowed.
        """
        return dict(zip(_CONSTRAINTS, self._broken, strict=True))

    def _summary(self) -> dict[str, Any]:
        return super()._summary() | {
            "assignment": None if self.assignment is None else self.assignment.tolist(),
            "violations": ", ".join(f"{kind} {count}" for kind, count in self.violations.items() if count) or "none",
        }

    def __repr__(self) -> str:
        chosen = None if self.assignment is None else self.assignment.tolist()
        return (
            f"SpanResult(assignment={chosen}, value={self.value:.6g}, bound={self.bound:.6g}, status={self.status!r})"
        )


@dataclass(frozen=True, eq=False)
class Trace(HtmlTable):
    """The course of a relaxation, one entry per iteration.

    Attributes
    ----------
    primal : ndarray
        What the consensus is worth; it may break constraints on the way.
    dual : ndarray
        The upper bound given by the current multipliers.
    """

    primal: NDArray[np.float64]
    dual: NDArray[np.float64]

    def _summary(self) -> dict[str, Any]:
        if not len(self.dual):
            return {"iterations": 0}
        return {
            "iterations": len(self.dual),
            "primal": f"{self.primal[0]:.6g} at first, {self.primal[-1]:.6g} at last",
            "dual": f"{self.dual[0]:.6g} at first, {self.dual[-1]:.6g} at last",
        }


@dataclass(frozen=True, eq=False, repr=False)
class Solution(_Certified):
    """The outcome of `FactorGraph.solve`.

    Attributes
    ----------
    status : str
        ``optimal``: the assignment is proven best, up to the tolerance asked for. ``fractional``: the
        relaxation was solved and its solution is not whole; the assignment, if any, is a rounding without
        proof. ``limit``: a limit of time, nodes or iterations came first. ``infeasible``: no assignment obeys
        the factors.
    value : float
        What the assignment is worth; minus infinity when there is none.
    bound : float
        No assignment is worth more than this.
    assignment : ndarray of bool, or None
        One truth value per variable of the graph; index the solution with variables to get theirs.
    posteriors : ndarray of float
        The relaxation's solution at the root, or the assignment where it is proven best.
    iterations, nodes, projections : int
        Rounds of the relaxation, nodes of the search, and factors solved over all of them.
    trace : Trace or None
        Primal and dual values of the root, when asked for.
    shares : ndarray or None
        How the factors ended up sharing the scores: what a warm start begins with.
    """

    status: str
    value: float
    bound: float
    assignment: NDArray[np.bool_] | None
    posteriors: NDArray[np.float64]
    iterations: int = 0
    nodes: int = 0
    projections: int = 0
    trace: Trace | None = None
    shares: NDArray[np.float64] | None = field(default=None)

    def __getitem__(self, variables: Variables) -> NDArray[np.bool_]:
        """Return the truth values of these variables, in their shape."""
        if self.assignment is None:
            raise DataError(f"there is no assignment to look into: the status is {self.status}; see posterior().")
        literals = variables.literals
        values: NDArray[np.bool_] = self.assignment[literals >> 1] ^ (literals & 1).astype(bool)
        return values

    def posterior(self, variables: Variables) -> NDArray[np.float64]:
        """Return the relaxation's share of truth of these variables, in their shape."""
        literals = variables.literals
        share = self.posteriors[literals >> 1]
        values: NDArray[np.float64] = np.where(literals & 1, 1.0 - share, share)
        return values

    def _summary(self) -> dict[str, Any]:
        return super()._summary() | {"iterations": self.iterations, "nodes": self.nodes}

    def __repr__(self) -> str:
        return (
            f"Solution(status={self.status!r}, value={self.value:.6g}, bound={self.bound:.6g}, "
            f"iterations={self.iterations}, nodes={self.nodes})"
        )
