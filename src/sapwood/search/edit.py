"""Tree edit distance: how many nodes to delete, insert and rename to turn one ordered tree into another.

Prices are in ``costs``, scores that build on the distance in ``scores``, and the algorithm in the native core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sapwood import _core, settings
from sapwood.checks import check_choice, is_number
from sapwood.errors import DataError, ParameterError, TooLargeError
from sapwood.kernels.data import join
from sapwood.kernels.parameters import Parametrized
from sapwood.notebook import HtmlTable
from sapwood.search.costs import Matrix, Prices, check_price, check_rename, lacking, prices, rename_costs
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.elements import is_single
from sapwood.trees.positions import Positions
from sapwood.trees.tree import Tree
from sapwood.words.base import WordSimilarity

__all__ = ["Edit", "EditDistance", "EditScript"]

_NONE = 2**32 - 1
# Bytes that a node of a tree takes while it is compared, at most.
_NODE_BYTES = 96


class Edit(NamedTuple):
    """One step of a script.

    ``kind`` is "keep", "rename", "delete" or "insert"; ``source`` and ``target`` are the places of the node in the two
    trees, counted in pre-order from 0, and None where there is none; ``label`` and ``new_label`` its labels there.
    """

    kind: str
    source: int | None
    target: int | None
    label: str | None
    new_label: str | None
    cost: float


@dataclass(frozen=True)
class EditScript(HtmlTable):
    """The cheapest edits that turn one tree into another.

    Attributes
    ----------
    source, target : Tree
    edits : tuple of Edit
        One per node of either tree: what is kept or renamed, deleted or inserted. Nodes of the source in pre-order,
        then what is inserted.
    cost : float
        What the edits cost together: the distance.

    Examples
    --------
    >>> print(EditDistance().script("(NP (DT a) (NN dog))", "(NP (DT a) (JJ big) (NN cat))"))
    rename dog -> cat
    insert JJ
    insert big
    cost 3
    """

    source: Tree
    target: Tree
    edits: tuple[Edit, ...]
    cost: float

    def __iter__(self) -> Iterator[Edit]:
        return iter(self.edits)

    def __len__(self) -> int:
        return len(self.edits)

    def __str__(self) -> str:
        lines = [
            f"{edit.kind} {edit.label} -> {edit.new_label}"
            if edit.kind == "rename"
            else f"{edit.kind} {edit.new_label if edit.label is None else edit.label}"
            for edit in self.edits
            if edit.kind != "keep"
        ]
        return "\n".join([*lines, f"cost {self.cost:g}"])


class EditDistance(Parametrized):
    """Tree edit distance: the least cost of deleting, inserting and renaming nodes that makes two trees equal.

    Deleting a node puts its children in its place; inserting is the opposite. The order of children counts.

    Parameters
    ----------
    rename : float, function or WordSimilarity
        What it costs to change a label: a number, a function of the two labels, or a word similarity σ. With that,
        words (leaves) cost 1 − σ and other labels 1. A label that stays the same is free.
    insert, delete : float or function
        What it costs to insert or delete a node, or a function of its label.
    normalization : None, "metric" or "size"
        "metric": 2d / (w + w' + d), where w is what it costs to delete all of a tree: from 0 to 1, and a metric if the
        distance is one (Li and Zhang, 2011). "size": d divided by the number of nodes of the larger tree, which is no
        metric; TEDS and TSED use it.

    Notes
    -----
    Functions are called once per label, or pair of labels, of the trees at hand. The time for one pair grows with the
    product of their sizes and, at worst, of their depths; trees are read from the side that takes less. One pair needs
    up to 16 bytes for each pair of nodes. ``is_metric`` says whether the costs make the distance a metric.

    References
    ----------
    K. Zhang and D. Shasha, 1989: Simple fast algorithms for the editing distance between trees and related problems.
    SIAM Journal on Computing 18. Y. Li and C. Zhang, 2011: A metric normalization of tree edit distance. Frontiers of
    Computer Science in China 5. H. Touzet, 2005: A linear tree edit distance algorithm for similar ordered trees (for
    limits).

    Examples
    --------
    >>> distance = EditDistance()
    >>> distance("(NP (DT a) (NN dog))", "(NP (DT a) (JJ big) (NN cat))")
    3.0
    >>> distance(["(A b)", "(A c)"], ["(A b)", "(B (C b))"])
    array([[0., 2.],
           [1., 3.]])
    >>> EditDistance(rename=0.5, normalization="metric")("(A b)", "(A c)")
    0.2222222222222222
    """

    def __init__(
        self,
        rename: float | Callable[[str, str], float] | WordSimilarity = 1.0,
        *,
        insert: float | Callable[[str], float] = 1.0,
        delete: float | Callable[[str], float] = 1.0,
        normalization: str | None = None,
    ) -> None:
        self.rename = rename
        self.insert = insert
        self.delete = delete
        self.normalization = normalization
        self._validate()

    def _validate(self) -> None:
        check_rename(self.rename)
        check_price(self.insert, "insert")
        check_price(self.delete, "delete")
        if self.normalization is not None:
            check_choice(self.normalization, "normalization", ("metric", "size"))
        numbers = is_number(self.insert) and is_number(self.delete)
        if self.normalization == "metric" and numbers and (self.insert != self.delete or self.insert == 0):
            raise ParameterError(
                'normalization="metric" needs insert and delete to be the same positive number, got '
                f"{self.insert!r} and {self.delete!r}; no metric has other costs."
            )

    def _summary(self) -> dict[str, Any]:
        return {name: repr(value) for name, value in self.get_params(deep=False).items()}

    def __call__(self, X: Any, Y: Any = None, *, limit: float | None = None) -> Any:
        """Compare every tree of X with every tree of Y, or of X.

        Parameters
        ----------
        X, Y : TreeArray, list of trees or strings, or one tree each
        limit : float, optional
            Distances above it are infinite. Small limits save most of the time.

        Returns
        -------
        array of float64, shape (len(X), len(Y)), or float for one tree each

        Raises
        ------
        TooLargeError
            If the result, or what one pair of trees needs, would not fit into memory.
        """
        if is_single(X) and is_single(Y):
            return float(self._pairs(_as_trees([X, Y], "X and Y"), limit)[0])
        if is_single(X) or is_single(Y):
            raise DataError("compare one tree with one tree, or arrays with arrays; wrap a single tree in a list.")
        rows = _as_trees(X, "X")
        alone = Y is None or Y is X
        both = rows if alone else concatenate([rows, _as_trees(Y, "Y")])
        others = len(rows) if alone else len(both) - len(rows)
        _check_matrix(len(rows), others)
        compared = self._compare(both, 0 if alone else len(rows))
        symmetric = alone and compared.prices.symmetric
        if alone and not symmetric:
            compared = self._compare(concatenate([rows, rows]), len(rows))
        found = np.empty((len(rows), others))
        with settings.progress_bar(len(rows), "Edit distances", "rows") as progress:
            _core.edit.distances(
                compared.forest,
                compared.prices.native,
                len(rows),
                symmetric,
                compared.native_limit(self.normalization, limit),
                found,
                settings.threads(),
                progress,
            )
        left, right = slice(0, len(rows)), slice(0 if symmetric else len(rows), None)
        return self._finish(found, compared, left, right, limit, np.add.outer, np.maximum.outer)

    def pairwise(self, X: Any, Y: Any, *, limit: float | None = None) -> Matrix:
        """Compare trees in the same place of X and Y; see ``__call__``.

        >>> EditDistance().pairwise(["(A b)", "(A c)"], ["(A b)", "(B d)"])
        array([0., 2.])
        """
        return self._pairs(_as_trees(join(X, Y), "X and Y"), limit)

    def _pairs(self, both: TreeArray, limit: float | None) -> Matrix:
        half = len(both) // 2
        compared = self._compare(both, half)
        native = compared.native_limit(self.normalization, limit)
        found = np.empty(half)
        with settings.progress_bar(half, "Edit distances", "pairs") as progress:
            _core.edit.pairs(compared.forest, compared.prices.native, native, found, settings.threads(), progress)
        return self._finish(found, compared, slice(0, half), slice(half, None), limit, np.add, np.maximum)

    def script(self, source: Any, target: Any) -> EditScript:
        """Return the cheapest edits that turn one tree into another.

        >>> [edit.kind for edit in EditDistance().script("(A (B c))", "(A c)")]
        ['keep', 'delete', 'keep']
        """
        if not is_single(source) or not is_single(target):
            raise DataError("a script is of one tree and another; pass two trees.")
        both = _as_trees([source, target], "source and target")
        compared = self._compare(both, 1)
        first, second = both
        assert isinstance(first, Tree)
        assert isinstance(second, Tree)
        labels, new_labels = Positions(first).labels, Positions(second).labels
        edits = []
        sources, targets, costs = _core.edit.script(compared.forest, compared.prices.native)
        for a, b, cost in zip(sources.tolist(), targets.tolist(), costs.tolist(), strict=True):
            label, new_label = (None if a == _NONE else labels[a]), (None if b == _NONE else new_labels[b])
            kept = "keep" if label == new_label else "rename"
            kind = "insert" if label is None else "delete" if new_label is None else kept
            places = (None if a == _NONE else a), (None if b == _NONE else b)
            edits.append(Edit(kind, *places, label, new_label, cost / compared.prices.scale))
        return EditScript(first, second, tuple(edits), float(costs.sum()) / compared.prices.scale)

    def is_metric(self, X: Any = None) -> bool:
        """Return whether the costs make this a metric: 0 for equal trees alone, symmetric, and with no detours.

        Parameters
        ----------
        X : TreeArray or list of trees
            The trees whose labels count, where costs depend on labels. Not needed for numbers.

        Examples
        --------
        >>> EditDistance().is_metric(), EditDistance(insert=0.8).is_metric()
        (True, False)
        >>> EditDistance(lambda a, b: 3.0 if {a, b} == {"b", "d"} else 0.5).is_metric(["(A b)", "(c d)"])
        False
        """
        if self.normalization == "size":
            return False
        if all(is_number(price) for price in (self.rename, self.insert, self.delete)):
            return self.insert == self.delete != 0 and self.rename != 0
        if X is None:
            raise DataError("the costs depend on labels, so whether they are a metric depends on the trees; pass X.")
        found = self._compare(_as_trees(X, "X"), 0).prices
        nodes = found.delete
        if not found.symmetric or (nodes <= 0).any():
            return False
        rename = found.rename
        if rename is None:
            rename = float(self.rename) * (1 - np.eye(len(nodes)))  # type: ignore[arg-type]
        # Deleting one and inserting the other is a way to rename; deletion is a rename to nothing.
        all_costs = np.block([[np.minimum(rename, np.add.outer(nodes, nodes)), nodes[:, None]], [nodes, np.zeros(1)]])
        np.fill_diagonal(all_costs, 0.0)
        if (all_costs + np.eye(len(all_costs)) <= 0).any():
            return False
        slack = 1e-12 * max(1.0, float(all_costs.max()))
        return all(bool((all_costs <= through[:, None] + through + slack).all()) for through in all_costs)

    def _compare(self, trees: TreeArray, rows: int) -> _Compared:
        costs = rename_costs(self.rename)
        _check_nodes(trees)
        forest = _core.edit.Forest(trees._arena, trees._roots, costs is not None and costs.leaves_apart)
        found = prices(self.rename, self.insert, self.delete, forest, trees._arena, rows)
        compared = _Compared(forest, found)
        compared.check_room(rows)
        return compared

    def _finish(
        self,
        found: Matrix,
        compared: _Compared,
        left: slice,
        right: slice,
        limit: float | None,
        add: Callable[..., Matrix],
        larger: Callable[..., Matrix],
    ) -> Matrix:
        found /= compared.prices.scale
        if self.normalization == "metric":
            whole = add(compared.weights(compared.prices.delete)[left], compared.weights(compared.prices.insert)[right])
            # Where the distance is infinite, it was above the limit.
            with np.errstate(invalid="ignore"):
                found = np.where(np.isinf(found), np.inf, 2 * found / (whole + found))
        elif self.normalization == "size":
            sizes = compared.sizes()
            found /= larger(sizes[left], sizes[right])
        if limit is not None and self.normalization is not None:
            found[found > limit * (1 + 1e-12)] = np.inf
        return found


@dataclass(frozen=True)
class _Compared:
    """Trees and prices, ready for the native core."""

    forest: _core.edit.Forest
    prices: Prices

    def weights(self, by_key: Matrix) -> Matrix:
        return self.forest.weights(np.ascontiguousarray(by_key))

    def sizes(self) -> Matrix:
        return self.weights(np.ones(len(self.prices.delete)))

    def native_limit(self, normalization: str | None, limit: float | None) -> float:
        """Return a limit in the native core's units that no pair within the limit exceeds."""
        if limit is None:
            return float("inf")
        if not is_number(limit) or not limit >= 0:
            raise ParameterError(f"limit must be a number of at least 0, got {limit!r}.")
        highest = float(limit)
        if normalization == "metric":
            heaviest = float(np.max(self.weights(np.maximum(self.prices.delete, self.prices.insert)), initial=0))
            highest = highest * 2 * heaviest / (2 - highest) if highest < 1 else float("inf")
        elif normalization == "size":
            highest *= float(np.max(self.sizes(), initial=0))
        return highest * self.prices.scale

    def check_room(self, rows: int) -> None:
        """Raise if the tables of the largest pair do not fit into memory."""
        sizes = self.sizes()
        if not len(sizes):
            return
        largest = float(sizes[: rows or None].max(initial=0)), float(sizes[rows:].max(initial=0))
        # A table of subtrees and one of forests, as numbers of at most eight bytes, for every thread.
        threads = max(1, min(settings.threads(), len(sizes)))
        needed = 16 * (largest[0] + 1) * (largest[1] + 1) * threads
        if (free := lacking(needed)) is not None:
            raise TooLargeError(
                f"comparing trees of {largest[0]:,.0f} and {largest[1]:,.0f} nodes takes up to {needed / 1e9:,.1f} GB "
                f"with {threads} threads, but only {free / 1e9:,.1f} GB are free; leave the largest trees out, or use "
                "sapwood.options(threads=1)."
            )


def _as_trees(X: Any, name: str) -> TreeArray:
    trees = X if isinstance(X, TreeArray) else TreeArray(X)
    if trees.has_bags:
        raise DataError(f"{name} holds bags of trees; tree edit distance compares single trees: take them out of bags.")
    return trees._compact()


def _check_nodes(trees: TreeArray) -> None:
    """Raise for trees that cannot be written out node by node."""
    trees._ranges_to_write_out("compare it")
    nodes = trees._as_bags().node_count()
    if (free := lacking(_NODE_BYTES * nodes)) is not None:
        raise TooLargeError(
            f"the {len(trees):,} trees have {nodes:,.0f} nodes, and comparing them takes about "
            f"{_NODE_BYTES * nodes / 1e9:,.1f} GB, but only {free / 1e9:,.1f} GB are free; compare fewer at a time."
        )


def _check_matrix(rows: int, columns: int) -> None:
    needed = 8 * rows * columns
    if (free := lacking(needed)) is not None:
        raise TooLargeError(
            f"{rows:,} x {columns:,} distances take {needed / 1e9:,.1f} GB, but only {free / 1e9:,.1f} GB are free; "
            "compare blocks of rows, distance(X[a:b], X)."
        )
