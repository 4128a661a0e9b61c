"""The voted perceptron against the textbook algorithm, one kernel value after the other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier

import sapwood as sw
from learn.attachments import attachments
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.kernels import Linear, PartialTree, Polynomial, SubsetTree
from sapwood.learn import VotedPerceptron

KERNELS = [SubsetTree(decay=0.5), PartialTree().normalized(), SubsetTree().normalized() ** 2]


@pytest.fixture(scope="module")
def data():
    X, y, _ = attachments(60)
    noisy = y > 1
    noisy[::7] = ~noisy[::7]
    return X, np.where(noisy, "good", "bad")


def textbook(K, signs, epochs):
    """Stages as weight vectors over all examples, and how long each lasted."""
    stages, counts = [np.zeros(len(signs))], [0]
    for _ in range(epochs):
        for i in range(len(signs)):
            if signs[i] * (stages[-1] @ K[i]) > 0:
                counts[-1] += 1
            else:
                following = stages[-1].copy()
                following[i] += signs[i]
                stages.append(following)
                counts.append(1)
    return np.array(stages), np.array(counts)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_is_the_textbook_algorithm(kernel, data, monkeypatch):
    X, y = data
    signs = np.where(y == "good", 1.0, -1.0)
    K, test = kernel(X), X[:30]
    stages, counts = textbook(K, signs, 3)
    values = kernel(test, X) @ stages.T
    expected = {
        "voted": np.sign(values) @ counts / counts.sum(),
        "averaged": values @ counts / counts.sum(),
        "last": values[:, -1],
    }
    for vote, margins in expected.items():
        # 50 kB: blocks of 79 examples, so that several make up an epoch.
        model = VotedPerceptron(kernel, vote=vote, epochs=3, shuffle=False, memory_limit=0.05).fit(X, y)
        assert model.n_mistakes_ == len(stages) - 1
        assert model.n_steps_ == 3 * len(X)
        np.testing.assert_allclose(model.decision_function(test), margins, atol=1e-9)
        if vote != "voted":
            again = kernel(test, model.support_examples_) @ model.dual_coef_
            np.testing.assert_allclose(again, margins, atol=1e-9)


def test_flat_features_and_views(data):
    X, y = data
    E = sw.Examples(tree=X, flat=np.random.default_rng(0).normal(size=(len(X), 3)))
    kernel = SubsetTree().normalized().on("tree") + Linear().on("flat") * Polynomial().on("flat")
    model = VotedPerceptron(kernel, epochs=2, random_state=0).fit(E, y)
    assert model.predict(E).shape == y.shape


def test_interrupted_training_resumes_bit_for_bit(data, tmp_path, monkeypatch):
    from sapwood import resuming

    path = tmp_path / "state.sap"
    params = {"epochs": 4, "memory_limit": 0.01, "random_state": 3}
    expected = VotedPerceptron(**params).fit(*data)
    monkeypatch.setattr(resuming.CheckpointFile, "wanted", property(lambda self: self._path is not None))
    plain, written = resuming.save, []

    def pulled(value, where):
        plain(value, where)
        written.append(where)
        if len(written) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(resuming, "save", pulled)
    with pytest.raises(KeyboardInterrupt):
        VotedPerceptron(checkpoint=path, **params).fit(*data)
    resumed = VotedPerceptron(checkpoint=path, **params).fit(*data)
    np.testing.assert_array_equal(resumed._when, expected._when)
    np.testing.assert_array_equal(resumed.decision_function(data[0]), expected.decision_function(data[0]))
    with pytest.raises(ModelFileError, match="other data or parameters"):
        VotedPerceptron(checkpoint=path, epochs=9, random_state=3).fit(*data)


def test_more_classes_need_a_wrapper():
    X, y, _ = attachments(20)
    with pytest.raises(DataError, match="OneVsRestClassifier"):
        VotedPerceptron().fit(X, y)
    many = OneVsRestClassifier(VotedPerceptron(random_state=0, epochs=5)).fit(X, y)
    assert (many.predict(X) == y).mean() > 0.9


@pytest.mark.parametrize(
    "params", [{"epochs": 0}, {"vote": "all"}, {"memory_limit": -1}, {"random_state": -1}], ids=str
)
def test_bad_parameters(params, data):
    with pytest.raises(ParameterError, match=next(iter(params))):
        VotedPerceptron(**params).fit(*data)
