"""The recursive models as estimators: they learn, stop, resume, refuse and come back from files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, cross_validate

import sapwood as sw
from learn.attachments import attachments
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.learn import RecursiveClassifier, RecursiveRanker, RecursiveRegressor
from sapwood.learn.recursive_training import RunningMean


def ranker(**params):
    return RecursiveRanker(**{"units": 6, "epochs": 15, "learning_rate": 0.01, "random_state": 0, **params})


@pytest.fixture(scope="module")
def data():
    return attachments(40)


def test_classifier_and_regressor_learn(data):
    X, y, _ = data
    model = RecursiveClassifier(units=8, epochs=30, learning_rate=0.01, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.transform(X).shape == (len(X), 8)
    assert RecursiveRegressor(units=8, epochs=30, learning_rate=0.01, random_state=0).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"loss": "pairwise"},
        {"loss": "pairwise", "pairs": "all"},
        {"optimizer": "sgd", "learning_rate": 0.05, "epochs": 40},
        {"dtype": "float64", "batch_size": 7, "epochs": 60},
        {"alpha": 1e-4, "clip": 0.5, "max_outdegree": 2},
    ],
    ids=str,
)
def test_ranker_learns_new_groups(params, data):
    model = ranker(**params).fit(*data)
    X, y, groups = attachments(30, seed=1)
    assert model.score(X, y, groups) > 0.9
    best = model.predict(X, groups)
    assert best.shape == (30,)
    assert (y[best] == 2).mean() > 0.9
    ranks = model.predict_rank(X, groups)
    assert (ranks[best] == 1).all()
    assert model.loss_curve_[-1] < model.loss_curve_[0]


def test_probabilities_belong_to_groups(data):
    X, _, groups = data
    chances = ranker().fit(*data).predict_proba(X, groups)
    np.testing.assert_allclose(np.bincount(groups, chances), 1.0)
    with pytest.raises(ParameterError, match="setwise"):
        ranker(loss="pairwise").fit(*data).predict_proba(X, groups)


def test_order_of_rows_and_threads_do_not_matter(data):
    X, y, groups = data
    model = ranker().fit(X, y, groups)
    order = np.random.default_rng(0).permutation(len(X))
    expected = model.decision_function(X)
    for threads in (1, 2):
        with sw.options(threads=threads):
            np.testing.assert_array_equal(model.decision_function(X[order]), expected[order])
    # Interleaved rows are the same groups, met in another order.
    by_place = np.lexsort((groups, np.concatenate([np.arange(n) for n in np.bincount(groups)])))
    other = ranker().fit(X[by_place], y[by_place], groups[by_place])
    np.testing.assert_array_equal(other.weights_, model.weights_)


def test_early_stopping_keeps_the_best_epoch(data):
    X, y, groups = attachments(30, seed=2)
    noisy = np.random.default_rng(0).permutation(y)
    model = ranker(epochs=50, patience=3).fit(*data, validation=(X, noisy, groups))
    assert model.n_iter_ < 50
    assert len(model.validation_curve_) == model.n_iter_
    # Ties between epochs go to the lower loss, so the kept error is the least one.
    assert 1 - model.score(X, noisy, groups) == pytest.approx(min(model.validation_curve_))
    held = ranker(early_stopping=True, validation_fraction=0.2).fit(*data)
    assert held.validation_curve_
    with pytest.raises(DataError, match="leaves none"):
        ranker(early_stopping=True, validation_fraction=0.9).fit(X[:2], [0, 1], [0, 0])


def test_extra_inputs_alone_can_decide():
    rng = np.random.default_rng(0)
    X = sw.TreeArray(["(A b)"] * 60)
    prior = rng.normal(size=(60, 1)) * 30 - 500
    groups = np.arange(60) // 3
    y = np.concatenate([(part == part.max()).astype(float) for part in prior[:, 0].reshape(-1, 3)])
    E = sw.Examples(tree=X, prior=prior)
    assert ranker(learning_rate=0.05).fit(E, y, groups).score(E, y, groups) == 1.0
    # Trees alone are all alike, and a tie is an error.
    assert ranker().fit(X, y, groups).score(X, y, groups) == 0.0


@pytest.mark.parametrize(
    "params",
    [{}, {"optimizer": "sgd"}, {"early_stopping": True}, {"averaging": 2.0, "early_stopping": True}],
    ids=str,
)
def test_interrupted_training_resumes_bit_for_bit(params, data, tmp_path, monkeypatch):
    from sapwood import resuming

    path = tmp_path / "state.sap"
    expected = ranker(**params).fit(*data)
    # A write after every call of the native core; the third one is the last before the plug is pulled.
    monkeypatch.setattr(resuming.CheckpointFile, "wanted", property(lambda self: self._path is not None))
    written = []
    plain = resuming.save

    def pulled(value, where):
        plain(value, where)
        written.append(where)
        if len(written) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(resuming, "save", pulled)
    with pytest.raises(KeyboardInterrupt):
        ranker(checkpoint=path, **params).fit(*data)
    resumed = ranker(checkpoint=path, **params).fit(*data)
    np.testing.assert_array_equal(resumed.weights_, expected.weights_)
    assert resumed.loss_curve_ == expected.loss_curve_
    assert resumed.validation_curve_ == expected.validation_curve_
    # A finished training is not repeated.
    count = len(written)
    again = ranker(checkpoint=path, **params).fit(*data)
    np.testing.assert_array_equal(again.weights_, expected.weights_)
    assert len(written) == count + 1
    X, y, groups = data
    with pytest.raises(ModelFileError, match="other data or parameters"):
        ranker(checkpoint=path, learning_rate=0.5, **params).fit(X, y, groups)
    with pytest.raises(ModelFileError, match="other data or parameters"):
        ranker(checkpoint=path, **params).fit(X, y[::-1].copy(), groups)


def test_cache_limit_changes_nothing(data):
    np.testing.assert_array_equal(ranker(memory_limit=0).fit(*data).weights_, ranker().fit(*data).weights_)


def test_training_in_parts(data):
    X, y, groups = data
    model = ranker(learning_rate=0.01, min_label_count=2)
    for _ in range(15):
        for start in range(0, 40, 10):
            chosen = (groups >= start) & (groups < start + 10)
            # Trees of their own store, as they come from a file.
            model.partial_fit(sw.TreeArray(X[chosen].to_strings()), y[chosen], groups[chosen])
            model = pickle.loads(pickle.dumps(model))
    other, relevance, named = attachments(30, seed=1)
    assert model.score(other, relevance, named) > 0.9
    assert len(model.loss_curve_) == 60
    # The same parts in one process, and labels that come up later.
    once, twice = ranker().partial_fit(X, y, groups), ranker().partial_fit(X, y, groups)
    before = once.decision_function(X)
    strange = sw.TreeArray(["(S (NEW x))", "(S (OLD y))"])
    once.partial_fit(strange, [0, 1], [0, 0]).partial_fit(X, y, groups)
    assert {"NEW", "OLD"} <= set(once.labels_)
    assert (once.decision_function(X) != before).any()
    np.testing.assert_array_equal(twice.decision_function(X), before)
    assert once.partial_fit(X[:1], [1.0], [0]).skipped_groups_ == 1
    with pytest.raises(DataError, match="no group has rows of different relevance"):
        ranker().partial_fit(X[:1], [1.0], [0])


def test_averaging_answers_with_the_mean_of_weights_and_changes_nothing_else(data, monkeypatch):
    X, y, groups = data
    # One group per call, so that every update is seen here too.
    monkeypatch.setattr("sapwood.learn.recursive_training._AVERAGED", 1)
    seen = []
    add = RunningMean.add
    monkeypatch.setattr(
        RunningMean, "add", lambda self, weights, count: (seen.append(weights), add(self, weights, count))
    )
    # Half a pass over 40 groups.
    model = ranker(averaging=0.5, epochs=3).fit(X, y, groups)
    np.testing.assert_array_equal(seen[-1], ranker(epochs=3).fit(X, y, groups).weights_)
    # Shares of the weights after each update: a plain mean until the memory is full, then they fade.
    shares = np.zeros(len(seen))
    for at in range(len(seen)):
        new = max(1 / (at + 1), 1 - np.exp(-1 / 20.0))
        shares[:at] *= 1 - new
        shares[at] = new
    np.testing.assert_allclose(model.weights_, shares @ np.array(seen, dtype=np.float64), rtol=1e-4, atol=1e-6)
    # In parts: learning goes on from the weights themselves, answers come from their mean, new labels are in both.
    strange = sw.TreeArray(["(S (NEW x))", "(S (OLD y))"])
    mean, last = ranker(averaging=0.5), ranker()
    for each in (mean, last):
        each.partial_fit(X, y, groups).partial_fit(strange, [0, 1], [0, 0]).partial_fit(X, y, groups)
    assert mean.loss_curve_ == pytest.approx(last.loss_curve_, rel=1e-6)
    assert (mean.weights_ != last.weights_).any()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mean)).decision_function(X), mean.decision_function(X))
    sizes = {len(mean.weights_), len(last.weights_)}
    assert len(sizes) == 1


def test_a_stopped_part_leaves_the_model_as_it_was(data, monkeypatch):
    X, y, groups = data
    model = ranker(averaging=0.5).partial_fit(X, y, groups)
    before, labels = model.decision_function(X), list(model.labels_)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(RunningMean, "add", stopped)
    other = ranker(averaging=0.5)
    for each in (model, other):
        with pytest.raises(KeyboardInterrupt):
            each.partial_fit(["(S (NEW x))", "(S (OLD y))"], [0, 1], [0, 0])
    monkeypatch.undo()
    np.testing.assert_array_equal(other.partial_fit(X, y, groups).decision_function(X), before)
    assert model.labels_ == labels
    np.testing.assert_array_equal(model.decision_function(X), before)
    twin = ranker(averaging=0.5).partial_fit(X, y, groups).partial_fit(X, y, groups)
    np.testing.assert_array_equal(model.partial_fit(X, y, groups).weights_, twin.weights_)


def test_random_state(data):
    first, second = ranker(random_state=1).fit(*data).weights_, ranker(random_state=2).fit(*data).weights_
    assert (first != second).any()
    generator = np.random.RandomState(5)
    ranker(random_state=generator, epochs=1).fit(*data)
    with pytest.raises(ParameterError, match="random_state"):
        ranker(random_state=-1).fit(*data)


def test_grouped_cross_validation_with_routing(data):
    X, y, groups = data
    with config_context(enable_metadata_routing=True):
        model = ranker().set_fit_request(groups=True).set_score_request(groups=True)
        result = cross_validate(model, X, y, params={"groups": groups}, cv=GroupKFold(3), error_score="raise")
    assert (result["test_score"] > 0.8).all()


def test_files_and_pickles(data, tmp_path):
    X, y, groups = data
    E = sw.Examples(tree=X, prior=np.linspace(0, 1, len(X))[:, None])
    model = ranker(random_state=np.random.RandomState(0), checkpoint=tmp_path / "c.sap")
    with pytest.raises(NotFittedError):
        sw.save(model, tmp_path / "m.sap")
    model.fit(E, y, groups)
    sw.save(model, tmp_path / "m.sap")
    for other in (sw.load(tmp_path / "m.sap"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(E), model.decision_function(E))
        np.testing.assert_array_equal(other.transform(E), model.transform(E))
        assert other.loss_curve_ == model.loss_curve_
    assert clone(model).get_params()["units"] == 6


def test_damaged_files_are_refused(data, tmp_path):
    from safetensors.numpy import load as arrays_of
    from safetensors.numpy import save as serialize

    path = tmp_path / "m.sap"
    model = ranker(epochs=1).fit(*data)
    model.weights_ = model.weights_[:-1]
    sw.save(model, path)
    with pytest.raises(ModelFileError, match="do not fit"):
        sw.load(path)
    assert arrays_of(path.read_bytes())
    path.write_bytes(serialize({"a0": np.zeros(3)}))
    with pytest.raises(ModelFileError):
        sw.load(path)


def test_unknown_labels_and_wide_nodes_at_prediction(data):
    model = ranker(max_outdegree=2).fit(*data)
    known, strange = "(S (NP (PRP I)) (VP (VBD saw)))", "(S (NP (PRP I)) (VP (VBD never-seen)))"
    scores = model.decision_function([known, strange, strange.replace("never-seen", "other")])
    assert np.isfinite(scores).all()
    assert scores[1] == scores[2]
    # Children beyond the second are not seen.
    wide = model.decision_function(
        ["(S (NP x) (VP y))", "(S (NP x) (VP y) (PP z))", "(S (NP x) (VP y)" + " (Q q)" * 50 + ")"]
    )
    assert wide[0] == wide[1] == wide[2]
    deep = "(S " * 3000 + "x" + ")" * 3000
    assert np.isfinite(model.decision_function([deep])).all()


def test_rare_labels_get_no_weights(data):
    model = ranker(min_label_count=3, epochs=1).fit(*data)
    assert set(model.labels_) < set(ranker(epochs=1).fit(*data).labels_)


def test_groups_that_teach_nothing(data):
    X, y, groups = data
    model = ranker().fit(X, y, groups)
    assert model.skipped_groups_ == 0
    more = sw.TreeArray([*X.to_strings(), "(A b)", "(A b)", "(A c)"])
    other = ranker().fit(more, [*y, 1.0, 0.0, 0.0], [*groups, 1000, 1001, 1001])
    assert other.skipped_groups_ == 2
    np.testing.assert_array_equal(other.loss_curve_, model.loss_curve_)
    for relevance, named in (([0, 0, 0], [0, 0, 0]), ([1, 2, 3], [0, 1, 2])):
        with pytest.raises(DataError, match="no group has rows of different relevance"):
            ranker().fit(X[:3], relevance, named)


def test_several_best_trees_are_all_right():
    X = sw.TreeArray(["(A b)", "(A c)", "(A d)"] * 10)
    y, groups = np.tile([1.0, 1.0, 0.0], 10), np.repeat(np.arange(10), 3)
    chances = ranker(epochs=40).fit(X, y, groups).predict_proba(X, groups)
    assert (chances.reshape(-1, 3)[:, 2] < 0.1).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, np.nan]}, r"y\[1\] is NaN"),
        ({"y": None}, "needs targets"),
        ({"y": ["good", "bad"]}, "must be numbers"),
        ({"y": [1]}, "2 examples but y has 1"),
        ({"groups": None}, "needs groups"),
        ({"X": sw.Examples(tree=["(A b)", "(A c)"], prior=[[0.0], [np.nan]])}, "row 1 of the view 'prior'"),
        ({"X": sw.Examples(a=["(A b)", "(A c)"], b=["(A b)", "(A c)"])}, "one view of trees"),
        ({"X": sw.Examples(tree=["(A b)", "(A c)"], flat=[{"x": 1}, {"x": 2}])}, "matrix of numbers"),
        ({"X": [["(A b)", "(A c)"], ["(A d)"]]}, "bags of trees"),
        ({"X": np.zeros((2, 3))}, "reads trees"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_data(change, message):
    with pytest.raises(DataError, match=message):
        ranker().fit(**{"X": ["(A b)", "(A c)"], "y": [0, 1], "groups": [0, 0], **change})


@pytest.mark.parametrize(
    "params",
    [
        {"units": 0},
        {"loss": "hinge"},
        {"pairs": "some"},
        {"optimizer": "lbfgs"},
        {"learning_rate": 0},
        {"learning_rate": float("nan")},
        {"momentum": 1.0},
        {"clip": -1},
        {"averaging": -1},
        {"epochs": 2.5},
        {"batch_size": 0},
        {"dtype": "float16"},
        {"max_outdegree": 0},
        {"memory_limit": "much"},
        {"initial_range": -1.0},
        {"min_label_count": 0},
        {"patience": 0},
        {"early_stopping": True, "validation_fraction": 1.0},
    ],
    ids=str,
)
def test_bad_parameters(params, data):
    with pytest.raises(ParameterError, match=next(reversed(params))):
        ranker(**params).fit(*data)


def test_divergence_says_so(data):
    X, y, _ = data
    model = RecursiveRegressor(units=6, optimizer="sgd", learning_rate=1e6, clip=0, epochs=20, random_state=0)
    with pytest.raises(ParameterError, match="diverged"):
        model.fit(X, y)


def test_prediction_needs_the_same_extra_inputs(data):
    X, y, groups = data
    model = ranker(epochs=1).fit(sw.Examples(tree=X, prior=np.zeros((len(X), 1))), y, groups)
    with pytest.raises(DataError, match="1 extra inputs, but these have 0"):
        model.decision_function(X)
    with pytest.raises(NotFittedError):
        ranker().decision_function(X)
    assert model.decision_function(sw.Examples(tree=X[:0], prior=np.zeros((0, 1)))).shape == (0,)
