"""What a view of examples can be: trees, a matrix, a sparse matrix, or dictionaries from feature names to values.

Whatever a user passes becomes one of these here. What a view means is decided by kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.trees.array import TreeArray
from sapwood.trees.arrow import unpacked
from sapwood.trees.convert import is_frame, is_nltk
from sapwood.trees.dependency_sentence import DependencySentence, is_spacy
from sapwood.trees.nested import is_spelled
from sapwood.trees.tree import Tree

__all__ = ["as_view", "columns_of_numbers", "columns_of_trees", "looks_like_tree"]


def as_view(value: Any, name: str) -> Any:
    """Return a value as a ``TreeArray``, a matrix, a CSR matrix without repeated entries, or an array of dictionaries.

    Parameters
    ----------
    value : object
        What a user passes, with one row per example.
    name : str
        What messages call it, such as ``X`` or ``view 'flat'``.
    """
    value = unpacked(value)
    if isinstance(value, TreeArray):
        return value
    if sparse.issparse(value):
        return _sparse(value, name)
    if is_frame(value):
        return _of_frame(value, name)
    if hasattr(value, "to_numpy"):
        return as_view(value.to_numpy(), name)
    if isinstance(value, (str, Tree, Mapping)) or is_nltk(value):
        raise DataError(f"{name} is a single {type(value).__name__}; pass one row per example.")
    if not isinstance(value, Iterable) or (isinstance(value, np.ndarray) and value.ndim == 0):
        raise DataError(
            f"{name} must be trees, a matrix or a list of dictionaries, one row per example; got {value!r}."
        )
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "OU" or value.ndim != 1:
            return _matrix(value, name)
        if not len(value):
            return value  # no rows are left of a view of dictionaries
    rows = list(value)
    if not rows:
        raise DataError(f"{name} is an empty list, so its kind is unknown; pass an empty TreeArray or matrix.")
    if all(isinstance(row, Mapping) for row in rows):
        if all(map(is_spelled, rows)):
            return TreeArray(rows)
        return np.fromiter(rows, dtype=object, count=len(rows))
    if all(_is_row_of_numbers(row) for row in rows):
        return _matrix(rows, name)
    if any(isinstance(row, Mapping) for row in rows) or not any(_is_element(row) for row in rows):
        kinds = ", ".join(sorted({type(row).__name__ for row in rows}))
        raise DataError(
            f"{name} must be trees, a matrix or a list of dictionaries; its rows are {kinds}. Trees come as "
            "Tree, as strings in bracket notation, as nltk.Tree, or as lists of these."
        )
    return TreeArray(rows)


def columns_of_numbers(frame: Any) -> NDArray[np.float64]:
    """Return the columns of a data frame side by side, or raise naming those that are no numbers or have gaps."""
    if all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in frame.dtypes):
        matrix = np.array(frame.to_numpy(np.float64))  # a copy, since the frame may be changed later
    else:
        matrix = _column_by_column(frame)
    gaps = np.isnan(matrix)
    if gaps.any():
        column = int(np.flatnonzero(gaps.any(axis=0))[0])
        row = int(np.flatnonzero(gaps[:, column])[0])
        raise DataError(
            f"column {frame.columns[column]!r} has no number in row {row} (frame.iloc[{row}]); fill or drop what is "
            "missing first."
        )
    return matrix


def columns_of_trees(frame: Any) -> list[int]:
    """Return the positions of the columns of a data frame whose first value is a tree or looks like one."""
    # By position, here and below: names may occur twice.
    kinds = enumerate(frame.dtypes if len(frame) else ())
    return [place for place, kind in kinds if not _is_plain(kind) and looks_like_tree(frame.iloc[0, place])]


def looks_like_tree(value: object) -> bool:
    """Tell whether a value is a tree, a string that may hold one, or a bag of these."""
    if isinstance(value, (list, tuple)) and not is_nltk(value):
        return len(value) > 0 and all(looks_like_tree(part) for part in value)
    if isinstance(value, (Tree, DependencySentence)) or is_nltk(value) or is_spacy(value):
        return True
    return isinstance(value, str) and value.lstrip().startswith("(")


def _is_plain(kind: Any) -> bool:
    """Tell whether a column of this type can hold nothing but numbers and truth values."""
    return getattr(kind, "kind", "O") in "biuf"


def _column_by_column(frame: Any) -> NDArray[np.float64]:
    columns, others = [], []
    for place, kind in enumerate(frame.dtypes):
        values = frame.iloc[:, place]
        text = not _is_plain(kind) and any(isinstance(value, str) for value in values)
        # Dates would become large numbers in silence, complex numbers lose a part, and text such as "1" is a label.
        if text or getattr(kind, "kind", "O") in "mMc":
            others.append(frame.columns[place])
            continue
        try:
            columns.append(values.to_numpy(dtype=np.float64, na_value=np.nan))
        except (TypeError, ValueError):
            others.append(frame.columns[place])
    if others:
        raise DataError(
            f"these columns are not numbers: {', '.join(map(str, others))}; drop or encode them first, or name the "
            "tree columns with Examples.from_frame(df, trees=[...])."
        )
    return np.column_stack(columns)


def _of_frame(frame: Any, name: str) -> NDArray[np.float64]:
    for place in columns_of_trees(frame):
        column = frame.columns[place]
        raise DataError(
            f"{name} is a data frame with trees in the column {column!r}; pass that column, df[{column!r}], or keep "
            "all of them with Examples.from_frame(df)."
        )
    return columns_of_numbers(frame)


def _sparse(value: Any, name: str) -> Any:
    if value.ndim != 2:
        raise DataError(f"{name} must have two dimensions (rows, features), got shape {value.shape}.")
    rows = value.tocsr()
    if not rows.has_canonical_format:
        # What is stored twice is meant to be added up, which products of rows would not do.
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _matrix(value: Any, name: str) -> NDArray[Any]:
    """Return rows of numbers as an array of two dimensions."""
    if isinstance(value, np.ndarray) and value.ndim != 2:
        raise DataError(f"{name} must have two dimensions (rows, features), got shape {value.shape}.")
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OU":
        raise DataError(f"{name} must hold real numbers, got an array of type {value.dtype}.")
    for number, row in enumerate(value):
        for column, entry in enumerate(() if isinstance(value, list) and isinstance(row, np.ndarray) else row):
            if isinstance(entry, (str, Tree)) and looks_like_tree(entry):
                raise DataError(
                    f"{name} is a table with a tree in row {number}; pass that column alone, as in X[:, {column}], or "
                    "several as the views of Examples."
                )
            if isinstance(entry, str):
                raise DataError(f"{name} has {str(entry)!r} in row {number} among numbers; encode it first.")
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must have rows of real numbers, all of the same length.") from None


def _is_row_of_numbers(row: object) -> bool:
    if isinstance(row, np.ndarray):
        return row.ndim == 1 and row.dtype.kind in "biuf"
    kinds = (int, float, np.integer, np.floating, np.bool_)
    return isinstance(row, (list, tuple)) and len(row) > 0 and isinstance(row[0], kinds)


def _is_element(row: object) -> bool:
    return isinstance(row, (Tree, str, list, tuple, DependencySentence)) or is_nltk(row) or is_spacy(row)
