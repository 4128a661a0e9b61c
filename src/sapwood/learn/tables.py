"""Kernels between training examples, prepared for the native solver: tables over distinct items, within a memory limit.

A kernel on several views is a sum of products of kernels on one view each. Per view only distinct items count, and a
table of their kernel values answers for all examples. Here a kernel is taken apart, memory is divided, and tables are
filled; what is solved on them belongs to ``smo``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.errors import KernelError, ParameterError, TooLargeError
from sapwood.kernels.base import Constant, Kernel, Matrix, Normalized, OnView, Power, Product, Scaled, Sum
from sapwood.kernels.flat import FlatKernel, Linear, Polynomial, _line_up
from sapwood.kernels.grammar_driven import GrammarDriven
from sapwood.kernels.memory import available
from sapwood.kernels.syntactic import PartialTree, SubsetTree, Subtree
from sapwood.learn.holes import Skeletons, compares_words_by_equality, ignores_words, skeletons
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["Prepared", "prepare", "prepare_gram"]

_EMPTY_NUMBERS = np.zeros(0, dtype=np.uint32)
_EMPTY_VALUES = np.zeros(0, dtype=np.float64)
_SMALL = 1 << 29  # bytes of tables up to which double precision is worth its memory
_MOST_TERMS = 32
_FULL_SHARE = 0.75  # of what is left that one part may take with all its table rather than half
_HALF_SHARE = 0.85
_FEWEST_ROWS = 200  # that a cache must hold for rows to be computed when asked for
_LARGEST_BLOCK = 1 << 29  # bytes computed at a time
_WORTH_A_CALL = 400  # trees: a kernel on fewer takes longer to set up than to compute
_FEWEST_TREES = 1000  # below, taking words out is not worth the search
# Kernels that count fragments: 0 or more, and at most 1 when normalized. By type, since a subclass may do as it likes.
_NEVER_NEGATIVE = (Subtree, SubsetTree, PartialTree, GrammarDriven)


@dataclass(frozen=True)
class _Fillings:
    """Trees that skeletons and their words come down to, those with one word beside each other."""

    skeletons: NDArray[np.uint32]  # of each tree
    sizes: NDArray[np.int64]  # how many trees each word has
    tags: NDArray[np.uint32]  # of each example: its word from 1, or 0, and its tree
    trees: NDArray[np.uint32]

    @property
    def values(self) -> int:
        return int((self.sizes**2).sum())


@dataclass(eq=False)
class _Part:
    """Kernels on one view that are added up: what becomes one table."""

    view: Any
    pieces: list[tuple[float, Kernel]]
    items: NDArray[np.uint32] = field(default_factory=lambda: _EMPTY_NUMBERS)
    rows: Any = None  # distinct items, and the columns they are compared with
    columns: Any = None
    fillings: _Fillings | None = None
    first: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    scales: list[Matrix | None] = field(default_factory=list)  # what normalizes each piece

    @property
    def size(self) -> int:
        return int(self.rows.shape[0])

    @property
    def values(self) -> int:
        return self.size**2 + (0 if self.fillings is None else self.fillings.values)


@dataclass
class _Term:
    """A weighted product of parts, perhaps normalized as a whole."""

    weight: float
    parts: list[_Part]
    scale: Matrix | None = None


@dataclass(frozen=True)
class Prepared:
    """A kernel between examples, ready to be solved on.

    Attributes
    ----------
    native : PointKernel32 or PointKernel64
        Kernel rows between points.
    points : array of uint32
        The point of each example; examples that no view tells apart share one.
    window : int
        Bytes that each thread of the solver may take for rows.
    """

    native: Any
    points: NDArray[np.uint32]
    window: int


def prepare(kernel: Kernel, X: Any, memory: float | None, threads: int) -> Prepared:
    """Take a bound kernel apart and fill its tables.

    Parameters
    ----------
    kernel : Kernel
        Bound to the training data.
    X : TreeArray, Examples, or matrix
        Training examples.
    memory : float, optional
        Limit in gigabytes; by default three quarters of what is free.
    threads : int
        How many threads will solve at once.
    """
    terms = _expand(kernel, X)
    parts = list({id(part): part for term in terms for part in term.parts}.values())
    for part in parts:
        _find_items(part)
    budget = _Budget(parts, X.shape[0], memory, threads)
    for part in parts:
        part.scales = [_scale_of(piece, part) for _, piece in part.pieces]
    components = [_component(part, budget) for part in parts]
    fillings = [part.fillings.tags for part in parts if part.fillings is not None]
    points, first = _merge([part.items for part in parts] + fillings, X.shape[0])
    numbers = {id(part): number for number, part in enumerate(parts)}
    bits = budget.bits
    native_terms = [
        _core.smo.Term(
            term.weight,
            [numbers[id(part)] for part in term.parts],
            _EMPTY_VALUES if term.scale is None else np.ascontiguousarray(term.scale[first]),
        )
        for term in terms
    ]
    make_component = getattr(_core.smo, f"Component{bits}")
    natives = [
        make_component(values, np.ascontiguousarray(part.items[first]), _same(part, first, bits))
        for part, values in zip(parts, components, strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        diagonal = np.ascontiguousarray(kernel._diag(X[first]), dtype=np.float64)
    point_kernel = getattr(_core.smo, f"PointKernel{bits}")(natives, native_terms, diagonal)
    return Prepared(point_kernel, points, budget.window)


def prepare_gram(K: NDArray[np.float32], threads: int) -> Prepared:
    """Take a Gram matrix that is there already."""
    size = len(K)
    items = np.arange(size, dtype=np.uint32)
    rows = _core.smo.square32(np.ascontiguousarray(K, dtype=np.float32))
    native = _core.smo.PointKernel32(
        [_core.smo.Component32(rows, items, None)],
        [_core.smo.Term(1.0, [0], _EMPTY_VALUES)],
        np.ascontiguousarray(np.diagonal(K), dtype=np.float64),
    )
    return Prepared(native, items, int(max(1 << 20, min(1 << 30, size**2 * 4 // threads))))


# Taking a kernel apart.


def _expand(kernel: Kernel, X: Any) -> list[_Term]:
    terms = _multiply_out(kernel, X)
    # Kernels on the same view that are only added up share a table.
    alone = [term for term in terms if len(term.parts) == 1 and term.scale is None]
    merged: dict[int, _Term] = {}
    for term in alone:
        part = term.parts[0]
        if isinstance(part.view, TreeArray):
            home = merged.setdefault(id(part.view), _Term(1.0, [_Part(part.view, [])]))
            home.parts[0].pieces += [(term.weight * weight, piece) for weight, piece in part.pieces]
        else:
            merged[id(term)] = term
    return [*merged.values(), *(term for term in terms if not any(term is one for one in alone))]


def _multiply_out(kernel: Kernel, X: Any) -> list[_Term]:
    if isinstance(kernel, Sum):
        return _multiply_out(kernel.k1, X) + _multiply_out(kernel.k2, X)
    if isinstance(kernel, Scaled):
        return [_Term(kernel.weight * t.weight, t.parts, t.scale) for t in _multiply_out(kernel.kernel, X)]
    if isinstance(kernel, Constant):
        return [_Term(float(kernel.value), [])]
    if not isinstance(X, Examples):
        return [_Term(1.0, [_Part(X, [(1.0, kernel)])])]
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
        return [_Term(t.weight, t.parts, scale if t.scale is None else scale * t.scale) for t in inner]
    # A kernel of somebody else's that looks at several views at once.
    return [_Term(1.0, [_Part(X, [(1.0, kernel)])])]


def _times(left: list[_Term], right: list[_Term]) -> list[_Term]:
    if len(left) * len(right) > _MOST_TERMS:
        raise ParameterError(
            f"this product of sums has {len(left) * len(right)} terms, more than the native solver takes; "
            'use solver="sklearn", or a kernel with fewer sums inside products and powers.'
        )
    result = []
    for a in left:
        for b in right:
            scale = a.scale if b.scale is None else b.scale if a.scale is None else a.scale * b.scale
            result.append(_Term(a.weight * b.weight, a.parts + b.parts, scale))
    return result


# Distinct items.


def _find_items(part: _Part) -> None:
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
        if all(isinstance(_inner(piece), FlatKernel) and not _has_words(piece) for _, piece in part.pieces):
            (view,) = _line_up(part.pieces[0][1], view)
            part.view = view
        keys = _row_keys(view)
    part.items, part.first = _number(keys)
    part.rows = part.columns = view[part.first]


def _take_words_out(part: _Part, trees: TreeArray) -> None:
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


def _sort_fillings(found: Skeletons, items: NDArray[np.uint32]) -> _Fillings:
    """Put distinct trees with the same word beside each other; those without one are needed nowhere."""
    order = np.argsort(found.tags, kind="stable")
    order = order[found.tags[order] > 0]
    words, sizes = np.unique(found.tags[order], return_counts=True)
    place = np.zeros(len(found.tags), dtype=np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    renumbered = np.where(found.tags > 0, np.searchsorted(words, found.tags) + 1, 0).astype(np.uint32)
    return _Fillings(found.items[order], sizes.astype(np.int64), renumbered[items], place[items])


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


def _merge(columns: list[NDArray[np.uint32]], count: int) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
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


# Memory.


class _Budget:
    """Who gets how much: tables in full or by half, caches of rows, and the solver's windows."""

    def __init__(self, parts: list[_Part], examples: int, memory: float | None, threads: int) -> None:
        free = available()
        limit = 4e9 if free is None else 0.75 * free
        if memory is not None:
            limit = memory * 1e9 if free is None else min(memory * 1e9, 0.95 * free)
        self.dots = {id(part): _is_dot(part) for part in parts}
        values = sum(part.values for part in parts)
        self.bits = 64 if 8 * values <= min(_SMALL, limit / 4) else 32
        self.block = int(min(max(limit / 8, 1 << 20), _LARGEST_BLOCK))
        rest = limit - self.block
        self.kinds: dict[int, str] = {}
        # The smallest first: a part that is halved should be the one that gains most by it.
        for part in sorted(parts, key=lambda one: one.size):
            if self.dots[id(part)]:
                self.kinds[id(part)] = "dot"
                continue
            rest -= 0 if part.fillings is None else part.fillings.values * self.bits / 8
            full = part.size**2 * self.bits / 8
            half, short = (kind.nbytes(part.size) for kind in (_core.smo.Triangle, _core.smo.ShortTriangle))
            if full <= _FULL_SHARE * rest:
                self.kinds[id(part)], rest = "square", rest - full
            elif half <= _HALF_SHARE * rest and self.bits == 32:
                self.kinds[id(part)], rest = "triangle", rest - half
            elif short <= _HALF_SHARE * rest and self.bits == 32 and _top(part) is not None:
                self.kinds[id(part)], rest = "short", rest - short
            elif self.bits == 32 and _computes_rows(part) and rest > _FEWEST_ROWS * part.size * 4:
                self.kinds[id(part)] = "asked"
            else:
                raise TooLargeError(
                    f"the kernel values of {part.size:,} distinct items need {half / 1e9:,.1f} GB, but "
                    f"{max(rest, 0) / 1e9:,.1f} GB of the limit of {limit / 1e9:,.1f} GB are left. Raise memory, train "
                    "on a subset, or describe every example by its kernel with a few hundred landmarks, "
                    "sapwood.kernels.LandmarkMap(kernel), and train a linear model on it."
                )
        self.window = int(max(1 << 20, min(rest / (4 * threads), 1 << 30, examples**2 * self.bits / 8)))
        rest -= self.window * threads
        # Rows of half a table are quickly put together again, so what has to be computed gets most.
        shares = {"square": 0.0, "triangle": 1.0, "short": 1.0, "dot": 8.0, "asked": 8.0}
        total = sum(shares[self.kinds[id(part)]] for part in parts)
        self.cache = {
            id(part): int(max(1 << 20, rest * shares[self.kinds[id(part)]] / total)) if total else 0 for part in parts
        }


