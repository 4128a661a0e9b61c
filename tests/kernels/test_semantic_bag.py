"""Linear(words=...): the semantic bag of words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from sapwood import TreeArray
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import Linear, parse_kernel
from sapwood.words import Latent, Table, Vectors

WORDS = ["u", "v", "w"]
bags = st.lists(st.dictionaries(st.sampled_from([*WORDS, "x", "y"]), st.integers(0, 4)), min_size=1, max_size=5)


@pytest.mark.slow
@given(bags, bags, st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_is_the_bilinear_form(left: list[dict[str, int]], right: list[dict[str, int]], points: list[list[int]]) -> None:
    source = Vectors(WORDS, points, measure="dot")
    kernel = Linear(words=source)
    vocabulary = [*WORDS, "x", "y"]
    S = source.matrix(vocabulary).toarray()
    x = np.array([[bag.get(word, 0) for word in vocabulary] for bag in left], dtype=float)
    y = np.array([[bag.get(word, 0) for word in vocabulary] for bag in right], dtype=float)
    np.testing.assert_allclose(kernel(left, right), x @ S @ y.T, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(kernel(left), x @ S @ x.T, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(kernel.diag(left), np.diagonal(x @ S @ x.T), rtol=1e-12, atol=1e-10)


def test_trees_count_their_leaves() -> None:
    kernel = Linear(words=Table({("dog", "cat"): 0.5}))
    trees = TreeArray(["(S (NN dog) (NN dog))", "(S (NN cat) (VB cat))", "(X run)"])
    counts = [Counter(tree.leaves()) for tree in trees]
    np.testing.assert_array_equal(kernel(trees), kernel(counts))
    np.testing.assert_array_equal(kernel(trees), [[4, 2, 0], [2, 4, 0], [0, 0, 1]])


def test_works_on_views_and_normalized() -> None:
    kernel = Linear(words=Table({("dog", "cat"): 0.5})).normalized().on("bag")
    X = sw.Examples(bag=TreeArray(["(NN dog)", "(NN cat)"]))
    np.testing.assert_allclose(kernel(X), [[1.0, 0.5], [0.5, 1.0]])


def test_learns_latent_semantics_from_bags() -> None:
    bags = [{"dog": 1, "cat": 2}, {"dog": 1, "cat": 1}, {"bond": 1, "share": 2}]
    bound = Linear(words=Latent(dimensions=2)).bind(bags)
    K = bound([{"dog": 1}], [{"cat": 1}, {"bond": 1}])
    assert K[0, 0] > 0.9
    assert abs(K[0, 1]) < 0.1


def test_repr_and_bad_input() -> None:
    assert repr(Linear()) == "Linear()"
    kernel = Linear(words=Table({("dog", "cat"): 0.5}))
    assert parse_kernel(repr(kernel)) == kernel
    with pytest.raises(ParameterError):
        Linear(words="wordnet")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="bags of words"):
        kernel(np.eye(2))
    with pytest.raises(DataError, match="no count"):
        kernel([{"dog": "cat"}])
    with pytest.raises(DataError, match="finite"):
        kernel([{"dog": float("nan")}])
