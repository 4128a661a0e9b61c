"""Linear and integer programs: the same problems for HiGHS, through `scipy.optimize.milp`.

This is the yardstick, and a second opinion: everything here is stated as rows and left to the solver.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sapwood.decode.solution import Solution

if TYPE_CHECKING:
    from scipy.optimize._milp import _OptionsMILP

    from sapwood.decode.graph import FactorGraph

__all__ = ["run_milp", "solve_program"]


def run_milp(
    scores: NDArray[np.float64],
    rows: tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    integer: bool,
    most: NDArray[np.float64] | None = None,
    time_limit: float = math.inf,
    max_nodes: int = 2**62,
) -> tuple[str, NDArray[np.float64] | None, float]:
    """Maximise scores · x over 0 ≤ x ≤ most (1 by default) and lower ≤ A x ≤ upper.

    Parameters
    ----------
    rows : tuple of (data, row, column)
        The entries of A.

    Returns
    -------
    status : str
        ``optimal``, ``limit`` or ``infeasible``.
    solution : ndarray or None
    bound : float
        No x is worth more.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    if scores.size == 0:
        feasible = bool(np.all(lower <= 0) and np.all(upper >= 0))
        return ("optimal", np.zeros(0), 0.0) if feasible else ("infeasible", None, -math.inf)
    data, row, column = rows
    constraints = []
    if len(lower):
        table = csc_array((data, (row, column)), shape=(len(lower), len(scores)))
        constraints.append(LinearConstraint(table, lower, upper))
    options: _OptionsMILP = {"mip_rel_gap": 0.0}
    if math.isfinite(time_limit):
        options["time_limit"] = time_limit
    if max_nodes < 2**31:
        options["node_limit"] = max_nodes
    result = milp(
        -scores,
        integrality=np.full(len(scores), int(integer)),
        bounds=Bounds(0.0, 1.0 if most is None else most),
        constraints=constraints,
        options=options,
    )
    if result.status == 2:
        return "infeasible", None, -math.inf
    solution = None if result.x is None else np.asarray(result.x, np.float64)
    bound = -result.mip_dual_bound if integer and result.mip_dual_bound is not None else math.inf
    if solution is not None and not integer:
        bound = float(scores @ solution)
    return ("optimal" if result.status == 0 else "limit"), solution, bound


def solve_program(graph: FactorGraph, *, integer: bool, time_limit: float, max_nodes: int) -> Solution:
    """Solve a factor graph as an integer program, or its relaxation."""
    from sapwood.decode.graph import AT_MOST_ONE, BUDGET, OR, OR_OUT, PAIR, XOR

    scores, kinds, limits, weights, first, links = graph.tables()
    n = len(scores)
    pairs = np.flatnonzero(kinds == PAIR)
    extra = {int(f): n + i for i, f in enumerate(pairs)}  # one more variable per pair: "both"
    data: list[float] = []
    row: list[int] = []
    column: list[int] = []
    lower: list[float] = []
    upper: list[float] = []

    def state(literals: NDArray[np.uint32], signs: list[float], low: float, high: float, also: int = -1) -> None:
        """Add low <= sum of sign * literal (+ the variable `also`) <= high; a negated literal is 1 - x."""
        shift = 0.0
        for literal, sign in zip(literals.tolist(), signs, strict=True):
            negated = literal & 1
            shift += sign * negated
            data.append(-sign if negated else sign)
            row.append(len(lower))
            column.append(literal >> 1)
        if also >= 0:
            data.append(1.0)
            row.append(len(lower))
            column.append(also)
        lower.append(low - shift)
        upper.append(high - shift)

    for f, kind in enumerate(kinds.tolist()):
        literals = links[int(first[f]) : int(first[f + 1])]
        ones = [1.0] * len(literals)
        if kind == XOR:
            state(literals, ones, 1.0, 1.0)
        elif kind == AT_MOST_ONE:
            state(literals, ones, -math.inf, 1.0)
        elif kind == OR:
            state(literals, ones, 1.0, math.inf)
        elif kind == BUDGET:
            state(literals, ones, -math.inf, float(limits[f]))
        elif kind == OR_OUT:
            state(literals, [*ones[:-1], -1.0], 0.0, math.inf)
            for i in range(len(literals) - 1):
                state(literals[[i, -1]], [1.0, -1.0], -math.inf, 0.0)
        else:
            state(literals, [-1.0, -1.0], -1.0, math.inf, extra[f])
            state(literals[:1], [-1.0], -math.inf, 0.0, extra[f])
            state(literals[1:], [-1.0], -math.inf, 0.0, extra[f])
    status, x, bound = run_milp(
        np.concatenate([scores, weights[pairs]]),
        (np.array(data), np.array(row, np.intp), np.array(column, np.intp)),
        np.array(lower),
        np.array(upper),
        integer=integer,
        time_limit=time_limit,
        max_nodes=max_nodes,
    )
    if x is None:
        return Solution(status, -math.inf, bound, None, np.full(n, np.nan), nodes=1)
    posteriors = np.clip(x[:n], 0.0, 1.0)
    rounded = posteriors > 0.5
    whole = bool(np.abs(posteriors - rounded).max(initial=0.0) < 1e-6)
    if not whole:
        # What a relaxation leaves undecided is not an assignment; rounding it could break factors.
        return Solution("fractional" if status == "optimal" else status, -math.inf, bound, None, posteriors, nodes=1)
    value = float(scores @ rounded)
    truth = rounded[links >> 1] ^ (links & 1).astype(bool)
    value += sum(float(weights[f]) for f in pairs if truth[int(first[f]) : int(first[f + 1])].all())
    if status == "optimal":
        bound = max(value, bound) if integer else max(value, float(bound))
        posteriors = rounded.astype(np.float64)
    return Solution(status, value, bound, rounded, posteriors, nodes=1)
