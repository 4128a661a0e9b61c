"""Kernels made of others: sums, products, powers, scalings, normalizations and views.

Users write them with operators and methods of ``Kernel``; ``repr`` of the result reads back as the same kernel.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sapwood.callers import levels_to_user
from sapwood.checks import check_amount, check_count
from sapwood.errors import ParameterError
from sapwood.kernels.base import Expansion, Kernel, Matrix
from sapwood.kernels.data import pick_view
from sapwood.kernels.evaluation import changeable
from sapwood.kernels.finite import check_diagonal
from sapwood.kernels.naming import RESERVED
from sapwood.kernels.normalization import bound, multiply, normalize, normalizing_scale
from sapwood.kernels.parameters import as_written
from sapwood.kernels.terms import Norm, Term

__all__ = ["Constant", "Named", "Normalized", "OnView", "Power", "Product", "Scaled", "Sum"]


class _Combination(Kernel):
    """A kernel made of others, which are its parameters k1 and k2, or kernel."""

    def _validate(self) -> None:
        for name in self._names():
            value = getattr(self, name)
            if name in ("k1", "k2", "kernel") and not isinstance(value, Kernel):
                raise ParameterError(f"{name} must be a kernel, got {value!r}.")

    @property
    def compares_words_by_equality(self) -> bool:
        return all(kernel.compares_words_by_equality for kernel in self._kernels())

    def _arrays(self) -> int:
        return max((place > 0) + kernel._arrays() for place, kernel in enumerate(self._kernels()))

    def _bind(self, X: Any) -> Kernel:
        params = self.get_params(deep=False)
        return type(self)(**{k: v._bind(X) if isinstance(v, Kernel) else v for k, v in params.items()})


class _ByValue(_Combination):
    """A kernel whose values follow from the values that others have for the same two examples."""

    @abstractmethod
    def _apply(self, values: Matrix, *others: Matrix) -> Matrix:
        """Combine the values of the kernels; those of the first may be changed."""

    def _combine(self, evaluate: Callable[[Kernel], Matrix]) -> Matrix:
        first, *others = self._kernels()
        return self._apply(changeable(evaluate(first)), *(evaluate(other) for other in others))

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        return self._combine(lambda kernel: kernel._gram(X, Y))

    def _diag(self, X: Any) -> Matrix:
        return self._combine(lambda kernel: kernel._diag(X))

    def _pairwise(self, X: Any) -> Matrix:
        return self._combine(lambda kernel: kernel._pairwise(X))


class Sum(_ByValue):
    """The sum of two kernels; written ``k1 + k2``."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1, self.k2 = k1, k2
        self._validate()

    def _apply(self, values: Matrix, *others: Matrix) -> Matrix:
        values += others[0]
        return values

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        first, second = self.k1._expansion(X, weights), self.k2._expansion(X, weights)
        return lambda Y: first(Y) + second(Y)

    def summands(self) -> list[tuple[float, Kernel]]:
        """Return those of both kernels."""
        return self.k1.summands() + self.k2.summands()

    def __repr__(self) -> str:
        return f"{self.k1!r} + {_in_brackets(self.k2, Sum)}"


