"""Explanations of decisions: contributions of nodes, heaviest fragments, features, support examples.

A model hands over its kernel, support examples and dual coefficients, or what its features add; nothing here trains or
predicts. Scores are divided by the terms of the kernel (see ``Kernel.terms``): what is linear in tree features is
listed node by node, the rest by features or support examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sapwood.checks import check_count
from sapwood.draw.html import fragment_table, panel
from sapwood.draw.svg import fragment_nodes, weighted_svg
from sapwood.draw.text import cut, weighted_outline, wrapped
from sapwood.errors import DataError, TooLargeError
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.explain import (
    INEXACT,
    CompiledTerm,
    WeightedFragment,
    compile_terms,
    fragment_lines,
    fragment_rows,
    one_example,
    search,
)
from sapwood.kernels.feature_shares import feature_shares
from sapwood.kernels.normalization import Scales
from sapwood.trees.array import TreeArray
from sapwood.trees.tree import Tree

__all__ = ["CompiledExplanation", "ExplainedTree", "Explanation", "ModelFragments", "OtherPart"]

# Contributions are listed node by node, and shared subtrees can stand for more nodes than memory has bytes.
_MOST_NODES = 5_000_000


@dataclass(frozen=True, repr=False)
class ExplainedTree:
    """A tree with what each of its nodes adds to a score.

    Attributes
    ----------
    tree : Tree
    contributions : array of float
        One per node, in pre-order: what all fragments that hang from the node add.
    view : str, optional
        The view of ``Examples`` that the tree belongs to.
    """

    tree: Tree
    contributions: Matrix
    view: str | None = None

    def total(self) -> float:
        """Return the sum of all contributions."""
        return float(self.contributions.sum())

    def __repr__(self) -> str:
        return f"ExplainedTree({len(self.contributions):,} nodes, total {self.total():.6g})"


@dataclass(frozen=True)
class OtherPart:
    """A part of the kernel that is not linear in tree features, by flat features or by support examples.

    Attributes
    ----------
    kernel : str
    value : float
        What the part adds to the score.
    support : tuple of (int, float)
        Positions in the training data, and what each adds; largest first, ten at most.
    features : tuple of (str, float)
        For ``Linear`` and ``Polynomial``: features of the example by name, and what each adds; largest first, a hundred
        at most. What they leave of ``value`` is that of the kernel's constant, and of features beyond the hundred.
    view : str, optional
        The view of ``Examples`` that the part looks at.
    """

    kernel: str
    value: float
    support: tuple[tuple[int, float], ...]
    features: tuple[tuple[str, float], ...] = ()
    view: str | None = None

    def rows(self, top: int) -> tuple[str, list[tuple[float, str]]]:
        """Return what the part is told by, and so many of the heaviest with what they add."""
        if self.features:
            return "by feature", [(value, name) for name, value in self.features[:top]]
        return "by training example", [(value, f"example {position}") for position, value in self.support[:top]]


@dataclass(frozen=True, repr=False)
class Explanation:
    """One score of a model, divided into what it is the sum of.

    ``value`` is ``bias`` plus the contributions of all nodes of all ``trees`` plus the values of ``others``.

    Attributes
    ----------
    label : object
        The class whose score is explained; None for regression and ranking.
    value, bias : float
    trees : tuple of ExplainedTree
        The trees of the example with the contribution of every node.
    fragments : tuple of WeightedFragment
        The heaviest fragments of the score, heaviest first. Each is a part of what the nodes add, not on top of it.
    others : tuple of OtherPart
        Parts of the kernel that nodes do not account for.
    exact : bool
        False if the search for fragments met its limit, so that there may be heavier ones.
    """

    label: Any
    value: float
    bias: float
    trees: tuple[ExplainedTree, ...]
    fragments: tuple[WeightedFragment, ...]
    others: tuple[OtherPart, ...]
    exact: bool

    @classmethod
    def of_features(
        cls, label: Any, value: float, bias: float, features: Sequence[tuple[str, float]], source: str
    ) -> Self:
        """Explain a score that is the sum of a bias and of what named features add, heaviest first.

        Parameters
        ----------
        source : str
            What the features belong to, such as ``"linear model"``.
        """
        part = OtherPart(source, value - bias, (), tuple(features))
        return cls(label, value, bias, (), (), (part,), True)

    @property
    def features(self) -> tuple[tuple[str, float], ...]:
        """What flat features add, by name, of all parts that tell them; heaviest first."""
        found = [feature for other in self.others for feature in other.features]
        return tuple(sorted(found, key=lambda feature: -abs(feature[1])))

    @property
    def contributions(self) -> Matrix:
        """The contributions of the only tree, in pre-order; see ``trees`` if there are several."""
        if len(self.trees) != 1:
            raise DataError(f"the example has {len(self.trees)} explained trees; look at .trees one by one.")
        return self.trees[0].contributions

    @property
    def share(self) -> float:
        """The share of the score, sizes added up part by part, that nodes account for: 1 if everything."""
        covered = abs(sum(tree.total() for tree in self.trees))
        rest = sum(abs(other.value) for other in self.others)
        return 1.0 if rest == 0 else covered / (covered + rest)

    def to_text(self, *, width: int = 80, max_lines: int | None = 60) -> str:
        """Write the explanation as lines of at most ``width`` characters."""
        parts = [f"{self.bias:.6g} (bias)"]
        if self.trees or not self.others:
            parts.append(f"{sum(tree.total() for tree in self.trees):.6g} (nodes)")
        if self.others:
            what = "features" if all(other.features for other in self.others) and not self.trees else "other parts"
            parts.append(f"{sum(other.value for other in self.others):.6g} ({what})")
        lines = wrapped(f"{self._title()} = {' + '.join(parts)}", width)
        for tree in self.trees:
            lines += ["", *([f"[{tree.view}]"] if tree.view else [])]
            lines.append(weighted_outline(tree.tree, tree.contributions.tolist(), width=width, max_lines=max_lines))
        if self.fragments:
            lines += ["", f"{'weight':>12}  times  heaviest fragments"]
        lines += fragment_lines(self.fragments, _weight_and_times, width)
        if not self.exact:
            lines.append(INEXACT)
        for other in self.others:
            how, rows = other.rows(5 if self.trees else 12)
            lines += ["", *wrapped(f"{other.value:+12.6g}  from {other.kernel}, {how}:", width)]
            lines += [cut(f"{value:+12.6g}  {name}", width) for value, name in rows]
        if self.others and self.trees:
            lines += ["", f"Nodes account for {self.share:.0%} of the score."]
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return a piece of HTML: the trees colored by contribution, and a table of fragments."""
        pieces = []
        for tree in self.trees:
            marked: list[int] = []
            top = next((fragment for fragment in self.fragments if fragment.view == tree.view), None)
            # Small trees only: a larger one is not drawn node by node.
            if top is not None and len(tree.contributions) <= 2000:
                marked = fragment_nodes(tree.tree, top.tree)
            picture = weighted_svg(tree.tree, tree.contributions.tolist(), marked=marked, legend=True)
            pieces.append(f"<div>{picture}</div>")
        rest = [(other.value, f"{other.kernel}, which nodes do not account for") for other in self.others]
        listed = [(value, name, other.view or "") for other in self.others for value, name in other.rows(12)[1]]
        pieces.append(fragment_table([*fragment_rows(self.fragments), *listed], [(self.bias, "bias"), *rest]))
        return panel(self._title(), pieces)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _title(self) -> str:
        return f"{'score' if self.label is None else f'score of {self.label!s}'} {self.value:.6g}"

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        nodes = sum(len(tree.contributions) for tree in self.trees)
        return (
            f"Explanation(label={self.label!r}, value={self.value:.6g}, bias={self.bias:.6g}, {nodes:,} nodes, "
            f"{len(self.fragments)} fragments)"
        )


