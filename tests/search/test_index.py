"""The index of trees beside brute force: all kernel values, sorted."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
import strategies
from sapwood.corpora.sampled import sample_brackets
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.kernels import PartialTree, SmoothedPartialTree, SubsetTree, Subtree
from sapwood.search import TreeIndex, segments
from sapwood.search.index import merge_neighbors
from sapwood.search.results import Neighbors
from sapwood.words import Table

KERNELS = [
    SubsetTree(0.4),
    SubsetTree(1.0, bag_of_words=True),
    SubsetTree(0.5, max_depth=2),
    Subtree(0.7),
    PartialTree(0.4, 0.4),
    PartialTree(0.4, 0.6, terminal_factor=0.5),
]


@pytest.fixture
def bounds_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bounds be used for a few trees and low thresholds, where they would not pay."""
    monkeypatch.setattr(segments, "_WORTH_READING", 0)
    monkeypatch.setattr(segments, "_HIGH", 0.0)
    monkeypatch.setattr(segments, "_SHARE", 1e9)


def brute_force(kernel: object, queries: object, trees: object, k: int, least: float = 0.0) -> list[list[float]]:
    K = kernel(queries, trees)
    return [
        [value for value in sorted(row, reverse=True) if value > 0 and value >= least][: k or None]
        for row in K.tolist()
    ]


def check(found: list, kernel: object, queries: object, trees: object, k: int, least: float = 0.0) -> None:
    """Compare values with brute force, and every value with its own pair."""
    for row, (one, values) in enumerate(zip(found, brute_force(kernel, queries, trees, k, least), strict=True)):
        np.testing.assert_allclose(one.similarities, values, rtol=1e-12)
        assert len(set(one.numbers.tolist())) == len(one)
        if len(one):
            np.testing.assert_allclose(kernel(queries[[row]], trees[one.numbers])[0], one.similarities, rtol=1e-12)
        assert one.exact


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("k", [1, 7, 500])
def test_nearest_equals_brute_force(kernel: object, k: int) -> None:
    trees = sw.TreeArray(sample_brackets(120, seed=1))
    queries = sw.TreeArray([*sample_brackets(6, seed=2), *trees[:3]])
    kernel = kernel.normalized()
    check(TreeIndex(trees, kernel).nearest(queries, k), kernel, queries, trees, k)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("least", [0.05, 0.3, 0.9, 1.0])
@pytest.mark.usefixtures("bounds_used")
def test_within_equals_brute_force(kernel: object, least: float) -> None:
    trees = sw.TreeArray(sample_brackets(120, seed=1) + sample_brackets(10, seed=1))
    queries = sw.TreeArray([*sample_brackets(6, seed=2), *trees[:3]])
    kernel = kernel.normalized()
    found = TreeIndex(trees, kernel).within(queries, least)
    check(found, kernel, queries, trees, 0, least)
    for one in found:
        assert one.evaluated + one.discarded == len(trees)


@pytest.mark.slow
@given(
    st.lists(strategies.internal_trees(), min_size=2, max_size=12), st.floats(0.01, 1.0), st.sampled_from(KERNELS[:5])
)
def test_pairs_equal_brute_force(trees: list[sw.Tree], least: float, kernel: object) -> None:
    kernel = kernel.normalized()
    array = sw.TreeArray(trees)
    K = kernel(array)
    expected = {(i, j) for i, j in zip(*np.triu_indices(len(trees), 1), strict=True) if K[i, j] >= least + 1e-12}
    allowed = {(i, j) for i, j in zip(*np.triu_indices(len(trees), 1), strict=True) if K[i, j] >= least - 1e-12}
    pairs = TreeIndex(array, kernel).pairs(least)
    found = {(i, j) for i, j, _ in pairs}
    assert expected <= found <= allowed
    assert len(found) == len(pairs)
    for i, j, value in pairs:
        assert value == pytest.approx(K[i, j], rel=1e-12)


