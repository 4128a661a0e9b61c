"""Kernel values that are too large: the example at fault is named, by every learner."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw
from sapwood.errors import KernelError
from sapwood.kernels import Linear, Polynomial, SubsetTree
from sapwood.kernels.finite import check_finite
from sapwood.learn import KernelRanker, KernelSVC, KernelSVR, VotedPerceptron


def test_who_is_to_blame():
    check_finite(np.ones((3, 3)))
    check_finite(np.zeros((0, 0)))
    gram = np.ones((3, 3))
    gram[1] = gram[:, 1] = np.inf
    with pytest.raises(KernelError, match="example 1 is not finite"):
        check_finite(gram)
    with pytest.raises(KernelError, match="example 40 is not finite"):
        check_finite(gram, [30, 40, 50])
    with pytest.raises(KernelError, match="example 2 is not finite"):
        check_finite(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(KernelError, match="example 9 is not finite"):
        check_finite(np.array([0.0, -np.inf]), np.array([8, 9]))
    with pytest.raises(KernelError, match="the score of example 1 is not finite"):
        check_finite(np.array([0.0, np.nan]), what="score")


@pytest.mark.parametrize("learner", [KernelSVC, KernelSVR, VotedPerceptron, KernelRanker])
@pytest.mark.parametrize("linear", [False, True])
def test_learners_name_the_example(learner, linear):
    deep = sw.Tree("a", ["b"])
    for _ in range(12):
        deep = sw.Tree("a", [deep] * 2)
    trees = ["(a b)", "(a c)", "(a d)", deep, "(a e)", "(a f)"]
    extra = {"groups": [0] * 6} if learner is KernelRanker else {}
    # A linear part as well as none, since rankers learn the two in different ways.
    kernel = SubsetTree(1.0).on("t") + Linear().on("f") if linear else SubsetTree(1.0)
    X = sw.Examples(t=trees, f=np.ones((6, 1))) if linear else trees
    with pytest.raises(KernelError, match=r"example 3( with itself)? is not finite: .* smaller decay"):
        learner(kernel).fit(X, [0, 1] * 3, **extra)


@pytest.mark.parametrize("loss", ["pairwise", "top", "setwise"])
@pytest.mark.parametrize("train", [KernelRanker.fit, KernelRanker.partial_fit])
def test_rankers_notice_utilities_that_are_too_large(loss, train):
    rng = np.random.default_rng(0)
    # Each kernel value is still a number, but sums of some are none.
    X = rng.choice([-1, 1], size=(40, 3)) * 7.5e153
    y, groups = rng.integers(0, 3, 40), np.repeat(range(10), 4)
    general = KernelRanker(Polynomial(degree=1, constant=0), loss=loss, epochs=20, random_state=0)
    native = KernelRanker(SubsetTree().on("t") + Linear().on("f"), loss=loss, epochs=20, random_state=0)
    for ranker, examples in ((general, X), (native, sw.Examples(t=["(a b)"] * 40, f=X))):
        with (
            np.errstate(over="raise", invalid="raise"),
            pytest.raises(KernelError, match=r"the utility of example \d+ is not finite"),
        ):
            train(ranker, examples, y, groups)
        assert not hasattr(ranker, "kernel_")


def test_perceptrons_notice_scores_that_are_too_large():
    X = np.concatenate([np.zeros((1, 4)), np.eye(4), np.full((1, 4), 0.5)]) * 1.05e154
    with pytest.raises(KernelError, match="the score of example 5 is not finite"):
        VotedPerceptron(Polynomial(degree=1, constant=0), shuffle=False).fit(X, [0, 1, 1, 1, 1, 1])
