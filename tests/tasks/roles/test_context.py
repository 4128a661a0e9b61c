"""Roles by words in context: the labeler and the classifier with an encoder, their files, and what they refuse."""

from __future__ import annotations

import pickle
import sys
from functools import partial

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import ModelFileError, ParameterError
from sapwood.learn.context_training import ContextTraining
from sapwood.metrics import score_roles
from sapwood.tasks.roles import RoleArguments, RoleClassifier, RoleLabeler
from sapwood.tasks.roles.labeling import role_scores
from sapwood.tasks.roles.training import labeled_candidates
from sapwood.tasks.roles.views import parses_of
from sapwood.words import Encoder
from tiny_encoders import make_encoder

SENTENCES = nursery.generate(size=160).role_sentences()
TRAIN, TEST = SENTENCES[:120], SENTENCES[120:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    for package in ("torch", "onnx", "onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    place = tmp_path_factory.mktemp("encoders")
    with pytest.MonkeyPatch.context() as patch, sw.options(threads=1):
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patch.setenv("SAPWOOD_DATA", str(place / "data"))
        small = partial(ContextTraining, word_size=16, feature_size=16, hidden_size=16, dropout=0.1, batch_size=16)
        for module in ("labeler", "classifier"):
            patch.setattr(f"sapwood.tasks.roles.{module}.ContextTraining", small)
        make_encoder(place / "data" / "tiny", "bert")
        yield place / "data" / "tiny"


@pytest.fixture(scope="module")
def labeler(folder):
    return RoleLabeler(encoder=str(folder)).fit(TRAIN)


@pytest.fixture(scope="module")
def classifier(folder):
    return RoleClassifier("plain", encoder=str(folder)).fit(RoleArguments.from_sentences(TRAIN))


def test_labels_in_context(labeler):
    assert score_roles(TEST, labeler.label_sentences(TEST, given_predicates=True)).overall.f1 > 0.9
    alone = clone(labeler).set_params(encoder=None).fit(TRAIN)
    assert alone.context_ is None
    found, other = (
        [one.score for argument in each.predict(TEST) for p in argument.propositions for one in p.roles]
        for each in (labeler, alone)
    )
    assert found != other
    labeler.set_params(context_weight=0.0)
    try:
        # Without a share, only its slope is left of the network.
        spans = [[p.roles for p in one.propositions] for one in labeler.predict(TEST)]
        wanted = [[p.roles for p in one.propositions] for one in alone.predict(TEST)]
        assert [[[a.span for a in p] for p in s] for s in spans] == [[[a.span for a in p] for p in s] for s in wanted]
    finally:
        labeler.set_params(context_weight=0.6)


def test_probabilities_are_those_of_the_mixture(labeler):
    rows, _ = labeled_candidates(TEST[:3], nouns=False, pruning="narrow")
    labeler._encode(parses_of(rows))
    linear = role_scores(labeler, rows, None, labeler.identifier_.log_probabilities(rows))
    network = labeler.context_.log_probabilities(rows)
    mixture = labeler.context_.slope * (0.4 * linear + 0.6 * network)
    found = labeler.context_.mixed(linear, 0.6, rows)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0)
    np.testing.assert_allclose(found, mixture - logsumexp(mixture, axis=1, keepdims=True))


def test_files_keep_the_network(labeler, classifier, folder, tmp_path):
    arguments = RoleArguments.from_sentences(TEST)
    for model, ask in (
        (labeler, lambda one: [str(each) for each in one.predict(TEST)]),
        (classifier, lambda one: one.decision_function(arguments).tolist()),
    ):
        sw.save(model, tmp_path / "model.sap")
        again = sw.load(tmp_path / "model.sap")
        # The folder goes by its name, and is found again among the encoders.
        assert again.encoder is None
        assert ask(again) == ask(model) == ask(pickle.loads(pickle.dumps(model)))


def test_the_classifier_adds_what_the_network_says(classifier):
    arguments = RoleArguments.from_sentences(TEST)
    found = classifier.decision_function(arguments)
    network = classifier.context_.log_probabilities(arguments.candidates)
    margins = classifier.svm_.decision_function(classifier._examples(arguments))
    np.testing.assert_allclose(found, margins + 0.3 * network)
    assert classifier.score(arguments) > 0.9
    empty = classifier.decision_function(arguments[:0])
    assert len(empty) == 0


def test_vectors_of_another_encoder_are_not_reused(classifier, folder, tmp_path):
    arguments = RoleArguments.from_sentences(TEST)
    before = classifier.decision_function(arguments)
    other = Encoder(str(folder), layers=(0, 1), pieces="first")
    RoleClassifier("plain", encoder=other).fit(arguments)
    np.testing.assert_array_equal(classifier.decision_function(arguments), before)


def test_another_encoder_is_refused(labeler, folder, tmp_path):
    make_encoder(tmp_path / "other", "bert", prefix="bert.")
    labeler.encoder = str(tmp_path / "other")
    try:
        with pytest.raises(ModelFileError, match="trained with the encoder"):
            labeler.predict(TEST[:1])
    finally:
        labeler.encoder = str(folder)


def test_says_what_is_missing(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for model, data in (
        (RoleLabeler(encoder=str(folder)), TRAIN),
        (RoleClassifier(encoder=str(folder)), RoleArguments.from_sentences(TRAIN)),
    ):
        with pytest.raises(ParameterError, match=r"encoder needs PyTorch.*sapwood\[train\]"):
            model.fit(data)
    with pytest.raises(ParameterError, match="context_weight"):
        RoleLabeler(context_weight=2.0).fit(TRAIN)
