"""The algebra of kernels: what every kernel can do, and how kernels are combined.

A kernel is a stateless value: parameters in, numbers out. ``+``, ``*``, ``**``, scalars, ``normalized()`` and
``on(view)`` build larger kernels; ``repr`` of the result reads back as the same kernel. Kernels on particular data
live in modules of their own.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sapwood.callers import levels_to_user
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.attribution import Attribution, Part, whole
from sapwood.kernels.data import as_data, is_single, join
from sapwood.kernels.finite import check_diagonal, check_finite, check_gram, check_pairs
from sapwood.kernels.memory import require
from sapwood.kernels.parameters import Parametrized, as_written
from sapwood.scalars import is_finite, is_number
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

if TYPE_CHECKING:
    from sapwood.kernels.explain import KernelExplanation

__all__ = ["Constant", "Kernel", "Normalized", "OnView", "Power", "Product", "Scaled", "Sum", "as_data", "join"]

Matrix = NDArray[np.float64]
Expansion = Callable[[Any], Matrix]


class Kernel(Parametrized, ABC):
    """Base of all kernels: ``k(X)``, ``k(X, Y)``, ``k.diag(X)`` and the algebra.

    Subclasses keep each constructor argument under its own name, as scikit-learn's estimators do, and check it in
    ``_validate``.
    """

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """Compare every element of X with every element of Y, or of X with itself.

        Parameters
        ----------
        X, Y : TreeArray, Examples, list of trees or strings, matrix, or one tree each
            What to compare. With a single tree on both sides the value is a float.

        Returns
        -------
        array of float64, shape (len(X), len(Y)), or float

        Raises
        ------
        TooLargeError
            If the result would not fit in memory; nothing has been allocated then.
        KernelError
            If a value is too large for a number; the message names the two examples.
        """
        if is_single(X) and is_single(Y):
            return float(self(TreeArray([X]), TreeArray([Y]))[0, 0])
        if is_single(X) or is_single(Y):
            raise DataError("compare one tree with one tree, or arrays with arrays; wrap a single tree in a list.")
        same = Y is None or Y is X
        X = as_data(X)
        Y = None if same else as_data(Y)
        require(X.shape[0], (X if same else Y).shape[0], arrays=self._arrays())
        with _quietly():
            K = self._gram(X, Y)
        check_gram(K, square=same)
        return K

    def diag(self, X: Any) -> Matrix:
        """Compare every element with itself: the diagonal of ``k(X)`` without the rest."""
        X = TreeArray([X]) if is_single(X) else as_data(X)
        with _quietly():
            diagonal = self._diag(X)
        check_diagonal(diagonal)
        return diagonal

    def pairwise(self, X: Any, Y: Any = None) -> Matrix:
        """Compare every element of X with the element of Y in the same place: the diagonal of ``k(X, Y)`` alone.

        Parameters
        ----------
        X, Y : arrays of the same length
            What to compare. Without Y, the first half of X is compared with its second half; ``join(X, Y)`` makes
            such an array, which saves time where several kernels compare the same pairs.

        Examples
        --------
        >>> from sapwood.kernels import SubsetTree
        >>> SubsetTree(decay=1.0).pairwise(["(NP (NN dog))", "(NP (NN cat))"], ["(NP (NN dog))", "(NP (NN dog))"])
        array([3., 1.])
        """
        joined = as_data(X) if Y is None else join(X, Y)
        if joined.shape[0] % 2:
            raise DataError(
                f"X has {joined.shape[0]} elements, so it has no two halves to compare; pass the partners as Y."
            )
        with _quietly():
            values = self._pairwise(joined)
        check_pairs(values)
        return values

    def bind(self, X: Any) -> Kernel:
        """Return a copy of the kernel with everything learnt that it takes from training data; most learn nothing."""
        return self._bind(as_data(X)).copy()

    def expansion(self, X: Any, weights: Matrix) -> Expansion:
        """Compile the function Y -> k(Y, X) @ weights.

        Kernels that are linear in tree features spread the weights over distinct subtrees once, so that evaluation
        does not visit X again.

        Parameters
        ----------
        X : array of n examples
            Usually support vectors.
        weights : array of shape (n, outputs)
            Usually dual coefficients.

        Returns
        -------
        callable
            Takes examples and returns an array of shape (examples, outputs).
        """
        X = as_data(X)
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        if weights.ndim != 2 or weights.shape[0] != X.shape[0]:
            raise DataError(f"weights must have one row per example, {X.shape[0]} here; got shape {weights.shape}.")
        if not np.isfinite(weights).all():
            row, column = np.argwhere(~np.isfinite(weights))[0]
            raise DataError(f"weights[{row}, {column}] is {weights[row, column]}; expected finite numbers.")
        compiled = self._expansion(X, weights)

        def evaluate(Y: Any) -> Matrix:
            with _quietly():
                outputs = compiled(as_data(Y))
            check_finite(outputs, what="weighted sum of kernel values")
            return outputs

        return evaluate

    def explain(self, a: Any, b: Any, *, top: int = 10) -> KernelExplanation:
        """Say why the value of two trees is what it is: the fragments they share, with weights that add up to it.

        Parameters
        ----------
        a, b : tree, bag of trees, or Examples of one row
            What to compare.
        top : int
            How many fragments to list; the others are summed up as the remainder.

        Examples
        --------
        >>> from sapwood.kernels import SubsetTree
        >>> print(SubsetTree(decay=0.5).explain("(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"))
        SubsetTree(decay=0.5) = 1.25
              weight  fragment
                 0.5  (DT a)
                 0.5  (NP DT NN)
                0.25  (NP (DT a) NN)
        """
        from sapwood.kernels.explain import explain_kernel

        return explain_kernel(self, a, b, top=top)

    # What subclasses define. X and Y have passed as_data. Results are new arrays, since other kernels change them.

    @abstractmethod
    def _gram(self, X: Any, Y: Any | None) -> Matrix: ...

    @abstractmethod
    def _diag(self, X: Any) -> Matrix: ...

    def _finite_gram(self, X: Any, Y: Any | None, examples: NDArray[Any] | Sequence[int]) -> Matrix:
        """Compute a block of a matrix; where a value is not finite, raise with the number that its row has outside."""
        with _quietly():
            K = self._gram(X, Y)
        check_finite(K, examples)
        return K

    def _pairwise(self, X: Any) -> Matrix:
        """Compare the first half of X with the second, element by element."""
        half = X.shape[0] // 2
        values = np.empty(half)
        for start in range(0, half, 16):
            end = min(start + 16, half)
            values[start:end] = np.diagonal(self._gram(X[start:end], X[half + start : half + end]))
        return values

    def _pairwise_and_diag(self, X: Any) -> tuple[Matrix, Matrix]:
        """Do both, which normalisation wants; kernels that prepare much for either prepare it once."""
        return self._pairwise(X), self._diag(X)

    def _bind(self, X: Any) -> Kernel:
        return self

    def _arrays(self) -> int:
        """Return how many arrays of the result's size are alive at once."""
        return 1

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        """Compile what says which nodes the outputs k(Y, X) @ weights come from; None if they do not come from nodes.

        This is the one method by which a kernel takes part in explanations; see ``sapwood.kernels.attribution``.
        """
        return None

    def _rows(self, X: Any, Y: Any, factors: Matrix, cache_bytes: int) -> Any:
        """Return a native source of rows of k(X, Y), times the factors of both sides, that computes one when asked."""

    def _parts(self, X: Any, weights: Matrix) -> list[Part]:
        """Take the outputs k(Y, X) @ weights apart into a sum over simpler kernels."""
        return [whole(self, X, weights)]

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        def evaluate(Y: Any) -> Matrix:
            result = np.empty((Y.shape[0], weights.shape[1]))
            step = max(1, (1 << 22) // max(1, X.shape[0]))
            for start in range(0, Y.shape[0], step):
                result[start : start + step] = self._gram(Y[start : start + step], X) @ weights
            return result

        return evaluate

    def copy(self) -> Self:
        """Return the same kernel, of which nothing changes when parameters of this one are set.

        Kernels that are its attributes are copied too; all else is shared.
        """
        result = type(self).__new__(type(self))
        for name, value in vars(self).items():
            setattr(result, name, value.copy() if isinstance(value, Kernel) else value)
        return result

    # The algebra. Kernels are values: a part is copied, so that setting a parameter of one sum does not change another.

    def __add__(self, other: Kernel | float) -> Kernel:
        return _combine(Sum, self, other)

    def __radd__(self, other: float) -> Kernel:
        return _combine(Sum, Constant(other) if is_number(other) else other, self)

    def __mul__(self, other: Kernel | float) -> Kernel:
        return _combine(Product, self, other) if isinstance(other, Kernel) else Scaled(other, self.copy())

    def __rmul__(self, other: float) -> Kernel:
        return Scaled(other, self.copy())

    def __pow__(self, exponent: int) -> Kernel:
        return Power(self.copy(), exponent)

    def normalized(self) -> Kernel:
        """Return the kernel divided by the root of both self-kernels, so that a tree compares with itself as 1."""
        return Normalized(self.copy())

    def on(self, view: str) -> Kernel:
        """Return the kernel applied to one view of ``Examples``."""
        return OnView(self.copy(), view)


class _Pair(Kernel):
    """A kernel made of two others."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1, self.k2 = k1, k2
        self._validate()

    def _validate(self) -> None:
        for name in ("k1", "k2"):
            _check_kernel(getattr(self, name), name)

    def _arrays(self) -> int:
        return max(self.k1._arrays(), 1 + self.k2._arrays())

    def _bind(self, X: Any) -> Kernel:
        return type(self)(self.k1._bind(X), self.k2._bind(X))


class Sum(_Pair):
    """The sum of two kernels; written ``k1 + k2``."""

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        K = changeable(self.k1._gram(X, Y))
        K += self.k2._gram(X, Y)
        return K

    def _diag(self, X: Any) -> Matrix:
        return self.k1._diag(X) + self.k2._diag(X)

    def _pairwise(self, X: Any) -> Matrix:
        return self.k1._pairwise(X) + self.k2._pairwise(X)

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        first, second = self.k1._expansion(X, weights), self.k2._expansion(X, weights)
        return lambda Y: first(Y) + second(Y)

    def _parts(self, X: Any, weights: Matrix) -> list[Part]:
        return self.k1._parts(X, weights) + self.k2._parts(X, weights)

    def __repr__(self) -> str:
        right = f"({self.k2!r})" if isinstance(self.k2, Sum) else repr(self.k2)
        return f"{self.k1!r} + {right}"


class Product(_Pair):
    """The product of two kernels, value by value; written ``k1 * k2``."""

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        K = changeable(self.k1._gram(X, Y))
        K *= self.k2._gram(X, Y)
        return K

    def _diag(self, X: Any) -> Matrix:
        return self.k1._diag(X) * self.k2._diag(X)

    def _pairwise(self, X: Any) -> Matrix:
        return self.k1._pairwise(X) * self.k2._pairwise(X)

    def __repr__(self) -> str:
        left = f"({self.k1!r})" if isinstance(self.k1, Sum) else repr(self.k1)
        right = f"({self.k2!r})" if isinstance(self.k2, (Sum, Product, Scaled)) else repr(self.k2)
        return f"{left} * {right}"


class Scaled(Kernel):
    """A kernel times a number; written ``weight * kernel``."""

    def __init__(self, weight: float, kernel: Kernel) -> None:
        self.weight, self.kernel = weight, kernel
        self._validate()

    def _validate(self) -> None:
        _check_number(self.weight, "weight", "a finite number of at least 0, so that the kernel stays one")
        _check_kernel(self.kernel, "kernel")

    def _arrays(self) -> int:
        return self.kernel._arrays()

    def _bind(self, X: Any) -> Kernel:
        return Scaled(self.weight, self.kernel._bind(X))

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        K = changeable(self.kernel._gram(X, Y))
        K *= self.weight
        return K

    def _diag(self, X: Any) -> Matrix:
        return self.weight * self.kernel._diag(X)

    def _pairwise(self, X: Any) -> Matrix:
        return self.weight * self.kernel._pairwise(X)

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        return self.kernel._expansion(X, self.weight * weights)

    def _parts(self, X: Any, weights: Matrix) -> list[Part]:
        return self.kernel._parts(X, self.weight * weights)

    def __repr__(self) -> str:
        part = repr(self.kernel)
        return f"{as_written(self.weight)} * {f'({part})' if isinstance(self.kernel, (Sum, Product, Scaled)) else part}"


class Power(Kernel):
    """A kernel raised to a whole power, value by value; written ``kernel ** exponent``."""

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        self.kernel, self.exponent = kernel, exponent
        self._validate()

    def _validate(self) -> None:
        _check_kernel(self.kernel, "kernel")
        exponent = self.exponent
        if isinstance(exponent, bool) or not isinstance(exponent, (int, np.integer)) or exponent < 1:
            raise ParameterError(f"exponent must be an integer of at least 1, got {self.exponent!r}.")

    def _arrays(self) -> int:
        return self.kernel._arrays()

    def _bind(self, X: Any) -> Kernel:
        return Power(self.kernel._bind(X), self.exponent)

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        K = changeable(self.kernel._gram(X, Y))
        return np.power(K, self.exponent, out=K)

    def _diag(self, X: Any) -> Matrix:
        return np.asarray(self.kernel._diag(X) ** self.exponent)

    def _pairwise(self, X: Any) -> Matrix:
        return np.asarray(self.kernel._pairwise(X) ** self.exponent)

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)} ** {as_written(self.exponent)}"


class Normalized(Kernel):
    """A kernel divided by the square roots of both self-kernels; written ``kernel.normalized()``.

    Where a self-kernel is 0 the value is 0, and one warning names the elements. No value is above 1 or below -1, and
    what is within 1e-14 of these is made equal to them, which is what rounding leaves between equal examples; so
    ``sqrt(2 - 2 * k)`` is always a distance. A warning tells where a kernel that is not positive semi-definite would
    have passed the bounds by more.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._validate()

    def _validate(self) -> None:
        _check_kernel(self.kernel, "kernel")

    def _arrays(self) -> int:
        return self.kernel._arrays()

    def _bind(self, X: Any) -> Kernel:
        return Normalized(self.kernel._bind(X))

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        K = changeable(self.kernel._gram(X, Y))
        if Y is None:
            left = right = self._scale(np.ascontiguousarray(np.diagonal(K)))
        else:
            left, right = self._scale(self.kernel._diag(X), side="X"), self._scale(self.kernel._diag(Y), side="Y")
        beyond = 0
        # In blocks, to save memory.
        for start in range(0, len(K), 64):
            block = K[start : start + 64]
            _multiply(block, left[start : start + 64, None], right)
            beyond += _bound(block)
        if Y is None:
            np.fill_diagonal(K, left > 0)
        self._warn_beyond(beyond, left, right)
        return K

    def _diag(self, X: Any) -> Matrix:
        return (self._scale(self.kernel._diag(X)) > 0).astype(np.float64)

    def _pairwise(self, X: Any) -> Matrix:
        half = X.shape[0] // 2
        values, diagonal = self.kernel._pairwise_and_diag(X)
        for part, side in ((diagonal[:half], "X"), (diagonal[half:], "Y")):
            check_diagonal(part, side)
        values, scale = changeable(values), self._scale(diagonal)
        _multiply(values, scale[:half], scale[half:])
        self._warn_beyond(_bound(values), scale)
        return values

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        inner = self.kernel._expansion(X, self._support_scale(X)[:, None] * weights)
        return lambda Y: inner(Y) * self._scale(self.kernel._diag(Y))[:, None]

    def _parts(self, X: Any, weights: Matrix) -> list[Part]:
        inner = self.kernel._parts(X, self._support_scale(X)[:, None] * weights)
        return [part.times(lambda Y: self._scale(self.kernel._diag(Y))) for part in inner]

    def _support_scale(self, X: Any) -> Matrix:
        """Return the factors of support examples, which training has warned about already."""
        return self._scale(self.kernel._diag(X), warn=False)

    def _warn_beyond(self, count: int, *scales: Matrix) -> None:
        # Self-kernels close to the smallest number have few digits left, so that they prove nothing.
        if count and max(scale.max(initial=0.0) for scale in scales) < 1e150:
            warnings.warn(
                f"{count} of the values of {self!r} were outside [-1, 1] by more than rounding and were set to its "
                "ends: the kernel is not positive semi-definite on these examples.",
                stacklevel=levels_to_user(),
            )

    @staticmethod
    def _scale(diagonal: Matrix, *, warn: bool = True, side: str = "") -> Matrix:
        diagonal = np.asarray(diagonal, dtype=np.float64)
        check_diagonal(diagonal, side)
        empty = np.flatnonzero(diagonal <= 0)
        if len(empty) and warn:
            listed = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
            warnings.warn(
                f"{len(empty)} of {len(diagonal)} elements share nothing even with themselves (positions {listed}): "
                "their normalized kernel is 0 with everything. They are usually single leaves.",
                stacklevel=levels_to_user(),
            )
        scale = np.zeros_like(diagonal)
        np.divide(
            1.0,
            np.sqrt(diagonal, where=diagonal > 0, out=np.ones_like(diagonal)),
            where=diagonal > 0,
            out=scale,
        )
        return scale

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)}.normalized()"


