"""Which of the two solvers takes less time: predicted from examples, problems, distinct trees and free memory.

Costs are in nanoseconds per pair of examples, as ``benchmarks/solver_choice.py`` measures them; their ratios count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood import settings
from sapwood.memory import available
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["native_is_quicker"]

# A kernel value, and what the native solver takes for one in its tables: more, once it takes words out of trees.
_VALUE, _VALUE_IN_TABLE, _VALUE_IN_SMALL_TABLE = 27.0, 48.0, 29.0
_SMALL = 1001  # examples
# What one binary problem takes beside that, where there are many examples; fewer have a larger share at the bounds.
_SOLVE, _SOLVE_NATIVELY = 1.0, 0.75
_FEW = 1000.0
# The same where a Gram matrix is far larger than scikit-learn's cache and the processor's.
_LARGE = 7000  # examples
_SOLVE_LARGE, _SOLVE_LARGE_NATIVELY = 4.0, 2.0
_TRIFLE = 500  # examples up to which either takes no time to speak of
# Without trees nothing can be said of kernel values; so many examples then go to scikit-learn's solver.
_MOST_WITHOUT_TREES = 3000


def native_is_quicker(X: Any, sizes: Sequence[int]) -> bool:
    """Return whether the native solver is likely to be quicker, or the only one for which memory suffices.

    Parameters
    ----------
    X : TreeArray, Examples or matrix
        Training examples.
    sizes : sequence of int
        The number of examples in each of the binary problems that share them.

    Examples
    --------
    >>> few, many = TreeArray(["(A b)"] * 5000), TreeArray([f"(A b{k})" for k in range(5000)])
    >>> native_is_quicker(few, [5000]), native_is_quicker(many, [5000])
    (True, False)
    """
    examples = len(X) if isinstance(X, TreeArray) else X.shape[0]
    if examples < _TRIFLE:
        return False
    if not _gram_fits(examples, len(sizes)):
        return True
    distinct = _distinct(X)
    if not distinct:
        return bool(examples > _MOST_WITHOUT_TREES)
    # Every part of a kernel has a table over its distinct trees; examples are merged if all parts agree.
    share = float(np.mean([(count / examples) ** 2 for count in distinct]))
    problems = float(np.sum((np.asarray(sizes) / examples) ** 2))
    points = (max(distinct) / examples) ** 2
    bounds = 1 + _FEW / examples
    in_table = _VALUE_IN_SMALL_TABLE if examples < _SMALL else _VALUE_IN_TABLE
    solve, solve_natively = (_SOLVE, _SOLVE_NATIVELY) if examples < _LARGE else (_SOLVE_LARGE, _SOLVE_LARGE_NATIVELY)
    on_gram = _VALUE + problems * solve * bounds
    natively = in_table * share + problems * solve_natively * bounds * points
    return natively < on_gram


def _distinct(X: Any) -> list[int]:
    """Return the number of distinct trees of each view that has trees; of bags, that of elements."""
    views = [X[name] for name in X.views] if isinstance(X, Examples) else [X]
    trees = [view for view in views if isinstance(view, TreeArray) and len(view)]
    return [len(view) if view.has_bags else len(np.unique(view._roots)) for view in trees]


def _gram_fits(examples: int, problems: int) -> bool:
    """Return whether there is room for a Gram matrix and the copy that each thread makes of it."""
    free = available()
    copies = 1 + max(1, min(settings.threads(), problems))
    return free is None or 8 * examples**2 * copies <= 0.6 * free
