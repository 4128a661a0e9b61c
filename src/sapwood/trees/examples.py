"""Several views of the same examples: trees of different kinds and flat features, sliced together.

``Examples`` only keeps views in step. What a view means is decided by the kernel that is put ``on`` it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import BracketError, DataError, TreeError
from sapwood.notebook import HtmlTable
from sapwood.trees.array import TreeArray
from sapwood.trees.views import as_view, columns_of_numbers, columns_of_trees

__all__ = ["Examples"]


class Examples(HtmlTable):
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
        self._views = {name: _named_view(f"view {name!r}", value) for name, value in views.items()}
        lengths = {name: int(view.shape[0]) for name, view in self._views.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise DataError(f"all views must have the same number of rows, but {listed}.")
        self._length = next(iter(lengths.values()))

    @classmethod
    def from_frame(cls, frame: Any, *, trees: Sequence[str] | str | None = None) -> Examples:
        """Make examples from a pandas DataFrame.

        Parameters
        ----------
        frame : DataFrame
            Columns of trees become one view each, under their own name; all numeric columns together become the
            view ``flat``. Other columns are an error, so that nothing is dropped in silence, and so are missing
            numbers.
        trees : list of str, or str, optional
            The columns that hold trees (objects or bracketed strings) or bags of them. By default every column whose
            first value is a tree or a string that starts with ``(``.
        """
        if not hasattr(frame, "columns"):
            raise DataError(f"expected a pandas DataFrame, got {type(frame).__name__}.")
        if getattr(frame.columns, "nlevels", 1) > 1:
            raise DataError(
                "the columns have names on several levels; join them first, for example with "
                "df.columns = ['_'.join(map(str, levels)) for levels in df.columns]."
            )
        frame = frame.rename(columns=str)
        names = list(frame.columns)
        if len(set(names)) < len(names):
            raise DataError(f"two columns have the same name; the frame has {', '.join(names)}.")
        if trees is None:
            trees = [names[place] for place in columns_of_trees(frame)]
        trees = [trees] if isinstance(trees, str) else list(trees)
        unknown = [name for name in trees if name not in names]
        if unknown:
            raise DataError(f"no column {unknown[0]!r}; the frame has {', '.join(names)}.")
        views = {name: _named_view(f"column {name!r}", list(frame[name]), _trees_alone) for name in trees}
        rest = [name for name in names if name not in trees]
        if rest:
            if "flat" in views:
                raise DataError(
                    "the tree column 'flat' has the name of the view for numbers; rename it, for example with "
                    "frame.rename(columns={'flat': 'tree'})."
                )
            views["flat"] = columns_of_numbers(frame[rest])
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

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.object_]:
        # One row after the other, as scikit-learn's Gaussian processes take what is no matrix.
        if dtype is not None and np.dtype(dtype) != object:
            raise DataError(
                f"examples with the views {', '.join(self._views)} are no matrix of numbers; take a kernel on their "
                "views, or examples['view'] for the numbers of one."
            )
        rows = np.empty(self._length, dtype=object)
        for index, row in enumerate(self):
            rows[index] = row
        return rows

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

    def _summary(self) -> dict[str, Any]:
        shown = {name: f"matrix, {' × '.join(map(str, view.shape))}" for name, view in self._views.items()}
        return {name: repr(view) if isinstance(view, TreeArray) else shown[name] for name, view in self._views.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (dict(self._views),)


def _trees_alone(value: Any, _: str) -> TreeArray:
    return TreeArray(value)


def _named_view(name: str, value: Any, make: Callable[[Any, str], Any] = as_view) -> Any:
    """Make a view; where a tree is broken, the message says in which."""
    try:
        return make(value, name)
    except BracketError as error:
        raise BracketError(f"{name}, {error.source}", error.line, error.column, error.reason, error.context) from None
    except TreeError as error:
        raise TreeError(f"{name}: {error}") from None
    except DataError as error:
        # What is wrong with the view as a whole is said with its name already.
        raise error if str(error).startswith(name) else DataError(f"{name}: {error}") from None


def _restore(views: dict[str, Any]) -> Examples:
    return Examples(**views)
