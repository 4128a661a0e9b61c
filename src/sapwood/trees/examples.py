"""Several views of the same examples: trees of different kinds and flat features, sliced together.

``Examples`` only keeps views in step. What a view means is the business of the kernel that is put ``on`` it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.notebook import Shown
from sapwood.trees.array import TreeArray
from sapwood.trees.convert import is_nltk
from sapwood.trees.tree import Tree

__all__ = ["Examples"]


class Examples(Shown):
    """Named views of one set of examples, sliceable like an array.

    Parameters
    ----------
    **views
        Each view has one row per example: a ``TreeArray`` or a list of trees, a two-dimensional array, a SciPy
        sparse matrix, or a list of ``{feature: value}`` dictionaries.

    Examples
    --------
    >>> E = Examples(tree=["(NP (NN dog))", "(NP (NN cat))"], flat=[{"length": 1.0}, {"length": 2.0}])
    >>> E
    Examples(tree, flat; 2 rows)
    >>> E[1:]["tree"]
    TreeArray(1 tree, 3 nodes, 3 distinct subtrees)
    """

    __slots__ = ("__weakref__", "_length", "_views")

    def __init__(self, /, **views: Any) -> None:
        if not views:
            raise DataError("Examples needs at least one view, for example Examples(tree=trees).")
        self._views = {name: _as_view(name, value) for name, value in views.items()}
        lengths = {name: int(view.shape[0]) for name, view in self._views.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise DataError(f"all views must have the same number of rows, but {listed}.")
        self._length = next(iter(lengths.values()))

    @classmethod
    def from_frame(cls, frame: Any, *, trees: Sequence[str] | None = None) -> Examples:
        """Make examples from a pandas DataFrame.

        Parameters
        ----------
        frame : DataFrame
            Columns of trees become one view each, under their own name; all numeric columns together become the
            view ``flat``. Other columns are an error, so that nothing is dropped in silence, and so are missing
            numbers.
        trees : list of str, optional
            The columns that hold trees (objects or bracketed strings). By default every column whose first value is
            a tree or a string that starts with ``(``.
        """
        if not hasattr(frame, "columns"):
            raise DataError(f"expected a pandas DataFrame, got {type(frame).__name__}.")
        frame = frame.rename(columns=str)
        names = list(frame.columns)
        if len(set(names)) < len(names):
            raise DataError(f"two columns have the same name; the frame has {', '.join(names)}.")
        if trees is None:
            trees = [name for name in names if len(frame) and _looks_like_tree(frame[name].iloc[0])]
        unknown = [name for name in trees if name not in names]
        if unknown:
            raise DataError(f"no column {unknown[0]!r}; the frame has {', '.join(names)}.")
        views: dict[str, Any] = {name: TreeArray(list(frame[name])) for name in trees}
        rest = [name for name in names if name not in trees]
        if rest:
            if "flat" in views:
                raise DataError(
                    "the tree column 'flat' has the name of the view for numbers; rename it, for example with "
                    "frame.rename(columns={'flat': 'tree'})."
                )
            views["flat"] = _numbers(frame, rest)
        return cls(**views)

    def detach(self) -> Examples:
        """Return the same examples with tree views on stores of their own; see ``TreeArray.detach``."""
        detached = {name: v.detach() if isinstance(v, TreeArray) else v for name, v in self._views.items()}
        return Examples(**detached)

    @property
    def shape(self) -> tuple[int]:
        """The number of examples as a tuple."""
        return (self._length,)

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views."""
        return tuple(self._views)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Examples]:
        for index in range(self._length):
            yield self[index : index + 1]

    def __getitem__(self, key: Any) -> Any:
        """Return a view by its name, or the examples at a slice, mask or list of positions."""
        if isinstance(key, str):
            if key not in self._views:
                raise DataError(f"no view {key!r}; these examples have {', '.join(self._views)}.")
            return self._views[key]
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            if not -self._length <= key < self._length:
                raise IndexError(f"index {key} is out of range for {self._length} examples")
            key = slice(key % self._length, key % self._length + 1)
        elif not isinstance(key, slice):
            key = np.asarray(key)
            if key.size == 0:
                key = key.astype(np.intp)
        return Examples(**{name: view[key] for name, view in self._views.items()})

    def __repr__(self) -> str:
        return f"Examples({', '.join(self._views)}; {self._length:,} {'row' if self._length == 1 else 'rows'})"

    def _facts(self) -> dict[str, Any]:
        shown = {name: f"matrix, {' × '.join(map(str, view.shape))}" for name, view in self._views.items()}
        return {name: repr(view) if isinstance(view, TreeArray) else shown[name] for name, view in self._views.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (dict(self._views),)


def _restore(views: dict[str, Any]) -> Examples:
    return Examples(**views)


def _looks_like_tree(value: object) -> bool:
    return isinstance(value, Tree) or is_nltk(value) or (isinstance(value, str) and value.lstrip().startswith("("))


def _numbers(frame: Any, names: Sequence[str]) -> NDArray[np.float64]:
    """Return columns of numbers side by side, or raise naming those that are something else."""
    columns, others = [], []
    for name in names:
        # Dates would become large numbers in silence, and complex numbers lose a part.
        if getattr(frame[name].dtype, "kind", "O") in "mMc":
            others.append(name)
            continue
        try:
            columns.append(frame[name].to_numpy(dtype=np.float64, na_value=np.nan))
        except (TypeError, ValueError):
            others.append(name)
    if others:
        raise DataError(
            f"these columns are not numbers: {', '.join(others)}; drop or encode them first, or name the tree columns "
            "with trees=[...]."
        )
    for name, column in zip(names, columns, strict=True):
        missing = np.flatnonzero(np.isnan(column))
        if len(missing):
            raise DataError(
                f"column {name!r} has no number in row {missing[0]} (frame.iloc[{missing[0]}]); fill or drop what is "
                "missing first."
            )
    return np.column_stack(columns)


def _as_view(name: str, value: Any) -> Any:
    if isinstance(value, TreeArray):
        return value
    if sparse.issparse(value):
        return value.tocsr()
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if isinstance(value, (str, Tree, Mapping)) or is_nltk(value):
        raise DataError(f"view {name!r} is a single {type(value).__name__}; pass one row per example.")
    if not isinstance(value, Iterable) or (isinstance(value, np.ndarray) and value.ndim == 0):
        raise DataError(
            f"view {name!r} must be trees, a matrix or a list of dictionaries, one row per example; got {value!r}."
        )
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OU":
        if value.ndim != 2:
            raise DataError(f"view {name!r} must have two dimensions (rows, features), got shape {value.shape}.")
        return value
    if isinstance(value, np.ndarray) and value.ndim == 1 and not len(value):
        return value  # no rows are left of a view of dictionaries
    rows = list(value)
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _object_array(rows)
    if rows and all(isinstance(row, (Tree, str, list, tuple)) or is_nltk(row) for row in rows):
        if all(isinstance(row, (list, tuple)) and row and isinstance(row[0], (int, float)) for row in rows):
            try:
                return np.asarray(rows, dtype=np.float64)
            except (TypeError, ValueError):
                raise DataError(f"view {name!r} must have rows of numbers, all of the same length.") from None
        return TreeArray(rows)
    if not rows:
        raise DataError(f"view {name!r} is an empty list, so its kind is unknown; pass an empty TreeArray or matrix.")
    raise DataError(
        f"view {name!r} must be trees, a matrix or a list of dictionaries; its rows are "
        f"{', '.join(sorted({type(row).__name__ for row in rows}))}."
    )


def _object_array(rows: Sequence[Any]) -> NDArray[np.object_]:
    result = np.empty(len(rows), dtype=object)
    result[:] = rows
    return result
