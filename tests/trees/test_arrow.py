"""Trees through Arrow, Parquet, pandas and polars, and back."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from sapwood import Examples, Tree, TreeArray, read_trees
from sapwood.errors import DataError, TreeError
from sapwood.kernels import SubsetTree

arrow = pytest.importorskip("pyarrow")


def spelled(tree: Tree) -> dict[str, Any]:
    nodes = list(tree.preorder())
    return {"labels": [node.label for node in nodes], "children": [len(node.children) for node in nodes]}


@given(st.lists(strategies.trees_over(strategies.labels), max_size=5))
def test_arrays(trees: list[Tree]) -> None:
    found = TreeArray(trees).to_arrow()
    assert found.to_pylist() == [spelled(tree) for tree in trees]
    assert TreeArray.from_arrow(found).equals(TreeArray(trees))
    assert TreeArray.from_arrow(found[1:]).equals(TreeArray(trees[1:]))
    assert arrow.array(TreeArray(trees)).equals(found)


@given(st.lists(strategies.bags(), min_size=1, max_size=4))
def test_bags(bags: list[list[Tree]]) -> None:
    found = TreeArray(bags).to_arrow()
    assert found.to_pylist() == [[spelled(tree) for tree in bag] for bag in bags]
    assert TreeArray.from_arrow(found).equals(TreeArray(bags))
    assert TreeArray.from_arrow(found[1:]).equals(TreeArray(bags)[1:])


def test_other_layouts() -> None:
    plain = arrow.array([{"children": [1, 0], "labels": ["a", "b"], "more": 3}])
    assert TreeArray.from_arrow(plain).to_strings() == ["(a b)"]
    chunks = arrow.chunked_array([plain, plain])
    assert len(TreeArray.from_arrow(chunks)) == 2
    assert len(TreeArray.from_arrow(chunks[:0])) == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"labels": ["a"], "children": [1]}], "of tree 0 do not make one tree"),
        ([{"labels": ["a", "b"], "children": [0, 0]}], "of tree 0 do not make one tree"),
        ([{"labels": [], "children": []}], "of tree 0 do not make one tree"),
        ([{"labels": ["a"], "children": [0, 0]}], "not as many labels"),
        ([{"labels": ["a"], "children": [-1]}], "children must be counts"),
        ([{"labels": [""], "children": [0]}], "a label is empty"),
        ([{"labels": [None], "children": [0]}], "are missing"),
        ([{"labels": ["a"], "children": [0]}, None], "1 of the 2 elements are missing"),
        ([{"labels": ["a"]}], "expected structs of 'labels' and 'children'"),
        ([{"labels": "a", "children": [0]}], "expected a list of labels"),
        (["(a b)"], "brackets are read by TreeArray"),
    ],
)
def test_what_is_refused(rows: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        TreeArray.from_arrow(arrow.array(rows))


@given(st.lists(strategies.trees_over(strategies.labels), min_size=1, max_size=4))
def test_rows_as_other_libraries_have_them(trees: list[Tree]) -> None:
    """Rows of a column that has lost its type, as pandas reads them from files of others."""
    rows = [spelled(tree) for tree in trees]
    whole = TreeArray(trees)
    assert TreeArray(rows).equals(whole)
    arrays = [{name: np.array(values, dtype=object) for name, values in row.items()} for row in rows]
    assert TreeArray(arrays).equals(whole)
    assert Examples(tree=rows)["tree"].equals(whole)
    assert TreeArray([rows, rows[:1]]).equals(TreeArray([trees, trees[:1]]))
    bags = np.empty(1, dtype=object)
    bags[0] = np.array(rows, dtype=object)
    assert TreeArray(bags).equals(TreeArray([trees]))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"labels": ["a"], "children": [1]}, "element 0: the numbers of children, .1., do not make one tree"),
        ({"labels": ["a", "b"], "children": [0, 0]}, "do not make one tree"),
        ({"labels": [], "children": []}, "do not make one tree"),
        ({"labels": ["a", "b"], "children": [1.5, 0]}, "do not make one tree"),
        ({"labels": ["a", "b"], "children": [-1, 0]}, "do not make one tree"),
        ({"labels": ["a", "b"], "children": ["1", 0]}, "do not make one tree"),
        ({"labels": ["a"], "children": [0, 0]}, "1 labels, but 2 numbers"),
        ({"labels": [""], "children": [0]}, "must not be empty"),
        ({"labels": "ab", "children": [0, 0]}, "element 0 is a dict with the keys labels, children; .*from_dict"),
        (None, "element 0 is missing, it is None; drop such elements first"),
        (float("nan"), "element 0 is missing, it is nan"),
    ],
)
def test_rows_that_are_refused(row: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        TreeArray([row])


def test_parquet(tmp_path: Path) -> None:
    trees = TreeArray(["(S (NP a) (VP b))", "(NP a)"])
    path = tmp_path / "trees.parquet"
    trees.to_parquet(path)
    assert TreeArray.from_parquet(path).equals(trees)
    with pytest.raises(DataError, match="no such file"):
        TreeArray.from_parquet(tmp_path / "missing")
    with pytest.raises(DataError, match="no column 'other', but 'tree'; say which holds trees with column="):
        TreeArray.from_parquet(path, column="other")
    trees.to_parquet(tmp_path / "trees.parquet")
    with pytest.raises(DataError, match=r"a Parquet file.*TreeArray\.from_parquet"):
        read_trees(tmp_path / "trees.parquet")
    (tmp_path / "broken").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="not a Parquet file"):
        TreeArray.from_parquet(tmp_path / "broken")
    with pytest.raises(DataError, match="vectors"):
        TreeArray(["(a b)"]).with_vectors([[1.0, 2.0]]).to_arrow()


@pytest.mark.slow
def test_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    trees = TreeArray(["(S (NP a) (VP b))", "(NP a)", "(NP a)"])
    column = trees.to_pandas()
    assert str(column.dtype) == "tree"
    assert TreeArray(column).equals(trees)
    assert column[1] == trees[1]
    assert str(column[1:].dtype) == "tree"
    frame = pandas.DataFrame({"tree": column, "y": [1, 2, 3]})
    assert frame.groupby("tree", sort=False)["y"].sum().tolist() == [1, 5]
    assert (frame["tree"] == trees[1]).tolist() == [False, True, True]
    assert (
        (frame["tree"] == "(NP a)").tolist()
        == (frame["tree"] == ["x", "(NP a)", trees[1]]).tolist()
        == [False, True, True]
    )
    both = pandas.concat([frame, frame[:1]], ignore_index=True)
    assert str(both["tree"].dtype) == "tree"
    assert both["tree"].nunique() == 2
    holes = column.reindex([0, 7, 2])
    assert holes.isna().tolist() == [False, True, False]
    with pytest.raises(DataError, match="1 of the 3 trees of the column are missing"):
        TreeArray(holes)
    assert len(TreeArray(holes.dropna())) == 2
    holes[7] = Tree.fromstring("(new x)")
    assert TreeArray(holes).to_strings()[1] == "(new x)"
    assert str(pandas.Series(["(a b)", None], dtype="tree").isna().tolist()) == "[False, True]"
    path = tmp_path / "frame.parquet"
    frame.loc[1, "tree"] = None
    frame.to_parquet(path)
    again = pandas.read_parquet(path)
    assert str(again["tree"].dtype) == "tree"
    assert again["tree"].isna().tolist() == [False, True, False]
    assert TreeArray(again["tree"].dropna()).equals(trees[[0, 2]])
    assert column.map(str).tolist() == trees.to_strings()
    assert str(column.map(lambda tree: tree.children[0]).dtype) == "tree"
    for part in (frame, frame[:1], frame[:0]):
        pandas.testing.assert_frame_equal(pickle.loads(pickle.dumps(part)), part)


@pytest.mark.slow
def test_dask_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    column = TreeArray(["(a b)", "(a c)"] * 3).to_pandas()
    parts = frames.from_pandas(pandas.DataFrame({"tree": column}), npartitions=2)
    assert parts.map_partitions(len).compute().tolist() == [3, 3]
    assert parts["tree"].map_partitions(lambda trees: trees.map(str)).compute().tolist() == ["(a b)", "(a c)"] * 3


@pytest.mark.slow
def test_polars() -> None:
    polars = pytest.importorskip("polars")
    trees = TreeArray(["(S (NP a) (VP b))", "(NP a)"])
    series = polars.from_arrow(trees.to_arrow())
    assert series.to_list() == [spelled(tree) for tree in trees]
    assert TreeArray.from_arrow(series).equals(trees)
    frame = polars.DataFrame({"tree": series, "y": [1, 2]}).filter(polars.col("y") == 2)
    assert TreeArray.from_arrow(frame["tree"]).equals(trees[1:])


@pytest.mark.slow
def test_a_large_column(tmp_path: Path) -> None:
    trees = TreeArray([f"(S (NP (DT the) (NN w{n})) (VP (VBD saw) (NP (NN w{n % 97}))))" for n in range(100_000)])
    trees.to_parquet(tmp_path / "large.parquet")
    again = TreeArray.from_parquet(tmp_path / "large.parquet")
    assert np.all(again == trees)


def test_arrays_and_kernels_take_columns() -> None:
    """As pyarrow, pandas and polars have them, without a word on where they are from."""
    pd = pytest.importorskip("pandas")
    X = TreeArray(["(S (NP he) (VP ran))", "(S (NP she) (VP sat))", "(NP he)"])
    column = X.to_arrow()
    forms = [column, arrow.chunked_array([column[:1], column[1:]]), column[0:3], arrow.array(X.to_strings())]
    forms += [pd.Series(column.to_pandas(types_mapper=pd.ArrowDtype)), X.to_pandas()]
    forms.append(pd.Series(X.to_strings(), dtype=pd.ArrowDtype(arrow.string())))
    for form in forms:
        assert TreeArray(form).equals(X)
        np.testing.assert_array_equal(SubsetTree()(form), SubsetTree()(X))
        assert Examples(tree=form)["tree"].equals(X)
    bags = TreeArray([["(a b)", "(a c)"], []])
    assert TreeArray(bags.to_arrow()).equals(bags)
    table = arrow.table({"size": [1, 2, 3], "tree": column})
    assert TreeArray(table["tree"]).equals(X)
    for wrong in (TreeArray, SubsetTree()):
        with pytest.raises(DataError, match=r"got a table; pass one of its columns, table\['tree'\]"):
            wrong(table)
    # A column of other things is what it was.
    assert Examples(flat=arrow.array([[1.0, 2.0], [3.0, 4.0]]).to_pylist())["flat"].shape == (2, 2)
    with pytest.raises(TreeError, match="element 0 is a Int64Scalar; expected a Tree"):
        TreeArray(arrow.array([1, 2]))
