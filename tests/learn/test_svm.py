"""Kernel machines against scikit-learn's own solver on the same Gram matrix."""

from __future__ import annotations

import _thread
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import SVC, SVR

import sapwood as sw
import specimens
from sapwood.errors import DataError, KernelError, ParameterError
from sapwood.kernels import Linear, PartialTree, Polynomial, SubsetTree, Subtree
from sapwood.learn import KernelSVC, KernelSVR

SUBJECTS = ["(NP (PRP he))", "(NP (DT the) (NN dog))", "(NP (DT a) (JJ big) (NN cat))", "(NP (NNP Kim))"]
VERBS = [
    "(VP (VBD slept))",
    "(VP (VBD saw) (NP (NNP Lee)))",
    "(VP (VBD gave) (NP (NNP Lee)) (PP (TO to) (NP (NNP Kim))))",
]


@pytest.fixture(scope="module")
def sentences():
    """Sentences whose class is the shape of the verb phrase."""
    trees, labels = [], []
    for subject in SUBJECTS:
        for label, verb in zip(("none", "one", "two"), VERBS, strict=True):
            for end in ("(. .)", "(. !)"):
                trees.append(f"(S {subject} {verb} {end})")
                labels.append(label)
    return sw.TreeArray(trees), np.array(labels)


def shuffled(X, y, seed):
    """Labels with noise, so that many examples become support vectors."""
    rng = np.random.default_rng(seed)
    noisy = y.copy()
    flipped = rng.random(len(y)) < 0.3
    noisy[flipped] = rng.permutation(y)[flipped]
    return X, noisy


@pytest.mark.parametrize("seed", range(3))
def test_one_against_rest_equals_sklearn(sentences, seed):
    X, y = shuffled(*sentences, seed)
    kernel = SubsetTree(decay=0.4).normalized()
    K = kernel(X)
    ours = KernelSVC(kernel=kernel, C=3.0, tol=1e-8).fit(X, y)
    theirs = OneVsRestClassifier(SVC(kernel="precomputed", C=3.0, tol=1e-8)).fit(K, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(K), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(K))


@pytest.mark.parametrize("seed", range(3))
def test_one_against_one_equals_sklearn(sentences, seed):
    X, y = shuffled(*sentences, seed)
    kernel = PartialTree().normalized()
    K = kernel(X)
    ours = KernelSVC(kernel=kernel, C=3.0, tol=1e-8, multi_class="ovo").fit(X, y)
    theirs = OneVsOneClassifier(SVC(kernel="precomputed", C=3.0, tol=1e-8)).fit(K, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(K))
    direct = SVC(kernel="precomputed", C=3.0, tol=1e-8, decision_function_shape="ovo").fit(K, y)
    np.testing.assert_allclose(
        ours._outputs(X), direct.decision_function(K), atol=1e-6, err_msg="the pairwise margins themselves"
    )


def test_two_classes_give_one_margin(sentences):
    X, y = sentences
    keep = y != "two"
    ours = KernelSVC(C=3.0, tol=1e-8).fit(X[keep], y[keep])
    K = SubsetTree().normalized()(X[keep])
    theirs = SVC(kernel="precomputed", C=3.0, tol=1e-8).fit(K, y[keep])
    assert ours.decision_function(X[keep]).shape == (keep.sum(),)
    np.testing.assert_allclose(ours.decision_function(X[keep]), theirs.decision_function(K), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X[keep]), theirs.predict(K))


def test_regression_equals_sklearn(sentences):
    X, _ = sentences
    targets = np.random.default_rng(0).normal(size=len(X))
    kernel = Subtree().normalized()
    ours = KernelSVR(kernel=kernel, C=2.0, epsilon=0.05, tol=1e-8).fit(X, targets)
    theirs = SVR(kernel="precomputed", C=2.0, epsilon=0.05, tol=1e-8).fit(kernel(X), targets)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(kernel(X)), atol=1e-6)


def test_class_weights_reach_the_solver(sentences):
    X, y = shuffled(*sentences, 1)
    kernel = SubsetTree().normalized()
    K = kernel(X)
    weights = {"none": 5.0, "one": 0.5}
    ours = KernelSVC(kernel=kernel, class_weight=weights, tol=1e-8).fit(X, y)
    sample_weight = np.array([weights.get(label, 1.0) for label in y])
    for column, label in enumerate(ours.classes_):
        theirs = SVC(kernel="precomputed", tol=1e-8).fit(K, y == label, sample_weight=sample_weight)
        np.testing.assert_allclose(ours.decision_function(X)[:, column], theirs.decision_function(K), atol=1e-6)
    balanced = KernelSVC(kernel=kernel, class_weight="balanced", tol=1e-8).fit(X, y)
    for column, label in enumerate(balanced.classes_):
        theirs = SVC(kernel="precomputed", tol=1e-8, class_weight="balanced").fit(K, y == label)
        np.testing.assert_allclose(balanced.decision_function(X)[:, column], theirs.decision_function(K), atol=1e-6)