# Filling.


def _component(part: _Part, budget: _Budget) -> Any:
    kind = budget.kinds[id(part)]
    if kind == "dot":
        return _dot_rows(part, budget)
    return _asked_rows(part, budget) if kind == "asked" else _fill(part, kind, budget)


def _same(part: _Part, first: NDArray[np.intp], bits: int) -> Any:
    """Compute values between trees with the same word: small tables, many of them in one go."""
    fillings = part.fillings
    if fillings is None:
        return None
    values = np.empty(fillings.values, dtype=f"f{bits // 8}")
    begin = at = 0
    chunk: list[int] = []
    for word, size in enumerate(fillings.sizes.tolist()):
        chunk.append(size)
        if sum(chunk) < _WORTH_A_CALL and word + 1 < len(fillings.sizes):
            continue
        chosen = fillings.skeletons[begin : begin + sum(chunk)]
        block = _square(part, chosen)
        inner = 0
        for width in chunk:
            values[at : at + width * width] = block[inner : inner + width, inner : inner + width].ravel()
            inner, at = inner + width, at + width * width
        begin, chunk = begin + sum(chunk), []
    return getattr(_core.smo, f"Same{bits}")(
        fillings.sizes.astype(np.uint64),
        values,
        np.ascontiguousarray(fillings.tags[first]),
        np.ascontiguousarray(fillings.trees[first]),
    )


