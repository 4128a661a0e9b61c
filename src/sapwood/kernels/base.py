"""The kernel protocol: the methods that a kernel defines, and what every kernel can then do.

A kernel is a stateless value: parameters in, numbers out. One class with ``_gram`` is a kernel; everything else has a
default. How examples are checked and compared block by block is in ``evaluation``, sums and products of kernels are in
``algebra``, and kernels on particular data live in modules of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from inspect import isabstract
from typing import TYPE_CHECKING, Any, Self

from sapwood.checks import is_number
from sapwood.errors import ParameterError
from sapwood.kernels import evaluation, neighbors
from sapwood.kernels.data import as_data, detached
from sapwood.kernels.evaluation import Expansion, Matrix
from sapwood.kernels.naming import named_parts, spelled_out
from sapwood.kernels.neighbors import Neighbors
from sapwood.kernels.parameters import Parametrized
from sapwood.kernels.terms import Term

if TYPE_CHECKING:
    from sapwood.kernels.attribution import Attribution
    from sapwood.kernels.explain import KernelExplanation
    from sapwood.kernels.word_pairs import WordPair

__all__ = ["Expansion", "Kernel", "Matrix"]


class Kernel(Parametrized, ABC):
    """Base of all kernels: ``k(X)``, ``k(X, Y)``, ``k.diag(X)``, and ``+``, ``*``, ``**`` between kernels.

    Subclasses keep each constructor argument under its own name, as scikit-learn's estimators do, check it in
    ``_validate``, and define ``_gram``. See "Write your own kernel" in the manual.
    """

    # What subclasses define. X and Y have passed as_data. Results are new arrays, since other kernels change them.

    @abstractmethod
    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        """Compare the examples of X with those of Y; None stands for X."""

    def _diag(self, X: Any) -> Matrix:
        """Compare every example with itself."""
        return evaluation.diagonal_in_blocks(self, X)

    def _pairwise(self, X: Any) -> Matrix:
        """Compare the first half of X with the second, element by element."""
        return evaluation.pairs_in_blocks(self, X)

    def _pairwise_and_diag(self, X: Any) -> tuple[Matrix, Matrix]:
        """Do both, which normalization wants; kernels that prepare much for either prepare it once."""
        return self._pairwise(X), self._diag(X)

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        """Return the function Y -> k(Y, X) @ weights."""
        return evaluation.expansion_in_blocks(self, X, weights)

    def _bind(self, X: Any) -> Kernel:
        """Return the kernel with everything learnt that it takes from training data."""
        return self

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        """Compile what says which nodes the outputs k(Y, X) @ weights come from; None if they do not come from nodes.

        This is the one method by which a kernel takes part in explanations; see ``sapwood.kernels.attribution``.
        """
        return None

    def _rows(self, X: Any, Y: Any, factors: Matrix, cache_bytes: int) -> Any:
        """Return a native source of rows of k(X, Y), times the factors of both sides, that computes one when asked."""

    def _kept(self, X: Any, rows: Any) -> Any:
        """Return some training examples in the form in which others are compared with them later."""
        return detached(X, rows)

    def _comparable(self, X: Any) -> Any:
        """Return examples in a form in which equal ones are stored the same way."""
        return X

    def _arrays(self) -> int:
        """Return how many arrays of the result's size are alive at once."""
        return 1

    def _reserved_labels(self) -> set[str]:
        """Return labels that the kernel knows by name; where they stand on leaves, these are not taken for words."""
        return {label for kernel in self._kernels() for label in kernel._reserved_labels()}

    # Properties of its values that a class may declare, so that faster code is used. They hold for the class that
    # declares them and not for its subclasses, which may compute something else and have to declare them again.

    _DECLARED = (
        "compares_words_by_equality", "ignores_words", "largest_on_diagonal", "never_negative", "_dot_form",
    )  # fmt: skip

    # Whether fragments may leave out children of a node.
    leaves_out_children: bool = False

    @property
    def never_negative(self) -> bool:
        """Whether no value is below 0."""
        return False

    @property
    def largest_on_diagonal(self) -> bool:
        """Whether no two examples have a larger value than one of them has with itself."""
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

    # What every kernel can do.

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """Compare every element of X with every element of Y, or of X with itself.

        Parameters
        ----------
        X, Y : TreeArray, Examples, list of trees or strings, matrix, or one tree
            What to compare. With a single tree on both sides the value is a float, with one on one side the result has
            one dimension.

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
        return evaluation.gram(self, X, Y)

    def diag(self, X: Any) -> Matrix:
        """Compare every element with itself: the diagonal of ``k(X)`` without the rest."""
        return evaluation.diagonal(self, X)

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
        return evaluation.pairs(self, X, Y)

    def distance(self, X: Any, Y: Any = None) -> Any:
        """Return how far apart examples are in the space of the kernel: ``sqrt(k(x, x) + k(y, y) - 2 k(x, y))``.

        Takes and returns what calling the kernel does. What rounding leaves of a distance of 0 is made 0.

        Examples
        --------
        >>> from sapwood.kernels import SubsetTree
        >>> k = SubsetTree(decay=1.0)
        >>> k.distance("(NP (DT a) (NN dog))", ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"]).round(3)
        array([0.   , 2.449])
        """
        return neighbors.distance(self, X, Y)

    def nearest(self, query: Any, X: Any, k: int = 5) -> Neighbors:
        """Find the k examples of X at the smallest distance of each query, by comparing it with all of them.

        Parameters
        ----------
        query : a tree, or examples
        X : array of examples
            Where to look.
        k : int
            How many; all of X if there are fewer.

        Returns
        -------
        Neighbors
            ``positions`` in X, nearest first, with their ``distances`` and kernel ``values``: one row per query, or one
            dimension for a single tree. Of equal distances the first in X comes first.

        Examples
        --------
        >>> from sapwood.kernels import SubsetTree
        >>> X = ["(NP (NN dog))", "(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"]
        >>> found = SubsetTree().normalized().nearest("(NP (DT the) (NN dog))", X, k=2)
        >>> found.positions, found.values.round(3)
        (array([1, 0]), array([0.606, 0.324]))
        """
        return neighbors.nearest(self, query, X, k)

    def alignment(self, X: Any, y: Any) -> float:
        """Return how well the kernel fits targets, between -1 and 1: the centred alignment of Cortes et al. (2012).

        It is the cosine between the centred Gram matrix and that of the targets: two examples with the same label have
        1, others 0, and numbers their product. See ``sapwood.learn.choose_kernel`` to maximise it.

        Parameters
        ----------
        X : array of examples
        y : array of labels or numbers

        Examples
        --------
        >>> from sapwood.kernels import SubsetTree
        >>> X = ["(S (WH who) (V ran))", "(S (WH who) (V sat))", "(S (N he) (V ran))", "(S (N he) (V sat))"]
        >>> round(SubsetTree().normalized().alignment(X, ["ask", "ask", "tell", "tell"]), 3)
        0.898
        """
        from sapwood.kernels.alignment import kernel_alignment

        return kernel_alignment(self, X, y)

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
        return evaluation.expansion(self, X, weights)

    def bind(self, X: Any) -> Kernel:
        """Return a copy of the kernel with everything learnt that it takes from training data; most learn nothing."""
        return self._bind(as_data(X)).copy()

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

    def _word_pairs(self, left: Any, right: Any) -> list[WordPair]:
        """Return which words of two elements carry their value; only kernels that look into words know."""
        return []

    def summands(self) -> list[tuple[float, Kernel]]:
        """Return the kernels that this one adds up, with their weights; one that adds up none is its own summand."""
        return [(1.0, self)]

    def factors(self) -> list[Kernel]:
        """Return the kernels whose product this one is; one that multiplies none is its own factor."""
        return [self]

    def terms(self) -> list[Term]:
        """Write the kernel as a sum of simpler ones, each with its weight, its view and what it is normalized by.

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

    def copy(self) -> Self:
        """Return the same kernel, of which nothing changes when parameters of this one are set.

        Kernels that are its attributes are copied too; all else is shared.
        """
        result = type(self).__new__(type(self))
        for name, value in vars(self).items():
            setattr(result, name, value.copy() if isinstance(value, Kernel) else value)
        return result

    # The algebra. A part is copied, so that setting a parameter of one sum does not change another.

    def __add__(self, other: Kernel | float) -> Kernel:
        if is_number(other):
            other = _make("Constant", other)
        return _make("Sum", self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: float) -> Kernel:
        return _make("Sum", _make("Constant", other), self) if is_number(other) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        return _make("Product", self, other) if isinstance(other, Kernel) else _make("Scaled", other, self)

    def __rmul__(self, other: float) -> Kernel:
        return _make("Scaled", other, self)

    def __pow__(self, exponent: int) -> Kernel:
        return _make("Power", self, exponent)

    def normalized(self) -> Kernel:
        """Return the kernel divided by the root of both self-kernels, so that a tree compares with itself as 1."""
        return _make("Normalized", self)

    def named(self, name: str) -> Kernel:
        """Return the same kernel with a name, by which its parameters are found in sums and searches.

        Examples
        --------
        >>> from sapwood.kernels import Linear, SubsetTree
        >>> kernel = 0.5 * SubsetTree().normalized().named("tree") + Linear().on("words")
        >>> kernel.set_params(tree__decay=0.2, tree__weight=0.7)
        0.7 * SubsetTree(decay=0.2).normalized().named('tree') + Linear().on('words')
        """
        return _make("Named", self, name)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; with ``deep`` those of parts too, as ``part__parameter`` and by short names.

        In ``0.5 * SubsetTree().normalized().on("tree") + Linear().on("words")``, the decay is ``tree__decay`` and its
        weight ``tree__weight``: a part has the name that ``named`` gives it, else that of its view, else that of its
        class in small letters (``subsettree__decay``).
        """
        params = super().get_params(deep)
        if deep:
            for name, part in named_parts(self).items():
                params[name] = part.kernel
                params |= {f"{name}__{key}": params[path] for key, path in part.around.items()}
                params |= {f"{name}__{key}": value for key, value in part.kernel._full_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters by the names that ``get_params`` gives; a refused value changes nothing."""
        full = {key: spelled_out(self, key) for key in params}
        for key, name in full.items():
            # The same value under two names, as get_params gives it, is no contradiction.
            same = (params[one] for one, other in full.items() if other == name)
            if any(value is not params[key] and value != params[key] for value in same):
                raise ParameterError(f"{key} and another name are the same parameter, {name}; keep one.")
        return super().set_params(**{full[key]: value for key, value in params.items()})

    def _heads(self) -> tuple[str, ...]:
        return (*named_parts(self), *self._names())

    def on(self, view: str) -> Kernel:
        """Return the kernel applied to one view of ``Examples``."""
        return _make("OnView", self, view)


def _make(kind: str, *parts: Any) -> Kernel:
    """Make a combination of copies of kernels. Combinations are kernels, so their module imports this one."""
    from sapwood.kernels import algebra

    made: Kernel = getattr(algebra, kind)(*(part.copy() if isinstance(part, Kernel) else part for part in parts))
    return made