class Product(_ByValue):
    """The product of two kernels, value by value; written ``k1 * k2``."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1, self.k2 = k1, k2
        self._validate()

    def _apply(self, values: Matrix, *others: Matrix) -> Matrix:
        values *= others[0]
        return values

    def factors(self) -> list[Kernel]:
        """Return those of both kernels."""
        return self.k1.factors() + self.k2.factors()

    def __repr__(self) -> str:
        return f"{_in_brackets(self.k1, Sum)} * {_in_brackets(self.k2, Sum, Product, Scaled)}"


class Scaled(_ByValue):
    """A kernel times a number; written ``weight * kernel``."""

    def __init__(self, weight: float, kernel: Kernel) -> None:
        self.weight, self.kernel = weight, kernel
        self._validate()

    def _validate(self) -> None:
        check_amount(self.weight, "weight")
        super()._validate()

    def _apply(self, values: Matrix, *others: Matrix) -> Matrix:
        values *= self.weight
        return values

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        return self.kernel._expansion(X, self.weight * weights)

    def summands(self) -> list[tuple[float, Kernel]]:
        """Return those of the kernel, times the weight."""
        return [(float(self.weight) * weight, kernel) for weight, kernel in self.kernel.summands()]

    def __repr__(self) -> str:
        return f"{as_written(self.weight)} * {_in_brackets(self.kernel, Sum, Product, Scaled)}"


class Power(_ByValue):
    """A kernel raised to a whole power, value by value; written ``kernel ** exponent``."""

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        self.kernel, self.exponent = kernel, exponent
        self._validate()

    def _validate(self) -> None:
        super()._validate()
        check_count(self.exponent, "exponent", most=None)

    def _apply(self, values: Matrix, *others: Matrix) -> Matrix:
        return np.power(values, self.exponent, out=values)

    def factors(self) -> list[Kernel]:
        """Return those of the kernel as often as the exponent says."""
        return self.kernel.factors() * int(self.exponent)

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)} ** {as_written(self.exponent)}"


class Normalized(_Combination):
    """A kernel divided by the square roots of both self-kernels; written ``kernel.normalized()``.

    Where a self-kernel is 0 the value is 0, and one warning names the elements. No value is above 1 or below -1, and
    what is within 1e-14 of these is made equal to them, which is what rounding leaves between equal examples; so
    ``sqrt(2 - 2 * k)`` is always a distance. A warning tells where a kernel that is not positive semi-definite would
    have passed the bounds by more.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._validate()

    def terms(self) -> list[Term]:
        """Return the terms of the kernel with one more norm."""
        inner = self.kernel
        while isinstance(inner, Named):
            inner = inner.kernel
        if isinstance(inner, OnView):
            # Within its view, where a table of values can be normalized as a whole.
            return OnView(Normalized(inner.kernel), inner.view).terms()
        if isinstance(inner, Normalized) or (isinstance(inner, Scaled) and inner.weight > 0):
            # Factors cancel out.
            return Normalized(inner.kernel).terms()
        return [replace(term, norms=(Norm(inner, None), *term.norms)) for term in inner.terms()]

    @property
    def largest_on_diagonal(self) -> bool:
        """Whether this holds of the kernel, whose values are then in [-1, 1]."""
        return self.kernel.largest_on_diagonal

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        K = changeable(self.kernel._gram(X, Y))
        if Y is None:
            left = right = normalizing_scale(np.ascontiguousarray(np.diagonal(K)))
        else:
            left = normalizing_scale(self.kernel._diag(X), side="X")
            right = normalizing_scale(self.kernel._diag(Y), side="Y")
        beyond = normalize(K, left, right)
        if Y is None:
            np.fill_diagonal(K, left > 0)
        self._warn_beyond(beyond, left, right)
        return K

    def _diag(self, X: Any) -> Matrix:
        return (normalizing_scale(self.kernel._diag(X)) > 0).astype(np.float64)

    def _pairwise(self, X: Any) -> Matrix:
        half = X.shape[0] // 2
        values, diagonal = self.kernel._pairwise_and_diag(X)
        for part, side in ((diagonal[:half], "X"), (diagonal[half:], "Y")):
            check_diagonal(part, side)
        values, scale = changeable(values), normalizing_scale(diagonal)
        multiply(values, scale[:half], scale[half:])
        self._warn_beyond(bound(values), scale)
        return values

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        # Training has warned of support examples that share nothing with themselves.
        scale = normalizing_scale(self.kernel._diag(X), warn=False)
        inner = self.kernel._expansion(X, scale[:, None] * weights)
        return lambda Y: inner(Y) * normalizing_scale(self.kernel._diag(Y))[:, None]

    def _warn_beyond(self, count: int, *scales: Matrix) -> None:
        # Self-kernels close to the smallest number have few digits left, so that they prove nothing.
        if count and max(scale.max(initial=0.0) for scale in scales) < 1e150:
            warnings.warn(
                f"{count} of the values of {self!r} were outside [-1, 1] by more than rounding and were set to its "
                "ends: the kernel is not positive semi-definite on these examples.",
                stacklevel=levels_to_user(),
            )

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)}.normalized()"