@dataclass(frozen=True, repr=False)
class ModelFragments(Sequence[WeightedFragment]):
    """The fragments to which a model gives the largest weights, heaviest first.

    The weight is that of the linear model in the space of fragments: a tree that holds the fragment n times scores
    n·√λ^size times the weight for it, before normalization. With kernels that look into words or grammars, this adds up
    everything in the model that the fragment is like.

    Attributes
    ----------
    label : object
        The class whose score they add to; None for regression.
    fragments : tuple of WeightedFragment
    exact : bool
        False if the search met its limit, so that there may be heavier ones.
    """

    label: Any
    fragments: tuple[WeightedFragment, ...]
    exact: bool

    def __len__(self) -> int:
        return len(self.fragments)

    def __getitem__(self, index: Any) -> Any:
        return self.fragments[index]

    def to_text(self, *, width: int = 80) -> str:
        """Write one line per fragment, of at most ``width`` characters."""
        lines = [f"{'weight':>12}  heaviest fragments" + ("" if self.label is None else f" of {self.label!s}")]
        lines += fragment_lines(self.fragments, lambda fragment: f"{fragment.weight:+12.6g}", width)
        if not self.exact:
            lines.append(INEXACT)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """Return a piece of HTML: a table of fragments."""
        return panel(f"heaviest fragments of {self.label!s}", [fragment_table(fragment_rows(self.fragments))])

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"ModelFragments(label={self.label!r}, {len(self)} fragments)"


