"""Words in context: kernels over occurrences of words, each with a vector of its own."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from oracles.semantic import semantic_by_pairs
from sapwood import Tree, TreeArray
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import PartialTree, SemanticSubsetTree, SmoothedPartialTree, SubsetTree, parse_kernel
from sapwood.learn import KernelRanker, KernelSVC
from sapwood.trees import Examples
from sapwood.words import Contextual, Table, Tagged, Vectors
from treebank import sample_trees

TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat))))",
    "(S (NP (DT a) (NN cat)) (VP (VBD ran)))",
    "(NP (DT the) (NN dog))",
    "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT the) (NN dog))))",
    "(NP dog)",
]


def with_vectors(trees: TreeArray, seed: int = 0, width: int = 6) -> TreeArray:
    count = sum(map(len, trees.leaves()))
    return trees.with_vectors(np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32))


def similarity(sharpness: float | None) -> Any:
    """Return σ of two occurrences, each a word and its vector, by its definition."""

    def of(a: tuple[str, Any], b: tuple[str, Any]) -> float:
        lengths = [float(np.linalg.norm(vector)) for _, vector in (a, b)]
        if 0.0 in lengths:
            return float(lengths == [0.0, 0.0] and a[0] == b[0])
        cosine = float(a[1] @ b[1]) / lengths[0] / lengths[1]
        return cosine if sharpness is None else float(np.exp(sharpness * (cosine - 1.0)))

    return of


def numbered(trees: TreeArray) -> tuple[list[Tree], dict[str, tuple[str, Any]]]:
    """Return trees whose leaves have names of their own, and what those stand for."""
    assert trees.vectors is not None
    vectors, names = iter(trees.vectors.astype(np.float64)), {}

    def build(node: Tree) -> Tree:
        if node.is_leaf:
            name = f"occurrence{len(names)}"
            names[name] = node.label, next(vectors)
            return Tree(name)
        return Tree(node.label, [build(child) for child in node.children])

    return [build(tree) for tree in trees], names


def by_definition(trees: TreeArray, sharpness: float | None, decay: float, leaf_weight: float) -> np.ndarray:
    built, names = numbered(trees)
    sigma = similarity(sharpness)

    def compare(first: str, second: str) -> float:
        return sigma(names[first], names[second])

    phrases = frozenset(sw.kernels.semantic.PENN_PHRASES)
    return np.array([[semantic_by_pairs(a, b, compare, decay, leaf_weight, phrases) for b in built] for a in built])


@pytest.mark.parametrize("sharpness", [None, 0.5, 4.0, 30.0])
def test_values_are_those_of_the_definition(sharpness: float | None) -> None:
    X = with_vectors(TreeArray(TREES[:4]))
    vectors = X.vectors.copy()
    vectors[[3, 6]] = 0.0
    X = X.with_vectors(vectors)
    kernel = SemanticSubsetTree(Contextual(sharpness=sharpness), decay=0.5, leaf_weight=1.5)
    expected = by_definition(X, sharpness, 0.5, 1.5)
    np.testing.assert_allclose(kernel(X), expected, rtol=3e-6, atol=1e-6)
    np.testing.assert_allclose(kernel(X[[2, 0]], X[1:]), expected[[2, 0], 1:], rtol=3e-6, atol=1e-6)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(expected), rtol=3e-6, atol=1e-6)
    np.testing.assert_allclose(kernel.pairwise(X, X[::-1]), np.diagonal(expected[:, ::-1]), rtol=3e-6, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_trees_and_vectors(data: Any) -> None:
    word = st.sampled_from(["u", "v", "w"])
    preterminal = st.builds(lambda tag, text: f"({tag} {text})", st.sampled_from(["N", "V"]), word)
    phrase = st.recursive(
        preterminal,
        lambda below: st.builds(
            lambda label, kids: f"({label} {' '.join(kids)})",
            st.sampled_from(["S", "NP"]),
            st.lists(below, min_size=1, max_size=3),
        ),
        max_leaves=6,
    )
    X = TreeArray(data.draw(st.lists(phrase, min_size=1, max_size=4)))
    X = with_vectors(X, data.draw(st.integers(0, 1000)), 3)
    sharpness = data.draw(st.sampled_from([None, 3.0]))
    kernel = SemanticSubsetTree(Contextual(sharpness=sharpness), decay=0.7)
    expected = by_definition(X, sharpness, 0.7, 1.0)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-5, atol=1e-5)


def by_type(trees: TreeArray, width: int = 5) -> tuple[TreeArray, Vectors]:
    """Give every occurrence of a word the same vector."""
    words = sorted({word for leaves in trees.leaves() for word in leaves})
    table = np.random.default_rng(1).normal(size=(len(words), width)).astype(np.float32)
    at = {word: row for row, word in enumerate(words)}
    return (
        trees.with_vectors(table[[at[word] for leaves in trees.leaves() for word in leaves]]),
        Vectors(words, table),
    )


@pytest.mark.parametrize("kernel", [SemanticSubsetTree, SmoothedPartialTree])
def test_one_vector_per_word_is_a_table(kernel: Any) -> None:
    X, vectors = by_type(sample_trees()[:40])
    np.testing.assert_allclose(kernel(Contextual(sharpness=None))(X), kernel(vectors)(X), rtol=1e-5, atol=1e-5)


def test_equal_directions_only_is_the_plain_kernel() -> None:
    trees = TreeArray(TREES)
    words = sorted({word for leaves in trees.leaves() for word in leaves})
    X = trees.with_vectors(np.eye(len(words))[[words.index(word) for leaves in trees.leaves() for word in leaves]])
    context = Contextual(sharpness=None)
    np.testing.assert_allclose(SemanticSubsetTree(context)(X), SubsetTree()(trees), rtol=1e-6)
    np.testing.assert_allclose(SmoothedPartialTree(context)(X), PartialTree()(trees), rtol=1e-6)


@pytest.mark.parametrize("sharpness", [None, 4.0])
@pytest.mark.parametrize("kernel", [SemanticSubsetTree, SmoothedPartialTree])
def test_it_is_a_kernel(kernel: Any, sharpness: float | None) -> None:
    X = with_vectors(sample_trees()[:220], width=16)
    K = kernel(Contextual(sharpness=sharpness)).normalized()(X)
    assert np.linalg.eigvalsh((K + K.T) / 2).min() > -1e-5


def test_the_same_bits_with_any_number_of_threads() -> None:
    X = with_vectors(sample_trees()[:60], width=16)
    for kernel in (SemanticSubsetTree(Contextual()), SmoothedPartialTree(Contextual())):
        with sw.options(threads=1):
            one = kernel(X)
        with sw.options(threads=3):
            assert np.array_equal(one, kernel(X))


def test_rows_do_not_depend_on_those_beside_them() -> None:
    # Words of some rows are compared at once: more rows than that, in several orders.
    X = with_vectors(sample_trees()[:70], width=16)
    for kernel in (SemanticSubsetTree(Contextual()), SmoothedPartialTree(Contextual())):
        K = kernel(X, X[:20])
        for rows in ([0], [69, 33, 31, 32], [5] * 40):
            assert np.array_equal(kernel(X[rows], X[:20]), K[rows])
        np.testing.assert_allclose(kernel(X)[:, :20], K, rtol=1e-12)


@pytest.mark.parametrize("kernel", [SemanticSubsetTree, SmoothedPartialTree])
def test_many_words_at_once_are_worth_what_they_are_one_by_one(kernel: Any) -> None:
    # Enough rows for the widest products, in half a matrix, in a whole one, and pair by pair.
    X = with_vectors(TreeArray(TREES * 10), width=21)
    expected = kernel(Contextual())(X)
    np.testing.assert_allclose(kernel(Contextual())(X, X[:]), expected, rtol=1e-12)
    for k in (0, 7, 24, 49):
        np.testing.assert_allclose(kernel(Contextual())(X[k : k + 1], X[:])[0], expected[k], rtol=1e-12)


def test_mixed_with_a_dictionary() -> None:
    X = with_vectors(TreeArray(TREES))
    table, context = Table({("dog", "cat"): 0.5}), Contextual()
    mixed = SemanticSubsetTree(0.25 * context + 0.75 * table, decay=1.0)
    words = TreeArray(["(NN dog)", "(NN cat)"])
    a, b = with_vectors(words[:1], 3), with_vectors(words[1:], 4)
    sigma = similarity(4.0)(("dog", a.vectors[0]), ("cat", b.vectors[0]))
    assert mixed(a, b)[0, 0] == pytest.approx(0.25 * sigma + 0.75 * 0.5, abs=1e-6)
    assert mixed(X).shape == (5, 5)
    twice = SemanticSubsetTree(0.5 * context + 0.5 * context)
    np.testing.assert_allclose(twice(X), SemanticSubsetTree(context)(X), rtol=1e-6)
    with pytest.raises(ParameterError, match="one sharpness only"):
        SemanticSubsetTree(context + Contextual(sharpness=None))


def test_cut_off_phrases_match_exactly() -> None:
    X = with_vectors(TreeArray(["(NP dog)", "(NP dog)", "(NP cat)"]))
    np.testing.assert_array_equal(SemanticSubsetTree(Contextual(), decay=1.0)(X), [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


def test_learning_explaining_saving(tmp_path: Path) -> None:
    X, y = with_vectors(TreeArray(TREES * 3)), np.array([0, 1, 0, 1, 1] * 3)
    kernel = SemanticSubsetTree(Contextual()).normalized()
    model = KernelSVC(kernel).fit(X, y)
    other = KernelSVC(kernel, solver="sklearn", tol=1e-8).fit(X, y)
    tight = KernelSVC(kernel, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(tight.decision_function(X), other.decision_function(X), atol=1e-4)
    sw.save(model, tmp_path / "model.sap")
    again = sw.load(tmp_path / "model.sap")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X))
    explained = KernelSVC(SemanticSubsetTree(Contextual())).fit(X, y)
    told = explained.explain(X[3:4])
    assert "\x1f" not in str(told)
    assert "(NN dog)" in str(told)


@pytest.mark.parametrize(
    "kernel", [SemanticSubsetTree(Contextual()), SmoothedPartialTree(Contextual(sharpness=None))], ids=["SSTK", "SPTK"]
)
def test_contributions_add_up(kernel: Any) -> None:
    X, weights = with_vectors(TreeArray(TREES)), np.array([[1.0], [-2.0], [0.5], [1.5], [3.0]])
    attribution = kernel._attribution(X, weights)
    for row in range(len(X)):
        element = X[row : row + 1].detach()
        # The last but one tree holds the same phrase twice, with other vectors.
        numbers = {subtree: element._arena.copy().add([subtree])[0] for subtree in element[0].preorder()}
        counts = {number: 0 for number in sorted(set(numbers.values()))}
        for subtree in element[0].preorder():
            counts[numbers[subtree]] += 1
        found = np.array(list(counts.values())) @ attribution.nodes(element)
        np.testing.assert_allclose(found, (kernel(element, X) @ weights)[0], rtol=1e-6)


def test_pairs_of_words_are_told() -> None:
    X = with_vectors(TreeArray(TREES))
    kernel = SemanticSubsetTree(Contextual())
    told = kernel.explain(X[:1], X[3:4], top=30)
    assert "\x1f" not in str(told)
    sigma = similarity(4.0)
    # The second tree has "dog" twice: each occurrence is a word of its own.
    found = {(pair.first, pair.second): pair for pair in told.words}
    assert {(1, 1), (1, 4), (4, 1), (4, 4)} <= found.keys()
    for (first, second), pair in found.items():
        vectors = X[:1].vectors[first], X[3:4].vectors[second]
        assert pair.similarity == pytest.approx(sigma(("", vectors[0]), ("", vectors[1])), rel=1e-5)
    assert told.svg().count("<path") == len(told.words)


def test_words_without_a_vector_have_their_places() -> None:
    X = TreeArray(["(NP (DT the) (NN dog) (NN dog))", "(NP (DT a) (NN dog) (NN cat))"])
    X = X.with_vectors(np.array([[1, 0], [0, 0], [0, 1], [1, 1], [0, 0], [1, 1]], dtype=np.float32))
    for kernel in (SemanticSubsetTree(Contextual()), SemanticSubsetTree(Table({}))):
        told = kernel.explain(X[:1], X[1:])
        found = {(pair.first, pair.second): pair.similarity for pair in told.words}
        assert found[1, 1] == 1.0
        assert all(min(place) >= 0 for place in found)
        assert told.svg().count("<path") == len(found)
    same = {(pair.first, pair.second) for pair in SemanticSubsetTree(Table({})).explain(X[:1], X[1:]).words}
    # Both dogs of the first tree are the dog of the second.
    assert same == {(1, 1), (2, 1)}


def test_rankers_and_views() -> None:
    X = with_vectors(TreeArray(TREES * 2))
    groups, y = np.repeat([0, 1], 5), np.array([1, 0, 0, 0, 0] * 2)
    kernel = SemanticSubsetTree(Contextual()).normalized()
    ranker = KernelRanker(kernel).fit(X, y, groups=groups)
    assert ranker.decision_function(X).shape == (10,)
    both = Examples(tree=X, count=np.ones((10, 1)))
    mixed = 0.5 * kernel.on("tree") + 0.5 * sw.kernels.Linear().on("count")
    np.testing.assert_allclose(mixed(both), 0.5 * kernel(X) + 0.5, rtol=1e-12)


def test_what_is_wrong_is_said() -> None:
    X = with_vectors(TreeArray(TREES))
    kernel = SemanticSubsetTree(Contextual())
    with pytest.raises(DataError, match="these trees have none; give them some with"):
        kernel(TreeArray(TREES))
    with pytest.raises(DataError, match="have none"):
        kernel(TREES[0], TREES[1])
    with pytest.raises(DataError, match="4 numbers, those that they are compared with 6"):
        kernel(with_vectors(TreeArray(TREES), width=4), X)
    with pytest.raises(DataError, match="not words alone"):
        Contextual()("dog", "cat")
    for wrong in (0, -1.0, 100.0, float("nan"), "4", True):
        with pytest.raises(ParameterError, match="sharpness"):
            Contextual(sharpness=wrong)  # type: ignore[arg-type]
    for similarity_ in (Contextual() * Table({}), Tagged(Contextual())):
        with pytest.raises(ParameterError, match="not be part of"):
            SemanticSubsetTree(similarity_)
    with pytest.raises(ParameterError, match='lexical must be "leaves"'):
        SmoothedPartialTree(Contextual(), lexical="all")


def test_it_is_a_value(tmp_path: Path) -> None:
    assert Contextual() == Contextual(sharpness=4.0) != Contextual(sharpness=None)
    kernel = SemanticSubsetTree(0.5 * Contextual(sharpness=2.0) + 0.5 * Table({}))
    sw.save(kernel, tmp_path / "kernel.sap")
    assert sw.load(tmp_path / "kernel.sap") == kernel
    assert parse_kernel("SemanticSubsetTree(Contextual(sharpness=2.0))") == SemanticSubsetTree(
        Contextual(sharpness=2.0)
    )
