"""Supersenses of known words, and a WordNet that is missing or not whole."""

from __future__ import annotations

import pytest

import sapwood as sw
from sapwood.errors import DataError
from sapwood.words.senses import WordSenses
from sapwood.words.wordnet_files import open_wordnet


@pytest.fixture(scope="module")
def senses():
    try:
        return WordSenses()
    except DataError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("word", "tag", "sense"),
    [
        ("running", "VBG", "verb.motion"),
        ("went", "VBD", "verb.motion"),
        ("found", "VB", "verb.social"),
        ("found", "VBD", "verb.possession"),
        ("countries", "NNS", "noun.group"),
        ("weapons", "NNS", "noun.artifact"),
        ("men", "NNS", "noun.person"),
        ("bigger", "JJR", "adj.all"),
        ("stopped", "VBN", "verb.motion"),
        ("was", "VBD", "verb.stative"),
        ("'re", "VBP", "verb.stative"),
        ("n't", "RB", "adv.all"),
        ("glass", "NN", "noun.substance"),
        # The rules for base forms do not know these, WordNet's exceptions do.
        ("vertices", "NNS", "noun.cognition"),
        ("alumnae", "NNS", "noun.person"),
        ("carry out", "VB", "verb.creation"),
        ("of", "IN", ""),
        ("qwxz", "NN", ""),
        ("Paris", "NNP", "noun.location"),
        ("Windowss", "NNP", ""),
    ],
)
def test_known_words(senses, word, tag, sense):
    assert senses.supersense(word, tag) == sense


def test_a_missing_or_partial_wordnet_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="apt-get install wordnet-base"):
        WordSenses(str(tmp_path))
    for name in ("index.noun", "data.noun"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match="install the whole of WordNet"):
        WordSenses(str(tmp_path))


def test_carried_senses_are_those_of_wordnet(senses, tmp_path):
    sw.save(senses, tmp_path / "senses.sap")
    carried = sw.load(tmp_path / "senses.sap")
    words = {
        tag: sorted(word for word in open_wordnet(None, part).words if "_" not in word)[::40]
        for tag, part in (("NN", "noun"), ("VB", "verb"), ("JJ", "adj"), ("RB", "adv"))
    }
    forms = [
        (word + ending, tag + end)
        for tag, ends in (("NN", ("", "S", "P")), ("VB", ("", "D", "G", "Z")), ("JJ", ("", "R")), ("RB", ("",)))
        for word in words[tag]
        for end in ends
        for ending in ("", "s", "es", "ed", "ing", "er", "ies")
    ]
    forms += [(form, "NNS") for form in open_wordnet(None, "noun").exceptions if "_" not in form]
    assert [carried.supersense(*form) for form in forms] == [senses.supersense(*form) for form in forms]
    # Tokens have no spaces, and the file none of those words.
    assert carried.supersense("carry out", "VB") == ""