class OnView(Kernel):
    """A kernel on one view of ``Examples``; written ``kernel.on(view)``."""

    def __init__(self, kernel: Kernel, view: str) -> None:
        self.kernel, self.view = kernel, view
        self._validate()

    def _validate(self) -> None:
        _check_kernel(self.kernel, "kernel")
        if not isinstance(self.view, str):
            raise ParameterError(f"view must be the name of a view, got {self.view!r}.")

    def _arrays(self) -> int:
        return self.kernel._arrays()

    def _pick(self, X: Any) -> Any:
        if not isinstance(X, Examples):
            raise DataError(f"the kernel is on the view {self.view!r}, so it needs Examples, not {type(X).__name__}.")
        return X[self.view]

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

    def _parts(self, X: Any, weights: Matrix) -> list[Part]:
        return [part.on(self.view) for part in self.kernel._parts(self._pick(X), weights)]

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)}.on({self.view!r})"


class Constant(Kernel):
    """The same value for every pair; what a number becomes in ``kernel + number``."""

    def __init__(self, value: float) -> None:
        self.value = value
        self._validate()

    def _validate(self) -> None:
        _check_number(self.value, "value", "a finite number of at least 0")

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


def changeable(values: Matrix) -> Matrix:
    """Return values that can be changed in place: copies of integers, and of what belongs to someone else."""
    return np.require(values, np.float64, ["WRITEABLE", "OWNDATA"])


