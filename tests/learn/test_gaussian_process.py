"""Kernels in Gaussian processes: derivatives against differences and against the fragments themselves, and fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.model_selection import cross_val_score

import sapwood as sw
from oracles.fragments import fragments, size
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import RBF, PartialTree, SubsetTree
from sapwood.learn import GPKernel
from specimens import TREES, labels, numbers, trees

VECTORS = np.random.default_rng(0).normal(size=(12, 3))
BOTH = sw.Examples(tree=trees(), flat=VECTORS)
KERNELS = [
    (SubsetTree(0.3), trees()),
    (2.0 * SubsetTree(0.5).normalized().named("tree"), trees()),
    (0.5 * SubsetTree(0.4).normalized() + 2.0 * PartialTree(0.3, depth_decay=0.6), trees()),
    (1.5 * SubsetTree(0.4).normalized().on("tree") + 0.7 * RBF(0.2).on("flat"), BOTH),
    ((0.5 * SubsetTree(0.4).on("tree")) * RBF(0.2).on("flat"), BOTH),
]


@pytest.mark.parametrize(("kernel", "X"), KERNELS, ids=lambda value: repr(value)[:40])
def test_derivatives_are_limits_of_differences(kernel, X):
    found = GPKernel(kernel)
    K, gradient = found(X, eval_gradient=True)
    np.testing.assert_allclose(K, kernel(X))
    assert gradient.shape == (*K.shape, len(found.theta))
    assert len(found.theta) >= 1
    for column in range(len(found.theta)):
        for step in (1e-5, 3e-5):
            moved = [
                found.clone_with_theta(found.theta + sign * step * np.eye(len(found.theta))[column])(X)
                for sign in (1, -1)
            ]
            difference = (moved[0] - moved[1]) / (2 * step)
            np.testing.assert_allclose(gradient[:, :, column], difference, rtol=1e-5, atol=1e-8 * np.abs(K).max())


def test_derivatives_from_the_fragments_themselves():
    """The value is a sum of λ^size over pairs of equal fragments, and its derivative in log λ of size·λ^size."""
    decay = 0.37
    _, gradient = GPKernel(SubsetTree(decay))(sw.TreeArray(TREES), eval_gradient=True)
    listed = [fragments(next(iter(sw.TreeArray([text])))) for text in TREES]
    for i, left in enumerate(listed):
        for j, right in enumerate(listed):
            expected = sum(
                count * right.get(fragment, 0) * size(fragment) * decay ** size(fragment)
                for fragment, count in left.items()
            )
            assert gradient[i, j, 0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.filterwarnings("ignore:The optimal value found")
def test_a_process_learns_its_parameters():
    y = numbers()
    kernel = GPKernel(1.0 * SubsetTree(0.2).normalized().named("tree")) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, normalize_y=True).fit(trees(), y)
    fixed = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=None).fit(trees(), y)
    assert model.log_marginal_likelihood_value_ > fixed.log_marginal_likelihood_value_
    learnt = model.kernel_.k1.kernel.get_params()
    assert learnt["tree__decay"] != 0.2
    assert kernel.k1.kernel.get_params()["tree__decay"] == 0.2
    mean, deviation = model.predict(sw.TreeArray(TREES), return_std=True)
    assert mean.shape == deviation.shape == (4,)
    # Without an optimizer it is the textbook formula.
    K = kernel.k1.kernel(trees()) + 0.1 * np.eye(12)
    scaled = (y - y.mean()) / y.std()
    expected = kernel.k1.kernel(TREES, trees()) @ np.linalg.solve(K, scaled) * y.std() + y.mean()
    np.testing.assert_allclose(fixed.predict(TREES), expected)
    assert np.isfinite(cross_val_score(fixed, trees(), y, cv=2, error_score="raise")).all()


@pytest.mark.filterwarnings("ignore:The optimal value found")
def test_trees_and_vectors_together():
    kernel = GPKernel("SubsetTree(decay=0.4).normalized().on('tree') + 1.0 * RBF(gamma=0.5).on('flat')")
    assert [one.name for one in kernel.hyperparameters] == ["tree__decay", "flat__weight", "flat__gamma"]
    rows = GPKernel.rows(BOTH)
    np.testing.assert_allclose(kernel(rows), kernel(BOTH))
    model = GaussianProcessRegressor(kernel, alpha=0.1).fit(rows, VECTORS[:, 0])
    assert model.score(rows, VECTORS[:, 0]) > 0.8
    # Examples as they are become the same rows.
    np.testing.assert_array_equal(model.predict(BOTH), model.predict(rows))
    again = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(BOTH, VECTORS[:, 0])
    assert cross_val_score(again, BOTH, VECTORS[:, 0], cv=2, error_score="raise").shape == (2,)
    with pytest.raises(DataError, match="views tree, flat are no matrix of numbers"):
        np.asarray(BOTH, dtype=float)
    two = labels() == "none"
    judged = GaussianProcessClassifier(GPKernel(SubsetTree().normalized())).fit(trees(), two)
    assert judged.predict_proba(TREES).shape == (4, 2)
    assert judged.score(trees(), two) == 1.0


def test_ranges_and_copies():
    kernel = GPKernel(1.0 * SubsetTree().normalized(), {"subsettree__weight": "fixed", "subsettree__decay": (0.1, 0.5)})
    assert [(one.name, one.bounds.tolist()) for one in kernel.hyperparameters] == [("subsettree__decay", [[0.1, 0.5]])]
    assert clone(kernel) == kernel
    assert kernel.clone_with_theta(np.log([0.2])).kernel.get_params()["subsettree__decay"] == pytest.approx(0.2)
    assert "SubsetTree" in repr(kernel)
    for wrong, hint in (
        ({"nope": (1, 2)}, "ranges names 'nope'"),
        ({"decay": (0.1, 0.9)}, "ranges names 'decay'.*; did you mean [a-z_]*decay[?]"),
        ({"subsettree__decay": (0.5, 1.0)}, "0.999"),
        ({"subsettree__decay": "free"}, "or 'fixed'"),
        ({"subsettree__weight": (2, 1)}, "low < high"),
    ):
        with pytest.raises(ParameterError, match=hint):
            _ = GPKernel(1.0 * SubsetTree().normalized(), wrong).theta
    with pytest.raises(DataError, match="leave Y out"):
        kernel(TREES, TREES, eval_gradient=True)
