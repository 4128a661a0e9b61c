"""Kernel values against independent truth: reference values, fragment enumeration, plain recursions."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sapwood as sw
import strategies
from oracles import tree_kernels
from sapwood.kernels import Kernel, PartialTree, SubsetTree, Subtree
from sapwood.trees import concatenate

T = sw.Tree.fromstring


def kernel_named(name: str) -> Kernel:
    """The kernel that a key of the reference values stands for."""
    kind, *settings = name.split("_")
    numbers = {m[1]: float(m[2]) for s in settings if (m := re.fullmatch(r"(lambda|mu|maxlen)([\d.]+)", s))}
    if kind == "ST":
        return Subtree(decay=numbers["lambda"])
    if kind in ("SST", "SSTbow"):
        return SubsetTree(decay=numbers["lambda"], bag_of_words=kind == "SSTbow")
    assert kind in ("PTK", "PTKnoleaves")
    longest = int(numbers["maxlen"]) if "maxlen" in numbers else None
    return PartialTree(
        decay=numbers["lambda"], depth_decay=numbers["mu"], max_subsequence=longest, leaves=kind == "PTK"
    )


NAMES = [
    *(f"{kind}_lambda{decay}" for kind in ("ST", "SST", "SSTbow") for decay in ("0.1", "0.4", "1")),
    *(
        f"PTK_{cut}_lambda{a}_mu{b}"
        for cut in ("full", "maxlen5")
        for a, b in (("0.4", "0.4"), ("1", "1"), ("0.2", "0.7"))
    ),
    "PTKnoleaves_full_lambda0.4_mu0.4",
]


class TestReferenceValues:
    def test_no_value_is_left_out(self, kernel_vectors: list[dict[str, Any]]) -> None:
        assert len(kernel_vectors) >= 50
        for pair in kernel_vectors:
            assert set(pair["values"]) == set(NAMES)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", NAMES)
    def test_single_pairs(self, kernel_vectors: list[dict[str, Any]], name: str) -> None:
        kernel = kernel_named(name)
        for pair in kernel_vectors:
            a, b = T(pair["t1"]), T(pair["t2"])
            raw = [kernel(a, b), kernel(a, a), kernel(b, b)]
            assert all(type(value) is float for value in raw)
            np.testing.assert_allclose(raw, pair["values"][name]["raw"], rtol=1e-10, atol=1e-10)

    @pytest.mark.parametrize("name", NAMES)
    def test_arrays_diagonals_and_expansions(self, kernel_vectors: list[dict[str, Any]], name: str) -> None:
        kernel = kernel_named(name)
        left = sw.TreeArray([pair["t1"] for pair in kernel_vectors])
        right = sw.TreeArray([pair["t2"] for pair in kernel_vectors])
        raw = np.array([pair["values"][name]["raw"] for pair in kernel_vectors])
        close = {"rtol": 1e-10, "atol": 1e-10}
        n = len(left)
        together = concatenate([left, right])
        K = kernel(together)
        np.testing.assert_allclose(K[np.arange(n), n + np.arange(n)], raw[:, 0], **close)
        np.testing.assert_allclose(np.diagonal(K), np.concatenate([raw[:, 1], raw[:, 2]]), **close)
        # Two stores that know nothing of each other.
        rectangle = kernel(left, right)
        np.testing.assert_allclose(np.diagonal(rectangle), raw[:, 0], **close)
        np.testing.assert_allclose(rectangle, K[:n, n:], rtol=1e-10)
        np.testing.assert_allclose(kernel.diag(left), raw[:, 1], **close)
        weights = np.random.default_rng(0).normal(size=(n, 2))
        compiled = kernel.expansion(right, weights)
        np.testing.assert_allclose(compiled(left), rectangle @ weights, rtol=1e-9, atol=1e-9 * rectangle.max())

    @pytest.mark.parametrize("name", NAMES)
    def test_normalized(self, kernel_vectors: list[dict[str, Any]], name: str) -> None:
        kernel = kernel_named(name)
        # A tree that shares nothing even with itself is tested on its own below.
        pairs = [pair for pair in kernel_vectors if min(pair["values"][name]["raw"][1:]) > 0]
        left = sw.TreeArray([pair["t1"] for pair in pairs])
        right = sw.TreeArray([pair["t2"] for pair in pairs])
        expected = [pair["values"][name]["norm"] for pair in pairs]
        normal = kernel.normalized()
        np.testing.assert_allclose(np.diagonal(normal(left, right)), expected, rtol=1e-10, atol=1e-10)
        n = len(pairs)
        K = normal(concatenate([left, right]))
        np.testing.assert_allclose(K[np.arange(n), n + np.arange(n)], expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(np.diagonal(K), 1.0)
        np.testing.assert_array_equal(normal.diag(left), 1.0)
        weights = np.eye(n)
        np.testing.assert_allclose(normal.expansion(right, weights)(left), normal(left, right), rtol=1e-10, atol=1e-12)

    def test_normalized_where_a_self_kernel_is_zero(self, kernel_vectors: list[dict[str, Any]]) -> None:
        found = 0
        for pair in kernel_vectors:
            for name, value in pair["values"].items():
                if min(value["raw"][1:]) == 0:
                    found += 1
                    assert value["norm"] == 0
                    with pytest.warns(UserWarning, match="share nothing even with themselves"):
                        K = kernel_named(name).normalized()([pair["t1"]], [pair["t2"]])
                    assert K[0, 0] == 0
        assert found


def check(kernel: Kernel, features: Any, elements: list[Any]) -> None:
    """Compare a kernel, by every door, with the dot products of explicit feature vectors."""
    vectors = [tree_kernels.bag_features(element, features) for element in elements]
    expected = np.array([[tree_kernels.dot(a, b) for b in vectors] for a in vectors])
    close = {"rtol": 1e-10, "atol": 1e-12}
    X = sw.TreeArray(elements)
    K = kernel(X)
    np.testing.assert_allclose(K, expected, **close)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(expected), **close)
    half = len(elements) // 2 + 1
    np.testing.assert_allclose(kernel(elements[:half], elements[half - 1 :]), expected[:half, half - 1 :], **close)
    weights = np.linspace(-1, 1, 2 * len(elements)).reshape(-1, 2)
    np.testing.assert_allclose(kernel.expansion(X, weights)(elements), expected @ weights, rtol=1e-9, atol=1e-9)


small = st.lists(st.one_of(strategies.trees(5), strategies.chains(5), strategies.wide(4)), min_size=1, max_size=3)
bags = st.lists(strategies.bags(), min_size=1, max_size=3)


class TestFragments:
    @given(st.one_of(small, bags), strategies.decays)
    def test_subtree(self, elements: list[Any], decay: float) -> None:
        check(Subtree(decay), lambda tree: tree_kernels.subtree_features(tree, decay), elements)

    @given(st.one_of(small, bags), strategies.decays, st.booleans(), st.sampled_from([None, 1, 2, 3, 4, 300]))
    @example([T("(a (b c) (b c))"), T("(a b (b c))")], 1.0, True, None)
    def test_subset(self, elements: list[Any], decay: float, words: bool, depth: int | None) -> None:
        kernel = SubsetTree(decay, bag_of_words=words, max_depth=depth)
        check(kernel, lambda tree: tree_kernels.subset_features(tree, decay, words, depth), elements)

    @given(
        st.one_of(small, bags),
        strategies.decays,
        strategies.decays,
        st.sampled_from([None, 1, 2, 3, 100]),
        st.booleans(),
        st.sampled_from([1.0, 0.0, 0.5, 2.0]),
    )
    @example([T("(a (b c) b)"), T("(a b (b c) b)")], 0.4, 0.7, 2, True, 0.5)
    def test_partial(
        self, elements: list[Any], decay: float, depth_decay: float, longest: int | None, leaves: bool, factor: float
    ) -> None:
        parameters = (decay, depth_decay, longest, leaves, factor)
        check(PartialTree(*parameters), lambda tree: tree_kernels.partial_features(tree, *parameters), elements)

    @given(strategies.trees(5), strategies.trees(5))
    def test_without_decay_the_subset_kernel_counts_shared_fragments(self, a: sw.Tree, b: sw.Tree) -> None:
        left, right = tree_kernels.subset_features(a, 1.0), tree_kernels.subset_features(b, 1.0)
        shared = sum(round(abs(count)) * round(abs(right.get(shape, 0))) for shape, count in left.items())
        assert SubsetTree(1.0)(a, b) == shared


class TestRecursions:
    """Larger trees than enumeration can bear."""

    @pytest.mark.slow
    @given(st.lists(strategies.trees(25, labels="ab", width=5), min_size=2, max_size=4), strategies.decays, st.data())
    def test_all_three(self, trees: list[sw.Tree], decay: float, data: st.DataObject) -> None:
        depth = data.draw(st.sampled_from([None, 1, 2, 5]))
        longest = data.draw(st.sampled_from([None, 1, 2, 4]))
        leaves = data.draw(st.booleans())
        cases = [
            (Subtree(decay), lambda a, b: tree_kernels.subtree_pairs(a, b, decay)),
            (SubsetTree(decay, True, depth), lambda a, b: tree_kernels.subset_pairs(a, b, decay, True, depth)),
            (
                PartialTree(decay, 0.5, longest, leaves, 0.7),
                lambda a, b: tree_kernels.partial_pairs(a, b, decay, 0.5, longest, leaves, 0.7),
            ),
        ]
        for kernel, oracle in cases:
            expected = [[oracle(a, b) for b in trees] for a in trees]
            np.testing.assert_allclose(kernel(trees), expected, rtol=1e-10, atol=1e-12)

    @pytest.mark.slow
    @pytest.mark.parametrize("width", [10, 33, 63, 65])
    @pytest.mark.parametrize("longest", [None, 1, 3, 40])
    def test_partial_on_wide_nodes(self, width: int, longest: int | None) -> None:
        """The core changes its method with the width of nodes; no change may show."""
        generator = random.Random(width)

        def tree(labels: str) -> sw.Tree:
            kids = [sw.Tree(generator.choice(labels), generator.choice([(), ("x",), ("x", "y")])) for _ in range(width)]
            return sw.Tree("s", kids)

        # The reference is quartic in the width, so the widest nodes get more labels.
        labels = "ab" if width <= 40 else "abcdefgh"
        a, b = tree(labels), tree(labels)
        for decay in (0.4, 1.0):
            kernel = PartialTree(decay, 0.4, longest, terminal_factor=0.5)
            expected = tree_kernels.partial_pairs(a, b, decay, 0.4, longest, True, 0.5)
            assert kernel(a, b) == pytest.approx(expected, rel=1e-10)
            assert kernel(b, a) == pytest.approx(expected, rel=1e-10)

    @pytest.mark.slow
    def test_treebank_pairs(self, treebank: sw.TreeArray) -> None:
        X = treebank[100:108]
        trees = list(X)
        cases = [
            (Subtree(0.4), lambda a, b: tree_kernels.subtree_pairs(a, b, 0.4)),
            (SubsetTree(0.4), lambda a, b: tree_kernels.subset_pairs(a, b, 0.4)),
            (SubsetTree(0.7, max_depth=3), lambda a, b: tree_kernels.subset_pairs(a, b, 0.7, max_depth=3)),
            (PartialTree(0.4, 0.4), lambda a, b: tree_kernels.partial_pairs(a, b, 0.4, 0.4)),
        ]
        for kernel, oracle in cases:
            expected = [[oracle(a, b) for b in trees] for a in trees[:3]]
            np.testing.assert_allclose(kernel(X)[:3], expected, rtol=1e-10)

    def test_repeated_structure(self) -> None:
        """A tree of 2^30 nodes that is 30 subtrees: values stay exact where they can be."""
        tree = sw.Tree("x")
        for _ in range(30):
            tree = sw.Tree("a", [tree, tree])
        X = sw.TreeArray([tree, "(a x x)"])
        assert X.node_count() == 2**31 - 1 + 3
        assert X.distinct_count() == 31
        np.testing.assert_array_equal(Subtree(1.0)(X)[1], [2.0**29, 1.0])
        np.testing.assert_allclose(SubsetTree(1.0)(X[1:], X)[0], [2.0**29, 1.0])
        np.testing.assert_allclose(SubsetTree(1.0, bag_of_words=True)(X[1:], X)[0], [2.0**29 + 2.0**31, 5.0])

    @pytest.mark.parametrize("depth", [199, 200, 201, 250, 399, 400, 401, 10**30])
    def test_deep_height_limits(self, depth: int) -> None:
        """The fragments of a chain can be counted by hand."""
        chain = T("(a " * 400 + "b" + ")" * 400)
        # The lowest node stands over b, all others over a: fragments either end there or are bare chains.
        bare = {h: 400 - h for h in range(1, 400)}
        with_end = range(1, 401)
        limit = min(depth, 400)
        expected = sum(bare[h] ** 2 for h in range(1, min(limit, 399) + 1)) + sum(h <= limit for h in with_end)
        assert SubsetTree(1.0, max_depth=depth)(chain, chain) == expected

    def test_any_limit_on_sequences_is_accepted(self) -> None:
        a = T("(s a b c)")
        assert PartialTree(max_subsequence=10**30)(a, a) == PartialTree()(a, a)