def _multiply(values: Matrix, left: Matrix, right: Matrix) -> None:
    """Multiply values by two factors each, joined first, which makes a Gram matrix symmetric to the last bit."""
    if float(left.max(initial=0.0)) * float(right.max(initial=0.0)) < np.inf:
        values *= left * right
        return
    # Somewhere both self-kernels are tiny, and so is the value: there a power of two goes from the factors to it.
    with np.errstate(over="ignore"):
        factors = left * right
    huge = np.isinf(factors)
    shift = 2.0**266
    factors[huge] = ((left / shift) * (right / shift))[huge]
    values[huge] *= shift**2
    values *= factors


def _bound(values: Matrix) -> int:
    """Keep normalised values in [-1, 1]; return how many were outside by more than rounding."""
    # Values of equal trees differ from their self-kernels by some twenty units in the last place, since sums are taken
    # in another order.
    one = 1.0 - 1e-14
    beyond = 0
    highest, lowest = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    if max(highest, -lowest) > 1.0 + 1e-9:
        beyond = int((np.abs(values) > 1.0 + 1e-9).sum())
    if highest > one:
        np.copyto(values, 1.0, where=values > one)
    if lowest < -one:
        np.copyto(values, -1.0, where=values < -one)
    return beyond


def _quietly() -> Any:
    """Keep numpy from warning of values that are too large: they are an error, which names the examples."""
    return np.errstate(over="ignore", invalid="ignore")


def _check_number(value: object, name: str, expected: str) -> None:
    if not is_finite(value) or value < 0:
        raise ParameterError(f"{name} must be {expected}; got {value!r}.")


def _check_kernel(value: object, name: str) -> None:
    if not isinstance(value, Kernel):
        raise ParameterError(f"{name} must be a kernel, got {value!r}.")


def _combine(kind: type[_Pair], left: Any, right: Any) -> Kernel:
    if is_number(right):
        right = Constant(right)
    if not isinstance(left, Kernel) or not isinstance(right, Kernel):
        return NotImplemented  # type: ignore[no-any-return]
    return kind(left.copy(), right.copy())


def _atom(kernel: Kernel) -> str:
    text = repr(kernel)
    return f"({text})" if isinstance(kernel, (Sum, Product, Scaled, Power)) else text
