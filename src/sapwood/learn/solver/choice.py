"""What the native solver works on, a Gram matrix or tables: predicted from examples, problems and distinct trees.

Costs are in nanoseconds per pair of examples, as ``benchmarks/solver_choice.py`` measures them; their ratios count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood.learn.solver.budget import most_bytes
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["FEW", "gram_is_quicker"]

FEW = 500  # examples below which nothing takes time to speak of
# A kernel value in a Gram matrix, per view, and in a table: more, since words are taken out of trees first.
_VALUE, _VALUE_IN_TABLE = 10.0, 45.0
_SOLVE = 0.5  # what a binary problem takes beside that; on tables, changes are added up per distinct tree
_SHARE = 0.6  # of the memory that kernel values may take
# Without trees nothing can be said of kernel values; with more examples than these they are looked up.
_MOST_WITHOUT_TREES = 8000


def gram_is_quicker(X: Any, sizes: Sequence[int], arrays: int = 1, memory_limit: float | None = None) -> bool:
    """Return whether a Gram matrix fits into memory and is likely to be quicker than tables over distinct items.

    Parameters
    ----------
    X : TreeArray, Examples or matrix
        Training examples.
    sizes : sequence of int
        The number of examples in each of the binary problems that share them.
    arrays : int
        How many arrays of the size of the Gram matrix its kernel needs at once.
    memory_limit : float, optional
        Most megabytes for kernel values.

    Examples
    --------
    >>> few, many = TreeArray(["(A b)"] * 5000), TreeArray([f"(A b{k})" for k in range(5000)])
    >>> gram_is_quicker(few, [5000]), gram_is_quicker(many, [5000])
    (False, True)
    """
    examples = X.shape[0]
    if arrays * 8 * examples**2 > _SHARE * most_bytes(memory_limit):
        return False
    if examples < FEW:
        return True
    distinct = _distinct(X)
    if not distinct:
        return bool(examples <= _MOST_WITHOUT_TREES)
    shares = np.array(distinct) / examples
    problems = float(np.sum((np.asarray(sizes) / examples) ** 2))
    on_gram = _VALUE * len(shares) + _SOLVE * problems
    on_tables = _VALUE_IN_TABLE * float((shares**2).sum()) + _SOLVE * problems * float(shares.sum())
    return on_gram <= on_tables


def _distinct(X: Any) -> list[int]:
    """Return the number of distinct trees of each view that has trees; of bags, that of elements."""
    views = [X[name] for name in X.views] if isinstance(X, Examples) else [X]
    trees = [view for view in views if isinstance(view, TreeArray) and len(view)]
    return [len(view) if view.has_bags else len(np.unique(view._roots)) for view in trees]
