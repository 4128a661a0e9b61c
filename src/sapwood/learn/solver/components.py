"""A kernel between examples as a sum of products of components, and the distinct items of each component.

A component is what becomes one table: kernels on one view that are added up. Whether values are kept in a table or
computed row by row is decided in ``tables``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.errors import ParameterError
from sapwood.kernels.algebra import Constant
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.normalization import Scales
from sapwood.kernels.terms import Term
from sapwood.learn.solver.delexicalized import DelexicalizedTrees, delexicalize
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["Component", "ComponentProduct", "WordTables", "decompose", "find_items", "merge"]

_EMPTY_NUMBERS = np.zeros(0, dtype=np.uint32)
_MOST_TERMS = 32
_FEWEST_TREES = 1000  # below, taking words out is not worth the search


@dataclass(frozen=True)
class WordTables:
    """Trees by the word that was taken out of them, those with the same word beside each other."""

    items: NDArray[np.uint32]  # the delexicalized tree of each tree
    sizes: NDArray[np.int64]  # how many trees each word has
    tags: NDArray[np.uint32]  # of each example: its word from 1, or 0, and its tree
    trees: NDArray[np.uint32]

    @property
    def values(self) -> int:
        """How many kernel values between trees with the same word there are."""
        return int((self.sizes**2).sum())


@dataclass(eq=False)
class Component:
    """Kernels on one view that are added up: what becomes one table."""

    view: Any
    summands: list[Term]  # as seen from the view
    items: NDArray[np.uint32] = field(default_factory=lambda: _EMPTY_NUMBERS)
    rows: Any = None  # distinct items, and the columns they are compared with
    columns: Any = None
    words: WordTables | None = None
    first: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    scales: list[Matrix | None] = field(default_factory=list)  # what normalizes each summand

    @property
    def size(self) -> int:
        """How many distinct items there are."""
        return int(self.rows.shape[0])

    @property
    def values(self) -> int:
        """How many kernel values all tables hold."""
        return self.size**2 + (0 if self.words is None else self.words.values)


@dataclass
class ComponentProduct:
    """A weighted product of components, perhaps normalized as a whole."""

    weight: float
    components: list[Component]
    scale: Matrix | None = None


def decompose(kernel: Kernel, X: Any) -> list[ComponentProduct]:
    """Write a kernel as a sum of products; what is only added up on one view of trees is one component."""
    scales = Scales(X)
    found = [product for term in kernel.terms() for product in _products(term, X, scales)]
    result: list[ComponentProduct] = []
    homes: dict[int, Component] = {}
    for product in found:
        component = product.components[0] if len(product.components) == 1 and product.scale is None else None
        if component is None or not isinstance(component.view, TreeArray):
            result.append(product)
            continue
        if id(component.view) not in homes:
            homes[id(component.view)] = Component(component.view, [])
            result.append(ComponentProduct(1.0, [homes[id(component.view)]]))
        homes[id(component.view)].summands += [
            replace(term, weight=product.weight * term.weight) for term in component.summands
        ]
    return result


def _products(term: Term, X: Any, scales: Scales) -> list[ComponentProduct]:
    view = term.pick(X)
    factors = term.kernel.factors()
    outer = term.norms
    if isinstance(term.kernel, Constant):
        products = [ComponentProduct(float(term.kernel.value), [])]
    elif isinstance(view, Examples) and factors[0] is not term.kernel:
        # Once per kernel, so that a power uses the same tables again and again.
        known = {id(factor): decompose(factor, X) for factor in factors}
        products = reduce(_times, [known[id(factor)] for factor in factors])
    else:
        # What normalizes within the view goes into the table, the rest is for the product.
        outer = tuple(norm for norm in term.norms if norm.view != term.view)
        inner = tuple(norm._replace(view=None) for norm in term.norms if norm.view == term.view)
        products = [ComponentProduct(1.0, [Component(view, [Term(1.0, term.kernel, None, inner)])])]
    scale = scales.of(outer) if outer else None
    return [ComponentProduct(term.weight * one.weight, one.components, _scaled(scale, one.scale)) for one in products]


def _times(left: list[ComponentProduct], right: list[ComponentProduct]) -> list[ComponentProduct]:
    if len(left) * len(right) > _MOST_TERMS:
        raise ParameterError(
            f"this product of sums has {len(left) * len(right)} terms, more than the native solver takes; "
            'use solver="sklearn", or a kernel with fewer sums inside products and powers.'
        )
    return [
        ComponentProduct(a.weight * b.weight, a.components + b.components, _scaled(a.scale, b.scale))
        for a in left
        for b in right
    ]


def _scaled(a: Matrix | None, b: Matrix | None) -> Matrix | None:
    return a if b is None else b if a is None else a * b


def find_items(component: Component) -> None:
    """Number the distinct items of a component's view, words taken out of trees where that helps."""
    view = component.view
    if isinstance(view, TreeArray) and view._vectors is not None:
        # The same tree twice, but not the same vectors on its leaves.
        keys: list[Any] = list(range(len(view)))
    elif isinstance(view, TreeArray):
        keys = view._roots.tolist()
        if view._ends is not None:
            keys = [tuple(sorted(keys[a:b])) for a, b in pairwise([0, *view._ends.tolist()])]
    else:
        # Only trees are merged, so there is a single summand.
        view = component.view = component.summands[0].kernel._comparable(view)
        keys = _row_keys(view)
    # In the order of the examples, so that what is often used together lies together.
    component.items, component.first = _number(keys)
    component.rows = component.columns = view[component.first]
    if isinstance(view, TreeArray) and not view.has_bags:
        component.rows = component.columns = component.rows._compact()
        _take_words_out(component, component.rows)


