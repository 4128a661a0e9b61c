"""Why two trees are as similar as they are: the fragments they share, and what each is worth.

Also here: ``WeightedFragment`` and how a score is gathered from the terms of a kernel, which explanations of decisions
use too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from sapwood.checks import check_count
from sapwood.draw.html import fragment_table, panel
from sapwood.draw.linked import linked_svg
from sapwood.draw.picture import Picture
from sapwood.draw.places import fragment_places
from sapwood.draw.svg import weighted_svg
from sapwood.draw.text import cut, wrapped
from sapwood.errors import DataError
from sapwood.kernels.attribution import Attribution, Matrix
from sapwood.kernels.data import as_data
from sapwood.kernels.normalization import Scales
from sapwood.kernels.terms import Term
from sapwood.kernels.word_pairs import WordPair
from sapwood.trees.array import TreeArray
from sapwood.trees.convert import is_nltk
from sapwood.trees.examples import Examples
from sapwood.trees.tree import Tree

if TYPE_CHECKING:
    from sapwood.kernels.base import Kernel

__all__ = [
    "INEXACT",
    "CompiledTerm",
    "KernelExplanation",
    "WeightedFragment",
    "compile_terms",
    "explain_kernel",
    "fragment_lines",
    "fragment_rows",
    "one_example",
    "search",
]

INEXACT = "  the search met its limit: there may be heavier fragments"


@dataclass(frozen=True)
class WeightedFragment:
    """A fragment and what it adds.

    Attributes
    ----------
    tree : Tree
        The fragment; its leaves are words, or labels where it is cut off.
    weight : float
        What it adds to the value, all its occurrences together.
    count : float
        How often the example holds it; NaN where no example is concerned, and for partial trees, which fit in many
        ways of different worth.
    kernel : str
        The kernel it belongs to, if there are several.
    view : str, optional
        The view of ``Examples`` it is found in.
    other : Tree, optional
        Where two trees are compared by a kernel that looks into words or grammars: the fragment of the second tree
        that this one is like. It has the same shape; words and tags may differ.
    deleted, other_deleted : tuple of str
        Labels of the children that were left out to get this fragment, and the other, in the way that costs least.
    gapped : bool
        Whether fragments of the kernel may leave out children at all.
    """

    tree: Tree
    weight: float
    count: float
    kernel: str
    view: str | None = None
    other: Tree | None = None
    deleted: tuple[str, ...] = ()
    other_deleted: tuple[str, ...] = ()
    gapped: bool = False

    def __str__(self) -> str:
        """Write the fragment, what was left out, and the other fragment where it is not the same."""
        text = _without(self.tree, self.deleted)
        if self.other is None or (self.other == self.tree and not (self.deleted or self.other_deleted)):
            return text
        return f"{text} ~ {_without(self.other, self.other_deleted)}"


def _without(tree: Tree, deleted: tuple[str, ...]) -> str:
    return f"{tree} without {' '.join(deleted)}" if deleted else str(tree)


def fragment_lines(
    fragments: Sequence[WeightedFragment], numbers: Callable[[WeightedFragment], str], width: int
) -> list[str]:
    """Write one line per fragment, its numbers first; at its end stands where it was found if that is not the same."""
    several = len({(fragment.kernel, fragment.view) for fragment in fragments}) > 1
    places = [f"  [{fragment.view or fragment.kernel}]" if several else "" for fragment in fragments]
    return [cut(f"{numbers(one)}  {one}{place}", width) for one, place in zip(fragments, places, strict=True)]


def fragment_rows(fragments: Sequence[WeightedFragment]) -> list[tuple[float, str, str]]:
    """Return the rows of a table of fragments: weight, fragment, view."""
    return [(fragment.weight, str(fragment), fragment.view or "") for fragment in fragments]


# Trees with more nodes are not drawn: the fragments are looked for node by node.
_LARGEST = 300


@dataclass(frozen=True, repr=False)
class KernelExplanation:
    """The value of a kernel for two trees, and the fragments behind it.

    ``value`` is the sum of the weights of ``fragments``, of ``remainder`` and of the values in ``others``.

    Attributes
    ----------
    kernel : Kernel
    value : float
        ``kernel(a, b)``.
    fragments : tuple of WeightedFragment
        The heaviest fragments that both trees hold, heaviest first; ``count`` is the number in the first tree.
    remainder : float
        The weight of all other shared fragments together.
    others : tuple of (str, float)
        Parts of the kernel that are no sums over fragments, such as products, with their values.
    exact : bool
        False if the search for fragments met its limit, so that heavier ones may be among the remainder.
    words : tuple of WordPair
        For kernels that look into words: the words that stand for each other, heaviest first. Their weights do not add
        up to the value.
    trees : pair of Tree, optional
        What is compared, if it is one tree with another.
    """

    kernel: Kernel
    value: float
    fragments: tuple[WeightedFragment, ...]
    remainder: float
    others: tuple[tuple[str, float], ...]
    exact: bool
    words: tuple[WordPair, ...] = ()
    trees: tuple[Tree, Tree] | None = None

    def to_text(self, *, width: int = 80) -> str:
        """Write the explanation as lines of at most ``width`` characters."""
        lines = wrapped(f"{self.kernel!r} = {self.value:.6g}", width)
        if self.fragments:
            lines.append(f"{'weight':>12}  fragment")
        lines += fragment_lines(self.fragments, lambda fragment: f"{fragment.weight:12.6g}", width)
        if not self.fragments and not self.others and not self.remainder:
            lines.append("  the trees share no fragment")
        elif self.remainder:
            lines.append(f"{self.remainder:12.6g}  all other fragments")
        for kernel, value in self.others:
            lines += wrapped(f"{value:12.6g}  {kernel}, which has no fragments", width)
        if not self.exact:
            lines.append(INEXACT)
        if self.words:
            lines.append(f"{'loss without':>12}  similar words")
        lines += [cut(f"{pair.weight:12.6g}  {pair}, {pair.similarity:.3g}", width) for pair in self.words]
        return "\n".join(lines)

    def svg(self) -> Picture:
        """Draw the two trees with lines between the words that stand for each other, strong where they weigh much."""
        if self.trees is None:
            raise DataError("only one tree compared with another can be drawn, not examples of several views or bags.")
        return linked_svg(*self.trees, [(pair.first, pair.second, pair.weight) for pair in self.words])

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """Return a piece of HTML: both trees where words are similar, and a table of fragments."""
        rest = [(self.remainder, "all other fragments")] if self.remainder else []
        rest += [(value, f"{kernel}, which has no fragments") for kernel, value in self.others]
        pictures = [f"<div>{self.svg()}</div>"] if self.words and self.trees is not None else self._shared()
        table = fragment_table(fragment_rows(self.fragments), rest)
        return panel(f"{self.kernel!r} = {self.value:.6g}", [*pictures, table])

    def _shared(self) -> list[str]:
        """Draw both trees, nodes colored by the fragments that both have, and the heaviest of these framed."""
        if self.trees is None or max(tree.size() for tree in self.trees) > _LARGEST:
            return []
        heaviest = [fragment.weight for fragment in self.fragments[:2]]
        alone = len(heaviest) == 1 or (len(heaviest) == 2 and heaviest[0] > heaviest[1] * (1 + 1e-9))
        pictures = []
        for side, tree in enumerate(self.trees):
            weights, marked = [0.0] * tree.size(), []
            for number, fragment in enumerate(self.fragments):
                found = fragment.other if side and fragment.other is not None else fragment.tree
                places = fragment_places(tree, found, gaps=fragment.gapped, limit=1)
                for node in places[0] if places else ():
                    weights[node] += fragment.weight
                marked += places[0] if places and not number and alone else []
            pictures.append(f'<div style="min-width:0">{weighted_svg(tree, weights, marked=marked)}</div>')
        return [f'<div style="display:flex;flex-wrap:wrap;gap:2em;padding:.5em 0">{"".join(pictures)}</div>']

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return (
            f"KernelExplanation(value={self.value:.6g}, {len(self.fragments)} fragments, "
            f"remainder={self.remainder:.3g})"
        )


def explain_kernel(kernel: Kernel, a: Any, b: Any, *, top: int = 10) -> KernelExplanation:
    """Explain one kernel value; see ``Kernel.explain``."""
    check_count(top, "top", 0)
    left, right = one_example(a), one_example(b)
    value = float(kernel(left, right)[0, 0])
    compiled = compile_terms(kernel, right, np.ones((1, 1)))
    fragments, exact, searched = search(compiled, np.ones(1), top, left, pairs=True)
    scales = Scales(left)
    others = [
        (repr(one.kernel), float(scales.of(one.term.norms)[0] * one.outputs(left)[0, 0]))
        for one, has_fragments in zip(compiled, searched, strict=True)
        if not has_fragments
    ]
    listed = sum(fragment.weight for fragment in fragments)
    remainder = value - listed - sum(other for _, other in others)
    # What is left of rounding is no fragment.
    if abs(remainder) <= 1e-12 * abs(value):
        remainder = 0.0
    return KernelExplanation(
        kernel, value, fragments, remainder, tuple(others), exact, _words(compiled, left, top), _two_trees(left, right)
    )


def _words(compiled: Sequence[CompiledTerm], left: Any, top: int) -> tuple[WordPair, ...]:
    """Return the pairs of words that weigh most in all terms together."""
    scales = Scales(left)
    pairs = []
    for one in compiled:
        found = one.kernel._word_pairs(one.term.pick(left), one.support)
        factor = float(scales.of(one.term.norms)[0] * one.weights[0, 0]) if found else 0.0
        pairs += [pair.scaled(factor, one.term.view) for pair in found]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair.weight))[:top])


def _two_trees(left: Any, right: Any) -> tuple[Tree, Tree] | None:
    found = [side[0] for side in (left, right) if isinstance(side, TreeArray)]
    trees = [one for one in found if isinstance(one, Tree)]
    return (trees[0], trees[1]) if len(trees) == 2 else None


@dataclass(frozen=True)
class CompiledTerm:
    """A term of a kernel with support examples and weights: what it adds to ``k(example, X) @ weights``.

    That is ``kernel(pick(example), support) @ weights`` times the scale of the example by the norms of the term.

    Attributes
    ----------
    term : Term
    support : array of examples
        As the term's kernel sees them.
    weights : array of shape (n, outputs)
        With the weight of the term, and with what normalises the support examples.
    attribution : Attribution, optional
        Says which nodes the outputs come from; None if they do not come from nodes.
    """

    term: Term
    support: Any
    weights: Matrix
    attribution: Attribution | None

    @property
    def kernel(self) -> Kernel:
        """The kernel of the term."""
        return self.term.kernel

    def outputs(self, example: Any) -> Matrix:
        """Return the outputs before the example is normalised."""
        return self.kernel._expansion(self.support, self.weights)(self.term.pick(example))


def compile_terms(kernel: Kernel, X: Any, weights: Matrix) -> list[CompiledTerm]:
    """Take the outputs k(Y, X) @ weights apart by the terms of the kernel."""
    # Training has warned of support examples that share nothing with themselves.
    scales = Scales(X, warn=False)
    compiled = []
    for term in kernel.terms():
        support = term.pick(X)
        scaled = (term.weight * scales.of(term.norms))[:, None] * weights
        compiled.append(CompiledTerm(term, support, scaled, term.kernel._attribution(support, scaled)))
    return compiled


def search(
    compiled: Sequence[CompiledTerm],
    combination: Matrix,
    top: int,
    example: Any | None,
    *,
    pairs: bool = False,
) -> tuple[tuple[WeightedFragment, ...], bool, list[bool]]:
    """Find the heaviest fragments of all terms together, with ``pairs`` those of two trees.

    Returns
    -------
    fragments, exact, searched
        ``searched`` says for each term whether its fragments could be searched.
    """
    fragments: list[WeightedFragment] = []
    exact = True
    searched = []
    scales = None if example is None else Scales(example)
    for one in compiled:
        term = one.term
        element = None if example is None else term.pick(example)
        found = None if one.attribution is None else one.attribution.heaviest(combination, top, element, pairs=pairs)
        searched.append(found is not None)
        if found is None:
            continue
        factor = 1.0 if scales is None else float(scales.of(term.norms)[0])
        counts: Iterable[float] = found.counts.tolist() if example is not None else [float("nan")] * len(found.weights)
        others: Iterable[Any] = [None] * len(found.weights) if found.others is None else found.others
        for number, (tree, other, weight, count) in enumerate(
            zip(found.fragments, others, found.weights.tolist(), counts, strict=True)
        ):
            assert isinstance(tree, Tree)
            if weight * factor != 0.0:
                deleted = tuple(found.deleted[number]) if found.deleted else ()
                other_deleted = tuple(found.other_deleted[number]) if found.other_deleted else ()
                fragments.append(
                    WeightedFragment(
                        tree,
                        weight * factor,
                        count,
                        repr(term.kernel),
                        term.view,
                        other,
                        deleted,
                        other_deleted,
                        term.kernel.leaves_out_children,
                    )
                )
        exact &= found.exact
    fragments.sort(key=lambda fragment: -abs(fragment.weight))
    return tuple(fragments[:top]), exact, searched


def one_example(example: Any) -> Any:
    """Turn a tree, a bag of trees, a dictionary of features or one row of examples into examples of length 1."""
    if isinstance(example, (Tree, str)) or is_nltk(example):
        return TreeArray([example])
    if isinstance(example, tuple):
        return TreeArray([example])
    if isinstance(example, (TreeArray, Examples)):
        if len(example) != 1:
            raise DataError(f"expected one example, got {len(example)}; pick one, such as X[0:1].")
        return example
    if isinstance(example, list):
        return one_example(TreeArray(example))
    if isinstance(example, Mapping):
        return as_data([example])
    if isinstance(example, np.ndarray) or sparse.issparse(example) or hasattr(example, "to_numpy"):
        rows = as_data(
            example[None]
            if isinstance(example, np.ndarray) and example.dtype.kind in "biuf" and example.ndim == 1
            else example
        )
        if rows.shape[0] != 1:
            raise DataError(f"expected one example, got {rows.shape[0]}; pick one, such as X[0:1].")
        return rows
    raise DataError(f"expected a tree or Examples of one row, got {type(example).__name__}.")
