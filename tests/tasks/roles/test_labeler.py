"""The labeller from trees to files: what it finds, what it refuses, and that no finished work is lost."""

from __future__ import annotations

import os
import threading
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.decode import decode_labels
from sapwood.draw.roles import displacy_roles, roles_html, roles_page, roles_text
from sapwood.errors import DataError, OutputError, ParameterError
from sapwood.metrics import score_roles
from sapwood.parse import PCFGParser
from sapwood.tasks.roles import RoleClassifier, RoleLabeler
from sapwood.tasks.roles.inference import Constraints
from sapwood.tasks.roles.runs import label_to_file
from sapwood.trees import Argument, Proposition, RoleSentence, Tree

SENTENCES = nursery.generate(size=400).role_sentences()
TRAIN, TEST = SENTENCES[:320], SENTENCES[320:]


@pytest.fixture(scope="module")
def labeler() -> RoleLabeler:
    return RoleLabeler().fit(TRAIN)


def propositions(labeler: RoleLabeler, sentence: Any, predicates: Any = None) -> list[Proposition]:
    return list(labeler.label(sentence, predicates).propositions)


@pytest.mark.slow
def test_the_nursery_is_labelled(labeler: RoleLabeler) -> None:
    assert score_roles(TEST, labeler.label_sentences(TEST, given_predicates=True)).overall.f1 > 0.95
    scores = score_roles(TEST, labeler.label_sentences(TEST))
    assert scores.overall.f1 > 0.95
    assert not scores.warnings
    assert not labeler.lexicon_.auxiliaries


def test_propositions_carry_nodes_scores_and_senses(labeler: RoleLabeler) -> None:
    sentence = labeler.label(TEST[0].tree)
    places = list(sentence.tree.preorder())
    for proposition in sentence.propositions:
        assert proposition.roleset.startswith(proposition.lemma)
        for argument in proposition.arguments:
            assert argument.node is not None
            assert places[argument.node].leaves() == sentence.words[argument.first : argument.last + 1]
            assert 0 < argument.score <= 1


def test_margins_add_up(labeler: RoleLabeler) -> None:
    sentence = next(s for s in TEST if s.propositions[-1].roles)
    argument = sentence.propositions[-1].roles[0]
    why = labeler.explain(sentence.tree, sentence.propositions[-1].predicate, argument.span)
    assert why.bias + sum(weight for _, weight in why.features) == pytest.approx(why.margin, abs=1e-4)
    assert why.role in str(why)
    assert labeler.explain(sentence.tree, sentence.propositions[-1].predicate, argument.span, role="A2").role == "A2"
    with pytest.raises(ParameterError, match="no role 'A9'"):
        labeler.explain(sentence.tree, sentence.propositions[-1].predicate, argument.span, role="A9")
    with pytest.raises(DataError, match="no constituent"):
        labeler.explain(sentence.tree, sentence.propositions[-1].predicate, (0, len(sentence) + 3))


def test_an_offset_trades_arguments_missed_for_arguments_too_many(labeler: RoleLabeler) -> None:
    counts = []
    # The labeler is so sure of these sentences that small offsets change nothing.
    for offset in (1e4, 0.0, -1e4):
        asked = copy(labeler).set_params(null_offset=offset)
        found = asked.label_sentences(TEST, given_predicates=True)
        counts.append(sum(len(one.roles) for sentence in found for one in sentence.propositions))
    assert counts == sorted(counts)
    assert counts[0] < counts[1]
    with pytest.raises(ParameterError, match="null_offset"):
        RoleLabeler(null_offset=float("nan")).fit(TEST)


def test_labellers_come_back_from_files(labeler: RoleLabeler, tmp_path: Path) -> None:
    sw.save(labeler, tmp_path / "roles.sap")
    again = sw.load(tmp_path / "roles.sap")
    assert list(again.label_sentences(TEST)) == list(labeler.label_sentences(TEST))
    assert again.get_params() == labeler.get_params()


