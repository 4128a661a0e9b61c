"""Kernels between training examples, prepared for the native solver: tables over distinct items, within a memory limit.

A kernel on several views is a sum of products of kernels on one view each (``parts``). Per view only distinct items
count, and a table of their kernel values answers for all examples. Here tables are filled, as far as memory goes
(``budget``); what is solved on them belongs to ``smo``.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.kernels.base import Kernel, Matrix, Normalized
from sapwood.kernels.finite import check_finite
from sapwood.kernels.flat import Linear, Polynomial, vectors
from sapwood.learn.budget import Budget, top_of
from sapwood.learn.parts import Part, find_items, inner_kernel, merge, take_apart

__all__ = ["Prepared", "prepare", "prepare_gram"]

_EMPTY_VALUES = np.zeros(0, dtype=np.float64)
_WORTH_A_CALL = 400  # trees: a kernel on fewer takes longer to set up than to compute


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
    terms = take_apart(kernel, X)
    parts = list({id(part): part for term in terms for part in term.parts}.values())
    for part in parts:
        find_items(part)
    budget = Budget(parts, X.shape[0], memory, threads)
    for part in parts:
        part.scales = [_scale_of(piece, part) for _, piece in part.pieces]
    components = [_component(part, budget) for part in parts]
    fillings = [part.fillings.tags for part in parts if part.fillings is not None]
    points, first = merge([part.items for part in parts] + fillings, X.shape[0])
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
    # No value of a kernel is larger than the largest of an example with itself, so this is all there is to look at.
    check_finite(np.where(diagonal <= np.finfo(f"f{bits // 8}").max, diagonal, np.inf), first)
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


def _component(part: Part, budget: Budget) -> Any:
    kind = budget.kinds[id(part)]
    if kind == "dot":
        return _dot_rows(part, budget)
    return _asked_rows(part, budget) if kind == "asked" else _fill(part, kind, budget)


def _same(part: Part, first: NDArray[np.intp], bits: int) -> Any:
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


def _square(part: Part, chosen: NDArray[np.uint32]) -> Matrix:
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
    check_finite(total, part.first[chosen])
    return total


def _fill(part: Part, kind: str, budget: Budget) -> Any:
    """Compute a table block by block and return its rows."""
    size, columns = part.size, part.columns
    half: Any = None
    if kind != "square":
        make = _core.smo.Triangle if kind == "triangle" else _core.smo.ShortTriangle
        half = make(size, budget.cache[id(part)], top_of(part) or 1.0)
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
            check_finite(block, part.first[a:b])
            if half is not None:
                half.set(a, block)
            else:
                table[a:b, a:] = block
                table[b:, a:b] = block[:, b - a :].T
            if progress is not None:
                progress(number + 1)
    return half if half is not None else getattr(_core.smo, f"square{budget.bits}")(table)


def _block(part: Part, columns: Any, a: int, b: int) -> Matrix:
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


def _scale_of(piece: Kernel, part: Part) -> Matrix | None:
    """Return what normalizes a table; None where the kernel does it by itself or not at all."""
    if not isinstance(piece, Normalized):
        if any(isinstance(value, Normalized) for value in piece.get_params().values()):
            piece._diag(part.view)  # warns, with the places of the examples, where there is something to warn about
        return None
    return Normalized._scale(piece.kernel._diag(part.view))[part.first]


def _asked_rows(part: Part, budget: Budget) -> Any:
    weight, kernel = part.pieces[0]
    scale = part.scales[0]
    factors = math.sqrt(weight) * (np.ones(part.size) if scale is None else scale)
    return inner_kernel(kernel)._rows(part.rows, part.columns, np.ascontiguousarray(factors), budget.cache[id(part)])


def _dot_rows(part: Part, budget: Budget) -> Any:
    weight, kernel = part.pieces[0]
    inner = inner_kernel(kernel)
    assert isinstance(inner, (Linear, Polynomial))
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
        *vectors(part.rows),
        int(part.rows.shape[1]),
        factor,
        constant,
        degree,
        np.ascontiguousarray(factors),
        budget.cache[id(part)],
    )
