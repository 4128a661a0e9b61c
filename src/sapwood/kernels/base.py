"""The algebra of kernels: what every kernel can do, and how kernels are combined.

A kernel is a stateless value: parameters in, numbers out. ``+``, ``*``, ``**``, scalars, ``normalized()`` and
``on(view)`` build larger kernels; ``repr`` of the result reads back as the same kernel. Kernels on particular data
live in modules of their own.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import isabstract
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sapwood.callers import levels_to_user
from sapwood.checks import check_amount, check_count, is_number
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.attribution import Attribution
from sapwood.kernels.data import as_data, is_single, join, pick_view
from sapwood.kernels.finite import check_diagonal, check_finite, check_gram, check_pairs
from sapwood.kernels.memory import require
from sapwood.kernels.parameters import Parametrized, as_written
from sapwood.kernels.terms import Norm, Term, normalizing_scale
from sapwood.trees.array import TreeArray

if TYPE_CHECKING:
    from sapwood.kernels.explain import KernelExplanation

__all__ = ["Constant", "Kernel", "Normalized", "OnView", "Power", "Product", "Scaled", "Sum", "as_data", "join"]

Matrix = NDArray[np.float64]
Expansion = Callable[[Any], Matrix]


class Kernel(Parametrized, ABC):
    """Base of all kernels: ``k(X)``, ``k(X, Y)``, ``k.diag(X)`` and the algebra.

    Subclasses keep each constructor argument under its own name, as scikit-learn's estimators do, and check it in
    ``_validate``. They define ``_gram``; everything else has a default. See "Write your own kernel" in the manual.
    """

    # Properties of its values that a class may declare, so that faster code is used. They hold for the class that
    # declares them and not for its subclasses, which may compute something else and have to declare them again.
    _DECLARED = ("compares_words_by_equality", "ignores_words", "never_negative", "_dot_form")

    # Whether fragments may leave out children of a node.
    leaves_out_children: bool = False

    @property
    def never_negative(self) -> bool:
        """Whether no value is below 0."""
        return False

    @property
    def compares_words_by_equality(self) -> bool:
        """Whether values stay the same when words are renamed one to one, ``_reserved_labels`` left alone."""
        return False

    def ignores_words(self, parents: frozenset[str]) -> bool:
        """Return whether words under nodes with these labels make no difference at all."""
        return False

    def _dot_form(self) -> tuple[float, float, int] | None:
        """Return s, c and d of a kernel that is (s·⟨x, y⟩ + c)^d between the rows of a matrix; None for others."""
        return None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if any(issubclass(base, Kernel) and not isabstract(base) for base in cls.__bases__):
            for name in Kernel._DECLARED:
                if name not in vars(cls):
                    setattr(cls, name, vars(Kernel)[name])

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

    # How a kernel is taken apart.

    def summands(self) -> list[tuple[float, Kernel]]:
        """Return the kernels that this one adds up, with their weights; one that adds up none is its own summand."""
        return [(1.0, self)]

    def factors(self) -> list[Kernel]:
        """Return the kernels whose product this one is; one that multiplies none is its own factor."""
        return [self]

    def terms(self) -> list[Term]:
        """Write the kernel as a sum of simpler ones, each with its weight, its view and what it is normalised by.

        Examples
        --------
        >>> from sapwood.kernels import Linear, SubsetTree
        >>> for term in (0.6 * SubsetTree().normalized().on("tree") + Linear().on("flat")).terms():
        ...     print(term.weight, term.kernel, term.view, [norm.kernel for norm in term.norms])
        0.6 SubsetTree(decay=0.4) tree [SubsetTree(decay=0.4)]
        1.0 Linear() flat []
        """
        found = self.summands()
        if found[0][1] is self:
            return [Term(1.0, self)]
        return [replace(term, weight=weight * term.weight) for weight, kernel in found for term in kernel.terms()]

    def views(self) -> set[str]:
        """Return the names of the views that the kernel looks at; none if it compares examples as they are."""
        return {view for kernel in self._kernels() for view in kernel.views()}

    def _kernels(self) -> list[Kernel]:
        """Return the kernels among the parameters."""
        return [value for value in self.get_params(deep=False).values() if isinstance(value, Kernel)]

    def _reserved_labels(self) -> set[str]:
        """Return labels that the kernel knows by name; where they stand on leaves, these are not taken for words."""
        return {label for kernel in self._kernels() for label in kernel._reserved_labels()}

    # What subclasses define. X and Y have passed as_data. Results are new arrays, since other kernels change them.

    @abstractmethod
    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        """Compare the examples of X with those of Y; None stands for X."""

    def _diag(self, X: Any) -> Matrix:
        blocks = (X[start : start + 16] for start in range(0, X.shape[0], 16))
        return np.concatenate([np.zeros(0), *(np.diagonal(self._gram(block, None)) for block in blocks)])

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

    def _comparable(self, X: Any) -> Any:
        """Return examples in a form in which equal ones are stored alike."""
        return X

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


class _Pair(_Combination):
    """A kernel made of two others."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1, self.k2 = k1, k2
        self._validate()


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

    def summands(self) -> list[tuple[float, Kernel]]:
        """Return those of both kernels."""
        return self.k1.summands() + self.k2.summands()

    def __repr__(self) -> str:
        right = f"({self.k2!r})" if isinstance(self.k2, Sum) else repr(self.k2)
        return f"{self.k1!r} + {right}"