def _square(part: _Part, chosen: NDArray[np.uint32]) -> Matrix:
    """Compute the values between some of the items, filled alike."""
    trees = part.rows[chosen]._compact()
    total: Matrix = np.zeros((len(chosen), len(chosen)))
    for (weight, piece), scale in zip(part.pieces, part.scales, strict=True):
        inner = piece.kernel if scale is not None else piece  # type: ignore[attr-defined]
        with warnings.catch_warnings(), settings.options(progress=False):
            warnings.simplefilter("ignore")
            block = inner._gram(trees, None)
        if scale is not None:
            block *= scale[chosen, None] * scale[chosen]
        total += weight * block
    if not np.isfinite(total).all():
        row = int(part.first[chosen[int(np.flatnonzero(~np.isfinite(total).all(axis=1))[0])]])
        raise _infinite(row)
    return total


def _infinite(row: int) -> KernelError:
    return KernelError(f"the kernel of example {row} is not finite; lower decay or use kernel.normalized().")


def _top(part: _Part) -> float | None:
    """Return what no value of a table exceeds, if that is known and none is below 0; 16 bits can hold it then."""
    known = all(
        weight >= 0
        and isinstance(piece, Normalized)
        and type(piece.kernel) in _NEVER_NEGATIVE
        and compares_words_by_equality(piece)
        for weight, piece in part.pieces
    )
    return sum(weight for weight, _ in part.pieces) if known else None


