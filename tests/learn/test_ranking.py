"""The kernel ranker against the textbook algorithm on a Gram matrix, for every rule and both engines."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

import sapwood as sw
from learn.attachments import attachments
from sapwood.errors import DataError, KernelError, ModelFileError, ParameterError
from sapwood.kernels import Linear, PartialTree, SubsetTree, Subtree
from sapwood.learn import KernelRanker
from sapwood.learn.groups import make_groups
from sapwood.learn.preference_engines import RULES, _GeneralEngine, _NativeEngine, make_engine
from strategies import trees

RULE_PARAMS = {
    "pairwise-best": {},
    "pairwise-all": {"pairs": "all"},
    "top": {"loss": "top"},
    "setwise": {"loss": "setwise", "learning_rate": 0.7},
}


def textbook(K, relevance, groups, order, rule, rate=0.7):
    """Return the sum of the weights of all steps, the last weights, steps and mistakes."""
    weights, total, steps, mistakes = np.zeros(len(K)), np.zeros(len(K)), 0, 0
    for group in order:
        members = np.flatnonzero(groups == group)
        best = relevance[members].max()
        if rule in ("pairwise-best", "pairwise-all"):
            pairs = [
                (i, j)
                for i in members
                for j in members
                if relevance[i] > relevance[j] and (rule == "pairwise-all" or relevance[i] == best)
            ]
            for i, j in pairs:
                steps += 1
                if (K[i] - K[j]) @ weights <= 0:
                    mistakes += 1
                    weights[i] += 1
                    weights[j] -= 1
                total += weights
            continue
        scores = K[members] @ weights
        good = relevance[members] == best
        steps += 1
        if rule == "top":
            i, j = members[good][scores[good].argmax()], members[~good][scores[~good].argmax()]
            if (K[i] - K[j]) @ weights <= 0:
                mistakes += 1
                weights[i] += 1
                weights[j] -= 1
        else:
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            mistakes += chances[good].sum() <= 0.5
            low = ~good & (chances >= 0.01)
            if low.any():
                lift = 1 - chances[good].sum()
                weights[members[good]] += rate * lift * chances[good] / chances[good].sum()
                weights[members[low]] -= rate * lift * chances[low] / chances[low].sum()
        total += weights
    return total, weights, steps, mistakes


KERNELS = {
    "subset": SubsetTree(decay=0.5),
    "words": 2.5 * SubsetTree(decay=0.4, bag_of_words=True),
    "normalized": SubsetTree(decay=0.4).normalized(),
    "partial": PartialTree().normalized(),
    "two": SubsetTree(decay=0.3) + 0.5 * Subtree(),
    "shallow": SubsetTree(max_depth=2),
}


@pytest.fixture(scope="module")
def data():
    X, y, groups = attachments(40)
    y[::5] = np.random.default_rng(0).permutation(y[::5])
    return X, y, groups


@pytest.mark.parametrize("rule", RULE_PARAMS)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_is_the_textbook_algorithm(kernel, rule, data):
    X, y, groups = data
    model = KernelRanker(kernel, epochs=2, shuffle=False, **RULE_PARAMS[rule]).fit(X, y, groups)
    useful = [g for g in range(40) if len(set(y[groups == g])) > 1]
    K = kernel(X)
    total, last, steps, mistakes = textbook(K, y, groups, useful * 2, rule)
    assert (model.n_steps_, model.n_mistakes_) == (steps, mistakes)
    assert model.skipped_groups_ == 40 - len(useful)
    np.testing.assert_allclose(model.decision_function(X), K @ total / steps, atol=1e-8)
    model.set_params(average=False)
    model._scorer = None
    np.testing.assert_allclose(model.decision_function(X), K @ last, atol=1e-8)
    np.testing.assert_allclose(kernel(X, model.support_examples_) @ model.dual_coef_, K @ last, atol=1e-8)


def test_the_native_engine_is_used_where_it_can_be(data):
    X, _, groups = data
    ends, rows = make_groups(groups, len(X)).ends, np.arange(len(X))
    E = sw.Examples(tree=X, prior=np.zeros((len(X), 1)), words=[{"a": 1.0}] * len(X))
    prior = 0.2 * Linear().on("prior")
    native = [SubsetTree(), 3 * SubsetTree().normalized() + 1.0]
    assert all(isinstance(make_engine(kernel, X, ends, rows, 0), _NativeEngine) for kernel in native)
    on_views = [SubsetTree().on("tree") + prior, SubsetTree().on("tree").normalized() + prior + prior]
    assert all(isinstance(make_engine(kernel, E, ends, rows, 0), _NativeEngine) for kernel in on_views)
    others = [PartialTree(), SubsetTree() * SubsetTree(), SubsetTree() + SubsetTree(decay=0.1), SubsetTree(max_depth=2)]
    assert all(isinstance(make_engine(kernel, X, ends, rows, 0), _GeneralEngine) for kernel in others)
    mixed = SubsetTree().on("tree") + Linear().on("words")
    assert isinstance(make_engine(mixed, E, ends, rows, 0), _GeneralEngine)


@pytest.mark.slow
@given(
    st.lists(st.tuples(trees(), st.integers(0, 2), st.integers(0, 2)), min_size=3, max_size=14),
    st.sampled_from(sorted(RULES)),
    st.booleans(),
)
def test_both_engines_learn_the_same(rows, rule, normal):
    X = sw.TreeArray([tree for tree, _, _ in rows])
    made = make_groups([group for _, _, group in rows], len(rows))
    relevance = np.array([float(value) for _, value, _ in rows])
    made = made.select(made.instructive(relevance))
    if not len(made):
        return
    # Halves and quarters: sums of kernel values are exact, so that both see the same ties.
    kernel = SubsetTree(decay=0.5, bag_of_words=True)
    X, relevance = X[made.rows], relevance[made.rows]
    order = np.tile(np.arange(len(made), dtype=np.uint64), 3)
    logs = []
    for engine in (make_engine(kernel, X, made.ends, made.rows, 0), _GeneralEngine(kernel, X, made.ends, made.rows)):
        engine.train(order, relevance, RULES[rule], 0.5)
        logs.append((engine.log(), engine.steps))
    if rule != "setwise":
        for native, general in zip(logs[0][0], logs[1][0], strict=True):
            np.testing.assert_array_equal(native, general)
    assert logs[0][1] == logs[1][1]


def test_priors_enter_as_one_feature(data):
    X, y, groups = data
    prior = np.random.default_rng(1).normal(size=(len(X), 1)) * 4 - 100
    E = sw.Examples(tree=X, prior=prior)
    kernel = SubsetTree(decay=0.3).on("tree") + 0.2 * Linear().on("prior")
    model = KernelRanker(kernel, shuffle=False).fit(E, y, groups)
    K = SubsetTree(decay=0.3)(X) + 0.2 * prior @ prior.T
    np.testing.assert_allclose(K, kernel(E))
    useful = [g for g in range(40) if len(set(y[groups == g])) > 1]
    total, _, steps, _ = textbook(K, y, groups, useful, "pairwise-best")
    np.testing.assert_allclose(model.decision_function(E), K @ total / steps, rtol=1e-9)


def test_utilities_are_followed_within_a_group(data):
    """After training, what the machine says of a group is what the compiled model says."""
    X, y, groups = data
    for cache in (0, 10**8):
        engine = make_engine(SubsetTree(decay=0.5), X, make_groups(groups, len(X)).ends, np.arange(len(X)), cache)
        engine.train(np.arange(40, dtype=np.uint64), y, RULES["pairwise-all"], 1.0)
        row, weight, _ = engine.log()
        expected = SubsetTree(decay=0.5)(X[groups == 3], X[row.astype(int)]) @ weight
        np.testing.assert_array_equal(engine._machine.utilities(3), expected)
        assert engine._machine.most_cached <= 10**6


def test_learns_new_groups():
    model = KernelRanker(SubsetTree(decay=0.4), epochs=3, random_state=0).fit(*attachments(40))
    X, y, groups = attachments(30, seed=1)
    assert model.score(X, y, groups) > 0.9
    full = KernelRanker(SubsetTree(decay=0.4), pairs="all", epochs=5, random_state=0).fit(*attachments(40))
    ranks = full.predict_rank(X, groups)
    assert all(ranks[(groups == g) & (y == 2)][0] == 1 for g in range(30))
    assert np.mean(ranks[y == 1] == 2) > 0.9


def test_threads_and_order_do_not_matter(data):
    X, y, groups = data
    model = KernelRanker(SubsetTree().normalized(), random_state=0).fit(X, y, groups)
    big = sw.trees.concatenate([X] * 5)
    order = np.random.default_rng(0).permutation(len(big))
    with sw.options(threads=1):
        expected = model.decision_function(big)
    with sw.options(threads=2):
        np.testing.assert_array_equal(model.decision_function(big[order]), expected[order])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [SubsetTree(decay=0.3).normalized(), PartialTree()], ids=["native", "general"])
@pytest.mark.parametrize("rule", ["pairwise-best", "setwise"])
def test_interrupted_training_resumes_bit_for_bit(kernel, rule, data, tmp_path, monkeypatch):
    from sapwood import resuming

    X, y, groups = attachments(300)
    path = tmp_path / "state.sap"
    params = {"kernel": kernel, "epochs": 3, "random_state": 3, **RULE_PARAMS[rule]}
    expected = KernelRanker(**params).fit(X, y, groups, validation=data)
    monkeypatch.setattr(resuming.CheckpointFile, "wanted", property(lambda self: self._path is not None))
    plain, written = resuming.save, []

    def pulled(value, where):
        plain(value, where)
        written.append(where)
        if len(written) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(resuming, "save", pulled)
    with pytest.raises(KeyboardInterrupt):
        KernelRanker(checkpoint=path, **params).fit(X, y, groups, validation=data)
    resumed = KernelRanker(checkpoint=path, **params).fit(X, y, groups, validation=data)
    np.testing.assert_array_equal(resumed.dual_coef_, expected.dual_coef_)
    np.testing.assert_array_equal(resumed.decision_function(X), expected.decision_function(X))
    assert resumed.validation_curve_ == expected.validation_curve_
    with pytest.raises(ModelFileError, match="other data or parameters"):
        KernelRanker(checkpoint=path, **{**params, "epochs": 9}).fit(X, y, groups)


def test_training_in_parts_is_training_at_once(data):
    X, y, groups = data
    whole = KernelRanker(SubsetTree(decay=0.5), shuffle=False).fit(X, y, groups)
    parts = KernelRanker(SubsetTree(decay=0.5), shuffle=False)
    for start in range(0, 40, 9):
        chosen = (groups >= start) & (groups < start + 9)
        # Trees of their own store, as they come from a file.
        parts.partial_fit(sw.TreeArray(X[chosen].to_strings()), y[chosen], groups[chosen])
    assert (parts.n_steps_, parts.n_mistakes_) == (whole.n_steps_, whole.n_mistakes_)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-12)
    with pytest.raises(DataError, match="the training so far is a TreeArray and this part a Examples"):
        parts.partial_fit(sw.Examples(tree=X), y, groups)


def test_a_first_part_that_fails_leaves_nothing_behind(data):
    X, y, groups = data
    model = KernelRanker(SubsetTree(decay=0.5), shuffle=False)
    with pytest.raises(DataError, match="no group has rows of different relevance"):
        model.partial_fit(X, np.zeros(len(y)), groups)
    with pytest.raises(NotFittedError):
        model.decision_function(X)
    whole = KernelRanker(SubsetTree(decay=0.5), shuffle=False).fit(X, y, groups)
    np.testing.assert_array_equal(model.partial_fit(X, y, groups).decision_function(X), whole.decision_function(X))


def test_files_and_pickles(data, tmp_path):
    X, y, groups = data
    E = sw.Examples(tree=X, prior=np.linspace(0, 1, len(X))[:, None])
    model = KernelRanker(SubsetTree().on("tree") + Linear().on("prior"), random_state=np.random.RandomState(0))
    with pytest.raises(NotFittedError):
        sw.save(model, tmp_path / "m.sap")
    model.fit(E, y, groups)
    sw.save(model, tmp_path / "m.sap")
    for other in (sw.load(tmp_path / "m.sap"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(E), model.decision_function(E))
        np.testing.assert_array_equal(other.dual_coef_, model.dual_coef_)
    model._sums = model._sums[:-1]
    sw.save(model, tmp_path / "m.sap")
    with pytest.raises(ModelFileError, match="do not fit"):
        sw.load(tmp_path / "m.sap")


def test_scikit_learn_api(data):
    X, y, groups = data
    model = KernelRanker(SubsetTree(), random_state=0)
    assert repr(clone(model).get_params()) == repr(model.get_params())
    with config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(groups=True).set_score_request(groups=True)
        result = cross_validate(asked, X, y, params={"groups": groups}, cv=GroupKFold(3), error_score="raise")
        assert result["test_score"].shape == (3,)
        search = GridSearchCV(asked, {"kernel__decay": [0.2, 0.5]}, cv=GroupKFold(2), error_score="raise")
        assert search.fit(X, y, groups=groups).best_params_["kernel__decay"] in (0.2, 0.5)
    with pytest.raises(NotFittedError):
        model.predict(X, groups)
    assert model.fit(X, y, groups) is model
    assert model.predict(X[:0], groups[:0]).shape == (0,)
    for kind in (list(X), X.to_strings(), np.asarray(X)):
        np.testing.assert_array_equal(
            clone(model).fit(kind, y, groups).decision_function(kind), model.decision_function(X)
        )


def test_probabilities_belong_to_groups(data):
    X, y, groups = data
    model = KernelRanker(SubsetTree().normalized(), loss="setwise", epochs=3, random_state=0).fit(X, y, groups)
    np.testing.assert_allclose(np.bincount(groups, model.predict_proba(X, groups)), 1.0)
    with pytest.raises(ParameterError, match="setwise"):
        KernelRanker().fit(X, y, groups).predict_proba(X, groups)


def test_unknown_labels_at_prediction(data):
    model = KernelRanker(SubsetTree(), random_state=0).fit(*data)
    strange = ["(Q (R s) (T u v w))", "leaf", "(S (NP (PRP I)) (XP y))", "(S " * 3000 + "x" + ")" * 3000]
    scores = model.decision_function(strange)
    assert np.isfinite(scores).all()
    assert scores[0] == scores[1] == 0.0


@pytest.mark.slow
def test_overflow_says_so():
    # With λ = 1 the number of fragments more than doubles with every level.
    deep = ["(S (A b) " * levels + "(A b)" + ")" * levels for levels in range(1200)]
    most = int(np.flatnonzero(np.isfinite(SubsetTree(1.0)._diag(sw.TreeArray(deep))))[-1])
    for train in (KernelRanker.fit, KernelRanker.partial_fit):
        model = KernelRanker(SubsetTree(decay=1.0))
        with pytest.raises(KernelError, match="example 1 is not finite"):
            train(model, ["(S b)", deep[most + 1]], [1, 0], [0, 0])
        train(model, ["(S b)", deep[most]], [1, 0], [0, 0])
        with pytest.raises(KernelError, match="example 0 is not finite"):
            model.decision_function(["(R" + 20 * deep[most] + ")"])


def test_trees_that_share_nothing_are_told_of_once():
    trees, relevance, groups = ["a", "b", "(S (A a))", "(S (B b))"], [0, 1, 0, 1], [0, 0, 1, 1]
    for train in (KernelRanker.fit, KernelRanker.partial_fit):
        model = KernelRanker(SubsetTree().normalized())
        # The second part is told of alone.
        for _ in range(2):
            with pytest.warns(UserWarning, match="2 of 4 elements share nothing even with themselves") as told:
                train(model, trees, relevance, groups)
            assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.decision_function(trees[2:])


def test_self_kernels_are_computed_once(monkeypatch):
    asked = []
    diagonal = SubsetTree._diag
    monkeypatch.setattr(SubsetTree, "_diag", lambda self, X: (asked.append(len(X)), diagonal(self, X))[1])
    for kernel in (SubsetTree(), SubsetTree().normalized()):
        asked.clear()
        KernelRanker(kernel).fit(["(S (A a))", "(S (B b))"], [0, 1], [0, 0])
        assert asked == [2]


def test_a_model_without_mistakes_scores_zero():
    # The only pair is learnt from one mistake, which the same trees take back.
    model = KernelRanker(SubsetTree()).fit(["(A b)", "(A b)"], [0, 1], [0, 0])
    np.testing.assert_array_equal(model.decision_function(["(A b)", "(C d)"]), [0.0, 0.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, np.nan]}, r"y\[1\] is NaN"),
        ({"y": [1, 1]}, "no group has rows of different relevance"),
        ({"groups": [0, 1]}, "no group has rows of different relevance"),
        ({"groups": None}, "needs groups"),
        ({"X": sw.Examples(tree=["(A b)", "(A c)"], prior=[[0.0], [np.nan]])}, "row 1 of the view 'prior'"),
        ({"X": sw.Examples(tree=["(A b)", "(A c)"], p=[[0.0], [1.0]])}, "no view 'prior'"),
        ({"X": ["(A b)", "(A c)"]}, "needs Examples"),
        ({"X": sw.Examples(tree=["(A b)"] * 2, prior=[[0.0]] * 2)[:0], "y": [], "groups": []}, "no examples"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_data(change, message):
    E = sw.Examples(tree=["(A b)", "(A c)"], prior=[[0.0], [1.0]])
    kernel = SubsetTree().on("tree") + Linear().on("prior")
    with pytest.raises(DataError, match=message):
        KernelRanker(kernel).fit(**{"X": E, "y": [0, 1], "groups": [0, 0], **change})


@pytest.mark.parametrize(
    "params",
    [
        {"loss": "hinge"},
        {"pairs": "some"},
        {"epochs": 0},
        {"learning_rate": 0},
        {"memory_limit": float("nan")},
        {"random_state": -1},
        {"kernel": "rbf"},
    ],
    ids=str,
)
def test_bad_parameters(params, data):
    with pytest.raises(ParameterError, match=next(iter(params))):
        KernelRanker(**params).fit(*data)