class OnView(_Combination):
    """A kernel on one view of ``Examples``; written ``kernel.on(view)``."""

    def __init__(self, kernel: Kernel, view: str) -> None:
        self.kernel, self.view = kernel, view
        self._validate()

    def _validate(self) -> None:
        super()._validate()
        if not isinstance(self.view, str):
            raise ParameterError(f"view must be the name of a view, got {self.view!r}.")

    def _pick(self, X: Any) -> Any:
        return pick_view(X, self.view)

    def _bind(self, X: Any) -> Kernel:
        return OnView(self.kernel._bind(self._pick(X)), self.view)

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        return self.kernel._gram(self._pick(X), None if Y is None else self._pick(Y))

    def _diag(self, X: Any) -> Matrix:
        return self.kernel._diag(self._pick(X))

    def _pairwise(self, X: Any) -> Matrix:
        return self.kernel._pairwise(self._pick(X))

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        inner = self.kernel._expansion(self._pick(X), weights)
        return lambda Y: inner(self._pick(Y))

    def terms(self) -> list[Term]:
        """Return the terms of the kernel, on the view."""
        inner = self.kernel.terms()
        # A view has no views itself; evaluating the kernel raises.
        return [Term(1.0, self)] if self.kernel.views() else [term.on(self.view) for term in inner]

    def views(self) -> set[str]:
        """Return the view."""
        return {self.view}

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)}.on({self.view!r})"


class Named(_ByValue):
    """A kernel with a name, by which its parameters are found in a sum; written ``kernel.named(name)``."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self.kernel, self.name = kernel, name
        self._validate()

    def _validate(self) -> None:
        super()._validate()
        if not isinstance(self.name, str) or not self.name.isidentifier() or "__" in self.name:
            raise ParameterError(f"name must be one word of letters, digits and single underscores, got {self.name!r}.")
        if self.name in RESERVED:
            raise ParameterError(f"name must not be one of {', '.join(sorted(RESERVED))}, got {self.name!r}.")

    def _apply(self, values: Matrix, *others: Matrix) -> Matrix:
        return values

    def _pairwise_and_diag(self, X: Any) -> tuple[Matrix, Matrix]:
        return self.kernel._pairwise_and_diag(X)

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        return self.kernel._expansion(X, weights)

    def terms(self) -> list[Term]:
        """Return the terms of the kernel."""
        return self.kernel.terms()

    def summands(self) -> list[tuple[float, Kernel]]:
        """Return those of the kernel; a single one keeps the name."""
        found = self.kernel.summands()
        return found if len(found) > 1 else [(weight, Named(kernel, self.name)) for weight, kernel in found]

    def factors(self) -> list[Kernel]:
        """Return those of the kernel."""
        return self.kernel.factors()

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)}.named({self.name!r})"


class Constant(Kernel):
    """The same value for every pair; what a number becomes in ``kernel + number``."""

    compares_words_by_equality = True

    def __init__(self, value: float) -> None:
        self.value = value
        self._validate()

    def _validate(self) -> None:
        check_amount(self.value, "value")

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        return np.full((X.shape[0], (X if Y is None else Y).shape[0]), float(self.value))

    def _diag(self, X: Any) -> Matrix:
        return np.full(X.shape[0], float(self.value))

    def _pairwise(self, X: Any) -> Matrix:
        return np.full(X.shape[0] // 2, float(self.value))

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        total = self.value * weights.sum(axis=0)
        return lambda Y: np.tile(total, (Y.shape[0], 1))

    def __repr__(self) -> str:
        return f"Constant({as_written(self.value)})"


def _in_brackets(kernel: Kernel, *kinds: type[Kernel]) -> str:
    """Write a kernel, within brackets if it is of one of these classes."""
    return f"({kernel!r})" if isinstance(kernel, kinds) else repr(kernel)


def _atom(kernel: Kernel) -> str:
    return _in_brackets(kernel, Sum, Product, Scaled, Power)
