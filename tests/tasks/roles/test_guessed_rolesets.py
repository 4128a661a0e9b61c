"""Rolesets of verbs that training had not: irregular verbs get their base form, and what is made up says so."""

from __future__ import annotations

import io
import json
from copy import deepcopy
from itertools import islice
from pathlib import Path

import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.corpora.role_lines import sentence_text
from sapwood.corpora.rolesets import Roleset
from sapwood.draw import roles_html, roles_text
from sapwood.errors import FormatError
from sapwood.penn import VERB_TAGS
from sapwood.tasks.roles import RoleLabeler
from sapwood.tasks.roles.lexicon import PredicateLexicon
from sapwood.trees import Argument, Positions, Proposition, Tree

TRAIN = nursery.generate(size=200).role_sentences()
FLUNG = "(S (NP (DT the) (NN cat)) (VP (VBD flung) (NP (DT the) (NN ball))) (. .))"


@pytest.fixture(scope="module")
def labeler() -> RoleLabeler:
    return RoleLabeler().fit(TRAIN)


@pytest.mark.parametrize(
    ("form", "lemma"), [("flung", "fling"), ("bit", "bite"), ("sought", "seek"), ("wove", "weave")]
)
def test_an_unseen_verb_has_a_real_base_form_and_a_guessed_roleset(labeler, form, lemma):
    assert not labeler.lexicon_.knows(lemma)
    (proposition,) = labeler.label(Tree.fromstring(FLUNG.replace("flung", form))).propositions
    assert (proposition.lemma, proposition.roleset, proposition.guessed) == (lemma, f"{lemma}.01", True)


def test_what_was_learnt_is_not_guessed(labeler):
    for sentence in labeler.label_sentences(TRAIN[:40]):
        assert sentence.propositions
        assert not any(one.guessed for one in sentence.propositions)


def test_a_base_form_that_is_given_does_not_make_a_roleset_known(labeler):
    tree = Tree.fromstring(FLUNG)
    seen = next(iter(labeler.lexicon_.senses))
    given = [labeler.label(tree, predicates={2: lemma}).propositions[0] for lemma in ("fling", seen)]
    assert [one.guessed for one in given] == [True, False]
    assert given[1].roleset == labeler.lexicon_.senses[seen]


def test_the_flag_is_written_and_read(labeler, tmp_path: Path):
    sentence = labeler.label(Tree.fromstring(FLUNG))
    (written,) = json.loads(sentence_text(sentence))["propositions"]
    assert written["guessed"] is True
    assert all("guessed" not in one for one in json.loads(sentence_text(TRAIN[0]))["propositions"])
    corpora.role_lines.write([sentence, TRAIN[0]], tmp_path / "roles.jsonl")
    again = list(corpora.role_lines.read(tmp_path / "roles.jsonl"))
    assert [one.guessed for each in again for one in each.propositions] == [True] + [False] * len(TRAIN[0].propositions)
    assert roles_text(sentence).startswith("fling.01?: ")
    assert "fling.01?" in str(roles_html(sentence))
    assert "fling.01?" in sentence._repr_html_()


def test_the_command_shows_the_flag(labeler, tmp_path: Path, capsys):
    sw.save(labeler, tmp_path / "roles.sap")
    (tmp_path / "trees.mrg").write_text(FLUNG)
    assert main(["predict", str(tmp_path / "roles.sap"), str(tmp_path / "trees.mrg"), "--format", "brackets"]) == 0
    assert "fling.01?: " in capsys.readouterr().out


@pytest.mark.parametrize("flag", ['"yes"', "1", "null"])
def test_a_flag_that_is_none_is_refused(flag):
    one = f'{{"predicate": 0, "lemma": "go", "arguments": [], "guessed": {flag}}}'
    text = f'{{"words": ["go"], "propositions": [{one}]}}'
    with pytest.raises(FormatError, match=r"guessed is .*, not true or false"):
        list(corpora.role_lines.read(io.StringIO(text)))


def test_the_flag_is_not_part_of_what_a_proposition_says():
    arguments = (Argument("V", 0, 0),)
    assert Proposition(0, "go", arguments, "go.01", guessed=True) == Proposition(0, "go", arguments, "go.01")
    assert not Proposition(0, "go", arguments, "go.01").guessed
    assert Proposition(0, "go", ()).title == "go"


@pytest.mark.slow
def test_base_forms_of_unseen_verbs_are_those_of_propbank(data: Path):
    train = PredicateLexicon.learn(
        islice(corpora.propbank_columns.read(data / "ewt-propbank" / "train.conll.gz"), 3000)
    )
    right = unseen = 0
    for sentence in corpora.propbank_columns.read(data / "ewt-propbank" / "test.conll.gz"):
        at = Positions(sentence.tree)
        for one in sentence.propositions:
            word = sentence.words[one.predicate]
            tag = at.labels[at.tag(one.predicate)]
            if tag in VERB_TAGS and f"{word.lower()}/{tag}" not in train.lemmas:
                unseen += 1
                right += train.lemma(word, tag) == one.lemma
    assert unseen > 300
    # The ending alone, without a list of irregular verbs, gives 0.86.
    assert right / unseen > 0.94


def test_what_is_described_is_no_guess_where_there_is_one_sense():
    lexicon = PredicateLexicon(senses={"go": "go.02"})
    described = ("undergo.28", "accord.02", "accord.01", "go.01", "go.02")
    lexicon.describe(Roleset(name, "to do something", {}) for name in described)
    asked = ("undergo", "accord", "go", "fling")
    assert [lexicon.roleset(lemma) for lemma in asked] == ["undergo.28", "accord.01", "go.02", "fling.01"]
    assert [lexicon.knows(lemma) for lemma in asked] == [True, False, True, False]
    # What is described later takes the place of it.
    lexicon.describe([Roleset("fling.03", "throw", {})])
    assert [lexicon.roleset(lemma) for lemma in asked] == ["undergo.01", "accord.01", "go.02", "fling.03"]


def test_words_that_help_others_and_have_no_roles_are_left_out_with_auxiliaries(labeler):
    trees = [Tree.fromstring("(S (VP (VBD flung)))"), Tree.fromstring(FLUNG)]
    shy = deepcopy(labeler)

    def counted(times: int, *, auxiliaries: bool) -> list[int]:
        shy.lexicon_.auxiliaries, shy.lexicon_.counts["fling.01"] = auxiliaries, times
        return [len(shy.label(tree).propositions) for tree in trees]

    assert counted(100, auxiliaries=True) == [1, 1]
    assert counted(3, auxiliaries=False) == [1, 1]
    assert counted(100, auxiliaries=False) == [0, 1]
    assert len(shy.label(trees[0], predicates=[0]).propositions) == 1


def test_what_is_left_of_a_verb_phrase_helps_too():
    lexicon = PredicateLexicon(counts={"do.01": 50, "have.02": 50, "do.02": 50}, roles={"do.02": ("A1",)})
    verb, no, thing = Argument("V", 1, 1), Argument("AM-NEG", 2, 2), Argument("A1", 3, 3)
    assert lexicon.helps("do.01", [verb, no])
    assert lexicon.helps("have.02", [verb])
    assert not lexicon.helps("have.02", [verb, no])
    assert not lexicon.helps("do.01", [verb, thing])
    assert not lexicon.helps("do.02", [verb])
    assert not lexicon.helps("do.03", [verb])
