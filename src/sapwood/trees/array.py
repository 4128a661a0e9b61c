"""Many trees as one array: interned, sliceable, and accepted wherever scikit-learn takes an array.

``TreeArray`` is what the native core takes: whatever is in one is valid, so kernels need not check again. An
element is a tree, or a bag of trees for documents of several sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.errors import DataError, TooLargeError
from sapwood.memory import available
from sapwood.trees.arrow import ArrowExchange
from sapwood.trees.brackets import MOST_WRITTEN_OUT, to_brackets
from sapwood.trees.elements import collect, is_single
from sapwood.trees.finding import Finding
from sapwood.trees.indexing import as_index
from sapwood.trees.leaf_vectors import LeafVectors, as_matrix, join_vectors
from sapwood.trees.tree import Tree

__all__ = ["Element", "TreeArray", "concatenate", "on_one_arena"]

# So many trees are written at a time: enough that a block costs nothing, few enough that it takes little memory.
_BLOCK = 10_000

Element = Tree | tuple[Tree, ...]
"""What a TreeArray holds at one index: a tree, or a tuple of trees for a bag."""


class TreeArray(Finding, ArrowExchange):
    """An immutable one-dimensional array of trees in which every distinct subtree is stored once.

    Parameters
    ----------
    trees : TreeArray or iterable
        Each element is a ``Tree``, a string in bracket notation, an ``nltk.Tree``, a ``DependencySentence`` or a
        sentence of spaCy (as ``to_tree()`` makes trees of them), or a list or tuple of these: a bag of trees.

    Attributes
    ----------
    shape : tuple of int
        ``(n,)``.

    Notes
    -----
    Slices and index arrays give views that share the store. Iteration and integer indices give ``Tree`` values
    (tuples of them for bags). ``==`` and ``!=`` compare element by element with as many trees, or with one tree, as
    NumPy does; ``equals`` compares as a whole. So an array is no key of a dictionary.

    ``with_vectors`` gives every leaf a vector, such as what an encoder makes of a word in its sentence. Vectors follow
    the trees through slices, ``concatenate``, files and pickles, but a single ``Tree`` has none.

    Examples
    --------
    >>> X = TreeArray(["(NP (DT a) (NN dog))", "(NP (DT the) (NN dog))", "(NP (NNS dogs))"])
    >>> X
    TreeArray(3 trees, 13 nodes, 11 distinct subtrees)
    >>> X[1:].shape
    (2,)
    >>> print(X[0])
    (NP (DT a) (NN dog))
    >>> X == X[::-1]
    array([False,  True, False])
    """

    __slots__ = ("__weakref__", "_arena", "_bags", "_ends", "_roots", "_vectors")

    _arena: _core.trees.Arena
    _roots: NDArray[np.uint32]
    _ends: NDArray[np.uint64] | None
    _vectors: LeafVectors | None

    def __init__(self, trees: TreeArray | Iterable[Any]) -> None:
        self._bags: _core.kernels.Bags | None = None
        if isinstance(trees, TreeArray):
            self._arena, self._roots, self._ends = trees._arena, trees._roots, trees._ends
            self._vectors = trees._vectors
            return
        self._vectors = None
        self._arena = _core.trees.Arena()
        self._roots, self._ends = collect(trees, self._arena)

    @classmethod
    def _from_arena(
        cls,
        arena: _core.trees.Arena,
        roots: NDArray[np.uint32],
        ends: NDArray[np.uint64] | None = None,
        vectors: LeafVectors | None = None,
    ) -> TreeArray:
        array = object.__new__(cls)
        array._arena, array._roots, array._ends, array._bags = arena, roots, ends, None
        array._vectors = vectors
        return array

    @property
    def shape(self) -> tuple[int]:
        """The length as a tuple, as NumPy arrays have it."""
        return (len(self),)

    @property
    def ndim(self) -> int:
        """The number of dimensions, always 1."""
        return 1

    def __len__(self) -> int:
        return len(self._roots if self._ends is None else self._ends)

    @property
    def has_bags(self) -> bool:
        """Whether elements are bags of trees rather than single trees."""
        return self._ends is not None

    def __iter__(self) -> Iterator[Element]:
        # Trees are rebuilt block by block, which shares subtrees within a block and keeps memory flat.
        for start in range(0, len(self), 256):
            yield from self[start : start + 256]._elements()

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> Element: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any] | tuple[Any, ...]) -> TreeArray: ...
    def __getitem__(self, key: Any) -> Element | TreeArray:
        # scikit-learn indexes arrays with (indices, ...).
        if isinstance(key, tuple):
            if len(key) != 2 or key[1] is not Ellipsis:
                raise DataError(f"a TreeArray has one dimension; index it with one index, not {key!r}.")
            key = key[0]
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            index = int(key)
            if not -len(self) <= index < len(self):
                raise IndexError(f"index {index} is out of range for {len(self)} trees")
            index %= len(self)
            return self[index : index + 1]._elements()[0]
        if self._ends is None:
            return self._trees_at(as_index(key, len(self)), None)
        if isinstance(key, slice):
            first, last, step = key.indices(len(self))
            if step == 1:
                return self._bags_between(first, max(first, last))
        chosen = np.arange(len(self))[as_index(key, len(self))]
        ends = self._ends.astype(np.int64)
        sizes = np.diff(ends, prepend=0)[chosen]
        new_ends = np.cumsum(sizes)
        # Where a tree stands in its bag is where it stands in the result, less where its bag begins there.
        places = np.arange(sizes.sum()) + np.repeat(ends[chosen] - new_ends, sizes)
        return self._trees_at(places, new_ends.astype(np.uint64))

    def _trees_at(self, places: Any, ends: NDArray[np.uint64] | None) -> TreeArray:
        vectors = None if self._vectors is None else self._vectors[places]
        return TreeArray._from_arena(self._arena, np.ascontiguousarray(self._roots[places]), ends, vectors)

    def _bags_between(self, first: int, last: int) -> TreeArray:
        """Return neighbouring bags, in time that does not depend on how many others there are."""
        assert self._ends is not None
        begin = self._ends[first - 1] if first else np.uint64(0)
        ends = self._ends[first:last] - begin
        end = begin + ends[-1] if len(ends) else begin
        return self._trees_at(slice(int(begin), int(end)), ends)

    def __eq__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        if is_single(other):
            if self.has_bags:
                return np.zeros(len(self), dtype=np.bool_)
            mine, others = on_one_arena(self._compact(), TreeArray([other]))
            return np.equal(mine._roots, others._roots[:1])
        # A tuple may be a bag, which is one element; so it is no array.
        if isinstance(other, list) or (isinstance(other, np.ndarray) and other.ndim == 1):
            other = TreeArray(other)
        if not isinstance(other, TreeArray):
            return NotImplemented
        if len(self) != len(other):
            raise DataError(
                f"cannot compare {len(self)} elements with {len(other)} one by one; equals() compares arrays of any "
                "length as wholes."
            )
        if self.has_bags != other.has_bags:
            return np.zeros(len(self), dtype=np.bool_)
        mine, others = on_one_arena(self._compact(), other._compact())
        if self._ends is None or other._ends is None:
            return np.equal(mine._roots, others._roots)
        same: NDArray[np.bool_] = np.equal(_sizes(self), _sizes(other))
        # Bags of the same size differ if any tree does: the number of differences grows between begin and end.
        chosen = np.flatnonzero(same)
        differences = np.cumsum(np.append(False, mine[chosen]._roots != others[chosen]._roots))
        sizes = _sizes(self)[chosen].astype(np.intp)
        ends = np.cumsum(sizes)
        same[chosen] = differences[ends] == differences[ends - sizes]
        return same

    def __ne__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        same = self.__eq__(other)
        return same if same is NotImplemented else ~same

    __hash__ = None  # type: ignore[assignment]

    def equals(self, other: TreeArray) -> bool:
        """Return whether another array holds equal elements in the same order.

        Trees are equal if their labels and shapes are, bags if their trees are, in the same order. A tree is no bag of
        one tree. If one array has vectors on its leaves, so has the other, and they are equal.

        >>> TreeArray(["(A b)"]).equals(TreeArray(["(A b)"])), TreeArray(["(A b)"]).equals(TreeArray([]))
        (True, False)
        """
        if not isinstance(other, TreeArray):
            raise DataError(f"expected a TreeArray, got {type(other).__name__}; write TreeArray(trees).")
        same = len(self) == len(other) and bool((self == other).all())
        if not same or (self._vectors is None and other._vectors is None):
            return same
        mine, others = self.vectors, other.vectors
        return mine is not None and others is not None and np.array_equal(mine, others)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        result = np.empty(len(self), dtype=object)
        for index, element in enumerate(self):
            result[index] = element
        return result

    def reshape(self, *shape: Any) -> NDArray[Any]:
        """Return an array of trees as objects; ``reshape(-1, 1)`` is the column that scikit-learn's ensembles take."""
        return np.asarray(self).reshape(*shape)

    def __repr__(self) -> str:
        what = "bag of trees" if self.has_bags else "tree"
        plural = "bags of trees" if self.has_bags else "trees"
        # Shared subtrees can stand for more nodes than a number can say.
        nodes = self._as_bags().node_count()
        count = f"{int(nodes):,}" if np.isfinite(nodes) else "countless"
        vectors = "" if self._vectors is None else f", vectors of {self._vectors.matrix.shape[1]:,} numbers"
        return (
            f"TreeArray({len(self):,} {what if len(self) == 1 else plural}, {count} nodes, "
            f"{self.distinct_count():,} distinct subtrees{vectors})"
        )

    def _repr_html_(self) -> str:
        from sapwood.trees.notebook import array_html

        return array_html(repr(self), self)

    def __reduce__(self) -> tuple[Any, ...]:
        # Only what the elements use: a slice of a large array travels small.
        state = self._arena.dump(self._roots)
        return _restore, (*state, self._ends, self.vectors)

    def node_count(self) -> int:
        """Return the number of nodes of all trees together, leaves included."""
        count = self._as_bags().node_count()
        if not np.isfinite(count):
            raise DataError(
                "the trees have more nodes than a number can say; distinct_count() counts shared ones once."
            )
        return int(count)

    def distinct_count(self) -> int:
        """Return the number of distinct subtrees in use, leaves included."""
        return int(self._as_bags().distinct_count())

    def leaves(self) -> list[list[str]]:
        """Return the labels of the leaves of each element from left to right: the words of parse trees.

        >>> TreeArray(["(S (NP (NN dogs)) (VP (VBP bark)))", "(NP (NN dogs))"]).leaves()
        [['dogs', 'bark'], ['dogs']]
        """
        texts, numbers, ends = self._leaf_numbers()
        words = [texts[number] for number in numbers.tolist()]
        return [words[begin:end] for begin, end in pairwise([0, *ends.tolist()])]

    def _leaf_numbers(self) -> tuple[list[str], NDArray[np.uint32], NDArray[np.uint64]]:
        """Return the distinct labels of leaves, the leaves as numbers of those, and where each element ends."""
        self._ranges_to_write_out("list its leaves")
        self._check_room()
        texts, numbers, ends = self._arena.leaves(self._roots)
        if self._ends is not None:
            # An element ends where its last tree does; one without trees, where the element before it does.
            ends = np.concatenate([np.zeros(1, dtype=np.uint64), ends])[self._ends.astype(np.int64)]
        return texts, numbers, ends

    def with_vectors(self, vectors: Any) -> TreeArray:
        """Return the same trees with a vector on every leaf, for kernels that compare words in context.

        Parameters
        ----------
        vectors : matrix, or one matrix per element
            A row of numbers per leaf, in the order of ``leaves()``, such as ``encoder.encode_batch(trees.leaves())``.
            A matrix of float16 or float32 is kept as it is: one that is mapped from a file stays there.

        Examples
        --------
        >>> X = TreeArray(["(NP (DT a) (NN dog))", "(NP (NNS dogs))"])
        >>> X.with_vectors([[[1, 0], [0.5, 2]], [[0.5, 1.5]]])[1:].vectors
        array([[0.5, 1.5]], dtype=float32)
        """
        sizes = self._leaf_counts()
        ends = np.cumsum(sizes)
        if self._ends is None:
            of_elements = sizes
        else:
            of_elements = np.diff(np.concatenate([[0], ends])[self._ends.astype(np.int64)], prepend=0)
        matrix = as_matrix(vectors, of_elements)
        return TreeArray._from_arena(
            self._arena, self._roots, self._ends, LeafVectors(matrix, (ends - sizes).astype(np.uint64))
        )

    @property
    def vectors(self) -> NDArray[Any] | None:
        """The vectors of the leaves, element after element, one row each; None if there are none."""
        return None if self._vectors is None else self._vectors.compact(self._leaf_counts()).matrix

    def _leaf_counts(self) -> NDArray[np.int64]:
        """Return the number of leaves of each tree, also of the trees in bags."""
        self._ranges_to_write_out("count its leaves")
        _, _, ends = self._arena.leaves(self._roots)
        return np.diff(np.concatenate([np.zeros(1, dtype=np.int64), ends.astype(np.int64)]))

    def to_strings(self, *, escape: bool = False) -> list[str]:
        """Return each tree in bracket notation; see ``write_trees`` for ``escape``."""
        blocks = self._string_blocks(escape=escape)
        self._check_room()
        return [text for block in blocks for text in block]

    def _string_blocks(self, *, escape: bool) -> Iterator[list[str]]:
        """Return what ``to_strings`` does, some thousands of trees at a time; what is refused is refused at once."""
        if self.has_bags:
            raise DataError("this array holds bags of trees; iterate over it and write the trees one by one.")
        ranges = self._ranges_to_write_out("write it down")
        natively = not self._arena.unwritable(self._roots)
        places = ((start, min(start + _BLOCK, end)) for begin, end in ranges for start in range(begin, end, _BLOCK))
        parts = (self[start:end] for start, end in places)
        if natively:
            return (self._arena.write(part._roots) for part in parts)
        return ([to_brackets(cast(Tree, tree), escape=escape) for tree in part] for part in parts)

    def _ranges_to_write_out(self, what: str) -> list[tuple[int, int]]:
        """Cut the trees into ranges of a size that can be written out, or raise for a tree that has no such size."""
        found = []
        stack = [(0, len(self._roots))]
        while stack:
            begin, end = stack.pop()
            whole = end - begin == len(self._roots)
            part = self if whole else TreeArray._from_arena(self._arena, self._roots[begin:end])
            if part._as_bags().node_count() <= MOST_WRITTEN_OUT:
                found.append((begin, end))
            elif end - begin > 1:
                middle = (begin + end) // 2
                stack += [(middle, end), (begin, middle)]
            else:
                element = begin if self._ends is None else int(np.searchsorted(self._ends, begin, side="right"))
                raise DataError(
                    f"the tree at index {element} has more than {MOST_WRITTEN_OUT:,} nodes, too many to {what} one by "
                    "one; it repeats a subtree over and over: leave it out."
                )
        return found

    def _check_room(self) -> None:
        """Raise if what is written out of all trees together is more than memory holds."""
        nodes, free = self._as_bags().node_count(), available()
        # A node is at least a character and what separates it from the next.
        if nodes > MOST_WRITTEN_OUT and free is not None and 2 * nodes > free:
            raise TooLargeError(
                f"the {len(self):,} elements have {nodes:,.0f} nodes, and writing them out takes at least "
                f"{2 * nodes / 1e9:,.1f} GB, but only {free / 1e9:,.1f} GB are free; take fewer at a time, such as "
                "trees[:1000], or put them into a file with write_trees."
            )

    def _compact(self) -> TreeArray:
        """Return the same trees on a store of their own if they use only a small part of a large one.

        Native kernels prepare tables as long as the store, which is slow where a few trees are of a large one.
        """
        return self if len(self._roots) * 256 >= len(self._arena) else self.detach()

    def detach(self) -> TreeArray:
        """Return the same trees on a store of their own, so that the store of a larger array can be freed."""
        arena = _core.trees.Arena()
        vectors = None if self._vectors is None else self._vectors.compact(self._leaf_counts())
        return TreeArray._from_arena(arena, arena.transplant(self._arena, self._roots), self._ends, vectors)

    def _as_bags(self) -> _core.kernels.Bags:
        """Count the distinct subtrees of each element, once; what the native kernels work on."""
        if self._bags is None:
            self._bags = _core.kernels.Bags(self._arena, self._roots, self._ends, settings.threads())
        return self._bags

    def _on(self, arena: _core.trees.Arena, roots: NDArray[np.uint32]) -> TreeArray:
        """Return other trees of the same kind."""
        return TreeArray._from_arena(arena, roots)

    def _elements(self) -> list[Element]:
        trees = self._arena.objects(self._roots, Tree)
        if self._ends is None:
            return list(trees)
        begins = [0, *self._ends.tolist()[:-1]]
        return [tuple(trees[begin:end]) for begin, end in zip(begins, self._ends.tolist(), strict=True)]


