"""Base forms and supersenses: known words of WordNet, and the guesses made without it."""

from __future__ import annotations

import pytest

from sapwood.errors import DataError
from sapwood.words.senses import WordSenses, plain_lemma


@pytest.fixture(scope="module")
def senses():
    try:
        return WordSenses()
    except DataError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("word", "tag", "lemma", "sense"),
    [
        ("running", "VBG", "run", "verb.motion"),
        ("went", "VBD", "go", "verb.motion"),
        ("countries", "NNS", "country", "noun.group"),
        ("weapons", "NNS", "weapon", "noun.artifact"),
        ("men", "NNS", "man", "noun.person"),
        ("bigger", "JJR", "big", "adj.all"),
        ("stopped", "VBN", "stop", "verb.motion"),
        ("was", "VBD", "be", "verb.stative"),
        ("glass", "NN", "glass", "noun.substance"),
        ("of", "IN", "of", ""),
        ("qwxz", "NN", "qwxz", ""),
        ("Paris", "NNP", "paris", "noun.location"),
    ],
)
def test_known_words(senses, word, tag, lemma, sense):
    assert senses.lemma(word, tag) == lemma
    assert senses.supersense(lemma, tag) == sense


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("Dogs", "NNS", "dog"),
        ("berries", "NNS", "berry"),
        ("watches", "VBZ", "watch"),
        ("stopped", "VBD", "stop"),
        ("calling", "VBG", "call"),
        ("is", "VBZ", "be"),
        ("n't", "RB", "not"),
        ("glass", "NN", "glass"),
        ("glass", "NNS", "glass"),
    ],
)
def test_guesses_without_wordnet(word, tag, lemma):
    assert plain_lemma(word, tag) == lemma


def test_a_missing_or_partial_wordnet_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="apt-get install wordnet-base"):
        WordSenses(str(tmp_path))
    for name in ("index.noun", "data.noun"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match="install the whole of WordNet"):
        WordSenses(str(tmp_path))
