"""Probabilities: the same as those of scikit-learn's calibration on the same Gram matrix, in files, in scorers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

import sapwood as sw
from sapwood.corpora.nursery import generate
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelSVC, VotedPerceptron
from sapwood.learn.calibration import calibrate
from sapwood.tasks.questions import QuestionClassifier
from specimens import corpus

KERNEL = SubsetTree(decay=0.4).normalized()
METHODS = ("sigmoid", "temperature", "isotonic")


def asked(classes: int) -> tuple[sw.TreeArray, np.ndarray]:
    """Sentences of the nursery, with labels that their trees say something about but do not decide."""
    trees = sw.TreeArray([one.tree for one in corpus().sentences])
    sizes = np.array([len(tree.leaves()) for tree in trees])
    noisy = sizes + np.random.default_rng(0).integers(0, 3, len(sizes))
    return trees, np.array(["a", "b", "c"])[np.searchsorted(np.quantile(noisy, [0.4, 0.7][: classes - 1]), noisy)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [2, 3])
def test_they_are_those_of_scikit_learn(method: str, classes: int) -> None:
    X, y = asked(classes)
    K = KERNEL(X)
    # One SVM per class, as KernelSVC has them.
    inner: Any = SVC(kernel="precomputed", C=1.0)
    if classes > 2:
        inner = KernelSVC("precomputed", C=1.0)
    reference = CalibratedClassifierCV(inner, method=method, cv=StratifiedKFold(5), ensemble=False).fit(K, y)
    found = KernelSVC(KERNEL, C=1.0, probability=method).fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), reference.predict_proba(K), atol=2e-4)
    assert found.calibration_.method == method


@pytest.mark.parametrize("method", METHODS)
def test_known_probabilities_are_found(method: str) -> None:
    """Margins whose probabilities are known: the scaling finds these."""
    random = np.random.default_rng(1)
    margins = random.normal(size=20_000) * 2
    truth = 1 / (1 + np.exp(-1.5 * margins))
    targets = (random.random(len(margins)) < truth).astype(np.intp)
    found = calibrate(margins, targets, method=method).probabilities(margins)
    assert np.abs(found[:, 1] - truth).mean() < 0.015
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_the_method_is_chosen_by_what_fits() -> None:
    random = np.random.default_rng(2)
    margins = random.normal(size=5_000)
    # No sigmoid has a flat step.
    stepped = (random.random(len(margins)) < np.where(margins > 0.5, 0.9, 0.3)).astype(np.intp)
    assert calibrate(margins, stepped).method == "isotonic"
    shifted = (random.random(len(margins)) < 1 / (1 + np.exp(-3 * margins - 2))).astype(np.intp)
    assert calibrate(margins, shifted).method == "sigmoid"
    assert calibrate(margins[:500], stepped[:500]).method != "isotonic"


@pytest.mark.slow
def test_they_say_more_than_shares_of_classes() -> None:
    """On examples that were not seen, and never as wrong as margins that are taken for log-odds at a high C."""
    data = generate(size=240)
    trees = sw.TreeArray([one.tree for one in data.sentences])
    noisy = np.array([len(tree.leaves()) for tree in trees]) + np.random.default_rng(0).integers(0, 3, len(trees))
    y = np.searchsorted(np.quantile(noisy, [0.3, 0.7]), noisy)
    half = np.arange(len(y)) % 2 == 0
    model = KernelSVC(KERNEL, C=100.0, probability=True).fit(trees[half], y[half])
    found = log_loss(y[~half], model.predict_proba(trees[~half]))
    shares = np.bincount(y[half]) / half.sum()
    assert found < 0.95 * log_loss(y[~half], np.tile(shares, (int((~half).sum()), 1)))
    assert found < log_loss(y[~half], softmax(model.decision_function(trees[~half]), axis=1))


def test_both_solvers_and_sample_weights() -> None:
    X, y = asked(3)
    weights = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    one, other = (
        KernelSVC(KERNEL, probability="sigmoid", solver=solver, tol=1e-6).fit(X, y, sample_weight=weights)
        for solver in ("sklearn", "native")
    )
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-3)
    # A weight counts like so many copies, which share a fold more or less.
    copies = KernelSVC(KERNEL, probability="sigmoid").fit(X[repeated], y[repeated])
    assert np.abs(copies.predict_proba(X) - one.predict_proba(X)).mean() < 0.1


def test_a_class_with_one_example() -> None:
    X, y = asked(2)
    y = y.astype(object)
    y[0] = "rare"
    found = KernelSVC(KERNEL, probability=True).fit(X, y.astype(str)).predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found[:, 2].max() < 0.5
    with pytest.raises(DataError, match="'x' has only one"):
        KernelSVC(KERNEL, probability=True).fit(X[:9], ["x", *"aaaaaaaa"])


def test_without_the_parameter_there_are_none() -> None:
    X, y = asked(2)
    model = KernelSVC(KERNEL).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="set probability=True and fit it again"):
        model.predict_proba(X)
    with pytest.raises(ParameterError, match="fit again"):
        model.set_params(probability=True).predict_proba(X)
    for wrong in ("platt", 1, None):
        with pytest.raises(ParameterError, match="probability must be"):
            KernelSVC(KERNEL, probability=wrong).fit(X, y)


@pytest.mark.parametrize(
    "make",
    [
        lambda: KernelSVC(KERNEL, probability=True),
        lambda: VotedPerceptron(KERNEL, probability="sigmoid", random_state=0),
        lambda: QuestionClassifier(KERNEL, probability="isotonic"),
    ],
)
def test_files_and_scorers(make: Any, tmp_path: Path) -> None:
    X, y = asked(2)
    model = make().fit(X, y)
    sw.save(model, tmp_path / "m.sap")
    again = sw.load(tmp_path / "m.sap")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.probability == model.probability
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    for scoring in ("neg_log_loss", "roc_auc"):
        assert np.isfinite(cross_val_score(make(), X, y, scoring=scoring, cv=2, error_score="raise")).all()
