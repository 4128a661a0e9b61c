"""Kernels between training examples, prepared for the native solver: tables over distinct items, within a memory limit.

A kernel on several views is a sum of products of kernels on one view each (``components``). Per view only distinct
items count, and a table of their kernel values answers for all examples. Here tables are filled, as far as memory goes
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
from sapwood.kernels.algebra import Normalized
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.evaluation import changeable
from sapwood.kernels.finite import check_finite
from sapwood.kernels.flat import vectors
from sapwood.kernels.normalization import Scales
from sapwood.kernels.terms import Term
from sapwood.learn.solver.budget import Budget, upper_bound
from sapwood.learn.solver.components import Component, decompose, find_items, merge

__all__ = ["Prepared", "prepare"]

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


def prepare(kernel: Kernel, X: Any, memory_limit: float | None, threads: int) -> Prepared:
    """Take a bound kernel apart and fill its tables.

    Parameters
    ----------
    kernel : Kernel
        Bound to the training data.
    X : TreeArray, Examples, or matrix
        Training examples.
    memory_limit : float, optional
        Most megabytes to take; by default three quarters of what is free.
    threads : int
        How many threads will solve at once.
    """
    products = decompose(kernel, X)
    components = list({id(component): component for product in products for component in product.components}.values())
    for component in components:
        find_items(component)
    budget = Budget(components, X.shape[0], memory_limit, threads)
    for component in components:
        scales = Scales(component.view)
        component.scales = [_scale_of(term, component, scales) for term in component.summands]
    sources = [_source(component, budget) for component in components]
    words = [component.words.tags for component in components if component.words is not None]
    points, first = merge([component.items for component in components] + words, X.shape[0])
    numbers = {id(component): number for number, component in enumerate(components)}
    bits = budget.bits
    native_terms = [
        _core.smo.Term(
            product.weight,
            [numbers[id(component)] for component in product.components],
            _EMPTY_VALUES if product.scale is None else np.ascontiguousarray(product.scale[first]),
        )
        for product in products
    ]
    make_component = getattr(_core.smo, f"Component{bits}")
    natives = [
        make_component(values, np.ascontiguousarray(component.items[first]), _same(component, first, bits))
        for component, values in zip(components, sources, strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        diagonal = np.ascontiguousarray(kernel._diag(X[first]), dtype=np.float64)
    # No value of a kernel is larger than the largest of an example with itself, so this is all there is to look at.
    check_finite(np.where(diagonal <= np.finfo(f"f{bits // 8}").max, diagonal, np.inf), first)
    point_kernel = getattr(_core.smo, f"PointKernel{bits}")(natives, native_terms, diagonal)
    return Prepared(point_kernel, points, budget.window)


def _source(component: Component, budget: Budget) -> Any:
    """Return what the rows of a component come from."""
    kind = budget.kinds[id(component)]
    if kind == "dot":
        return _dot_rows(component, budget)
    return _asked_rows(component, budget) if kind == "asked" else _fill(component, kind, budget)


def _same(component: Component, first: NDArray[np.intp], bits: int) -> Any:
    """Compute values between trees with the same word: small tables, many of them in one go."""
    words = component.words
    if words is None:
        return None
    values = np.empty(words.values, dtype=f"f{bits // 8}")
    begin = at = 0
    chunk: list[int] = []
    for word, size in enumerate(words.sizes.tolist()):
        chunk.append(size)
        if sum(chunk) < _WORTH_A_CALL and word + 1 < len(words.sizes):
            continue
        chosen = words.items[begin : begin + sum(chunk)]
        with settings.options(progress=False):
            block = _values(component, chosen, None)
        inner = 0
        for width in chunk:
            values[at : at + width * width] = block[inner : inner + width, inner : inner + width].ravel()
            inner, at = inner + width, at + width * width
        begin, chunk = begin + sum(chunk), []
    return getattr(_core.smo, f"Same{bits}")(
        words.sizes.astype(np.uint64),
        values,
        np.ascontiguousarray(words.tags[first]),
        np.ascontiguousarray(words.trees[first]),
    )


def _fill(component: Component, kind: str, budget: Budget) -> Any:
    """Compute a table block by block and return its rows."""
    size = component.size
    half: Any = None
    if kind != "square":
        make = _core.smo.Triangle if kind == "triangle" else _core.smo.ShortTriangle
        half = make(size, budget.cache[id(component)], upper_bound(component) or 1.0)
    table: Any = None if half is not None else np.empty((size, size), dtype=f"f{budget.bits // 8}")
    step = max(4, budget.block // (8 * max(1, size)) // 4 * 4)
    # Each block computes its own columns to the right of the diagonal only.
    starts = []
    begin = 0
    while begin < size:
        starts.append(begin)
        begin += max(4, min(step * size // max(1, size - begin), 4 * step) // 4 * 4)
    starts.append(size)
    with settings.progress_bar(len(starts) - 1, "Kernel table", "blocks") as progress, settings.options(progress=False):
        for number, (a, b) in enumerate(pairwise(starts)):
            whole = b - a == size and component.columns is component.rows
            block = _values(component, slice(a, b), None if whole else slice(a, None))
            if half is not None:
                half.set(a, block)
            else:
                table[a:b, a:] = block
                table[b:, a:b] = block[:, b - a :].T
            if progress is not None:
                progress(number + 1)
    return half if half is not None else getattr(_core.smo, f"square{budget.bits}")(table)


def _values(component: Component, rows: Any, columns: Any) -> Matrix:
    """Compute the values between some items and others; without columns, those of the items with each other.

    Where there are columns, they begin with the rows.
    """
    left = component.rows[rows]
    right = None if columns is None else component.columns[columns]
    total: Matrix | None = None
    for term, scale in zip(component.summands, component.scales, strict=True):
        with warnings.catch_warnings():
            # What shares nothing with itself has been named once, by its place among the examples.
            warnings.simplefilter("ignore")
            block = changeable(term.kernel._gram(left, right))
        if scale is not None:
            row_scale, column_scale = scale[rows], scale[rows if columns is None else columns]
            for start in range(0, len(block), 64):
                block[start : start + 64] *= row_scale[start : start + 64, None] * column_scale
            if term.self_normalized and (columns is None or component.columns is component.rows):
                within = np.arange(len(block))
                block[within, within] = row_scale > 0
        if term.weight != 1.0:
            block *= term.weight
        if total is None:
            total = block
        else:
            total += block
    assert total is not None
    check_finite(total, component.first[rows])
    return np.ascontiguousarray(total)


def _scale_of(term: Term, component: Component, scales: Scales) -> Matrix | None:
    """Return what normalizes a table; None where the kernel does it by itself or not at all."""
    if not term.norms:
        if any(isinstance(value, Normalized) for value in term.kernel.get_params().values()):
            term.kernel._diag(component.view)  # warns, with the places of the examples, where there is reason to
        return None
    return scales.of(term.norms)[component.first]


def _factors(component: Component) -> Matrix:
    """Return what each item is multiplied by: the root of the weight, and what normalizes it."""
    scale = np.ones(component.size) if component.scales[0] is None else component.scales[0]
    return np.ascontiguousarray(math.sqrt(component.summands[0].weight) * scale)


def _asked_rows(component: Component, budget: Budget) -> Any:
    kernel = component.summands[0].kernel
    return kernel._rows(component.rows, component.columns, _factors(component), budget.cache[id(component)])


def _dot_rows(component: Component, budget: Budget) -> Any:
    (term,) = component.summands
    form = term.kernel._dot_form()
    assert form is not None
    factors = _factors(component) if term.norms or term.weight != 1.0 else _EMPTY_VALUES
    return getattr(_core.smo, f"dot_rows{budget.bits}")(
        *vectors(component.rows), int(component.rows.shape[1]), *form, factors, budget.cache[id(component)]
    )
