"""Alignment against its definition, and the choice of weights and parameters against search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import cross_val_score

import sapwood as sw
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import Linear, PartialTree, SubsetTree, Subtree
from sapwood.kernels.alignment import aligned_weights, alignment, centred, target_columns
from sapwood.learn import KernelSVC, choose_kernel
from specimens import labels, numbers, trees

KERNELS = [SubsetTree(0.4).normalized(), PartialTree(0.4).normalized(), Subtree(0.4).normalized()]


def by_definition(K, T):
    n = len(K)
    H = np.eye(n) - np.ones((n, n)) / n
    Kc, Tc = H @ K @ H, H @ T @ H
    return np.sum(Kc * Tc) / np.sqrt(np.sum(Kc * Kc) * np.sum(Tc * Tc))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_alignment_is_as_defined(kernel):
    K = kernel(trees())
    same = (labels()[:, None] == labels()).astype(float)
    assert kernel.alignment(trees(), labels()) == pytest.approx(by_definition(K, same))
    assert kernel.alignment(trees(), numbers()) == pytest.approx(by_definition(K, np.outer(numbers(), numbers())))
    two = np.where(labels() == "none", -1, 1)
    assert kernel.alignment(trees(), two) == pytest.approx(by_definition(K, np.outer(two, two)))
    assert kernel.alignment(trees(), labels().tolist()) == kernel.alignment(trees(), labels().astype(object))


def test_weights_have_the_most_alignment():
    grams = [centred(kernel(trees())) for kernel in KERNELS]
    columns = target_columns(12, labels())
    found = aligned_weights(grams, columns)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()

    def loss(at):
        return -alignment(sum(weight**2 * K for weight, K in zip(at, grams, strict=True)), columns)

    searched = min(minimize(loss, start, method="Nelder-Mead").fun for start in np.random.default_rng(0).random((5, 3)))
    assert -loss(np.sqrt(found)) == pytest.approx(-searched, abs=1e-5)


def test_choosing_is_trying_everything():
    start = 0.5 * SubsetTree().normalized().named("tree") + Subtree().normalized().named("sub")
    grid = {"tree__decay": [0.1, 0.4, 0.9], "sub__decay": [0.2, 0.6]}
    for by in ("alignment", "cv"):
        found = choose_kernel(start, trees(), labels(), grid, by=by, weights=False, folds=2)
        assert len(found.trials) == 6
        for kernel, score in found.trials:
            if by == "alignment":
                assert score == pytest.approx(kernel.alignment(trees(), labels()))
            else:
                expected = cross_val_score(KernelSVC(kernel), trees(), labels(), cv=2).mean()
                assert score == pytest.approx(expected)
        assert found.score == max(score for _, score in found.trials)
        assert "tree" in str(found)
    weighted = choose_kernel(start, trees(), labels(), grid)
    assert weighted.score >= choose_kernel(start, trees(), labels(), grid, weights=False).score
    assert weighted.kernel.alignment(trees(), labels()) == pytest.approx(weighted.score)
    assert sum(weight for weight, _ in weighted.kernel.summands()) == pytest.approx(1.0)
    assert "tree__decay" in weighted.kernel.get_params()


def test_numbers_and_views():
    X = sw.Examples(tree=trees(), flat=np.column_stack([numbers(), np.ones(12)]))
    found = choose_kernel("SubsetTree().normalized().on('tree') + Linear().on('flat')", X, numbers(), by="cv", folds=2)
    assert np.isfinite(found.score)
    aligned = choose_kernel(SubsetTree().normalized().on("tree") + Linear().on("flat"), X, numbers())
    assert aligned.score == pytest.approx(1.0)
    assert aligned.kernel.views() == {"flat"}


def test_what_does_not_fit_is_said():
    kernel = SubsetTree()
    with pytest.raises(DataError, match="one label or number for each of 12"):
        kernel.alignment(trees(), labels()[:3])
    with pytest.raises(DataError, match="same target everywhere"):
        kernel.alignment(trees(), ["a"] * 12)
    with pytest.raises(DataError, match="finite"):
        kernel.alignment(trees(), np.full(12, np.nan))
    with pytest.raises(ParameterError, match="by must be"):
        choose_kernel(kernel, trees(), labels(), by="luck")
    with pytest.raises(ParameterError, match=r"grid\['decay'\] must be a list"):
        choose_kernel(kernel, trees(), labels(), {"decay": 0.3})
    with pytest.raises(ParameterError, match="no parameter 'deca'"):
        choose_kernel(kernel, trees(), labels(), {"deca": [0.3]})
    assert Linear().alignment([[1.0], [1.0]], ["a", "b"]) == 0.0