class CompiledExplanation:
    """What explanations of one model share: the terms of its kernel with the weights spread over them.

    Parameters
    ----------
    kernel : Kernel
    examples : array of n examples
        The support examples.
    positions : array of n integers
        Where they stood in the training data.
    coefficients : array of shape (n, outputs)
    """

    def __init__(self, kernel: Kernel, examples: Any, positions: NDArray[np.intp], coefficients: Matrix) -> None:
        self._positions = positions
        self._terms = compile_terms(kernel, examples, coefficients)

    def explain(self, example: Any, label: Any, combination: Matrix, intercept: Matrix, top: int) -> Explanation:
        """Explain the combination of outputs for one example."""
        check_count(top, "top", 0)
        example = one_example(example)
        gathered: dict[str | None, tuple[TreeArray, Matrix]] = {}
        others = []
        scales = Scales(example)
        for one in self._terms:
            factor = float(scales.of(one.term.norms)[0])
            seen, view = one.term.pick(example), one.term.view
            if one.attribution is None:
                others.append(self._other(one, seen, factor, combination))
                continue
            _check_size(seen)
            values = factor * (one.attribution.nodes(seen) @ combination)
            former = gathered.get(view)
            gathered[view] = (seen, values if former is None else former[1] + values)
        fragments, exact, _ = search(self._terms, combination, top, example) if top else ((), True, [])
        trees = tuple(
            explained for view, (seen, values) in gathered.items() for explained in _by_node(seen, values, view)
        )
        bias = float(intercept @ combination)
        value = bias + sum(tree.total() for tree in trees) + sum(other.value for other in others)
        return Explanation(label, value, bias, trees, fragments, tuple(others), exact)

    def fragments(self, label: Any, combination: Matrix, top: int) -> ModelFragments:
        """Find the heaviest fragments of a combination of outputs."""
        check_count(top, "top", 0)
        found, exact, searched = search(self._terms, combination, top, None)
        if not any(searched):
            names = ", ".join(repr(one.kernel) for one in self._terms)
            raise DataError(
                f"the fragments of {names} cannot be listed; sums, scalings, views and normalisations of tree kernels "
                "such as SubsetTree have fragments that can."
            )
        return ModelFragments(label, found, exact)

    def _other(self, one: CompiledTerm, seen: Any, factor: float, combination: Matrix) -> OtherPart:
        weights = one.weights @ combination
        values = factor * one.kernel._gram(seen, one.support)[0] * weights
        shares = feature_shares(one.kernel, seen, one.support, factor * weights) or []
        order = np.argsort(-np.abs(values), kind="stable")[:10]
        chosen = tuple((int(self._positions[k]), float(values[k])) for k in order if values[k] != 0)
        return OtherPart(repr(one.kernel), float(values.sum()), chosen, tuple(shares[:100]), one.term.view)


def _weight_and_times(fragment: WeightedFragment) -> str:
    times = "-" if np.isnan(fragment.count) else f"{fragment.count:g}"
    return f"{fragment.weight:+12.6g}  {times:>5}"


def _check_size(element: TreeArray) -> None:
    count = element._as_bags().node_count()
    if count > _MOST_NODES:
        raise TooLargeError(
            f"the example has {count:,.0f} nodes, and an explanation lists each of them; at most {_MOST_NODES:,} are "
            "listed. Explain a smaller tree."
        )


def _by_node(element: TreeArray, values: Matrix, view: str | None) -> list[ExplainedTree]:
    """Copy the contributions of distinct subtrees to every place where they stand, tree by tree in pre-order."""
    _, _, child_ends, children, roots = element._arena.dump(element._roots)
    begins = np.concatenate([[0], child_ends[:-1]]).astype(np.int64).tolist()
    ends, kids = child_ends.tolist(), children.tolist()
    content = element._elements()[0]
    trees = content if isinstance(content, tuple) else (content,)
    result = []
    for root, tree in zip(roots.tolist(), trees, strict=True):
        order = []
        stack = [root]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(reversed(kids[begins[node] : ends[node]]))
        result.append(ExplainedTree(tree, values[order], view))
    return result
