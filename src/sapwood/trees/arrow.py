"""Trees as Arrow arrays, which pandas, polars, DuckDB and Parquet files hold, without brackets to be written or parsed.

A tree is a struct of two lists in pre-order: ``labels`` and ``children``, the number of children of each node. A bag of
trees is a list of such structs. pyarrow does the work, and is imported where it is needed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import DataError
from sapwood.extras import need
from sapwood.writing import atomic_write

if TYPE_CHECKING:
    from sapwood.trees.array import TreeArray

__all__ = ["ArrowExchange", "from_arrow", "to_arrow", "unpacked"]

_NO_TREE = 0xFFFFFFFF


class ArrowExchange:
    """What ``TreeArray`` has to go through Arrow."""

    __slots__ = ()

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Array``: a struct of labels and numbers of children per tree, a list of these per bag.

        Any library that speaks Arrow takes the trees as they are, such as ``polars.Series(trees)``.
        """
        return to_arrow(cast("TreeArray", self))

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return cast("tuple[object, object]", self.to_arrow().__arrow_c_array__(requested_schema))

    @classmethod
    def from_arrow(cls, data: Any) -> TreeArray:
        """Read trees as ``to_arrow`` makes them, from an array or a column of any library that speaks Arrow."""
        return from_arrow(data)

    def to_pandas(self) -> Any:
        """Return a ``pandas.Series`` of dtype ``tree``, which stays a column of trees; see ``sapwood.trees.pandas``."""
        from sapwood.trees.pandas import TreeColumn

        return need("pandas", "a Series").Series(TreeColumn(cast("TreeArray", self)))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the trees to a Parquet file, as its only column ``tree``; the file appears whole or not at all."""
        arrow = _pyarrow()
        parquet = need("pyarrow.parquet", "a Parquet file", "arrow")
        sink = arrow.BufferOutputStream()
        parquet.write_table(arrow.table({"tree": self.to_arrow()}), sink)
        atomic_write(path, sink.getvalue().to_pybytes())

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str], column: str = "tree") -> TreeArray:
        """Read a column of trees of a Parquet file."""
        arrow = _pyarrow()
        parquet = need("pyarrow.parquet", "a Parquet file", "arrow")
        try:
            names = parquet.read_schema(os.fspath(path)).names
            table = parquet.read_table(os.fspath(path), columns=[column]) if column in names else None
        except FileNotFoundError:
            raise DataError(f"{path}: no such file.") from None
        except (arrow.ArrowException, OSError) as error:
            raise DataError(f"{path}: not a Parquet file that can be read ({error}).") from None
        if table is None:
            raise DataError(
                f"{path}: has no column {column!r}, but {', '.join(map(repr, names))}; say which holds trees with "
                "column='...'."
            )
        return from_arrow(table.column(column))


def _pyarrow() -> Any:
    return need("pyarrow", "an Arrow array", "arrow")


def to_arrow(trees: TreeArray) -> Any:
    """Spell the trees out; see ``TreeArray.to_arrow``."""
    arrow = _pyarrow()
    if trees._vectors is not None:
        raise DataError("the trees have vectors on their leaves, which Arrow arrays do not hold; use sw.save instead.")
    trees._ranges_to_write_out("spell it out")
    small = trees._compact()
    numbers, counts, ends = _core.places.preorder(small._arena, small._roots)
    texts = arrow.array(_core.places.labels(small._arena), arrow.string())
    offsets = arrow.array(np.concatenate([np.zeros(1, dtype=np.int64), ends.astype(np.int64)]))
    labels = arrow.DictionaryArray.from_arrays(arrow.array(numbers.astype(np.int32)), texts).dictionary_decode()
    fields = [
        arrow.LargeListArray.from_arrays(offsets, labels.cast(arrow.large_string())),
        arrow.LargeListArray.from_arrays(offsets, arrow.array(counts)),
    ]
    structs = arrow.StructArray.from_arrays(fields, names=["labels", "children"])
    if small._ends is None:
        return structs
    bags = np.concatenate([np.zeros(1, dtype=np.int64), small._ends.astype(np.int64)])
    return arrow.LargeListArray.from_arrays(arrow.array(bags), structs)


def from_arrow(data: Any) -> TreeArray:
    """Put trees that are spelled out into a store; see ``TreeArray.from_arrow``."""
    from sapwood.trees.array import TreeArray

    arrow = _pyarrow()
    if not isinstance(data, (arrow.Array, arrow.ChunkedArray)):
        try:
            data = arrow.chunked_array(data) if hasattr(data, "__arrow_c_stream__") else arrow.array(data)
        except (arrow.ArrowException, TypeError, ValueError) as error:
            raise DataError(f"expected a column of trees in Arrow, got {type(data).__name__} ({error}).") from None
    if isinstance(data, arrow.ChunkedArray):
        data = data.combine_chunks() if data.num_chunks != 1 else data.chunk(0)
    if isinstance(data, arrow.ChunkedArray):
        data = arrow.concat_arrays(data.chunks)
    _refuse_missing(data, "elements")
    ends = None
    if arrow.types.is_list(data.type) or arrow.types.is_large_list(data.type):
        offsets = data.offsets.to_numpy()
        ends = (offsets[1:] - offsets[0]).astype(np.uint64)
        data = data.flatten()
        _refuse_missing(data, "trees")
    if not arrow.types.is_struct(data.type) or {"labels", "children"} - {field.name for field in data.type}:
        raise DataError(
            f"expected structs of 'labels' and 'children', as TreeArray.to_arrow makes them, got {data.type}; trees in "
            "brackets are read by TreeArray(column)."
        )
    parts = dict(zip((field.name for field in data.type), data.flatten(), strict=True))
    texts, label_ends = _flat(arrow, parts["labels"], "labels")
    counts, count_ends = _flat(arrow, parts["children"], "children")
    if not np.array_equal(label_ends, count_ends):
        raise DataError("a tree has not as many labels as numbers of children.")
    try:
        encoded = texts.cast(arrow.large_string()).dictionary_encode()
        numbers = encoded.indices.to_numpy().astype(np.uint32)
        kids = counts.cast(arrow.uint32()).to_numpy()
    except arrow.ArrowException as error:
        raise DataError(f"labels must be text and children must be counts: {error}.") from None
    names = encoded.dictionary.to_pylist()
    if "" in names:
        raise DataError("a label is empty; give the node a name such as 'TOP'.")
    arena = _core.trees.Arena()
    roots = _core.places.from_preorder(arena, names, numbers, np.ascontiguousarray(kids), label_ends)
    wrong = np.flatnonzero(roots == _NO_TREE)
    if len(wrong):
        raise DataError(f"the numbers of children of tree {wrong[0]} do not make one tree.")
    return TreeArray._from_arena(arena, roots, ends)


def unpacked(data: Any) -> Any:
    """Return a column of Arrow's as trees, or as a list of texts; whatever else is given, as it is.

    Columns of pyarrow, polars and of pandas with types of Arrow, and of all others that have the PyCapsule protocol.
    """
    home = type(data).__module__.partition(".")[0]
    kind = getattr(data, "dtype", None)
    if home == "pandas":
        speaks = hasattr(kind, "pyarrow_dtype")
    elif home == "polars" and kind is not None:
        # What else a Series holds it gives to NumPy by itself, without pyarrow.
        speaks = str(kind).startswith(("Struct", "List"))
    else:
        speaks = home != "sapwood" and (hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"))
    if not speaks:
        return data
    arrow = _pyarrow()
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if names is not None:
        for name in names:
            if isinstance(unpacked(data[name][:1]), ArrowExchange):
                raise DataError(f"expected a column of trees, got a table; pass one of its columns, table[{name!r}].")
        return data
    streams = not isinstance(data, (arrow.Array, arrow.ChunkedArray)) and hasattr(data, "__arrow_c_stream__")
    column = data if isinstance(data, arrow.ChunkedArray) else (arrow.chunked_array if streams else arrow.array)(data)
    if _spells_trees(arrow, column.type):
        return from_arrow(column)
    texts = (arrow.types.is_string, arrow.types.is_large_string, arrow.types.is_string_view)
    return column.to_pylist() if any(is_text(column.type) for is_text in texts) else data


def _spells_trees(arrow: Any, kind: Any) -> bool:
    if arrow.types.is_list(kind) or arrow.types.is_large_list(kind):
        kind = kind.value_type
    return arrow.types.is_struct(kind) and {"labels", "children"} <= {field.name for field in kind}


def _refuse_missing(data: Any, what: str) -> None:
    if data.null_count:
        raise DataError(f"{data.null_count} of the {len(data)} {what} are missing; drop them first.")


def _flat(arrow: Any, lists: Any, what: str) -> tuple[Any, NDArray[np.uint64]]:
    """Return the items of all lists, and where each list ends."""
    if not (arrow.types.is_list(lists.type) or arrow.types.is_large_list(lists.type)):
        raise DataError(f"expected a list of {what} per tree, got {lists.type}.")
    _refuse_missing(lists, f"lists of {what}")
    items = lists.flatten()
    _refuse_missing(items, what)
    offsets = lists.offsets.to_numpy().astype(np.uint64)
    return items, offsets[1:] - offsets[0]
