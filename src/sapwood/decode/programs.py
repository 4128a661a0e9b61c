"""Factor graphs as linear and integer programs for HiGHS, through ``scipy.optimize.milp``.

The reference that the native decoders are measured against, and a second opinion.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sapwood.decode.solution import Solution
from sapwood.interrupts import leave_behind

if TYPE_CHECKING:
    from scipy.optimize._milp import _OptionsMILP

    from sapwood.decode.graph import FactorGraph

__all__ = ["solve_program"]

# By kind of factor: XOR, AT_MOST_ONE, OR, OR_OUT, BUDGET, PAIR.
_LEAST = np.array([1.0, -math.inf, 1.0, 0.0, -math.inf, -math.inf])
_MOST = np.array([1.0, 1.0, math.inf, math.inf, math.inf, math.inf])


def solve_program(graph: FactorGraph, *, integer: bool, time_limit: float, max_nodes: int) -> Solution:
    """Solve a factor graph as an integer program, or its relaxation."""
    from sapwood.decode.graph import BUDGET, OR_OUT, PAIR

    scores, kinds, limits, weights, first, links = graph.tables()
    n, begins = len(scores), first.astype(np.intp)
    # One row per factor counts its true literals; that of a pair is empty.
    least = _LEAST[kinds]
    most = np.where(kinds == BUDGET, limits, _MOST[kinds])
    row = np.repeat(np.arange(len(kinds)), begins[1:] - begins[:-1])
    sign = np.ones(len(links))
    sign[begins[1:][kinds == OR_OUT] - 1] = -1.0  # any of the others, if the last is true
    sign[(kinds == PAIR)[row]] = 0.0
    rows, literals, signs, lower, upper = [row], [links], [sign], [least], [most]
    count = len(kinds)

    def add(some: list[int], factors: list[float], low: float, high: float) -> None:
        nonlocal count
        rows.append(np.full(len(some), count))
        literals.append(np.array(some, np.uint32))
        signs.append(np.array(factors))
        lower.append(np.array([low]))
        upper.append(np.array([high]))
        count += 1

    pairs = np.flatnonzero(kinds == PAIR)
    for f in np.flatnonzero(kinds == OR_OUT).tolist():
        *inputs, out = links[begins[f] : begins[f + 1]].tolist()
        for one in inputs:
            add([one, out], [1.0, -1.0], -math.inf, 0.0)
    for both, f in enumerate(pairs.tolist(), n):  # one more variable per pair, true where both are
        a, b = links[begins[f] : begins[f + 1]].tolist()
        add([a, b, 2 * both], [-1.0, -1.0, 1.0], -1.0, math.inf)
        add([a, 2 * both], [-1.0, 1.0], -math.inf, 0.0)
        add([b, 2 * both], [-1.0, 1.0], -math.inf, 0.0)
    status, x, bound = _run_milp(
        np.concatenate([scores, weights[pairs]]),
        np.concatenate(rows),
        np.concatenate(literals),
        np.concatenate(signs),
        np.concatenate(lower),
        np.concatenate(upper),
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
    value += sum(float(weights[f]) for f in pairs if truth[begins[f] : begins[f + 1]].all())
    if status == "optimal":
        bound = max(value, bound)
        posteriors = rounded.astype(np.float64)
    return Solution(status, value, bound, rounded, posteriors, nodes=1)


def _run_milp(
    scores: NDArray[np.float64],
    rows: NDArray[np.intp],
    literals: NDArray[np.uint32],
    signs: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    integer: bool,
    time_limit: float,
    max_nodes: int,
) -> tuple[str, NDArray[np.float64] | None, float]:
    """Maximise scores · x over 0 ≤ x ≤ 1, where in each row lower ≤ sum of sign · literal ≤ upper.

    Returns the status (``optimal``, ``limit`` or ``infeasible``), x if there is one, and a bound on its value.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    # A negated literal is 1 - x: its sign changes, and its constant goes to the other side.
    negated = (literals & 1).astype(bool)
    constant = np.bincount(rows, signs * negated, len(lower))
    lower, upper = lower - constant, upper - constant
    if scores.size == 0:
        feasible = bool(np.all(lower <= 0) and np.all(upper >= 0))
        return ("optimal", np.zeros(0), 0.0) if feasible else ("infeasible", None, -math.inf)
    constraints = []
    if len(lower):
        entries = np.where(negated, -signs, signs), (rows, literals >> 1)
        constraints.append(LinearConstraint(csc_array(entries, shape=(len(lower), len(scores))), lower, upper))
    options: _OptionsMILP = {"mip_rel_gap": 0.0}
    if math.isfinite(time_limit):
        options["time_limit"] = time_limit
    if max_nodes < 2**31:
        options["node_limit"] = max_nodes
    program = partial(
        milp,
        -scores,
        integrality=np.full(len(scores), int(integer)),
        bounds=Bounds(0.0, 1.0),
        constraints=constraints,
        options=options,
    )
    # HiGHS does not notice Ctrl-C.
    result = leave_behind(program)
    if result.status == 2:
        return "infeasible", None, -math.inf
    solution = None if result.x is None else np.asarray(result.x, np.float64)
    bound = -result.mip_dual_bound if integer and result.mip_dual_bound is not None else math.inf
    if solution is not None and not integer:
        bound = float(scores @ solution)
    return ("optimal" if result.status == 0 else "limit"), solution, bound