@pytest.mark.slow
def test_fragments_can_be_features_too(tmp_path: Path) -> None:
    made = RoleLabeler(features="basic", fragments={"path+siblings": 2.0}, max_fragments=500).fit(TRAIN[:150])
    assert made.classifier_.encoder.maps["path+siblings"].fragments_.shape[0] <= 500
    assert score_roles(TEST, made.label_sentences(TEST, given_predicates=True)).overall.f1 > 0.9
    sw.save(made, tmp_path / "roles.sap")
    assert list(sw.load(tmp_path / "roles.sap").label_sentences(TEST[:20])) == list(made.label_sentences(TEST[:20]))


@pytest.mark.slow
def test_kernels_can_classify_too(tmp_path: Path) -> None:
    made = RoleLabeler(classifier=RoleClassifier("composite")).fit(TRAIN[:120])
    assert score_roles(TEST, made.label_sentences(TEST, given_predicates=True)).overall.f1 > 0.9
    sw.save(made, tmp_path / "roles.sap")
    again = sw.load(tmp_path / "roles.sap")
    assert list(again.label_sentences(TEST[:20])) == list(made.label_sentences(TEST[:20]))
    assert label_to_file(again, TEST[:20], tmp_path / "out.jsonl") == 20
    found = next(one for one in made.label_sentences(TEST) if one.propositions)
    proposition = found.propositions[0]
    argument = next(one for one in proposition.arguments if one.role != "V")
    why = made.explain(found, proposition.predicate, (argument.first, argument.last), role=argument.role)
    assert why.label == argument.role
    # Flat features by name, and trees node by node, add up to the margin.
    assert {tree.view for tree in why.trees} == {"siblings", "constituent"}
    assert why.others[0].view == "flat"
    assert any("=" in name for name, _ in why.others[0].features)
    total = why.bias + sum(tree.total() for tree in why.trees) + sum(other.value for other in why.others)
    assert total == pytest.approx(why.value)


def test_training_is_the_same_every_time() -> None:
    first, second = (RoleLabeler().fit(TRAIN[:100]) for _ in range(2))
    assert np.array_equal(first.classifier_.weights, second.classifier_.weights)


def test_words_and_text_go_through_the_parser(labeler: RoleLabeler) -> None:
    trees = {s.words: s.tree for s in TEST}
    made = RoleLabeler(parser=lambda words: trees[tuple(words)]).fit(TRAIN[:100])
    words = TEST[0].words
    assert (
        propositions(made, list(words))
        == propositions(made, " ".join(words))
        == propositions(made, TEST[0].tree)
        == propositions(made, str(TEST[0].tree))
    )
    with pytest.raises(ParameterError, match="words and text have no tree; pass parser="):
        propositions(labeler, list(words))
    made.parser = lambda words: TEST[1].tree
    with pytest.raises(DataError, match="leaves of the parser's tree are not the words: word"):
        propositions(made, list(words))
    made.parser = lambda words: "(S)"
    with pytest.raises(DataError, match="gave a single leaf"):
        propositions(made, list(words))


@pytest.mark.slow
def test_text_is_split_into_words_and_sentences() -> None:
    made = RoleLabeler(parser=PCFGParser().fit([one.tree for one in SENTENCES])).fit(TRAIN[:100])
    found = made.label("The dog chased the cat.")
    assert found.words == ("The", "dog", "chased", "the", "cat", ".")
    assert [(one.role, one.span) for one in found.propositions[0].roles] == [("A0", (0, 1)), ("A1", (3, 4))]
    with pytest.raises(DataError, match=r"has 2 sentences where one is expected; label_text\(text\)"):
        made.label("The dog chased the cat. It barked.")
    assert [len(one.words) for one in made.label_text("The dog chased the cat. It barked.")] == [6, 3]


@pytest.mark.parametrize("wrong", [["(S a)"], [Tree.fromstring("(S a)")], [None], "(S a)", RoleSentence(("a",)), 3])
def test_what_is_no_annotated_sentence_is_named(wrong: object) -> None:
    with pytest.raises(DataError, match=r"expected a (list of )?RoleSentence"):
        RoleLabeler().fit(wrong)  # type: ignore[arg-type]


