"""A kernel between examples taken apart: weighted products of kernels on one view each, and their distinct items.

What becomes of the parts, tables or rows computed when asked for, is the business of ``tables``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.errors import ParameterError
from sapwood.kernels.base import Constant, Kernel, Matrix, Normalized, OnView, Power, Product, Scaled, Sum
from sapwood.kernels.flat import FlatKernel, Linear, _line_up
from sapwood.kernels.grammar_driven import GrammarDriven
from sapwood.learn.holes import Skeletons, compares_words_by_equality, ignores_words, skeletons
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["Fillings", "Part", "Term", "compares_words", "find_items", "inner_kernel", "merge", "take_apart"]

_EMPTY_NUMBERS = np.zeros(0, dtype=np.uint32)
_MOST_TERMS = 32
_FEWEST_TREES = 1000  # below, taking words out is not worth the search


@dataclass(frozen=True)
class Fillings:
    """Trees that skeletons and their words come down to, those with one word beside each other."""

    skeletons: NDArray[np.uint32]  # of each tree
    sizes: NDArray[np.int64]  # how many trees each word has
    tags: NDArray[np.uint32]  # of each example: its word from 1, or 0, and its tree
    trees: NDArray[np.uint32]

    @property
    def values(self) -> int:
        """How many kernel values between trees with the same word there are."""
        return int((self.sizes**2).sum())


@dataclass(eq=False)
class Part:
    """Kernels on one view that are added up: what becomes one table."""

    view: Any
    pieces: list[tuple[float, Kernel]]
    items: NDArray[np.uint32] = field(default_factory=lambda: _EMPTY_NUMBERS)
    rows: Any = None  # distinct items, and the columns they are compared with
    columns: Any = None
    fillings: Fillings | None = None
    first: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    scales: list[Matrix | None] = field(default_factory=list)  # what normalizes each piece

    @property
    def size(self) -> int:
        """How many distinct items there are."""
        return int(self.rows.shape[0])

    @property
    def values(self) -> int:
        """How many kernel values all tables hold."""
        return self.size**2 + (0 if self.fillings is None else self.fillings.values)


@dataclass
class Term:
    """A weighted product of parts, perhaps normalized as a whole."""

    weight: float
    parts: list[Part]
    scale: Matrix | None = None


def take_apart(kernel: Kernel, X: Any) -> list[Term]:
    """Write a kernel as a sum of products, kernels on the same view that are only added up as one part."""
    terms = _multiply_out(kernel, X)
    # Kernels on the same view that are only added up share a table.
    alone = [term for term in terms if len(term.parts) == 1 and term.scale is None]
    merged: dict[int, Term] = {}
    for term in alone:
        part = term.parts[0]
        if isinstance(part.view, TreeArray):
            home = merged.setdefault(id(part.view), Term(1.0, [Part(part.view, [])]))
            home.parts[0].pieces += [(term.weight * weight, piece) for weight, piece in part.pieces]
        else:
            merged[id(term)] = term
    return [*merged.values(), *(term for term in terms if not any(term is one for one in alone))]


def _multiply_out(kernel: Kernel, X: Any) -> list[Term]:
    if isinstance(kernel, Sum):
        return _multiply_out(kernel.k1, X) + _multiply_out(kernel.k2, X)
    if isinstance(kernel, Scaled):
        return [Term(kernel.weight * t.weight, t.parts, t.scale) for t in _multiply_out(kernel.kernel, X)]
    if isinstance(kernel, Constant):
        return [Term(float(kernel.value), [])]
    if not isinstance(X, Examples):
        return [Term(1.0, [Part(X, [(1.0, kernel)])])]
    if isinstance(kernel, OnView):
        return _multiply_out(kernel.kernel, kernel._pick(X))
    if isinstance(kernel, Product):
        return _times(_multiply_out(kernel.k1, X), _multiply_out(kernel.k2, X))
    if isinstance(kernel, Power):
        terms = factor = _multiply_out(kernel.kernel, X)
        for _ in range(kernel.exponent - 1):
            terms = _times(terms, factor)
        return terms
    if isinstance(kernel, Normalized):
        inner = _multiply_out(kernel.kernel, X)
        if isinstance(kernel.kernel, OnView):
            # Within one view the table itself can be normalized.
            return _multiply_out(kernel.kernel.kernel.normalized(), kernel.kernel._pick(X))
        scale = Normalized._scale(kernel.kernel._diag(X))
        return [Term(t.weight, t.parts, scale if t.scale is None else scale * t.scale) for t in inner]
    # A kernel of somebody else's that looks at several views at once.
    return [Term(1.0, [Part(X, [(1.0, kernel)])])]


def _times(left: list[Term], right: list[Term]) -> list[Term]:
    if len(left) * len(right) > _MOST_TERMS:
        raise ParameterError(
            f"this product of sums has {len(left) * len(right)} terms, more than the native solver takes; "
            'use solver="sklearn", or a kernel with fewer sums inside products and powers.'
        )
    result = []
    for a in left:
        for b in right:
            scale = a.scale if b.scale is None else b.scale if a.scale is None else a.scale * b.scale
            result.append(Term(a.weight * b.weight, a.parts + b.parts, scale))
    return result


def find_items(part: Part) -> None:
    """Number the distinct items of a part's view, words taken out of trees where that helps."""
    view = part.view
    if isinstance(view, TreeArray) and not view.has_bags:
        roots, first, items = np.unique(view._roots, return_index=True, return_inverse=True)
        # In the order of the examples, so that what is often used together lies together.
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.uint32)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        trees = TreeArray._from_arena(view._arena, np.ascontiguousarray(roots[order]))._compact()
        part.items, part.first = rank[items], first[order]
        part.rows = part.columns = trees
        _take_words_out(part, trees)
        return
    if isinstance(view, TreeArray):
        ends = view._ends.tolist() if view._ends is not None else []
        keys: Any = [np.sort(view._roots[a:b]).tobytes() for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    else:
        if all(isinstance(inner_kernel(piece), FlatKernel) and not compares_words(piece) for _, piece in part.pieces):
            (view,) = _line_up(part.pieces[0][1], view)
            part.view = view
        keys = _row_keys(view)
    part.items, part.first = _number(keys)
    part.rows = part.columns = view[part.first]


def _take_words_out(part: Part, trees: TreeArray) -> None:
    """Replace trees that differ in one word only by skeletons, where that helps."""
    if len(trees) < _FEWEST_TREES or not all(compares_words_by_equality(piece) for _, piece in part.pieces):
        return
    reserved = {label for _, piece in part.pieces for label in _labels_of(piece)}
    found = skeletons(trees, reserved)
    if found is None:
        return
    part.rows = part.columns = found.filled
    if not all(ignores_words(piece, found.parents) for _, piece in part.pieces):
        part.columns = found.refilled
        part.fillings = _sort_fillings(found, part.items)
    part.items = np.ascontiguousarray(found.items[part.items])
    part.first = np.unique(part.items, return_index=True)[1]


def _sort_fillings(found: Skeletons, items: NDArray[np.uint32]) -> Fillings:
    """Put distinct trees with the same word beside each other; those without one are needed nowhere."""
    order = np.argsort(found.tags, kind="stable")
    order = order[found.tags[order] > 0]
    words, sizes = np.unique(found.tags[order], return_counts=True)
    place = np.zeros(len(found.tags), dtype=np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    renumbered = np.where(found.tags > 0, np.searchsorted(words, found.tags) + 1, 0).astype(np.uint32)
    return Fillings(found.items[order], sizes.astype(np.int64), renumbered[items], place[items])


def _labels_of(kernel: Kernel) -> Iterator[str]:
    for value in kernel.get_params().values():
        if isinstance(value, GrammarDriven):
            yield from _labels_of(value)
    if isinstance(kernel, GrammarDriven):
        yield from (tag for tags in kernel.mutation_sets for tag in tags)
        for rule in kernel._rules().rules:
            yield rule[0]
            yield from rule[1]


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


def _number(keys: list[Any]) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Number keys in the order of their first appearance."""
    known: dict[Any, int] = {}
    first: list[int] = []
    items = np.empty(len(keys), dtype=np.uint32)
    for position, key in enumerate(keys):
        number = known.setdefault(key, len(known))
        if number == len(first):
            first.append(position)
        items[position] = number
    return items, np.array(first, dtype=np.intp)


def merge(columns: list[NDArray[np.uint32]], count: int) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Number the distinct combinations of columns in the order of their first appearance."""
    numbers = np.zeros(count, dtype=np.int64)
    for column in columns:
        pairs = numbers * (int(column.max(initial=0)) + 1) + column
        numbers = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return rank[inverse], first[order]


def inner_kernel(kernel: Kernel) -> Kernel:
    """Return a kernel before it is normalized."""
    return kernel.kernel if isinstance(kernel, Normalized) else kernel


def compares_words(kernel: Kernel) -> bool:
    """Return whether features are compared as words that may be alike."""
    inner = inner_kernel(kernel)
    return isinstance(inner, Linear) and inner.words is not None
