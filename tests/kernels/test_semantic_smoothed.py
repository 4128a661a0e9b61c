"""SmoothedPartialTree: enumeration of child sequences, reduction to PartialTree, and positive semi-definiteness."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from oracles.semantic import smoothed_by_sequences
from paths import SHARED
from sapwood import Tree, TreeArray
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import PartialTree, SmoothedPartialTree, parse_kernel
from sapwood.words import Table, Tagged, Vectors, WordNet

WORDS = ["u", "v", "w"]

vectors = st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=3, max_size=3), min_size=3, max_size=3)


def mixed_trees(max_leaves: int = 6) -> st.SearchStrategy[Tree]:
    """Trees in which known words and other labels stand on leaves and inside."""
    label = st.sampled_from([*WORDS, "P", "Q"])
    return st.recursive(
        label.map(Tree),
        lambda child: st.builds(Tree, label, st.lists(child, min_size=1, max_size=3)),
        max_leaves=max_leaves,
    )


@pytest.mark.slow
@given(
    mixed_trees(),
    mixed_trees(),
    vectors,
    st.sampled_from(["leaves", "all"]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([0.0, 1.0, 5.0]),
)
@settings(max_examples=150, deadline=None)
def test_agrees_with_enumeration(
    a: Tree, b: Tree, points: list[list[float]], lexical: str, longest: int | None, factor: float
) -> None:
    source = Vectors(WORDS, points, measure="dot")
    known = dict(zip(WORDS, source.covers(WORDS), strict=True))

    def is_word(node: Tree) -> bool:
        return bool(known.get(node.label)) and (lexical == "all" or node.is_leaf)

    kernel = SmoothedPartialTree(
        source, decay=0.5, depth_decay=0.8, max_subsequence=longest, terminal_factor=factor, lexical=lexical
    )
    slow = smoothed_by_sequences(a, b, source, is_word, 0.5, 0.8, factor, longest)
    assert kernel(a, b) == pytest.approx(slow, rel=1e-11, abs=1e-11)
    assert kernel(b, a) == pytest.approx(slow, rel=1e-11, abs=1e-11)
    assert kernel.diag([a])[0] == pytest.approx(kernel(a, a), rel=1e-12, abs=1e-12)


@pytest.mark.slow
@given(st.lists(mixed_trees(), min_size=2, max_size=6), vectors, st.sampled_from(["leaves", "all"]), st.data())
@settings(max_examples=60, deadline=None)
def test_gram_and_models_agree_with_pairs(
    trees: list[Tree], points: list[list[float]], lexical: str, data: Any
) -> None:
    kernel = SmoothedPartialTree(Vectors(WORDS, points, measure="dot"), lexical=lexical)
    expected = np.array([[kernel(a, b) for b in trees] for a in trees])
    np.testing.assert_allclose(kernel(trees), expected, rtol=1e-11, atol=1e-11)
    cut = data.draw(st.integers(1, len(trees) - 1))
    X, Y = TreeArray(trees[:cut]), TreeArray(trees[cut:])
    np.testing.assert_allclose(kernel(X, Y), expected[:cut, cut:], rtol=1e-11, atol=1e-11)
    weights = np.arange(2.0 * (len(trees) - cut)).reshape(-1, 2) - 1.5
    np.testing.assert_allclose(kernel.expansion(Y, weights)(X), expected[:cut, cut:] @ weights, rtol=1e-10, atol=1e-10)


@pytest.mark.slow
@given(st.lists(mixed_trees(), min_size=1, max_size=5), st.sampled_from([None, 2]), st.sampled_from([1.0, 5.0]))
@settings(max_examples=60, deadline=None)
def test_without_similar_words_it_is_the_partial_tree_kernel(
    trees: list[Tree], longest: int | None, factor: float
) -> None:
    plain = PartialTree(max_subsequence=longest, terminal_factor=factor)
    for lexical in ("leaves", "all"):
        mine = SmoothedPartialTree(Table({}), max_subsequence=longest, terminal_factor=factor, lexical=lexical)
        np.testing.assert_allclose(mine(trees), plain(trees), rtol=1e-12)


def questions(count: int) -> TreeArray:
    """Lexical-centred dependency trees of questions."""
    path = SHARED / "data" / "trec-qc-kelp" / "TREC_10.coarse.klp.gz"
    if not path.exists():
        pytest.skip(f"the question trees are not on this machine ({path})")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        found = [re.search(r"\|BT:lct\| (.*?) \|ET\|", line) for line in stream]
    return TreeArray([match.group(1).replace("(", " (") for match in found[:count] if match])


@pytest.mark.slow
@pytest.mark.parametrize("lexical", ["all", "leaves"])
def test_positive_semi_definite_on_real_trees(lexical: str) -> None:
    X = questions(220)
    assert len(X) >= 200
    wordnet = WordNet(weights="lin", senses="all")
    try:
        wordnet("dog", "cat")
    except DataError as error:
        pytest.skip(str(error))
    kernel = SmoothedPartialTree(Tagged(wordnet, prefix="LEX##"), lexical=lexical)
    K = kernel(X)
    assert np.array_equal(K, K.T)
    scale = np.sqrt(np.diagonal(K))
    assert np.linalg.eigvalsh(K / np.outer(scale, scale))[0] > -1e-9
    plain = PartialTree()(X)
    # Similar words only add.
    assert (plain - 1e-12 <= K).all()
    assert (plain + 1e-9 < K).any() == (lexical == "all")
    with sw.options(threads=1):
        one = kernel(X)
    with sw.options(threads=3):
        assert np.array_equal(kernel(X), one)


def test_tagged_words_inside_trees() -> None:
    kernel = SmoothedPartialTree(
        Tagged(Table({("dog", "cat"): 0.5})), decay=1.0, depth_decay=1.0, lexical="all", terminal_factor=2.0
    )
    # Two lexical nodes over the same tag leaf: 0.5 * (1 + 2) for them, 2 for the leaves.
    assert kernel("(dog::n NN)", "(cat::n NN)") == pytest.approx(0.5 * 3 + 2)
    assert kernel("(dog::n NN)", "(cat::v NN)") == pytest.approx(2.0)


def test_wide_nodes() -> None:
    words = [f"w{k}" for k in range(90)]
    source = Vectors(words, np.random.default_rng(1).standard_normal((90, 3)))
    a, b = Tree("S", words), Tree("S", list(reversed(words)))
    kernel = SmoothedPartialTree(source, decay=0.3)
    sigma = source.matrix(words, list(reversed(words))).toarray()
    bare = 0.4 * 0.3**2
    # The sum over sequences by the quadratic recursion of the textbook.
    total = 0.0
    T = np.zeros((90, 90))
    for i in range(90):
        for j in range(90):
            powers = 0.3 ** (np.add.outer(np.arange(i)[::-1], np.arange(j)[::-1]))
            T[i, j] = bare * sigma[i, j] * (1 + float((T[:i, :j] * powers).sum()))
            total += T[i, j]
    expected = bare * sigma.sum() + 0.4 * (0.3**2 + total)
    assert kernel(a, b) == pytest.approx(expected, rel=1e-10)


def test_repr_files_and_bad_parameters(tmp_path: Path) -> None:
    kernel = SmoothedPartialTree(Tagged(Table({("a", "b"): 0.5}), prefix="LEX##"), terminal_factor=5.0, lexical="all")
    assert parse_kernel(repr(kernel)) == kernel
    sw.save(kernel, tmp_path / "k.sap")
    assert sw.load(tmp_path / "k.sap") == kernel
    for wrong in ({"decay": 0.0}, {"depth_decay": 2.0}, {"lexical": "some"}, {"max_subsequence": 0}):
        with pytest.raises(ParameterError):
            SmoothedPartialTree(Table({}), **wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="terminal_factor"):
        SmoothedPartialTree(Table({}), terminal_factor=float("inf"))


class OneKind(Tagged):
    """As ``Tagged``, but every word is compared with every other."""

    def kinds(self, words):
        return [""] * len(words)


@pytest.mark.parametrize("lexical", ["all", "leaves"])
@pytest.mark.parametrize("longest", [None, 2])
def test_words_of_different_kinds_need_not_be_compared(lexical, longest):
    table = Table({("a", "b"): 0.5, ("a", "c"): 0.3, ("b", "c"): 0.4})
    generator = np.random.default_rng(3)

    def tree(depth):
        label = f"{generator.choice(list('abcd'))}::{generator.choice(list('nvj'))}"
        if generator.random() < 0.3:
            label = str(generator.choice(["NN", "VB"]))
        if depth == 0:
            return Tree(label)
        return Tree(label, [tree(depth - 1) for _ in range(generator.integers(1, 4))])

    X, Y = TreeArray([tree(3) for _ in range(12)]), TreeArray([tree(3) for _ in range(7)])
    weights = generator.normal(size=(12, 3))
    options = {"lexical": lexical, "max_subsequence": longest, "terminal_factor": 2.0}
    kinds, one = (SmoothedPartialTree(words(table), **options) for words in (Tagged, OneKind))
    np.testing.assert_allclose(kinds(X), one(X), rtol=1e-12)
    np.testing.assert_allclose(kinds(Y, X), one(Y, X), rtol=1e-12)
    np.testing.assert_allclose(kinds.diag(X), one.diag(X), rtol=1e-12)
    found = kinds.expansion(X, weights)(Y)
    np.testing.assert_allclose(found, one(Y, X) @ weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kinds.expansion(X, weights[:, :1])(Y), found[:, :1], rtol=1e-9, atol=1e-12)