def test_odd_sentences_do_no_harm(labeler: RoleLabeler) -> None:
    assert propositions(labeler, "(NP (NN dog))") == []
    assert [p.roles for p in propositions(labeler, "(S (VP (VB Go)))")] == [()]
    assert propositions(labeler, "(S (NP (NN tea)) (VP (VBD frobnicated) (NP (NN it))))")[0].roleset == "frobnicate.01"
    assert propositions(labeler, TEST[0].tree, predicates=[]) == []
    # Any word can be said to be a predicate.
    assert (
        propositions(labeler, "(NP (DT the) (NN sale) (PP (IN of) (NP (NN tea))))", predicates=[1])[0].lemma == "sale"
    )
    deep = "(S " * 3000 + "(VP (VB go))" + ")" * 3000
    assert propositions(labeler, deep)[0].predicate == 0


@pytest.mark.parametrize("wrong", [[7000], [-1], [True], ["1"]])
def test_predicates_out_of_range_are_named(labeler: RoleLabeler, wrong: list[int]) -> None:
    with pytest.raises((DataError, TypeError), match="there is no word"):
        propositions(labeler, TEST[0].tree, predicates=wrong)


def test_nonsense_is_refused(labeler: RoleLabeler) -> None:
    with pytest.raises(DataError, match="single word"):
        propositions(labeler, Tree("dog"))
    for empty in ("", []):
        with pytest.raises(DataError, match="sentence 0 has no words"):
            propositions(labeler, empty)
    with pytest.raises(DataError, match="nothing to learn"):
        RoleLabeler().fit([RoleSentence(("a",), (), Tree.fromstring("(NN a)"))])
    with pytest.raises(DataError, match="is word 9; there are 1 words"):
        RoleLabeler().fit([RoleSentence(("a",), (Proposition(9, "x", ()),), Tree.fromstring("(NN a)"))])
    with pytest.raises(ParameterError, match="features must be one of"):
        RoleLabeler(features="many").fit(TRAIN[:10])
    broken = RoleSentence(("b",), (Proposition(0, "b", ()),), Tree.fromstring("(VB a)"))
    with pytest.raises(DataError, match="leaves of the tree are not the words"):
        labeler.predict([broken])


def test_constraints_hold_against_brute_force() -> None:
    """The cut-down search gives what the search over all labels gives."""
    labels = ["A0", "A1", "AM-TMP", "C-A1", "R-A0"]
    rules = Constraints(labels)
    random = np.random.default_rng(0)
    for _ in range(200):
        count = int(random.integers(1, 6))
        scores = random.normal(0, 2, (count, 6))
        firsts = random.integers(0, 8, count)
        spans = [(int(a), int(a + random.integers(0, 3))) for a in firsts]
        chosen = rules.choose(scores, spans)
        best = decode_labels(scores, spans, unique=[1, 2], implies=[(5, 1)], after=[(4, 2)])
        value = sum(
            row[0 if role is None else 1 + labels.index(role)] for row, role in zip(scores, chosen, strict=True)
        )
        assert value == pytest.approx(best.value)
    assert rules.choose([[0.0, 5.0, 1.0, 0, 0, 0]], [(0, 0)], legal=["A1"]) == ["A1"]
    assert rules.choose(np.zeros((0, 6)), []) == []


@pytest.mark.slow
def test_runs_are_whole_and_can_go_on(labeler: RoleLabeler, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    many = [TEST[k % len(TEST)] for k in range(450)]
    whole = tmp_path / "whole.jsonl"
    assert label_to_file(labeler, many, whole) == 450

    def stopping(at: int):
        for number, sentence in enumerate(many):
            if number == at:
                raise KeyboardInterrupt
            yield sentence

    for at in (130, 260):
        with pytest.raises(KeyboardInterrupt):
            label_to_file(labeler, stopping(at), target, resume=True)
        assert not target.exists()
    # A draft that was cut short after the last note is trimmed, not trusted.
    draft = tmp_path / ".out.jsonl.draft"
    draft.write_bytes(draft.read_bytes() + b'{"words": [')
    assert label_to_file(labeler, many, target, resume=True) == 450
    assert target.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "whole.jsonl"]
    with pytest.raises(KeyboardInterrupt):
        label_to_file(labeler, stopping(120), target, resume=True)
    with pytest.raises(DataError, match="another model, input or format"):
        label_to_file(labeler, many, target, form="props", resume=True)
    with pytest.raises(DataError, match="there are only 3"):
        label_to_file(labeler, many[:3], target, resume=True)
    with pytest.raises(ParameterError, match="form must be one of"):
        label_to_file(labeler, many, target, form="xml")
    with pytest.raises(OutputError, match="make it first"):
        label_to_file(labeler, many, tmp_path / "none" / "x")