def test_keeps_only_support_examples(sentences):
    X, y = sentences
    clf = KernelSVC(C=100.0).fit(X, y)
    assert 0 < len(clf.support_) <= len(X)
    assert len(clf.support_examples_) == len(clf.support_) == len(clf.dual_coef_)
    assert [str(tree) for tree in clf.support_examples_] == [str(tree) for tree in X[clf.support_]]
    assert len(clf.support_examples_._arena) == clf.support_examples_.distinct_count()


@pytest.mark.parametrize(
    "kernel",
    [
        0.6 * SubsetTree(decay=0.4).normalized().on("tree") + 0.4 * Polynomial(degree=2).on("flat"),
        SubsetTree(max_depth=2).on("tree") * Linear().on("flat") + 1.0,
        (PartialTree().on("tree") + Subtree().on("tree")).normalized() ** 2,
    ],
    ids=repr,
)
def test_views_and_composites(sentences, kernel, tmp_path):
    X, y = sentences
    E = sw.Examples(tree=X, flat=[{"length": len(tree.leaves()), "last": tree.leaves()[-1]} for tree in X])
    clf = KernelSVC(kernel=kernel, C=3.0, tol=1e-8).fit(E, y)
    K = kernel(E)
    theirs = OneVsRestClassifier(SVC(kernel="precomputed", C=3.0, tol=1e-8)).fit(K, y)
    np.testing.assert_allclose(clf.decision_function(E), theirs.decision_function(K), atol=1e-5)
    sw.save(clf, tmp_path / "m.sap")
    np.testing.assert_array_equal(sw.load(tmp_path / "m.sap").decision_function(E), clf.decision_function(E))


def test_documents_are_examples(sentences):
    X, y = sentences
    documents = sw.TreeArray([[X[i], X[(i + 3) % len(X)]] for i in range(len(X))])
    clf = KernelSVC(C=10.0).fit(documents, y)
    assert clf.score(documents, y) > 0.5


def test_integer_labels_survive_saving(sentences, tmp_path):
    X, y = sentences
    numbers = np.array([len(label) for label in y])
    clf = KernelSVC(class_weight={3: 2.0}).fit(X, numbers)
    sw.save(clf, tmp_path / "m.sap")
    restored = sw.load(tmp_path / "m.sap")
    assert restored.classes_.dtype == clf.classes_.dtype
    assert restored.class_weight == {3: 2.0}
    np.testing.assert_array_equal(restored.predict(X), clf.predict(X))


def test_one_class_is_refused(sentences):
    X, _ = sentences
    with pytest.raises(ValueError, match="only the class 'a'"):
        KernelSVC().fit(X, ["a"] * len(X))


def test_unknown_strategy_and_weights_are_refused(sentences):
    X, y = sentences
    with pytest.raises(ValueError, match="multi_class must be one of 'ovr', 'ovo'"):
        KernelSVC(multi_class="all").fit(X, y)
    with pytest.raises(ValueError, match="class_weight names 'three'"):
        KernelSVC(class_weight={"three": 1.0}).fit(X, y)


def test_text_is_no_tree():
    with pytest.raises(DataError, match=r"element 0 is text, .* make_pipeline\(parser, KernelSVC\(\)\)"):
        KernelSVC().fit(["What is it?", "Who ran?"], [0, 1])


def test_overflow_is_named():
    # A full binary tree shares astronomically many fragments with itself at decay 1.
    tree = sw.Tree("A", ["a"])
    for _ in range(12):
        tree = sw.Tree("A", [tree, tree])
    with pytest.raises(KernelError, match="example 0 with itself is not finite"):
        KernelSVC(kernel=SubsetTree(decay=1.0)).fit([tree, "(A b)"], ["x", "y"])
    with pytest.raises(KernelError, match="example 0 with itself is not finite"):
        KernelSVC(kernel=SubsetTree(decay=1.0).normalized()).fit([tree, "(A b)"], ["x", "y"])


