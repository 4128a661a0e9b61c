"""Cross-validation on Gram matrices against doing it the long way."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import PredefinedSplit, cross_val_predict

import sapwood as sw
from sapwood.errors import DataError, KernelError, ParameterError
from sapwood.kernels import Linear, SubsetTree
from sapwood.tasks.questions import QuestionClassifier, question_views
from sapwood.tasks.questions.tuning import Grams, cross_validate, make_folds, ridge_predictions, tune

SST = SubsetTree(decay=0.2).normalized().on("focus")
WORDS = Linear().normalized().on("words")


@pytest.fixture(scope="module")
def garden(grown):
    questions = grown[:150]
    return sw.TreeArray([one.tree for one in questions]), np.array([one.label[0] for one in questions])


@pytest.fixture(scope="module")
def grams(garden):
    views = question_views(garden[0], ["focus", "words"])
    return Grams(views, views[:7])


def test_a_sum_of_kernels_is_the_sum_of_their_grams(grams, garden):
    kernel = 0.5 * (SST + 2.0 * WORDS) + WORDS
    views = question_views(garden[0], ["focus", "words"])
    np.testing.assert_allclose(grams.train(kernel), kernel(views), atol=1e-5)
    np.testing.assert_allclose(grams.other(kernel), kernel(views[:7], views), atol=1e-5)
    assert len(grams._known) == 2
    grams.forget(SST)
    assert len(grams._known) == 1


@pytest.mark.slow
def test_the_closed_form_is_ridge_regression_fold_by_fold(grams, garden):
    K = grams.train(SST + WORDS).astype(np.float64)
    Y = np.random.default_rng(0).normal(size=(len(K), 3))
    folds = make_folds(garden[1], 4)
    expected = np.empty_like(Y)
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(K)), fold)
        model = KernelRidge(alpha=0.1 * K.diagonal().mean(), kernel="precomputed").fit(K[np.ix_(rest, rest)], Y[rest])
        expected[fold] = model.predict(K[np.ix_(fold, rest)])
    np.testing.assert_allclose(ridge_predictions(K, Y, folds, 0.1), expected, atol=1e-9)


def test_machines_on_stored_grams_are_the_classifiers_themselves(grams, garden):
    X, y = garden
    folds = make_folds(y, 3)
    split = np.empty(len(y), dtype=int)
    for number, fold in enumerate(folds):
        split[fold] = number
    kernel = SST + 0.5 * WORDS
    expected = cross_val_predict(QuestionClassifier(kernel, C=3.0), X, y, cv=PredefinedSplit(split))
    found = cross_validate(grams.train(kernel), y, folds, C=3.0)
    assert np.mean(found == expected) > 0.99  # Grams are in single precision


@pytest.mark.slow
def test_tuning_finds_the_better_kernel_and_gives_it(garden):
    X, y = garden
    blind = SubsetTree(decay=0.2).on("focus") * 0.0 + 1.0
    tuning = tune(X, y, kernels=[blind, SST], C=[1.0, 10.0], class_weights=[None, "balanced"], folds=3, keep=1)
    assert tuning.best.kernel == SST
    assert [trial.method for trial in tuning.trials] == ["ridge"] * 2 + ["svm"] * 4
    assert tuning.classifier().fit(X, y).C == tuning.best.C
    assert str(tuning).splitlines()[0].split() == ["accuracy", "method", "C", "kernel"]
    again = tune(X, y, kernels=[blind, SST], C=[1.0, 10.0], class_weights=[None, "balanced"], folds=3, keep=1)
    assert again == tuning


def test_folds_hold_every_position_once_even_of_rare_classes():
    y = ["a"] * 9 + ["b"] * 6 + ["c"] + ["d"] * 2
    folds = make_folds(y, 3)
    assert sorted(np.concatenate(folds).tolist()) == list(range(len(y)))
    assert all(sum(y[at] == "a" for at in fold) == 3 for fold in folds)
    assert sorted(np.concatenate(make_folds(["a", "a", "b"], 2)).tolist()) == [0, 1, 2]


def test_what_is_no_kernel_is_found_out():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(KernelError, match="not positive definite"):
        ridge_predictions(K, np.eye(2), [np.array([0]), np.array([1])])


@pytest.mark.slow
def test_bad_arguments_are_named(garden):
    X, y = garden
    with pytest.raises(ParameterError, match="kernels is empty"):
        tune(X, y, kernels=[])
    with pytest.raises(DataError, match="they must be the same"):
        tune(X, y[:-1], kernels=[SST])
    with pytest.raises(DataError, match="only the class"):
        tune(X, ["a"] * len(X), kernels=[SST])
    with pytest.raises(ParameterError, match="folds must be"):
        tune(X, y, kernels=[SST], folds=1)
    with pytest.raises(DataError, match="without other examples"):
        Grams(question_views(X[:3])).other(SST)