def _fill(part: _Part, kind: str, budget: _Budget) -> Any:
    """Compute a table block by block and return its rows."""
    size, columns = part.size, part.columns
    half: Any = None
    if kind != "square":
        make = _core.smo.Triangle if kind == "triangle" else _core.smo.ShortTriangle
        half = make(size, budget.cache[id(part)], _top(part) or 1.0)
    table: Any = None if half is not None else np.empty((size, size), dtype=f"f{budget.bits // 8}")
    step = max(4, budget.block // (8 * max(1, size)) // 4 * 4)
    # Each block computes its own columns to the right of the diagonal only.
    starts = []
    begin = 0
    while begin < size:
        starts.append(begin)
        begin += max(4, min(step * size // max(1, size - begin), 4 * step) // 4 * 4)
    starts.append(size)
    with settings.progress_bar(len(starts) - 1, "Kernel table") as progress, settings.options(progress=False):
        for number, (a, b) in enumerate(pairwise(starts)):
            block = _block(part, columns, a, b)
            if not np.isfinite(block).all():
                row = int(part.first[a + int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])])
                raise _infinite(row)
            if half is not None:
                half.set(a, block)
            else:
                table[a:b, a:] = block
                table[b:, a:b] = block[:, b - a :].T
            if progress is not None:
                progress(number + 1)
    return half if half is not None else getattr(_core.smo, f"square{budget.bits}")(table)


def _block(part: _Part, columns: Any, a: int, b: int) -> Matrix:
    total: Matrix | None = None
    whole = a == 0 and b == part.size and columns is part.rows
    for (weight, piece), scale in zip(part.pieces, part.scales, strict=True):
        inner = piece.kernel if scale is not None else piece  # type: ignore[attr-defined]
        with warnings.catch_warnings():
            # What shares nothing with itself has been named once, by its place among the examples.
            warnings.simplefilter("ignore")
            block: Matrix = inner._gram(part.rows[a:b], None if whole else columns[a:])
        if scale is not None:
            for start in range(0, len(block), 64):
                rows = slice(a + start, min(a + start + 64, b))
                block[start : start + 64] *= scale[rows, None] * scale[a:]
            if columns is part.rows:
                within = np.arange(b - a)
                block[within, within] = scale[a:b] > 0
        if weight != 1.0:
            block *= weight
        if total is None:
            total = block
        else:
            total += block
    assert total is not None
    return np.ascontiguousarray(total)


def _scale_of(piece: Kernel, part: _Part) -> Matrix | None:
    """Return what normalizes a table; None where the kernel does it by itself or not at all."""
    if not isinstance(piece, Normalized):
        if any(isinstance(value, Normalized) for value in piece.get_params().values()):
            piece._diag(part.view)  # warns, with the places of the examples, where there is something to warn about
        return None
    return Normalized._scale(piece.kernel._diag(part.view))[part.first]


def _computes_rows(part: _Part) -> bool:
    """Return whether rows can be computed one by one, which takes a kernel with its own native code."""
    if not isinstance(part.view, TreeArray) or len(part.pieces) != 1:
        return False
    return type(_inner(part.pieces[0][1]))._rows is not Kernel._rows


def _asked_rows(part: _Part, budget: _Budget) -> Any:
    weight, kernel = part.pieces[0]
    scale = part.scales[0]
    factors = math.sqrt(weight) * (np.ones(part.size) if scale is None else scale)
    return _inner(kernel)._rows(part.rows, part.columns, np.ascontiguousarray(factors), budget.cache[id(part)])


def _inner(kernel: Kernel) -> Kernel:
    return kernel.kernel if isinstance(kernel, Normalized) else kernel


def _has_words(kernel: Kernel) -> bool:
    inner = _inner(kernel)
    return isinstance(inner, Linear) and inner.words is not None


def _is_dot(part: _Part) -> bool:
    """Return whether rows are dot products that the native core can compute when asked."""
    if isinstance(part.view, (TreeArray, Examples)) or len(part.pieces) != 1:
        return False
    kernel = part.pieces[0][1]
    return type(_inner(kernel)) in (Linear, Polynomial) and not _has_words(kernel)


def _dot_rows(part: _Part, budget: _Budget) -> Any:
    weight, kernel = part.pieces[0]
    inner = _inner(kernel)
    assert isinstance(inner, (Linear, Polynomial))
    rows = sparse.csr_array(part.rows)
    scale = part.scales[0]
    if (weight != 1.0) and scale is not None:
        scale = scale * math.sqrt(weight)
    factors = scale if scale is not None else np.full(part.size, math.sqrt(weight)) if weight != 1.0 else _EMPTY_VALUES
    constant, degree, factor = (
        (float(inner.constant), int(inner.degree), float(inner.scale))
        if isinstance(inner, Polynomial)
        else (0.0, 1, 1.0)
    )
    return getattr(_core.smo, f"dot_rows{budget.bits}")(
        rows.indptr[1:].astype(np.uint64),
        rows.indices.astype(np.uint32),
        rows.data.astype(np.float64),
        int(rows.shape[1]),
        factor,
        constant,
        degree,
        np.ascontiguousarray(factors),
        budget.cache[id(part)],
    )
