"""What scikit-learn puts around estimators: saved and loaded, or told what to use instead."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import ParameterError
from sapwood.kernels import FragmentMap, LandmarkMap, SubsetTree
from sapwood.learn import KernelSVC, KernelSVR
from sapwood.parse import FlatParser
from specimens import labels, numbers, trees

TEXTS = [" ".join(tree.leaves()) for tree in trees()]


def again(model, folder):
    sw.save(model, folder / "m.sap")
    return sw.load(folder / "m.sap")


def test_pipelines(tmp_path):
    model = make_pipeline(FlatParser(), KernelSVC(probability=True)).fit(TEXTS, labels())
    found = again(model, tmp_path)
    assert [name for name, _ in found.steps] == [name for name, _ in model.steps]
    np.testing.assert_array_equal(found.predict_proba(TEXTS), model.predict_proba(TEXTS))
    nested = Pipeline([("inner", model[:1]), ("frozen", FrozenEstimator(model[1]))])
    np.testing.assert_array_equal(again(nested, tmp_path).predict(TEXTS), model.predict(TEXTS))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibrated(method, ensemble, tmp_path):
    for y in (labels(), labels() == "none"):
        model = CalibratedClassifierCV(KernelSVC(), method=method, ensemble=ensemble, cv=2).fit(trees(), y)
        found = again(model, tmp_path)
        np.testing.assert_allclose(found.predict_proba(trees()), model.predict_proba(trees()), rtol=1e-12)
        np.testing.assert_array_equal(found.predict(trees()), model.predict(trees()))


def test_what_is_for_joblib_says_so(tmp_path):
    class MyPipeline(Pipeline):
        pass

    fitted = KernelSVC().fit(trees(), labels())
    search = GridSearchCV(KernelSVC(), {"C": [1.0]}, cv=2).fit(trees(), labels())
    for model, hint in (
        (make_pipeline(FragmentMap(max_size=2), RidgeClassifier()).fit(trees(), labels()), "RidgeClassifier.*joblib"),
        (FeatureUnion([("a", LandmarkMap())]), "FeatureUnion.*joblib"),
        (search, "save its best_estimator_"),
        (MyPipeline([("svm", fitted)]), "joblib"),
    ):
        with pytest.raises(ParameterError, match=hint):
            sw.save(model, tmp_path / "m.sap")
    np.testing.assert_array_equal(again(search.best_estimator_, tmp_path).predict(trees()), search.predict(trees()))


def test_bagging():
    """Bagging wants rows and columns, and says reshape(-1, 1): a column of trees is taken for trees."""
    column = trees().reshape(-1, 1)
    assert column.shape == (12, 1)
    with pytest.raises(ValueError, match=r"reshape\(-1, 1\)"):
        BaggingClassifier(KernelSVC(), 3).fit(trees(), labels())
    model = BaggingClassifier(KernelSVC(probability=True), 3, random_state=0).fit(column, labels())
    assert model.score(column, labels()) > 0.6
    assert model.predict_proba(column).shape == (12, 3)
    values = BaggingRegressor(KernelSVR(C=10.0), 3, random_state=0).fit(column, numbers())
    assert values.predict(column).shape == (12,)
    np.testing.assert_array_equal(SubsetTree()(column), SubsetTree()(trees()))


def test_neighbours():
    """On distances of the kernel; the rows and columns of a fold are taken by scikit-learn."""
    k = SubsetTree(0.4).normalized()
    D = k.distance(trees())
    model = KNeighborsClassifier(3, metric="precomputed").fit(D, labels())
    found = k.nearest(trees(), trees(), 3)
    votes = [max(sorted(set(row)), key=list(row).count) for row in labels()[found.positions]]
    assert model.predict(D).tolist() == votes
    assert cross_val_score(model, D, labels(), cv=2, error_score="raise").shape == (2,)


def test_neighbours_in_a_pipeline():
    """With all training examples as landmarks; how far an example is from their plane is the same for all of them."""
    k = SubsetTree(0.4).normalized()
    X, y = nursery_questions()
    seen, new = X[:80], X[80:]
    model = make_pipeline(LandmarkMap(k, n_components=len(X)), KNeighborsClassifier(1)).fit(seen, y[:80])
    positions = model[-1].kneighbors(model[:-1].transform(new), 1, return_distance=False)[:, 0]
    distances = k.distance(new, seen)
    # Of equally near ones either may be found.
    np.testing.assert_allclose(distances[np.arange(len(new)), positions], distances.min(axis=1), atol=1e-6)
    assert cross_val_score(model, X, y, cv=3, error_score="raise").mean() > 0.6


def nursery_questions():
    asked = [one for one in nursery.generate(size=240, seed=1).sentences if one.label is not None][:110]
    return sw.TreeArray([one.tree for one in asked]), np.array([one.label[0] for one in asked])