def _take_words_out(component: Component, trees: TreeArray) -> None:
    """Replace trees that differ in one word only by delexicalized ones, where that helps."""
    kernels = [term.kernel for term in component.summands]
    involved = kernels + [norm.kernel for term in component.summands for norm in term.norms]
    if len(trees) < _FEWEST_TREES or not all(kernel.compares_words_by_equality for kernel in involved):
        return
    found = delexicalize(trees, {label for kernel in involved for label in kernel._reserved_labels()})
    if found is None:
        return
    component.rows = component.columns = found.filled
    if not all(kernel.ignores_words(found.parents) for kernel in kernels):
        component.columns = found.refilled
        component.words = _group_by_word(found, component.items)
    component.items = np.ascontiguousarray(found.items[component.items])
    component.first = np.unique(component.items, return_index=True)[1]


def _group_by_word(found: DelexicalizedTrees, items: NDArray[np.uint32]) -> WordTables:
    """Put distinct trees with the same word beside each other; those without one are needed nowhere."""
    order = np.argsort(found.tags, kind="stable")
    order = order[found.tags[order] > 0]
    words, sizes = np.unique(found.tags[order], return_counts=True)
    place = np.zeros(len(found.tags), dtype=np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    renumbered = np.where(found.tags > 0, np.searchsorted(words, found.tags) + 1, 0).astype(np.uint32)
    return WordTables(found.items[order], sizes.astype(np.int64), renumbered[items], place[items])


def _row_keys(view: Any) -> list[Any]:
    if isinstance(view, np.ndarray) and view.dtype != object:
        rows = np.ascontiguousarray(view)
        return [row.tobytes() for row in rows]
    if sparse.issparse(view):
        if not view.has_canonical_format:
            view = view.copy()
            view.sum_duplicates()
        bounds = view.indptr.tolist()
        return [(view.indices[a:b].tobytes(), view.data[a:b].tobytes()) for a, b in pairwise(bounds)]
    return list(range(view.shape[0]))


def _number(keys: Iterable[Any]) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Number keys in the order of their first appearance; return the numbers, and where each appeared first."""
    known: dict[Any, int] = {}
    items = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.uint32)
    return items, np.unique(items, return_index=True)[1]


def merge(columns: list[NDArray[np.uint32]], count: int) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Number the distinct combinations of columns in the order of their first appearance."""
    numbers = np.zeros(count, dtype=np.int64)
    for column in columns:
        pairs = numbers * (int(column.max(initial=0)) + 1) + column
        numbers = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return _number(numbers.tolist())