def concatenate(arrays: Sequence[TreeArray]) -> TreeArray:
    """Join arrays end to end.

    >>> concatenate([TreeArray(["(A b)"]), TreeArray(["(A c)", "(A b)"])])
    TreeArray(3 trees, 6 nodes, 4 distinct subtrees)
    """
    arrays = [TreeArray(array) for array in arrays]
    if not arrays:
        raise DataError("nothing to concatenate; pass at least one TreeArray.")
    placed = on_one_arena(*arrays)
    ends = None
    if any(array.has_bags for array in placed):
        ends = np.cumsum(np.concatenate([_sizes(array) for array in placed]), dtype=np.uint64)
    vectors = join_vectors([array._vectors for array in placed])
    return TreeArray._from_arena(placed[0]._arena, np.concatenate([array._roots for array in placed]), ends, vectors)


def on_one_arena(*arrays: TreeArray) -> tuple[TreeArray, ...]:
    """Return the same arrays with a common store, so that equal subtrees have equal numbers."""
    if all(array._arena is arrays[0]._arena for array in arrays):
        return arrays
    largest = max(arrays, key=lambda array: len(array._arena))
    # Arrays never change, so the store is copied before anything is added to it.
    arena = largest._arena.copy()
    placed = []
    for array in arrays:
        roots = array._roots if array._arena is largest._arena else arena.transplant(array._arena, array._roots)
        placed.append(TreeArray._from_arena(arena, roots, array._ends, array._vectors))
    return tuple(placed)


def _sizes(array: TreeArray) -> NDArray[np.uint64]:
    if array._ends is None:
        return np.ones(len(array), dtype=np.uint64)
    sizes: NDArray[np.uint64] = np.diff(array._ends, prepend=np.uint64(0))
    return sizes


def _restore(
    labels: list[str],
    node_labels: NDArray[np.uint32],
    child_ends: NDArray[np.uint64],
    children: NDArray[np.uint32],
    roots: NDArray[np.uint32],
    ends: NDArray[np.uint64] | None,
    vectors: NDArray[Any] | None = None,
) -> TreeArray:
    arena = _core.trees.Arena.load(labels, node_labels, child_ends, children)
    trees = TreeArray._from_arena(arena, roots, ends)
    return trees if vectors is None else trees.with_vectors(vectors)
