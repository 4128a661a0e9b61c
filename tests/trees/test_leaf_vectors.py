"""Vectors on the leaves of trees: they follow the trees wherever those go, and wrong ones are refused."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

import sapwood as sw
from sapwood import TreeArray
from sapwood.errors import DataError, ModelFileError
from sapwood.trees import concatenate, map_leaves

TREES = ["(NP (DT a) (NN dog))", "(S (NP (NNS dogs)) (VP (VBP bark)))", "(NP (DT a) (NN dog))", "(NN dog)"]


@pytest.fixture
def trees() -> TreeArray:
    X = TreeArray(TREES)
    return X.with_vectors(np.arange(14, dtype=np.float32).reshape(7, 2))


def rows(*numbers: int) -> list[list[float]]:
    return [[2.0 * number, 2.0 * number + 1] for number in numbers]


def test_they_follow_slices_masks_and_lists(trees: TreeArray) -> None:
    assert trees.vectors is not None
    assert trees[1:3].vectors.tolist() == rows(2, 3, 4, 5)
    assert trees[[3, 0]].vectors.tolist() == rows(6, 0, 1)
    assert trees[np.array([False, True, False, True])].vectors.tolist() == rows(2, 3, 6)
    assert trees[::-1].vectors.tolist() == rows(6, 4, 5, 2, 3, 0, 1)
    assert trees[:0].vectors.shape == (0, 2)


def test_bags_have_those_of_their_trees() -> None:
    bags = TreeArray([TREES[:2], [], TREES[3:]]).with_vectors(np.arange(10.0).reshape(5, 2))
    assert bags[2:].vectors.tolist() == rows(4)
    assert bags[[2, 1, 0]].vectors.tolist() == rows(4, 0, 1, 2, 3)
    lists = TreeArray([TREES[:2], TREES[3:]]).with_vectors([np.zeros((4, 3)), np.ones((1, 3))])
    assert lists[1:].vectors.tolist() == [[1.0, 1.0, 1.0]]


def test_they_are_joined(trees: TreeArray) -> None:
    assert concatenate([trees[2:], trees[:1]]).vectors.tolist() == rows(4, 5, 6, 0, 1)
    other = TreeArray(["(NN cat)"]).with_vectors([[9.0, 9.0]])
    assert concatenate([trees[3:], other]).vectors.tolist() == [*rows(6), [9.0, 9.0]]
    with pytest.raises(DataError, match="some of the arrays have vectors"):
        concatenate([trees, TreeArray(TREES)])
    with pytest.raises(DataError, match="different lengths, 2 and 3"):
        concatenate([trees, TreeArray(["(NN cat)"]).with_vectors([[1.0, 2.0, 3.0]])])


def test_they_travel(trees: TreeArray, tmp_path: Path) -> None:
    path = tmp_path / "trees.sap"
    sw.save(trees[1:], path)
    for again in (
        sw.load(path),
        pickle.loads(pickle.dumps(trees[1:])),
        deepcopy(trees[1:]),
        trees[1:].detach(),
        TreeArray(trees[1:]),
    ):
        assert again.equals(trees[1:])
        assert again.vectors.tolist() == rows(2, 3, 4, 5, 6)
    assert map_leaves(trees, str.upper)[3:].vectors.tolist() == rows(6)


def test_equal_trees_with_other_vectors_are_not_equal(trees: TreeArray) -> None:
    bare = TreeArray(TREES)
    assert (trees == bare).all()
    assert not trees.equals(bare)
    assert not bare.equals(trees)
    assert not trees.equals(bare.with_vectors(np.zeros((7, 2))))
    assert "vectors of 2 numbers" in repr(trees)


def test_a_matrix_on_disk_stays_there(tmp_path: Path) -> None:
    np.save(tmp_path / "vectors.npy", np.arange(14, dtype=np.float16).reshape(7, 2))
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    trees = TreeArray(TREES).with_vectors(mapped)
    assert isinstance(trees.vectors, np.memmap)
    assert trees[3:].vectors.tolist() == rows(6)


def test_half_precision_is_kept() -> None:
    X = TreeArray(TREES)
    assert X.with_vectors(np.zeros((7, 2), np.float16)).vectors.dtype == np.float16
    assert X.with_vectors(np.zeros((7, 2), np.float64)).vectors.dtype == np.float32
    assert X.with_vectors(np.zeros((7, 2), np.int8)).vectors.dtype == np.float32


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros((6, 2)), r"shape \(6, 2\); expected one row for each of the 7 leaves"),
        (np.zeros((7, 0)), "expected one row for each of the 7 leaves"),
        (np.zeros(7), "expected one row"),
        (np.full((7, 1), np.nan), "leaf 0 holds NaN"),
        (np.array([[1e39]] * 7), "leaf 0 holds NaN or infinite"),
        (np.array([["a"]] * 7), "instead of numbers"),
        ([np.zeros((2, 2))], "for 1 elements; the array has 4"),
        ([np.zeros((2, 2)), np.zeros((1, 2)), np.zeros((2, 2)), np.zeros((1, 2))], r"element 1 .* \(2, 2\)"),
        ([np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((2, 2)), np.zeros((1, 2))], "element 1"),
        (3, "expected one row"),
        (None, "expected one row"),
    ],
)
def test_wrong_vectors_are_refused(vectors: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        TreeArray(TREES).with_vectors(vectors)


def test_a_file_whose_vectors_are_too_few_is_refused(trees: TreeArray, tmp_path: Path) -> None:
    from sapwood.registry import Reader, Writer

    writer = Writer()
    data = writer.part(trees)
    writer.arrays[data["vectors"]] = np.zeros((3, 2), np.float32)
    with pytest.raises((DataError, ModelFileError), match="one row for each of the 7 leaves"):
        Reader("trees.sap", writer.arrays).part(data)
