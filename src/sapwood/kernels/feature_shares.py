"""What each flat feature of an example adds to a weighted sum of kernel values.

For kernels of the dot product, (s·⟨x, y⟩ + c)^d, a value is divided among features in proportion to their part of the
dot product, which is what the integral of the gradient from no features to all of them gives; what c alone is worth
belongs to none. In a bag of similar words, a word's part is what it is worth with all words of the other side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.flat import Linear, _bags, _Features

__all__ = ["feature_shares"]

_CELLS = 1 << 22


def feature_shares(kernel: Kernel, example: Any, support: Any, weights: Matrix) -> list[tuple[str, float]] | None:
    """Return features of one example with what they add to ``k(example, support) @ weights``, largest first.

    None if the kernel cannot tell. What is missing to the sum is the constant's.

    >>> from sapwood.kernels import Polynomial
    >>> bag = np.array([{"a": 1.0, "b": 2.0}], dtype=object)
    >>> feature_shares(Polynomial(degree=2, constant=1.0), bag, bag, np.ones(1))
    [('b', 28.0), ('a', 7.0)]
    """
    if isinstance(kernel, Linear) and kernel.words is not None:
        found = _similar_words(kernel, example, support, weights)
    elif (form := kernel._dot_form()) is not None:
        found = _dot_products(kernel, form, example, support, weights)
    else:
        return None
    return sorted(((name, value) for name, value in found if value != 0.0), key=lambda one: -abs(one[1]))


def _dot_products(
    kernel: Kernel, form: tuple[float, float, int], example: Any, support: Any, weights: Matrix
) -> list[tuple[str, float]]:
    scale, constant, degree = form
    features = _Features(kernel, support)
    row = sparse.csr_array(features.of(example))
    columns, values = row.indices, row.data
    shares = np.zeros(len(columns))
    step = max(1, _CELLS // max(1, len(columns)))
    for start in range(0, len(weights), step):
        block = features.matrix[start : start + step][:, columns]
        products = (block.toarray() if sparse.issparse(block) else np.asarray(block)) * values
        dots = products.sum(axis=1)
        gained = (scale * dots + constant) ** degree - constant**degree
        slope = degree * scale * constant ** (degree - 1) if constant or degree == 1 else 0.0
        ratio = np.divide(gained, dots, out=np.full(len(dots), float(slope)), where=dots != 0)
        shares += (weights[start : start + step] * ratio) @ products
    names = {at: name for name, at in (features._known or {}).items()}
    return [(names.get(int(at), f"column {at}"), float(share)) for at, share in zip(columns, shares, strict=True)]


def _similar_words(kernel: Linear, example: Any, support: Any, weights: Matrix) -> list[tuple[str, float]]:
    assert kernel.words is not None
    bags, vocabulary = _bags(kernel, support)
    comparison = kernel.words.against(vocabulary)
    totals = (bags @ comparison.right).T @ weights
    row, words = _bags(kernel, example)
    worth = np.asarray(comparison.left(words) @ totals).ravel()
    return [(words[int(at)], float(count * worth[at])) for at, count in zip(row.indices, row.data, strict=True)]