@pytest.mark.slow
@given(st.lists(strategies.trees(), min_size=1, max_size=12), strategies.internal_trees(), st.floats(0.01, 1.0))
def test_bounds_discard_nothing_near(trees: list[sw.Tree], query: sw.Tree, least: float) -> None:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # Some of the trees are single leaves.
        warnings.simplefilter("ignore", UserWarning)
        for name, value in (("_WORTH_READING", 0), ("_HIGH", 0.0), ("_SHARE", 1e9)):
            patch.setattr(segments, name, value)
        kernel = SubsetTree(0.5).normalized()
        index = TreeIndex(trees, kernel)
        K = kernel(sw.TreeArray([query]), sw.TreeArray(trees))[0]
        found = set(index.within(query, least).numbers.tolist())
    assert set(np.flatnonzero(least + 1e-12 <= K)) <= found <= set(np.flatnonzero(least - 1e-12 <= K))


def test_bounds_discard_most_trees_for_a_high_threshold() -> None:
    index = TreeIndex(sample_brackets(300, seed=3) + sample_brackets(5, seed=3))
    pairs = index.pairs(0.9)
    assert [(i, j) for i, j, _ in pairs if j >= 300] == [(i, 300 + i) for i in range(5)]
    assert pairs.evaluated < 305 * 304 / 2 / 10


def test_adding_and_removing() -> None:
    kernel = SubsetTree(0.4).normalized()
    trees = sw.TreeArray(sample_brackets(200, seed=4))
    index = TreeIndex(kernel=kernel)
    assert len(index) == 0
    assert len(index.nearest(trees[0])) == 0
    for start in range(0, 200, 17):
        numbers = index.add(trees[start : start + 17])
        assert numbers.tolist() == list(range(start, min(start + 17, 200)))
        if start % 2:
            index.nearest(trees[0])
    gone = np.arange(0, 200, 3)
    index.remove(gone.tolist())
    left = np.setdiff1d(np.arange(200), gone)
    assert index.numbers.tolist() == left.tolist()
    assert len(index) == len(left)
    queries = trees[:20]
    for row, one in enumerate(index.nearest(queries, 5)):
        K = kernel(queries[[row]], trees[left])[0]
        np.testing.assert_allclose(one.similarities, np.sort(K)[::-1][:5], rtol=1e-12)
        assert not set(one.numbers.tolist()) & set(gone.tolist())
    assert index[1] == trees[1]
    with pytest.raises(DataError, match="no tree with the number 0"):
        index[0]
    with pytest.raises(DataError, match="no tree with the number 200"):
        index.remove([1, 200])
    assert index[1] == trees[1]
    index.remove(left.tolist())
    assert len(index) == 0
    assert index.add(trees[:1]).tolist() == [200]


def test_results_are_the_same_for_any_number_of_threads() -> None:
    trees = sw.TreeArray(sample_brackets(300, seed=5))
    found = []
    for threads in (1, 4):
        with sw.options(threads=threads):
            index = TreeIndex(trees)
            found.append(([list(one) for one in index.nearest(trees[:40])], list(index.pairs(0.5))))
    assert found[0] == found[1]


def test_files(tmp_path: object) -> None:
    index = TreeIndex(sample_brackets(30, seed=6), PartialTree(0.3).normalized())
    index.remove([4, 7])
    sw.save(index, tmp_path / "index.sap")
    loaded = sw.load(tmp_path / "index.sap")
    query = index[0]
    assert list(loaded.nearest(query)) == list(index.nearest(query))
    assert loaded.numbers.tolist() == index.numbers.tolist()
    assert loaded.add(["(A b)"]).tolist() == [30]
    assert loaded.kernel == index.kernel


MIXED = [
    0.25 * SubsetTree(0.4).normalized() + 0.75 * Subtree(0.6).normalized(),
    (SubsetTree(0.4) + 2 * PartialTree(0.3)).normalized(),
    (0.5 * SubsetTree(0.4).normalized() + 0.5 * PartialTree(0.3).normalized()).named("both"),
    (SubsetTree(0.4).normalized() + Subtree(0.4).normalized()).normalized(),
]
# What the native core does not know how to search.
PLAIN = [
    SmoothedPartialTree(Table({("the", "a"): 0.5})).normalized(),
    (SubsetTree(0.4) * Subtree(0.4)).normalized(),
    type("Own", (SubsetTree,), {})().normalized(),
]