def test_pipes_stay_pipes(labeler: RoleLabeler, tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    assert label_to_file(labeler, TEST[:5], pipe) == 5
    reader.join()
    assert len(found[0].splitlines()) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    assert pipe.is_fifo()


def test_drawings() -> None:
    sentence = RoleSentence(
        ("Dogs", "<bark>", "loudly", "now"),
        (Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1), Argument("C-A0", 2, 2))),),
    )
    assert roles_text(sentence) == "bark: [A0 Dogs] [V <bark>] [C-A0 loudly] now"
    (drawn,) = displacy_roles(sentence)
    assert drawn["tokens"][drawn["spans"][1]["start_token"]] == "<bark>"
    (drawn,) = displacy_roles(sentence, style="ent")
    assert drawn["text"][drawn["ents"][2]["start"] : drawn["ents"][2]["end"]] == "loudly"
    assert "&lt;bark&gt;" in roles_html(sentence)
    assert "<bark>" not in roles_html(sentence)
    assert roles_page([sentence, RoleSentence(("No", "verb"))]).startswith("<!DOCTYPE html>")
    assert roles_text(RoleSentence(("No", "verb"))) == "No verb"


def test_displacy_takes_the_dictionaries() -> None:
    displacy = pytest.importorskip("spacy.displacy", reason="spaCy is not installed")
    sentence = TEST[0]
    for style in ("span", "ent"):
        html = displacy.render(displacy_roles(sentence, style=style), style=style, manual=True, jupyter=False)
        assert "A0" in html or "A1" in html


@pytest.mark.slow
def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpora.role_lines.write(TRAIN[:200], tmp_path / "train.jsonl")
    corpora.role_lines.write(TEST, tmp_path / "test.jsonl")
    (tmp_path / "test.mrg").write_text("".join(f"{s.tree}\n" for s in TEST))
    model = str(tmp_path / "roles.sap")
    assert main(["train", "roles", str(tmp_path / "train.jsonl"), "-o", model]) == 0
    assert "roles, 200 sentences" in capsys.readouterr().out
    assert main(["evaluate", model, str(tmp_path / "test.jsonl")]) == 0
    assert "Number of Propositions" in capsys.readouterr().out
    assert main(["evaluate", model, str(tmp_path / "test.jsonl"), "--json", "-"]) == 0
    assert '"f1": ' in capsys.readouterr().out
    for form in ("jsonl", "props", "allennlp", "conll", "conll09", "text", "brackets", "html"):
        out = tmp_path / f"out.{form}"
        assert main(["predict", model, str(tmp_path / "test.mrg"), "--format", form, "--output", str(out)]) == 0
        assert out.stat().st_size > 1000
    assert len(list(corpora.conll05.read(tmp_path / "out.props"))) == len(TEST)
    assert len(list(corpora.role_lines.read(tmp_path / "out.jsonl"))) == len(TEST)
    assert len(list(corpora.allennlp.read(tmp_path / "out.allennlp"))) == len(TEST)
    assert len(list(corpora.propbank_columns.read(tmp_path / "out.conll"))) == len(TEST)
    assert main(["evaluate", model, str(tmp_path / "test.mrg")]) == 1
    assert "holds no propositions to compare with" in capsys.readouterr().err
    (tmp_path / "broken.mrg").write_text("(S (NP (NN tea)")
    before = sorted(tmp_path.iterdir())
    assert main(["predict", model, str(tmp_path / "broken.mrg"), "--output", str(tmp_path / "new")]) == 1
    assert sorted(tmp_path.iterdir()) == before
    assert main(["predict", model, str(tmp_path / "test.mrg"), "--format", "xml"]) == 2
    assert "must be one of jsonl" in capsys.readouterr().err
    assert main(["predict", model, str(tmp_path / "test.mrg"), "--format", "brackets"]) == 0
    assert "[V " in capsys.readouterr().out
