"""Kernel values that are too large: the example at fault is named, by every learner."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw
from sapwood.errors import KernelError
from sapwood.kernels import Linear, SubsetTree
from sapwood.learn import KernelRanker, KernelSVC, KernelSVR, VotedPerceptron
from sapwood.learn.finite import check_finite


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
    with pytest.raises(KernelError, match=r"example 3 is not finite; use kernel\.normalized"):
        learner(kernel).fit(X, [0, 1] * 3, **extra)
