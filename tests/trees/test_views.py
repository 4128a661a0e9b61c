"""What users pass as a view: the same numbers in every shape that tables come in, and messages that name the place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse

import sapwood as sw
from sapwood.errors import BracketError, DataError, TreeError
from sapwood.kernels import Linear
from sapwood.trees.views import as_view, looks_like_tree

EXPECTED = [[1.0, 1.0], [2.0, 0.0]]
TABLES = {
    "matrix": np.array(EXPECTED),
    "integers": np.array([[1, 1], [2, 0]]),
    "lists": [[1, True], [2, False]],
    "lists of truth values first": [[True, 1], [2, 0]],
    "NumPy's numbers in lists": [[np.int64(1), 1.0], [np.float32(2), 0]],
    "list of arrays": [np.array([1, 1]), np.array([2.0, 0.0])],
    "objects": np.array([[1, True], [2.0, False]], dtype=object),
    "frame": pd.DataFrame({"a": [1, 2], "b": [True, False]}),
    "nullable frame": pd.DataFrame({"a": pd.array([1, 2], dtype="Int64"), "b": [1.0, 0.0]}),
    "frame with a name twice": pd.DataFrame([[1, 1], [2, 0]], columns=["a", "a"]),
    "objects under a name twice": pd.DataFrame([[1, True], [2, False]], columns=["a", "a"], dtype=object),
    "objects in a frame": pd.DataFrame({"a": [1, 2], "b": [True, False]}, dtype=object),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_tables_of_numbers(table):
    np.testing.assert_array_equal(np.asarray(as_view(table, "X"), dtype=float), EXPECTED)
    np.testing.assert_array_equal(sw.Examples(f=table)["f"], EXPECTED)
    np.testing.assert_array_equal(Linear()(table), Linear()(np.array(EXPECTED)))


@pytest.mark.parametrize("kind", [bool, object])
def test_tables_of_truth_values(kind):
    table = np.array([[True, True], [True, False]], dtype=kind)
    np.testing.assert_array_equal(np.asarray(as_view(table, "X"), dtype=float), [[1.0, 1.0], [1.0, 0.0]])
    assert Linear()(table).tolist() == [[2.0, 1.0], [1.0, 1.0]]


def test_sparse_entries_that_are_stored_twice_are_added_up():
    matrix = sparse.csr_array((np.ones(5), [0, 1, 0, 1, 1], [0, 3, 5]), shape=(2, 2))
    view = as_view(matrix, "X")
    assert view.has_canonical_format
    np.testing.assert_array_equal(view.toarray(), [[2.0, 1.0], [0.0, 2.0]])
    assert matrix.nnz == 5  # what was passed in stays as it was
    with pytest.raises(DataError, match="X must have two dimensions"):
        as_view(sparse.coo_array(np.ones(3)), "X")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((2, 2), dtype="datetime64[s]"), "X must hold real numbers, got an array of type datetime64"),
        (np.array([[1, "2"], [3, 4]], dtype=object), "X has '2' in row 0 among numbers"),
        (np.array([[1, 2j], [3, 4]], dtype=object), "X must have rows of real numbers"),
        (pd.DataFrame({"t": ["(a b)"], "n": [1]}), r"X is a data frame with trees in the column 't'; .*df\['t'\]"),
        (pd.DataFrame({"t": ["1", "2"]}), "these columns are not numbers: t"),
        ([{}, "(a b)"], "its rows are dict, str"),
        ([3, None], "its rows are NoneType, int"),
        ([sw.TreeArray(["(a b)"])], r"its rows are TreeArray\. Trees come as Tree, as strings in bracket notation"),
        (
            np.array([["(a b)"]], dtype=object),
            r"X is a table with a tree in row 0; pass that column alone, .*X\[:, 0\]",
        ),
        (np.array([["1", "(a b)"]])[:, 1:], r"X is a table with a tree in row 0; .* X\[:, 0\]"),
        (np.array([[1, sw.Tree("a", ["b"])]], dtype=object), r"X is a table with a tree in row 0; .* X\[:, 1\]"),
        (np.array([["x", "y"]]), "X has 'x' in row 0 among numbers"),
        (np.zeros((1, 1, 1), dtype=object), r"X must have two dimensions \(rows, features\), got shape \(1, 1, 1\)"),
        (pd.DataFrame([["(a b)", 1]], columns=["n", "n"]), "trees in the column 'n'"),
        (pd.DataFrame([["x", 1]], columns=["n", "n"]), "these columns are not numbers: n;"),
        (pd.DataFrame([[1.0, 2.0], [3.0, np.nan]], columns=["n", "n"]), "column 'n' has no number in row 1"),
        (pd.DataFrame({"m": pd.array([1, 2], "Int64"), "n": pd.array([1, None], "Int64")}), "column 'n' .* in row 1"),
    ],
)
def test_refusals(value, message):
    with pytest.raises(DataError, match=message):
        as_view(value, "X")


def test_a_broken_tree_says_in_which_view():
    with pytest.raises(BracketError, match=r"^view 'path', <element 1>:1:") as caught:
        sw.Examples(path=["(a b)", "(a"])
    assert caught.value.line == 1
    with pytest.raises(TreeError, match=r"^view 'path': element 1 is missing"):
        sw.Examples(path=["(a b)", None])
    with pytest.raises(TreeError, match=r"^column 't': element 1 is missing, it is nan"):
        sw.Examples.from_frame(pd.DataFrame({"t": ["(a b)", np.nan]}))


def test_frames():
    bags = pd.DataFrame({"t": [["(a b)", "(a c)"], ["(a d)"]], "n": [1, 2]})
    E = sw.Examples.from_frame(bags)
    assert E.views == ("t", "flat")
    assert E["t"].has_bags
    assert sw.Examples.from_frame(bags, trees="t").views == E.views
    with pytest.raises(DataError, match="not numbers: label"):
        sw.Examples.from_frame(pd.DataFrame({"t": ["(a b)", "(a c)"], "label": ["0", "1"]}))
    with pytest.raises(DataError, match="names on several levels; join them first"):
        sw.Examples.from_frame(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])))


def test_numbers_of_frames_are_copies():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    view = as_view(frame, "X")
    view[0, 0] = 9.0
    assert frame.loc[0, "a"] == 1.0
    assert as_view(frame[[]], "X").shape == (2, 0)


def test_what_looks_like_a_tree():
    assert looks_like_tree(" (a b)")
    assert looks_like_tree(sw.Tree("a"))
    assert looks_like_tree(["(a b)", sw.Tree("a")])
    for value in ("a", 3, [], ["(a b)", 3], None):
        assert not looks_like_tree(value)