class Product(_Pair):
    """The product of two kernels, value by value; written ``k1 * k2``."""

    def factors(self) -> list[Kernel]:
        """Return those of both kernels."""
        return self.k1.factors() + self.k2.factors()

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


class Scaled(_Combination):
    """A kernel times a number; written ``weight * kernel``."""

    def __init__(self, weight: float, kernel: Kernel) -> None:
        self.weight, self.kernel = weight, kernel
        self._validate()

    def _validate(self) -> None:
        check_amount(self.weight, "weight")
        super()._validate()

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

    def summands(self) -> list[tuple[float, Kernel]]:
        """Return those of the kernel, times the weight."""
        return [(float(self.weight) * weight, kernel) for weight, kernel in self.kernel.summands()]

    def __repr__(self) -> str:
        part = repr(self.kernel)
        return f"{as_written(self.weight)} * {f'({part})' if isinstance(self.kernel, (Sum, Product, Scaled)) else part}"


class Power(_Combination):
    """A kernel raised to a whole power, value by value; written ``kernel ** exponent``."""

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        self.kernel, self.exponent = kernel, exponent
        self._validate()

    def _validate(self) -> None:
        super()._validate()
        check_count(self.exponent, "exponent", most=None)

    def factors(self) -> list[Kernel]:
        """Return those of the kernel as often as the exponent says."""
        return self.kernel.factors() * int(self.exponent)

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        K = changeable(self.kernel._gram(X, Y))
        return np.power(K, self.exponent, out=K)

    def _diag(self, X: Any) -> Matrix:
        return np.asarray(self.kernel._diag(X) ** self.exponent)

    def _pairwise(self, X: Any) -> Matrix:
        return np.asarray(self.kernel._pairwise(X) ** self.exponent)

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
        if isinstance(inner, OnView):
            # Within its view, where a table of values can be normalised as a whole.
            return OnView(Normalized(inner.kernel), inner.view).terms()
        if isinstance(inner, Normalized) or (isinstance(inner, Scaled) and inner.weight > 0):
            # Factors cancel out.
            return Normalized(inner.kernel).terms()
        return [replace(term, norms=(Norm(inner, None), *term.norms)) for term in inner.terms()]

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        K = changeable(self.kernel._gram(X, Y))
        if Y is None:
            left = right = normalizing_scale(np.ascontiguousarray(np.diagonal(K)))
        else:
            left = normalizing_scale(self.kernel._diag(X), side="X")
            right = normalizing_scale(self.kernel._diag(Y), side="Y")
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
        return (normalizing_scale(self.kernel._diag(X)) > 0).astype(np.float64)

    def _pairwise(self, X: Any) -> Matrix:
        half = X.shape[0] // 2
        values, diagonal = self.kernel._pairwise_and_diag(X)
        for part, side in ((diagonal[:half], "X"), (diagonal[half:], "Y")):
            check_diagonal(part, side)
        values, scale = changeable(values), normalizing_scale(diagonal)
        _multiply(values, scale[:half], scale[half:])
        self._warn_beyond(_bound(values), scale)
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
        # A view has no views itself; whoever evaluates the kernel is told so.
        return [Term(1.0, self)] if self.kernel.views() else [term.on(self.view) for term in inner]

    def views(self) -> set[str]:
        """Return the view."""
        return {self.view}

    def __repr__(self) -> str:
        return f"{_atom(self.kernel)}.on({self.view!r})"


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


def _combine(kind: type[_Pair], left: Any, right: Any) -> Kernel:
    if is_number(right):
        right = Constant(right)
    if not isinstance(left, Kernel) or not isinstance(right, Kernel):
        return NotImplemented  # type: ignore[no-any-return]
    return kind(left.copy(), right.copy())


def _atom(kernel: Kernel) -> str:
    text = repr(kernel)
    return f"({text})" if isinstance(kernel, (Sum, Product, Scaled, Power)) else text
