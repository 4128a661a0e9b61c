"""Factor graphs over binary variables.

Every method that adds a factor takes slices of ``Variables``. Solving is native (AD3, branch and bound, subgradients)
or goes through ``programs`` (HiGHS).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood._core import decode as _native
from sapwood.checks import check_amount, check_choice, check_count
from sapwood.decode.solution import Solution, Trace
from sapwood.decode.validation import check_seconds, native_limit
from sapwood.decode.variables import Variables
from sapwood.errors import DataError, ParameterError
from sapwood.notebook import HtmlTable

__all__ = ["FactorGraph"]

XOR, AT_MOST_ONE, OR, OR_OUT, BUDGET, PAIR = range(6)
METHODS = ("ad3", "lp", "ilp", "subgradient")
_RESIDUAL = 1e-8  # AD3 has converged when copies and consensus move less than this


class FactorGraph(HtmlTable):
    """Binary variables with scores, and factors that say which of them may be true together.

    A solution maximises the scores of the true variables, plus those of true pairs, under every factor.

    Examples
    --------
    Two workers, three tasks, one task each, no task twice:

    >>> from sapwood.decode import FactorGraph
    >>> graph = FactorGraph()
    >>> takes = graph.variables([[3.0, 2.0, 1.0], [3.0, 1.0, 0.0]])
    >>> graph.xor(takes, axis=1)
    >>> graph.at_most_one(takes, axis=0)
    >>> solution = graph.solve()
    >>> solution.status, solution.value
    ('optimal', 5.0)
    >>> solution[takes].astype(int)
    array([[0, 1, 0],
           [1, 0, 0]])
    """

    def __init__(self) -> None:
        self._scores: list[NDArray[np.float64]] = []
        self._count = 0
        self._kinds: list[int] = []
        self._limits: list[int] = []
        self._weights: list[float] = []
        self._factors: list[NDArray[np.uint32]] = []
        self._prepared: _native.Graph | None = None

    def variables(self, scores: ArrayLike) -> Variables:
        """Add one binary variable per score and return them in the scores' shape.

        Parameters
        ----------
        scores : array-like of float
            What each variable earns when it is true; finite, of any shape.
        """
        try:
            array = np.array(scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError("scores must be numbers in equally long rows; pass an array of any shape.") from None
        if not np.isfinite(array).all():
            where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise DataError(
                f"scores{list(where)} is {array[where]}, but every score must be finite; "
                "to rule a variable out, forbid it with or_(~u)."
            )
        first = self._count
        if first + array.size >= 2**31:
            raise DataError(f"a graph holds fewer than {2**31} variables; {first + array.size} were asked for.")
        self._count += array.size
        self._scores.append(array.ravel())
        self._prepared = None
        return Variables(self, (np.arange(first, self._count, dtype=np.uint32) * np.uint32(2)).reshape(array.shape))

    def xor(self, *variables: Variables, axis: int | None = None) -> None:
        """Exactly one is true.

        Parameters
        ----------
        *variables : Variables
            Taken together as one factor.
        axis : int, optional
            One factor along this axis for every position on the others, instead: ``xor(u, axis=1)`` says that
            every row has exactly one.
        """
        self._add(XOR, self._groups(variables, axis))

    def or_(self, *variables: Variables, axis: int | None = None) -> None:
        """At least one is true; parameters as for `xor`."""
        self._add(OR, self._groups(variables, axis))

    def at_most_one(self, *variables: Variables, axis: int | None = None) -> None:
        """None or one is true; parameters as for `xor`."""
        self._add(AT_MOST_ONE, self._groups(variables, axis))

    def budget(self, *variables: Variables, limit: int, axis: int | None = None) -> None:
        """At most `limit` are true; other parameters as for `xor`."""
        most = min(check_count(limit, "limit", 0, None), 2**31)
        self._add(BUDGET, self._groups(variables, axis), limit=most)

    def xor_out(self, *variables: Variables, out: Variables, axis: int | None = None) -> None:
        """At most one is true, and `out` says whether one is.

        Parameters
        ----------
        *variables, axis
            As for `xor`.
        out : Variables
            One variable per factor.
        """
        groups = self._groups(variables, axis)
        self._add(XOR, np.concatenate([groups, self._outputs(out, len(groups)) ^ np.uint32(1)], axis=1))

    def or_out(self, *variables: Variables, out: Variables, axis: int | None = None) -> None:
        """`out` says whether any is true; parameters as for `xor_out`."""
        groups = self._groups(variables, axis)
        self._add(OR_OUT, np.concatenate([groups, self._outputs(out, len(groups))], axis=1))

    def imply(self, condition: Variables, consequence: Variables) -> None:
        """Where the condition is true, the consequence is true; shapes are broadcast against each other."""
        first, second = self._broadcast(condition, consequence)
        self._add(OR, np.stack([first ^ np.uint32(1), second], axis=1))

    def pair(self, first: Variables, second: Variables, scores: ArrayLike) -> None:
        """Earn a score where both are true; shapes are broadcast against each other.

        Parameters
        ----------
        first, second : Variables
            The two sides.
        scores : array-like of float
            What each pair earns, or costs when negative.
        """
        left, right = self._broadcast(first, second)
        shape = np.broadcast_shapes(first.shape, second.shape)
        try:
            weights = np.broadcast_to(np.asarray(scores, dtype=np.float64), shape).ravel()
        except (TypeError, ValueError):
            raise DataError(f"scores of a pair must be numbers of shape {shape} or one for all.") from None
        if not np.isfinite(weights).all():
            raise DataError("scores of a pair must be finite; to forbid a pair use at_most_one.")
        self._add(PAIR, np.stack([left, right], axis=1), weights=weights.tolist())

    def _own(self, variables: Variables) -> NDArray[np.uint32]:
        if not isinstance(variables, Variables):
            raise ParameterError(
                f"a factor takes variables of its graph, got {type(variables).__name__}; use what variables() returned."
            )
        if variables.graph is not self:
            raise ParameterError("these variables belong to another graph; a factor cannot join two graphs.")
        return variables.literals

    def _groups(self, variables: tuple[Variables, ...], axis: int | None) -> NDArray[np.uint32]:
        """Return literals as a matrix, one row per factor."""
        if axis is None:
            parts = [self._own(part).ravel() for part in variables]
            return np.concatenate([np.zeros(0, np.uint32), *parts])[None, :]
        rows = []
        for part in variables:
            literals = self._own(part)
            if not -literals.ndim <= axis < literals.ndim:
                raise ParameterError(f"axis is {axis}, but the variables have {literals.ndim} axes.")
            moved = np.moveaxis(literals, axis, -1)
            rows.append(moved.reshape(int(np.prod(moved.shape[:-1])), moved.shape[-1]))
        if len({len(row) for row in rows}) != 1:
            raise ParameterError("with axis=, all variables must have the same length along their other axes.")
        return np.concatenate(rows, axis=1)

    def _outputs(self, out: Variables, count: int) -> NDArray[np.uint32]:
        literals = self._own(out).ravel()
        if literals.size != count:
            raise ParameterError(f"out must hold one variable per factor: {count}, got {literals.size}.")
        return literals[:, None]

    def _broadcast(self, first: Variables, second: Variables) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        try:
            left, right = np.broadcast_arrays(self._own(first), self._own(second))
        except ValueError:
            raise ParameterError(f"shapes {first.shape} and {second.shape} do not fit together.") from None
        return left.ravel(), right.ravel()

    def _add(self, kind: int, groups: NDArray[np.uint32], limit: int = 0, weights: list[float] | None = None) -> None:
        count = len(groups)
        self._kinds += [kind] * count
        self._limits += [limit] * count
        self._weights += weights if weights is not None else [0.0] * count
        self._factors += list(groups)
        self._prepared = None

    def __repr__(self) -> str:
        return f"FactorGraph({self._count} variables, {len(self._kinds)} factors)"

    def solve(
        self,
        *,
        exact: bool = True,
        method: str = "ad3",
        time_limit: float | None = None,
        max_nodes: int | None = None,
        max_iterations: int | None = None,
        warm_start: Solution | None = None,
        trace: bool = False,
        caching: bool = True,
        penalty: float = 1.0,
        tolerance: float = 1e-7,
    ) -> Solution:
        """Find the best assignment, or the relaxation's answer.

        Parameters
        ----------
        exact : bool
            With ``ad3``: search on by branch and bound until the assignment is proven best. Otherwise the
            linear relaxation is solved once, and the status tells whether that was enough.
        method : {"ad3", "lp", "ilp", "subgradient"}
            Dual decomposition with quadratic penalties; the relaxation or the integer program by HiGHS; or
            the plain subgradient method, for comparison.
        time_limit : float, optional
            Seconds after which the best known answer is returned with status ``limit``.
        max_nodes : int, optional
            Nodes of the search before it stops with status ``limit``.
        max_iterations : int, optional
            Rounds of one relaxation; 10,000 by default, and at most 160 per node while searching.
        warm_start : Solution, optional
            An earlier solution of this graph, or of one with the same factors and other scores.
        trace : bool
            Keep the primal and dual value of every round at the root.
        caching : bool
            Skip factors whose input has not changed since their last turn. The result is the same to the last
            bit.
        penalty : float
            AD3's penalty ρ at the start, in units of the mean absolute score; it is adapted on the way.
        tolerance : float
            A gap of at most this, relative to the value where that exceeds 1, counts as closed.

        Returns
        -------
        Solution
        """
        check_choice(method, "method", METHODS)
        seconds = check_seconds(time_limit)
        nodes = native_limit(max_nodes, "max_nodes")
        rounds = native_limit(max_iterations, "max_iterations", 10_000)
        penalty = check_amount(penalty, "penalty", zero=False)
        tolerance = check_amount(tolerance, "tolerance", zero=False)
        if warm_start is not None and (
            not isinstance(warm_start, Solution) or len(warm_start.posteriors) != self._count
        ):
            raise ParameterError(
                "warm_start must be a Solution of this graph or of one with the same variables and factors."
            )
        if method in ("lp", "ilp"):
            from sapwood.decode.programs import solve_program

            return solve_program(self, integer=method == "ilp", time_limit=seconds, max_nodes=nodes)
        if self._prepared is None:
            self._prepared = _native.make_graph(*self.tables())
        links = sum(map(len, self._factors))
        shares = assignment = None
        if warm_start is not None:
            if warm_start.shares is not None and len(warm_start.shares) == links:
                shares = warm_start.shares
            if warm_start.assignment is not None:
                assignment = warm_start.assignment.view(np.uint8)
        outcome = _native.solve_graph(
            self._prepared,
            exact,
            method == "subgradient",
            seconds,
            nodes,
            rounds,
            penalty,
            tolerance,
            _RESIDUAL,
            caching,
            trace,
            shares,
            assignment,
        )
        value, bound, status, iterations, used, projections, found, posteriors, shares, primal, dual = outcome
        return Solution(
            status=_native.STATUS[status],
            value=value,
            bound=bound,
            assignment=found.view(np.bool_) if len(found) == self._count and value > -np.inf else None,
            posteriors=posteriors if len(posteriors) == self._count else np.full(self._count, np.nan),
            iterations=iterations,
            nodes=used,
            projections=projections,
            trace=Trace(primal, dual) if trace else None,
            shares=shares,
        )

    def tables(
        self,
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.uint8],
        NDArray[np.uint32],
        NDArray[np.float64],
        NDArray[np.uint64],
        NDArray[np.uint32],
    ]:
        """Return the graph as flat arrays: scores; kind, limit and weight per factor; first link per factor;
        links.

        A link is twice the variable's number, plus one if it is negated.
        """
        first = np.zeros(len(self._factors) + 1, np.uint64)
        np.cumsum([len(factor) for factor in self._factors], out=first[1:])
        return (
            np.concatenate([np.zeros(0), *self._scores]),
            np.array(self._kinds, np.uint8),
            np.array(self._limits, np.uint32),
            np.array(self._weights, np.float64),
            first,
            np.concatenate([np.zeros(0, np.uint32), *self._factors]),
        )
