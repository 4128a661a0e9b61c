"""Columns of trees in pandas: importing this module makes the dtype ``"tree"`` known.

A column holds a ``TreeArray`` and missing values. Slices, ``concat``, ``groupby`` and Parquet files keep it what it is,
and ``TreeArray(column)`` takes it without looking at each tree.

>>> import pandas
>>> import sapwood.trees.pandas
>>> trees = pandas.Series(["(NP (NN rain))", "(NP (NN snow))", "(NP (NN rain))"], dtype="tree")
>>> trees.value_counts().tolist()
[2, 1]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray, ExtensionDtype, register_extension_dtype, take

from sapwood.errors import DataError
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.arrow import from_arrow
from sapwood.trees.convert import is_missing
from sapwood.trees.tree import Tree

__all__ = ["TreeColumn", "TreeDtype"]


@register_extension_dtype
class TreeDtype(ExtensionDtype):
    """The type of a column of trees, known to pandas as ``"tree"``."""

    name = "tree"
    type = Tree
    na_value = None

    def __repr__(self) -> str:
        return self.name

    @classmethod
    def construct_array_type(cls) -> Any:
        """Return the class of its arrays."""
        return TreeColumn

    def __from_arrow__(self, array: Any) -> TreeColumn:
        import pyarrow

        chunks = array.chunks if isinstance(array, pyarrow.ChunkedArray) else [array]
        columns = [TreeColumn(TreeArray([]))]
        for chunk in chunks:
            there = chunk.is_valid().to_numpy(zero_copy_only=False)
            numbers = np.where(there, np.cumsum(there) - 1, -1)
            columns.append(TreeColumn(from_arrow(chunk.drop_null())).take(numbers, allow_fill=True))
        return TreeColumn._concat_same_type(columns)


class TreeColumn(ExtensionArray):
    """A column of trees, some of which may be missing.

    Parameters
    ----------
    trees : TreeArray
        The trees; bags have no place in a column.
    """

    # The numbers of the trees in their store; -1 for a missing one.
    _numbers: NDArray[np.int64]

    def __init__(self, trees: TreeArray) -> None:
        if not isinstance(trees, TreeArray) or trees.has_bags:
            raise DataError("a column of trees is made of a TreeArray without bags.")
        self._arena, self._numbers = trees._arena, trees._roots.astype(np.int64)
        _tell_dask()

    def _with(self, numbers: NDArray[np.int64]) -> TreeColumn:
        column = object.__new__(TreeColumn)
        column._arena, column._numbers = self._arena, numbers
        return column

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> TreeColumn:
        if isinstance(scalars, TreeColumn):
            return scalars.copy() if copy else scalars
        if isinstance(scalars, TreeArray):
            return cls(scalars)
        items = list(scalars)
        there = np.array([not is_missing(item) for item in items], dtype=bool)
        trees = cls(TreeArray([item for item in items if not is_missing(item)]))
        return trees.take(np.where(there, np.cumsum(there) - 1, -1), allow_fill=True)

    @classmethod
    def _from_scalars(cls, scalars: Any, *, dtype: Any) -> TreeColumn:
        # What a function has made of the trees: text in brackets is a tree where it is given, not where it comes out.
        if not all(isinstance(item, Tree) or is_missing(item) for item in scalars):
            raise TypeError("not all of them are trees")
        return cls._from_sequence(scalars, dtype=dtype)

    @classmethod
    def _from_factorized(cls, values: NDArray[np.int64], original: TreeColumn) -> TreeColumn:
        return original._with(values)

    def _values_for_factorize(self) -> tuple[NDArray[np.int64], int]:
        # Equal trees of a store have the same number.
        return self._numbers, -1

    def __tree_array__(self) -> TreeArray:
        missing = int(self.isna().sum())
        if missing:
            raise DataError(f"{missing} of the {len(self)} trees of the column are missing; drop them with dropna().")
        return TreeArray._from_arena(self._arena, self._numbers.astype(np.uint32))

    def __reduce__(self) -> tuple[Any, ...]:
        # As trees, so that a slice of a large column travels small.
        there = ~self.isna()
        places = None if there.all() else np.where(there, np.cumsum(there) - 1, -1)
        return _restore, (self._with(self._numbers[there]).__tree_array__(), places)

    @property
    def dtype(self) -> TreeDtype:
        """The type ``tree``."""
        return TreeDtype()

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers of the trees, and of the store that they may share with others."""
        return int(self._numbers.nbytes + self._arena.nbytes)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, item: Any) -> Any:
        from pandas.api.indexers import check_array_indexer

        if isinstance(item, (int, np.integer)):
            number = self._numbers[item]
            return None if number < 0 else self._arena.objects(np.array([number], dtype=np.uint32), Tree)[0]
        return self._with(np.ascontiguousarray(self._numbers[check_array_indexer(self, item)]))

    def __setitem__(self, key: Any, value: Any) -> None:
        from pandas.api.indexers import check_array_indexer

        single = isinstance(value, (Tree, str)) or is_missing(value)
        other = self._from_sequence([value] if single else value)
        both = self._concat_same_type([self, other])
        numbers = both._numbers[: len(self)].copy()
        numbers[check_array_indexer(self, key)] = both._numbers[len(self)] if single else both._numbers[len(self) :]
        self._arena, self._numbers = both._arena, numbers

    def __eq__(self, other: object) -> Any:
        if isinstance(other, (Tree, str)):
            other = self._from_sequence([other] * len(self))
        elif isinstance(other, (list, np.ndarray)) and len(other) == len(self):
            other = self._from_sequence(other)
        if not isinstance(other, TreeColumn) or len(other) != len(self):
            return NotImplemented
        both = self._concat_same_type([self, other])._numbers
        return (both[: len(self)] == both[len(self) :]) & ~self.isna()

    def isna(self) -> NDArray[np.bool_]:
        """Return which trees are missing."""
        return np.less(self._numbers, 0)

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> TreeColumn:
        """Return the trees at some places; with ``allow_fill``, -1 stands for a missing one."""
        if allow_fill and not is_missing(fill_value):
            raise DataError("only missing trees can be filled in here.")
        taken = take(self._numbers, np.asarray(indices, dtype=np.int64), allow_fill=allow_fill, fill_value=-1)
        return self._with(np.asarray(taken, dtype=np.int64))

    def copy(self) -> TreeColumn:
        """Return the same trees; their store is shared, since it never changes."""
        return self._with(self._numbers.copy())

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[TreeColumn]) -> TreeColumn:
        there = [np.flatnonzero(~column.isna()) for column in to_concat]
        joined = concatenate(
            [column._with(column._numbers[at]).__tree_array__() for column, at in zip(to_concat, there, strict=True)]
        )
        offsets = np.cumsum([0, *[len(column) for column in to_concat]])
        numbers = np.full(offsets[-1], -1, dtype=np.int64)
        numbers[np.concatenate([at + begin for at, begin in zip(there, offsets[:-1], strict=True)])] = joined._roots
        result = cls(joined[:0])
        return result._with(numbers)

    def _values_for_argsort(self) -> NDArray[Any]:
        raise DataError("trees have no order; sort by something that is computed from them.")

    def _formatter(self, boxed: bool = False) -> Any:
        return str

    def __arrow_array__(self, type: Any = None) -> Any:
        import pyarrow

        there = ~self.isna()
        trees = self._with(self._numbers[there]).__tree_array__().to_arrow()
        places = pyarrow.array(np.cumsum(there) - 1, mask=~there)
        return trees.take(places)


def _restore(trees: TreeArray, places: NDArray[np.int64] | None) -> TreeColumn:
    column = TreeColumn(trees)
    return column if places is None else column.take(places, allow_fill=True)


def _tell_dask() -> None:
    """Say what a column looks like to dask, if it is there: it tries functions on columns of its own making."""
    extensions = sys.modules.get("dask.dataframe.extensions")
    if extensions is not None and TreeDtype not in extensions.make_array_nonempty._lookup:
        extensions.make_array_nonempty.register(TreeDtype, lambda dtype: TreeColumn(TreeArray(["(a b)", "(a b)"])))
