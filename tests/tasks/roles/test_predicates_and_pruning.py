"""Predicates, voice, base forms, pruning: cases by hand, and counts on real trees."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from sapwood import corpora
from sapwood.errors import ParameterError
from sapwood.registry import Reader, Writer
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.tasks.roles.lexicon import LEXICON, PredicateLexicon
from sapwood.tasks.roles.predicates import find_predicates, is_auxiliary, voice
from sapwood.tasks.roles.pruning import candidates, constituent_of, coverage
from sapwood.trees import Argument, Positions, Proposition, RoleSentence, Tree


def at(text: str) -> Positions:
    return Positions(Tree.fromstring(text))


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("(S (NP (NN tea)) (VP (VBD was) (VP (VBN served))))", 2, "passive"),
        ("(S (NP (PRP he)) (VP (VBZ has) (VP (VBN left))))", 2, "active"),
        ("(S (NP (PRP he)) (VP (VBZ has) (VP (VBN been) (VP (VBN seen)))))", 3, "passive"),
        ("(S (NP (PRP he)) (VP (VBD got) (VP (VBN fired))))", 2, "passive"),
        ("(NP (NP (NN tea)) (VP (VBN served) (PP (IN by) (NP (PRP him)))))", 1, "passive"),
        ("(SQ (VBD was) (NP (NN tea)) (VP (VBN served)))", 2, "passive"),
        ("(S (NP (NN tea)) (VP (VBD was) (VP (VP (VBN made)) (CC and) (VP (VBN served)))))", 4, "passive"),
        ("(S (NP (PRP he)) (VP (VBD served) (NP (NN tea))))", 1, "active"),
        ("(S (NP (PRP he)) (VP (VBD was) (VP (VBG serving))))", 2, "active"),
    ],
)
def test_voice(text: str, word: int, expected: str) -> None:
    assert voice(at(text), word) == expected


def test_copulas_auxiliaries_and_nouns() -> None:
    tree = at("(S (NP (PRP I)) (VP (MD may) (VP (VB be) (VP (VBG having) (NP (DT a) (NN sale))))))")
    assert find_predicates(tree) == [2, 3]
    assert find_predicates(tree, auxiliaries=False) == [3]
    assert find_predicates(tree, nouns=["sale/NN"]) == [2, 3, 5]
    copula = at("(S (NP (PRP I)) (VP (VBP am) (ADJP (JJ old))))")
    assert find_predicates(copula, auxiliaries=False) == [1]
    assert not is_auxiliary(copula, 1)
    assert find_predicates(at("(NP (NN dog))")) == []


@pytest.mark.parametrize("word", ["@runs", "#run", "http://run.com", "www.run.com", "go@run.com", "--"])
def test_addresses_and_signs_are_no_predicates(word: str) -> None:
    assert find_predicates(at(f"(S (VP (VB Go) (VB {word})))")) == [0]


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("Was", "VBD", "be"),
        ("'ve", "VBP", "have"),
        ("running", "VBG", "run"),
        ("walked", "VBD", "walk"),
        ("loved", "VBN", "love"),
        ("stopped", "VBD", "stop"),
        ("tried", "VBD", "try"),
        ("goes", "VBZ", "go"),
        ("misses", "VBZ", "miss"),
        ("called", "VBD", "call"),
        ("sale", "NN", "sale"),
    ],
)
def test_base_forms(word: str, tag: str, lemma: str) -> None:
    assert PredicateLexicon().lemma(word, tag) == lemma


def test_pruning_takes_sisters_and_skips_coordination() -> None:
    tree = at("(S (NP (NN tea)) (VP (VP (VBD came)) (CC and) (VP (VBD went) (PP (IN at) (NP (NN noon))))) (. .))")
    assert [(tree.labels[n], tree.first[n], tree.last[n]) for n in candidates(tree, 3)] == [
        ("NP", 0, 0),
        ("PP", 4, 5),
        ("IN", 4, 4),
        ("NP", 5, 5),
    ]
    assert candidates(at("(VB go)"), 0) == []
    # What is not of the same kind is not coordinated.
    tree = at("(S (NP (NN tea)) (VP (ADVP (RB soon)) (VBD came) (CC and) (VBD went) (NP (NN home))))")
    assert [tree.labels[n] for n in candidates(tree, 2)] == ["NP", "ADVP", "NP"]


def test_wide_pruning_takes_what_may_be_attached_too_low() -> None:
    tree = at(
        "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT a) (NN dog)) (PP (IN at) (NP (NP (NN noon)) (PP (IN in) (X x)))))))"
    )
    narrow, wide = (candidates(tree, 1, pruning) for pruning in ("narrow", "wide"))
    assert [(tree.labels[n], tree.first[n], tree.last[n]) for n in wide if n not in narrow] == [
        ("NP", 2, 3),
        ("PP", 4, 7),
    ]
    tree = at("(S (VP (VBD sat) (PP (IN at) (NP (NP (NN noon)) (PP (IN in) (NP (NN may)))))))")
    assert [tree.labels[n] for n in candidates(tree, 0)] == ["PP", "IN", "NP"]
    assert [tree.labels[n] for n in candidates(tree, 0, "wide")] == ["PP", "IN", "NP", "NP", "PP"]
    with pytest.raises(ParameterError, match="pruning"):
        RoleLabeler(pruning="none").fit([])


def test_arguments_without_a_constituent_are_counted_not_guessed() -> None:
    tree = Tree.fromstring("(S (NP (NN tea)) (VP (VBD came) (ADVP (RB late)) (NP (NN today))))")
    proposition = Proposition(1, "come", (Argument("A1", 0, 0), Argument("V", 1, 1), Argument("AM-TMP", 2, 3)))
    counts = coverage([RoleSentence(tree.leaves(), (proposition,), tree)])
    assert (counts["arguments"], counts["constituents"], counts["survive pruning"]) == (2, 1, 1)
    assert constituent_of(Positions(tree), Argument("AM-TMP", 2, 3)) is None


def test_coverage_of_web_text(data) -> None:
    counts = coverage(islice(corpora.propbank_columns.read(data / "ewt-propbank" / "test.conll.gz"), 500))
    assert counts["constituents"] / counts["arguments"] > 0.98
    assert counts["survive pruning"] / counts["arguments"] > 0.9


def test_lexicons_learn_and_come_back() -> None:
    tree = Tree.fromstring("(S (NP (NN tea)) (VP (VBD shrank)))")
    proposition = Proposition(1, "shrink", (Argument("A1", 0, 0), Argument("V", 1, 1)), "shrink.02")
    lexicon = PredicateLexicon.learn([RoleSentence(tree.leaves(), (proposition,), tree)])
    assert lexicon.lemma("Shrank", "VBD") == "shrink"
    assert lexicon.roleset("shrink") == "shrink.02"
    assert lexicon.roleset("fly") == "fly.01"
    assert lexicon.roles["shrink.02"] == ("A1",)
    assert LEXICON.read(json.loads(json.dumps(LEXICON.write(lexicon, Writer()))), Reader("x", {})) == lexicon