def test_regression_refuses_words(sentences):
    X, y = sentences
    with pytest.raises(ValueError, match="use KernelSVC"):
        KernelSVR().fit(X, y)
    with pytest.raises(ValueError, match=r"y\[1\] is NaN"):
        KernelSVR().fit(X[:2], [1.0, np.nan])
    for words in (["1"] * len(X), [1j] * len(X)):
        with pytest.raises(ValueError, match="y must be real numbers"):
            KernelSVR().fit(X, words)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", np.nan, "b", "a"], r"y\[1\] is nan, which is no label; fill it in or drop"),
        (np.array(["a", "b", None, "a"], dtype=object), r"y\[2\] is None"),
        (pd.Series(["a", None, "b", "a"]), r"y\[1\] is (None|nan)"),
        (pd.Series(["a", None, "b", "a"], dtype="string"), r"y\[1\] is <NA>"),
        ([1.0, 2.0, 1.0, np.nan], r"y\[3\] is nan"),
        (np.array([1.0, np.nan, 1.0, 2.0]), r"y\[1\] is nan"),
        (pd.Series([(1, 2), (3, 4), (1, 2), (3, 4)]), r"y\[0\] is \(1, 2\), but y must have one dimension"),
        ([0, [1, 2], 0, 1], r"y\[1\] is \[1, 2\], but y must have one dimension"),
        (pd.Series([{1}, {2}, {1}, {2}]), r"y\[0\] is \{1\}, but y must have one dimension"),
        (np.array([["a"], ["b"]] * 2, dtype=object), r"y must have one dimension, got shape \(4, 1\)"),
        ([1, "b", 1, "b"], r"y mixes text and other values: y\[1\] is 'b' and y\[0\] is 1"),
    ],
)
def test_labels_that_are_none_are_refused(labels, message):
    with pytest.raises(DataError, match=message):
        KernelSVC().fit(["(a b)", "(a c)", "(a d)", "(a e)"], labels)


@pytest.mark.parametrize("factor", [np.nan, -1, "x", np.inf, None, True])
def test_class_weights_that_are_none_are_refused(factor, sentences):
    X, y = sentences
    for solver in ("sklearn", "native"):
        with pytest.raises(ParameterError, match=r"class_weight\['\w+'\] must be a finite number of at least 0, got"):
            KernelSVC(class_weight={str(y[0]): factor}, solver=solver).fit(X, y)


@pytest.mark.parametrize("solver", ["sklearn", "native"])
def test_features_too_large_are_named(solver):
    trees, labels = ["(a b)", "(a c)"] * 5, ["x", "y"] * 5
    features = np.ones((10, 2))
    features[3] = 1e200
    X = sw.Examples(t=trees, f=features)
    with pytest.raises(KernelError, match=r"example 3( with itself)? is not finite"), np.errstate(over="ignore"):
        KernelSVC(SubsetTree().normalized().on("t") + Linear().on("f"), solver=solver).fit(X, labels)
    with pytest.raises(KernelError, match=r"example 3( with itself)? is not finite"), np.errstate(over="ignore"):
        KernelSVC(Polynomial(40), solver=solver).fit(features.clip(max=1e20), labels)


def test_parameters_of_the_default_kernel_can_be_searched(sentences):
    X, y = sentences
    for estimator, targets in ((KernelSVC(), y), (KernelSVR(), np.arange(len(y)))):
        search = GridSearchCV(estimator, {"kernel__kernel__decay": [0.2, 0.6]}, cv=2).fit(X, targets)
        assert search.best_estimator_.kernel in (SubsetTree(0.2).normalized(), SubsetTree(0.6).normalized())
        assert estimator.kernel is None
        assert clone(estimator).set_params(kernel=SubsetTree(), kernel__decay=0.1).kernel == SubsetTree(0.1)


@pytest.mark.parametrize(
    "rows", [np.eye(4), sparse.eye_array(4), [{"a": 1.0}, {"b": "x"}, {1: 2, "1": 1}, {"c": True}]]
)
def test_models_on_plain_features_are_saved(rows, tmp_path):
    for model in (KernelSVC(Linear()).fit(rows, [0, 1, 0, 1]), KernelSVR(Polynomial()).fit(rows, [0.0, 1.0, 2.0, 3.0])):
        sw.save(model, tmp_path / "m.sap")
        np.testing.assert_allclose(sw.load(tmp_path / "m.sap").predict(rows), model.predict(rows), rtol=1e-12)


def test_a_fold_may_lack_a_class_that_has_a_weight(sentences):
    X, y = sentences
    rare = ["rare", *list(y)[1:]]
    weights = {label: 1.0 for label in np.unique(rare)} | {"rare": 5.0}
    assert len(cross_val_score(KernelSVC(class_weight=weights), X, rare, cv=KFold(3), error_score="raise")) == 3
    # A name that is misspelt leaves another without its weight.
    with pytest.raises(ParameterError, match="class_weight names 'raer'"):
        KernelSVC(class_weight={"raer": 5.0}).fit(X, y)


