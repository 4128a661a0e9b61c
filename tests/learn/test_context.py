"""The network over words in context: what it computes is what was trained, and files keep it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.special import log_softmax

import sapwood as sw
from sapwood.learn.context import ContextNetwork, ContextRows

CLASSES = ["a", "b", "c"]


def random_rows(count=300, words=80, width=6, features=9, places=2, seed=0):
    """Make examples whose class is a matter of one word's vector, or of a feature."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(words, width)).astype(np.float16)
    chosen = random.integers(words, size=(count, places))
    matrix = sparse.csr_array((random.random((count, features)) < 0.3).astype(np.float32))
    of_word = vectors[chosen[:, 1]].astype(float)
    scores = np.column_stack([of_word[:, 0], of_word[:, 1], 3.0 * matrix.toarray()[:, 0] - 1.0])
    return ContextRows(vectors, chosen, matrix), [CLASSES[at] for at in scores.argmax(axis=1)]


def by_hand(network, rows, at):
    """Score one example, a product at a time."""
    weights = network.weights
    size = weights["place"].shape[1] // network.places
    parts = []
    for place in range(network.places):
        columns = slice(place * size, (place + 1) * size)
        vector = rows.vectors[rows.places[at, place]].astype(float)
        parts.append(vector @ weights["place"][:, columns] + weights["place_bias"][columns])
    parts.append(rows.features.toarray()[at] @ weights["features"])
    hidden = np.maximum(np.maximum(np.concatenate(parts), 0) @ weights["hidden"] + weights["hidden_bias"], 0)
    return log_softmax(hidden @ weights["output"] + weights["output_bias"])


@pytest.fixture(scope="module")
def trained():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from sapwood.learn.context_training import ContextTraining, train

    rows, labels = random_rows()
    setting = ContextTraining(
        word_size=16,
        feature_size=8,
        hidden_size=16,
        dropout=0.0,
        feature_dropout=0.0,
        learning_rate=0.01,
        epochs=60,
        batch_size=32,
    )
    with sw.options(threads=1):
        return train(rows, labels, setting, "a test"), setting


def test_learns_from_words_and_features(trained):
    network, _ = trained
    rows, labels = random_rows(seed=1)
    chosen = [network.classes[at] for at in network.log_probabilities(rows).argmax(axis=1)]
    assert np.mean([a == b for a, b in zip(chosen, labels, strict=True)]) > 0.85


def test_agrees_with_products_by_hand(trained):
    network, _ = trained
    rows, _ = random_rows(count=20, seed=2)
    found = network.log_probabilities(rows)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0)
    for at in range(len(rows)):
        np.testing.assert_allclose(found[at], by_hand(network, rows, at), atol=1e-4)


def test_an_example_does_not_depend_on_others(trained):
    network, _ = trained
    rows, _ = random_rows(count=20, seed=3)
    alone = ContextRows(rows.vectors, rows.places[4:5], rows.features[[4]])
    np.testing.assert_allclose(network.log_probabilities(alone)[0], network.log_probabilities(rows)[4], atol=1e-5)


def test_the_seed_decides(trained):
    from sapwood.learn.context_training import train

    network, setting = trained
    with sw.options(threads=1):
        again = train(*random_rows(), setting, "a test")
    assert isinstance(again, ContextNetwork)
    for name, weights in network.weights.items():
        np.testing.assert_array_equal(weights, again.weights[name])