@pytest.mark.parametrize("kernel", MIXED + PLAIN, ids=repr)
@pytest.mark.parametrize("bounds", [False, True])
def test_other_normalized_kernels_equal_brute_force(kernel: object, bounds: bool, request: object) -> None:
    if bounds:
        request.getfixturevalue("bounds_used")
    trees = sw.TreeArray(sample_brackets(120, seed=1) + sample_brackets(10, seed=1))
    queries = sw.TreeArray([*sample_brackets(6, seed=2), *trees[:3]])
    index = TreeIndex(trees, kernel)
    check(index.nearest(queries, 7), kernel, queries, trees, 7)
    for least in (0.3, 0.8, 1.0):
        check(index.within(queries, least), kernel, queries, trees, 0, least)
        first, second = np.nonzero(np.triu(kernel(trees) >= least, 1))
        assert {(i, j) for i, j, _ in index.pairs(least)} == set(zip(first.tolist(), second.tolist(), strict=True))
    index.remove(range(0, 60))
    assert index.nearest(queries, 1)[6].numbers.tolist() == [120]
    late = index.nearest(queries, 3, time_limit=1e-9)[-1]
    assert not late.exact
    assert late.bound == 1.0


def test_bounds_of_the_heaviest_summand_discard_most_trees() -> None:
    index = TreeIndex(sample_brackets(300, seed=3) + sample_brackets(5, seed=3), MIXED[0])
    pairs = index.pairs(0.9)
    assert [(i, j) for i, j, _ in pairs if j >= 300] == [(i, 300 + i) for i in range(5)]
    assert pairs.evaluated < 305 * 304 / 2 / 10


@pytest.mark.parametrize("kernel", [MIXED[0], PLAIN[0]], ids=repr)
def test_files_hold_other_kernels(tmp_path: object, kernel: object) -> None:
    index = TreeIndex(sample_brackets(30, seed=6), kernel)
    sw.save(index, tmp_path / "index.sap")
    loaded = sw.load(tmp_path / "index.sap")
    assert list(loaded.nearest(index[3])) == list(index.nearest(index[3]))
    assert repr(loaded.kernel) == repr(index.kernel)


def test_files_with_numbers_out_of_order_are_refused(tmp_path: object) -> None:
    index = TreeIndex(sample_brackets(3, seed=6))
    len(index)
    index._segments[0].numbers = np.array([1, 1, 2])
    sw.save(index, tmp_path / "index.sap")
    with pytest.raises(ModelFileError, match="out of order"):
        sw.load(tmp_path / "index.sap")


def test_bags_of_trees() -> None:
    index = TreeIndex([["(A (B c))", "(D e)"], ["(A (B c))"]])
    assert index.nearest([["(A (B c))", "(D e)"]])[0].numbers.tolist() == [0, 1]
    assert index.nearest([["(A (B c))", "(D e)"]])[0].similarities[0] == 1.0


def test_equal_values_are_in_the_order_of_numbers() -> None:
    index = TreeIndex(["(A (B c))"] * 30)
    assert index.nearest("(A (B c))", 7).numbers.tolist() == list(range(7))
    assert index.within("(A (B c))", 1.0).numbers.tolist() == list(range(30))


def test_a_time_limit_leaves_an_honest_gap() -> None:
    index = TreeIndex(sample_brackets(50, seed=7))
    found = index.nearest(sample_brackets(50, seed=8), time_limit=1e-9)
    assert not found[-1].exact
    assert found[-1].bound == 1.0
    assert "stopped early: others may reach 1" in found[-1].certificate()


@pytest.mark.parametrize("kernel", [SubsetTree(0.4), Subtree(0.5), PartialTree(0.4)], ids=repr)
def test_what_is_found_in_time_is_right_and_nothing_else_is_above_the_bound(kernel: object) -> None:
    kernel = kernel.normalized()
    trees = sw.TreeArray(sample_brackets(1000, seed=1))
    query = max(trees[:200], key=lambda tree: tree.size())
    values = kernel(sw.TreeArray([query]), trees)[0]
    index = TreeIndex(trees, kernel)
    len(index)
    for limit in np.geomspace(1e-4, 0.02, 12).tolist():
        for found in (index.nearest(query, 10, time_limit=limit), index.within(query, 0.3, time_limit=limit)):
            np.testing.assert_allclose(found.similarities, values[found.numbers], rtol=1e-12)
            assert (np.diff(found.similarities) <= 0).all()
            assert np.delete(values, found.numbers).max() <= found.bound * (1 + 1e-12)
    found = index.nearest(query, 10, time_limit=1e6)
    assert found.exact
    np.testing.assert_allclose(found.similarities, np.sort(values)[::-1][:10], rtol=1e-12)