@pytest.mark.parametrize(
    "params",
    [{"class_weight": np.array([1, 2])}, {"multi_class": np.array(["ovr"])}, {"solver": np.array(["native"])}],
)
def test_arrays_are_no_options(params, sentences):
    with pytest.raises(ParameterError, match=next(iter(params))):
        KernelSVC(**params).fit(*sentences)
    with pytest.raises(ParameterError, match="epsilon must be a finite number"):
        KernelSVR(epsilon=np.array([1, 2])).fit(sentences[0], np.arange(len(sentences[1])))


@pytest.mark.parametrize("solver", ["sklearn", "native"])
def test_weights_that_leave_nothing(solver, sentences):
    X, y = sentences
    name = y[0]
    with pytest.raises(DataError, match=f"all examples of the class '{name}' have the weight 0"):
        KernelSVC(solver=solver).fit(X, y, sample_weight=(np.asarray(y) != name).astype(float))
    with pytest.raises(DataError, match=f"all examples of the class '{name}' have the weight 0"):
        KernelSVC(solver=solver, class_weight={name: 0.0}).fit(X, y)
    for weights, message in ((np.zeros(len(y)), "0 for all examples"), (["x"] * len(y), "finite numbers")):
        for estimator, targets in ((KernelSVC(solver=solver), y), (KernelSVR(), np.arange(len(y)))):
            with pytest.raises(DataError, match=message):
                estimator.fit(X, targets, sample_weight=weights)


def test_labels_of_odd_kinds(sentences):
    X, y = sentences
    numbers = np.unique(y, return_inverse=True)[1]
    model = KernelSVC().fit(X, numbers.astype(object))
    np.testing.assert_array_equal(model.predict(X), KernelSVC().fit(X, numbers).predict(X))
    for odd in (pd.Series(y, dtype=object), pd.Series(y, dtype="category")):
        assert KernelSVC().fit(X, odd).classes_.dtype.kind == "U"
    with pytest.raises(DataError, match="decode bytes first"):
        KernelSVC().fit(X, np.asarray(y).astype("S"))


def test_a_single_tree_is_no_list(sentences):
    X, y = sentences
    clf = KernelSVC().fit(X, y)
    tree = X[0]
    for single in (tree, str(tree), tree.to_nltk()):
        for ask in (clf.predict, clf.decision_function, SubsetTree()):
            with pytest.raises(DataError, match="single tree"):
                ask(single)


def unreachable():
    """Return data on which rounding keeps the native solver from ever converging to the last bit."""
    dog, run, sit = "(NP (NN dog))", "(VP (VB run))", "(VP (VB sit))"
    trees = [f"(S {dog} {run})", f"(S {run})", f"(S {dog.replace('dog', 'cat')} {sit})", f"(S {sit})"]
    return trees * 5, list("abab") * 5


@pytest.mark.slow
def test_a_tolerance_below_rounding_ends():
    trees, labels = unreachable()
    with pytest.warns(ConvergenceWarning, match=r"stopped after 10000000 iterations"):
        clf = KernelSVC(tol=1e-300, solver="native").fit(trees, labels)
    assert (clf.predict(trees) == KernelSVC().fit(trees, labels).predict(trees)).all()


def test_small_problems_can_be_interrupted(stopwatch):
    trees, labels = unreachable()
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with stopwatch(at_most=5), pytest.raises(KeyboardInterrupt):
        KernelSVC(tol=1e-300, max_iter=2**31 - 1, solver="native").fit(trees, labels)
    timer.join()


@pytest.mark.parametrize("model", [KernelSVC(tol=1e-6), KernelSVC(tol=1e-6, solver="native"), KernelSVR(tol=1e-6)])
def test_examples_without_weight_are_as_if_left_out(model):
    """scikit-learn's SVC and SVR number the support wrongly here, on a Gram matrix."""
    X = specimens.trees()
    y = specimens.numbers() if isinstance(model, KernelSVR) else specimens.labels()
    weight = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.5)
    used = weight > 0
    found = clone(model).fit(X, y, sample_weight=weight)
    expected = clone(model).fit(X[used], y[used], sample_weight=weight[used])
    np.testing.assert_array_equal(found.support_, np.flatnonzero(used)[expected.support_])
    ask = "predict" if isinstance(model, KernelSVR) else "decision_function"
    np.testing.assert_allclose(getattr(found, ask)(X), getattr(expected, ask)(X), atol=1e-9)
