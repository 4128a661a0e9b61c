"""How tree arrays, examples and whatever a view can be are written to model files and read back."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import scipy.sparse as sparse

from sapwood import _core
from sapwood.checks import is_finite
from sapwood.errors import DataError
from sapwood.layouts import Field
from sapwood.registry import Reader, Writer, register
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples


def _write_trees(trees: TreeArray, writer: Writer) -> dict[str, Any]:
    labels, node_labels, child_ends, children, roots = trees._arena.dump(trees._roots)
    return {
        "labels": labels,
        "node_labels": writer.array(node_labels),
        "child_ends": writer.array(child_ends),
        "children": writer.array(children),
        "roots": writer.array(roots),
        "ends": None if trees._ends is None else writer.array(trees._ends),
        **({} if (vectors := trees.vectors) is None else {"vectors": writer.array(vectors)}),
    }


def _read_trees(data: dict[str, Any], reader: Reader) -> TreeArray:
    arena = _core.trees.Arena.load(
        reader.texts(data["labels"]),
        reader.array(data["node_labels"], np.uint32, 1),
        reader.array(data["child_ends"], np.uint64, 1),
        reader.array(data["children"], np.uint32, 1),
    )
    roots = reader.indices(data["roots"], len(arena))
    ends = None if data["ends"] is None else reader.offsets(data["ends"], len(roots))
    trees = TreeArray._from_arena(arena, roots, ends)
    if "vectors" not in data:
        return trees
    return trees.with_vectors(reader.array(data["vectors"], (np.float16, np.float32), 2))


def _write_examples(examples: Examples, writer: Writer) -> dict[str, Any]:
    return {"views": {name: write_view(examples[name], writer, f"view {name!r}") for name in examples.views}}


def write_view(view: Any, writer: Writer, name: str = "the features") -> dict[str, Any]:
    """Describe trees, a matrix, a sparse matrix or dictionaries; or whole examples. Messages call it by its name."""
    if isinstance(view, (TreeArray, Examples)):
        return writer.part(view)
    if sparse.issparse(view):
        return {
            "kind": "sparse",
            "shape": list(view.shape),
            "data": writer.array(view.data.astype(np.float64)),
            "indices": writer.array(view.indices.astype(np.int64)),
            "indptr": writer.array(view.indptr.astype(np.int64)),
        }
    if view.dtype == object:
        rows = [_plain_features(row, f"{name}, row {number}") for number, row in enumerate(view)]
        return {"kind": "dictionaries", "rows": rows}
    return {"kind": "dense", "data": writer.array(view.astype(np.float64))}


def _plain_features(row: Mapping[Any, Any], place: str) -> dict[str, Any]:
    """Return features as JSON holds them, whose names are text; 1 and "1" become one, as they do in kernels."""
    plain: dict[str, Any] = {}
    for name, value in row.items():
        if not (value is None or isinstance(value, (str, bool, np.bool_)) or is_finite(value)):
            # Of integers only those come here that are hundreds of digits long.
            shown = "an integer too large for a float" if isinstance(value, int) else reprlib.repr(value)
            raise DataError(
                f"{place}: the feature {name!r} is {shown}, which no model file can hold; replace or drop it before "
                "saving. Values are finite numbers, text, truth values or None."
            )
        as_it_is = value is None or isinstance(value, (str, bool, int))
        _add_feature(plain, str(name), value if as_it_is else float(cast(float, value)))
    return plain


def _add_feature(plain: dict[str, Any], name: str, value: Any) -> None:
    """Give a feature a value, or add it to the one it has; text is one-hot, so it has a feature of its own."""
    if name not in plain:
        plain[name] = value
        return
    values = (plain.pop(name), value)
    for text in values:
        if isinstance(text, str):
            _add_feature(plain, f"{name}={text}", 1.0)
    numbers = [float(number or 0.0) for number in values if not isinstance(number, str)]
    if numbers:
        plain[name] = sum(numbers)


def _read_examples(data: dict[str, Any], reader: Reader) -> Examples:
    return Examples(**{str(name): read_view(view, reader) for name, view in data["views"].items()})


def read_view(data: dict[str, Any], reader: Reader) -> Any:
    """Make again what ``write_view`` has described."""
    match data.get("kind"):
        case None:
            return reader.part(data)
        case "sparse":
            matrix = sparse.csr_array(
                (
                    reader.array(data["data"], np.float64, 1),
                    reader.array(data["indices"], np.int64, 1),
                    reader.array(data["indptr"], np.int64, 1),
                ),
                shape=tuple(data["shape"]),
            )
            matrix.check_format(full_check=True)
            return matrix
        case "dictionaries":
            rows = np.empty(len(data["rows"]), dtype=object)
            rows[:] = [dict(row) for row in data["rows"]]
            return rows
        case "dense":
            return reader.array(data["data"], np.float64, 2)
    raise reader.fail(f"a view is of the unknown kind {data['kind']!r}")


VIEW = Field(write_view, read_view)

register("TreeArray", TreeArray, _write_trees, _read_trees)
register("Examples", Examples, _write_examples, _read_examples)