def test_bounds_of_unfinished_parts_are_merged() -> None:
    def part(numbers: list[int], values: list[float], exact: bool, bound: float) -> Neighbors:
        return Neighbors(np.array(numbers), np.array(values), exact, bound, 5, 0)

    whole = part([1, 2], [0.9, 0.8], True, 0.8)
    near, far = part([3], [0.5], False, 0.85), part([3], [0.5], False, 0.7)
    merged = merge_neighbors([whole, near], 2, 0.0)
    assert (merged.numbers.tolist(), merged.exact, merged.bound) == ([1, 2], False, 0.85)
    # What is left there can not be among the two nearest.
    merged = merge_neighbors([whole, far], 2, 0.0)
    assert (merged.numbers.tolist(), merged.exact, merged.bound) == ([1, 2], True, 0.8)


def test_copies_of_an_index() -> None:
    index = TreeIndex(sample_brackets(30, seed=6), PartialTree(0.3).normalized())
    index.remove([4, 7])
    for one in (pickle.loads(pickle.dumps(index)), copy.deepcopy(index)):
        assert list(one.nearest(index[0])) == list(index.nearest(index[0]))
        assert one.add(["(A b)"]).tolist() == [30]
    assert 30 not in index
    assert list(index) == index.numbers.tolist()
    assert 4 not in index
    assert 5 in index
    assert index.nearest(index[0])[0] == (0, 1.0)


def test_trees_that_share_nothing_are_no_neighbours() -> None:
    index = TreeIndex(["(A b)", "(C d)"])
    assert index.nearest("(A b)").numbers.tolist() == [0]
    with pytest.warns(UserWarning, match="share nothing even with themselves"):
        assert len(index.nearest(sw.Tree("x"))) == 0


@pytest.mark.slow
def test_large_trees_are_searched_without_bounds() -> None:
    # Too many nodes with one production to be described.
    wide = sw.Tree("S", [sw.Tree("N", [sw.Tree("A", [f"w{k}"])]) for k in range(1100)])
    index = TreeIndex([wide, "(S (N (A w0)))", wide])
    assert index.nearest(wide, 2, at_least=0.9).numbers.tolist() == [0, 2]
    assert list(index.pairs(0.99)) == [(0, 2, 1.0)]


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (SubsetTree(), r"not normalized.*write SubsetTree\(decay=0.4\).normalized\(\)"),
        (SubsetTree().normalized() + Subtree().normalized(), r"write \(SubsetTree.* \+ .*\).normalized\(\)"),
        (SubsetTree().normalized().on("tree"), "looks at views"),
        (SubsetTree().normalized() ** 2, "not normalized"),
        (0.5 * SubsetTree().normalized(), "not normalized"),
        (1.5 * SubsetTree().normalized() + 0.5 * Subtree().normalized(), "not normalized"),
    ],
    ids=repr,
)
def test_other_kernels_are_refused(kernel: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TreeIndex(kernel=kernel)


def test_bad_parameters() -> None:
    index = TreeIndex(["(A b)"])
    with pytest.raises(ParameterError, match="k must be"):
        index.nearest("(A b)", 0)
    with pytest.raises(ParameterError, match="at_least must be a number from 0 to 1, got 2"):
        index.pairs(2)
    with pytest.raises(ParameterError, match="time_limit must be"):
        index.nearest("(A b)", time_limit=0)
    with pytest.raises(ParameterError, match="expected the number of a tree, got 'a'"):
        index.remove(["a"])
    with pytest.raises(ParameterError, match=r"write remove\(\[0\]\)"):
        index.remove(0)
    with pytest.raises(ParameterError, match="kernel must be a kernel, got str"):
        TreeIndex(kernel="SubsetTree")


def test_groups_of_pairs() -> None:
    a, b, c = "(S (A (B c) (D e)) (F g))", "(S (A (B c) (D e)) (F h))", "(X (Y z))"
    index = TreeIndex([a, c, b, a, c, "(Q r)"])
    groups = index.pairs(0.6).groups()
    assert [group.members for group in groups] == [(0, 2, 3), (1, 4)]
    assert groups[0].representative == 0
    assert index.pairs(1.0).groups()[0].members == (0, 3)
    assert TreeIndex().pairs().groups() == []
