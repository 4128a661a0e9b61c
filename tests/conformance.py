"""What every Sapwood estimator must do: scikit-learn's own checks stop early on input that is not a matrix.

Each check takes a fresh estimator, examples and targets. ``CHECKS`` lists them for ``pytest.mark.parametrize``.
"""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sapwood as sw
from sapwood.errors import DataError


def check_constructor_only_stores(estimator, X, y):
    signature = inspect.signature(type(estimator))
    for name, parameter in signature.parameters.items():
        marker = parameter.default
        assert getattr(type(estimator)(), name) is marker


def check_clone_and_params(estimator, X, y):
    copy = clone(estimator)
    assert copy is not estimator
    assert repr(copy.get_params()) == repr(estimator.get_params())
    assert copy.set_params(C=7.0) is copy
    assert copy.C == 7.0
    assert estimator.C != 7.0


def check_unfitted_says_so(estimator, X, y):
    with pytest.raises(NotFittedError, match="fit"):
        estimator.predict(X)


def check_a_fit_that_fails_changes_nothing(estimator, X, y):
    with pytest.raises(DataError, match="they must be the same"):
        estimator.fit(X, y[:-1])
    with pytest.raises(NotFittedError, match="fit"):
        estimator.predict(X)
    before = estimator.fit(X, y).predict(X)
    # One label only: found out after what the labels are.
    with pytest.raises(DataError, match=r"only the class|NaN"):
        estimator.fit(X[:4], np.full(4, y[0]) if is_classifier(estimator) else np.full(4, np.nan))
    np.testing.assert_array_equal(estimator.predict(X), before)


def check_fit_returns_self_and_leaves_params_alone(estimator, X, y):
    before = repr(estimator.get_params())
    assert estimator.fit(X, y) is estimator
    assert repr(estimator.get_params()) == before


def check_fit_is_idempotent(estimator, X, y):
    first = estimator.fit(X, y).predict(X)
    second = estimator.fit(X, y).predict(X)
    np.testing.assert_array_equal(first, second)


def check_accepts_every_kind_of_input(estimator, X, y):
    expected = estimator.fit(X, y).predict(X)
    for kind in (list(X), X.to_strings(), [tree.to_nltk() for tree in X], np.asarray(X)):
        np.testing.assert_array_equal(clone(estimator).fit(kind, y).predict(kind), expected)
    np.testing.assert_array_equal(clone(estimator).fit(X, list(y)).predict(X), expected)


def check_rows_are_independent(estimator, X, y):
    estimator.fit(X, y)
    whole = estimator.predict(X)
    one_by_one = np.concatenate([estimator.predict(X[i : i + 1]) for i in range(len(X))])
    if is_classifier(estimator):
        np.testing.assert_array_equal(whole, one_by_one)
    else:
        np.testing.assert_allclose(whole, one_by_one, rtol=1e-12)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_allclose(
        np.asarray(estimator.predict(X[order]) == whole[order], dtype=float)
        if is_classifier(estimator)
        else estimator.predict(X[order]),
        1.0 if is_classifier(estimator) else whole[order],
        rtol=1e-12,
    )


def check_pickles(estimator, X, y):
    estimator.fit(X, y)
    expected = estimator.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(estimator)).predict(X), expected)


def check_threads_do_not_matter(estimator, X, y):
    with sw.options(threads=1):
        first = clone(estimator).fit(X, y).predict(X)
    with sw.options(threads=2):
        second = clone(estimator).fit(X, y).predict(X)
    np.testing.assert_array_equal(first, second)


def check_score(estimator, X, y):
    assert isinstance(estimator.fit(X, y).score(X, y), float)


def check_cross_validation(estimator, X, y):
    scores = cross_val_score(estimator, X, y, cv=3)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


def check_grid_search_in_processes(estimator, X, y):
    search = GridSearchCV(estimator, {"C": [0.1, 10.0]}, cv=2, n_jobs=2).fit(X, y)
    assert search.best_params_["C"] in (0.1, 10.0)
    assert len(search.predict(X)) == len(X)


def check_pipeline_and_split(estimator, X, y):
    train, test, y_train, _ = train_test_split(X, y, random_state=0)
    assert isinstance(train, sw.TreeArray)
    pipeline = make_pipeline(FunctionTransformer(sw.trees.delexicalize), estimator).fit(train, y_train)
    assert len(pipeline.predict(test)) == len(test)


def check_refuses_mismatched_lengths(estimator, X, y):
    with pytest.raises(ValueError, match=r"X has \d+ examples but y has \d+"):
        estimator.fit(X, y[:-1])


def check_refuses_empty(estimator, X, y):
    with pytest.raises(ValueError, match="no examples"):
        estimator.fit(X[:0], y[:0])


def check_refuses_missing_targets(estimator, X, y):
    with pytest.raises(ValueError, match="needs targets"):
        estimator.fit(X, None)


def check_refuses_bad_c(estimator, X, y):
    for wrong in (0, -1.0, float("nan"), float("inf"), "much", True):
        with pytest.raises(ValueError, match="C must be"):
            clone(estimator).set_params(C=wrong).fit(X, y)


def check_refuses_foreign_kernels(estimator, X, y):
    with pytest.raises(ValueError, match="kernel must be a kernel"):
        estimator.set_params(kernel="rbf").fit(X, y)


def check_sample_weight(estimator, X, y):
    plain = clone(estimator).fit(X, y).predict(X)
    ones = clone(estimator).fit(X, y, sample_weight=np.ones(len(X))).predict(X)
    np.testing.assert_array_equal(plain, ones)
    with pytest.raises(ValueError, match="sample_weight"):
        estimator.fit(X, y, sample_weight=[1.0])


def check_save_and_load(estimator, X, y, tmp_path):
    path = tmp_path / "model.sap"
    with pytest.raises(NotFittedError):
        sw.save(estimator, path)
    estimator.fit(X, y)
    sw.save(estimator, path)
    restored = sw.load(path)
    assert type(restored) is type(estimator)
    assert repr(restored.get_params()) == repr(estimator.get_params())
    np.testing.assert_array_equal(restored.predict(X), estimator.predict(X))


def check_predicts_nothing_for_nothing(estimator, X, y):
    assert estimator.fit(X, y).predict(X[:0]).shape == (0,)


CHECKS = [value for name, value in sorted(globals().items()) if name.startswith("check_")]
