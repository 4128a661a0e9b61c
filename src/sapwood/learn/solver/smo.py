"""The native solver behind support vector machines: problems in, weights and biases out.

Rows of the kernel are those of a Gram matrix, where there is one. Else they are looked up in tables over distinct items
(``tables``), so that training needs memory for these and not for a matrix of all examples; examples that nothing tells
apart are then solved as one whose errors cost as much as theirs together, which leaves the optimum what it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from sapwood import _core, settings
from sapwood.callers import levels_to_user
from sapwood.errors import DataError
from sapwood.kernels.base import Kernel, Matrix
from sapwood.learn.solver.parallel import cluster_workers, parallel_map
from sapwood.learn.solver.tables import Prepared, prepare

__all__ = ["BinaryProblem", "Solution", "solve", "solve_gram", "solve_prepared"]

_LARGEST_WINDOW = 1 << 28  # bytes of rows of a Gram matrix that a thread copies where it needs few of their values


@dataclass(frozen=True)
class BinaryProblem:
    """Which examples stand against which, and what an error on each costs.

    Attributes
    ----------
    positive, negative : array of int
        Positions of the examples on the two sides.
    costs : array of float
        What an error costs, for every example of the training data; where it is 0 the example does not count.
    name : str
        What to call the problem in messages.
    """

    positive: NDArray[np.intp]
    negative: NDArray[np.intp]
    costs: Matrix
    name: str


@dataclass(frozen=True)
class Solution:
    """Weights of examples and biases, one column and one entry per problem.

    Attributes
    ----------
    support : array of int
        Examples with a weight in any problem. Of examples that nothing tells apart it is the first.
    weights : array of shape (support, problems)
    biases : array of shape (problems,)
    objectives : array of shape (problems,)
        The maximum of the dual.
    iterations : array of shape (problems,)
    points : int
        How many examples are left when those that nothing tells apart count once.
    """

    support: NDArray[np.intp]
    weights: Matrix
    biases: Matrix
    objectives: Matrix
    iterations: NDArray[np.uint64]
    points: int


def solve(
    kernel: Kernel,
    X: Any,
    problems: Iterable[BinaryProblem],
    *,
    tolerance: float = 1e-3,
    max_iter: int = -1,
    memory_limit: float | None = None,
) -> Solution:
    """Solve binary problems that share a kernel and its training examples.

    Parameters
    ----------
    kernel : Kernel
        Bound to the training data.
    X : TreeArray, Examples or matrix
        Training examples.
    problems : iterable of BinaryProblem
        Solved side by side by as many threads as ``sapwood.options`` allows, or by the workers of the cluster that
        joblib has been told to use; each of those fills tables of its own.
    tolerance : float
        Largest violation of the optimality conditions that is left.
    max_iter : int
        Most iterations per problem; -1 means ten million, or a hundred per point if that is more.
    memory_limit : float, optional
        Most megabytes to take for tables and rows; by default three quarters of what is free.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood.kernels import Linear
    >>> X = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> problem = BinaryProblem(np.array([1, 2, 3]), np.array([0]), np.full(4, 10.0), "large")
    >>> found = solve(Linear(), X, [problem])
    >>> found.points, found.support.tolist(), found.weights[:, 0].tolist(), found.biases.tolist()
    (3, [0, 1], [-2.0, 2.0], [-1.0])
    """
    problems = list(problems)
    if workers := min(cluster_workers(), len(problems)):
        work = partial(solve, tolerance=tolerance, max_iter=max_iter, memory_limit=memory_limit)
        return _spread(work, (kernel, X), problems, workers)
    prepared = prepare(kernel, X, memory_limit, max(1, min(settings.threads(), len(problems))))
    return solve_prepared(prepared, problems, tolerance=tolerance, max_iter=max_iter)


def solve_gram(
    K: Matrix, problems: Iterable[BinaryProblem], *, tolerance: float = 1e-3, max_iter: int = -1
) -> Solution:
    """Solve binary problems that share the Gram matrix of all training examples.

    Examples
    --------
    >>> import numpy as np
    >>> problem = BinaryProblem(np.array([1, 2]), np.array([0]), np.full(3, 10.0), "large")
    >>> found = solve_gram(np.outer([0, 1, 3], [0.0, 1.0, 3.0]), [problem])
    >>> found.support.tolist(), found.weights[:, 0].tolist(), found.biases.tolist()
    ([0, 1], [-2.0, 2.0], [-1.0])
    """
    problems = list(problems)
    if workers := min(cluster_workers(), len(problems)):
        return _spread(partial(solve_gram, tolerance=tolerance, max_iter=max_iter), (K,), problems, workers)
    numbers = np.arange(len(K), dtype=np.uint32)
    table = _core.smo.square64(np.ascontiguousarray(K, dtype=np.float64))
    native = _core.smo.PointKernel64(
        [_core.smo.Component64(table, numbers, None)],
        [_core.smo.Term(1.0, [0], np.zeros(0))],
        np.diagonal(K).astype(np.float64),
    )
    prepared = Prepared(native, numbers, max(1 << 20, min(K.nbytes // 4, _LARGEST_WINDOW)))
    return solve_prepared(prepared, problems, tolerance=tolerance, max_iter=max_iter)


def solve_prepared(
    prepared: Prepared, problems: Sequence[BinaryProblem], *, tolerance: float = 1e-3, max_iter: int = -1
) -> Solution:
    """Solve binary problems on a kernel whose rows are at hand."""
    threads = settings.threads()
    ends, points, sides, costs = [], [], [], []
    firsts: list[NDArray[np.intp]] = []
    total = 0
    for problem in problems:
        found = [_merge_side(prepared, rows, problem) for rows in (problem.positive, problem.negative)]
        for side, (_, merged, cost) in zip((1, -1), found, strict=True):
            if not len(merged):
                name = "positive" if side > 0 else "negative"
                raise DataError(
                    f"in the problem {problem.name}, no example of the {name} side has a weight above 0; "
                    "a classifier needs both sides."
                )
            points.append(merged)
            costs.append(cost)
            sides.append(np.full(len(merged), side, dtype=np.int8))
            total += len(merged)
        firsts += [first for first, _, _ in found]
        ends.append(total)
    with settings.progress_bar(len(problems), "Support vectors", "problems") as progress:
        weights, biases, objectives, _, iterations, converged = prepared.native.solve(
            np.array(ends, dtype=np.uint64),
            np.concatenate(points),
            np.concatenate(sides),
            np.concatenate(costs),
            float(tolerance),
            max(0, min(int(max_iter), 1 << 62)),
            prepared.window,
            True,
            threads,
            progress,
        )
    if not converged:
        warnings.warn(
            f"the solver stopped after {int(iterations.max())} iterations (max_iter={max_iter}) before it converged; "
            "raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=levels_to_user(),
        )
    places = np.concatenate(firsts)
    columns = np.repeat(np.arange(len(problems)), np.diff([0, *ends]))
    used = weights != 0.0
    support, rows = np.unique(places[used], return_inverse=True)
    dense = np.zeros((len(support), len(problems)))
    dense[rows, columns[used]] = weights[used]
    return Solution(support.astype(np.intp), dense, biases, objectives, iterations, len(prepared.native))


def _spread(
    work: Callable[..., Solution], shared: tuple[Any, ...], problems: list[BinaryProblem], workers: int
) -> Solution:
    """Give every worker what all share and some of the problems, and put their solutions together."""
    # Every so many-th, since the first classes are often the large ones.
    found: list[Solution] = parallel_map(work, ((*shared, problems[start::workers]) for start in range(workers)))
    support = np.unique(np.concatenate([one.support for one in found]))
    weights = np.zeros((len(support), len(problems)))
    biases, objectives = np.zeros(len(problems)), np.zeros(len(problems))
    iterations = np.zeros(len(problems), dtype=np.uint64)
    for start, one in enumerate(found):
        weights[np.searchsorted(support, one.support), start::workers] = one.weights
        biases[start::workers] = one.biases
        objectives[start::workers] = one.objectives
        iterations[start::workers] = one.iterations
    return Solution(support, weights, biases, objectives, iterations, found[0].points)


def _merge_side(
    prepared: Prepared, rows: NDArray[np.intp], problem: BinaryProblem
) -> tuple[NDArray[np.intp], NDArray[np.uint32], Matrix]:
    """Return the first example, the point and the total cost of what the examples of one side come down to."""
    points = prepared.points
    rows = rows[problem.costs[rows] > 0]
    if len(prepared.native) == len(points):
        return rows, points[rows], problem.costs[rows]
    merged, first, inverse = np.unique(points[rows], return_index=True, return_inverse=True)
    costs: Matrix = np.bincount(inverse, weights=problem.costs[rows], minlength=len(merged)).astype(np.float64)
    return rows[first], merged, costs
