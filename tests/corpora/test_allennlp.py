"""The shape of AllenNLP's role labeler: against answers written by hand, against tags cut another way, and back."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given

from sapwood import corpora
from sapwood.errors import DataError, FormatError
from sapwood.parse import split_sentences
from sapwood.trees import Argument, Proposition, RoleSentence
from strategies import role_sentences


def said(text: str, *propositions: Proposition) -> RoleSentence:
    return RoleSentence(tuple(text.split()), propositions)


def proposed(predicate: int, lemma: str, *arguments: tuple[str, int, int]) -> Proposition:
    return Proposition(predicate, lemma, tuple(Argument(*one) for one in arguments))


def test_a_sentence_has_the_shape_of_its_predictor() -> None:
    # What the predictor's documentation promises for a sentence: words, and per verb three keys.
    chase = proposed(2, "chase", ("A0", 0, 1), ("V", 2, 2), ("A1", 3, 4))
    assert corpora.allennlp.to_json(said("The dog chased the cat .", chase)) == {
        "verbs": [
            {
                "verb": "chased",
                "description": "[ARG0: The dog] [V: chased] [ARG1: the cat] .",
                "tags": ["B-ARG0", "I-ARG0", "B-V", "B-ARG1", "I-ARG1", "O"],
            }
        ],
        "words": ["The", "dog", "chased", "the", "cat", "."],
    }
    assert corpora.allennlp.to_json(said("No verb here .")) == {"verbs": [], "words": ["No", "verb", "here", "."]}


def test_predicates_inside_arguments_of_others_references_and_modifiers() -> None:
    # A relative clause: its verb stands inside the A0 of the other, its pronoun refers to the A0.
    bark = proposed(3, "bark", ("A0", 0, 1), ("R-A0", 2, 2), ("V", 3, 3), ("AM-TMP", 4, 5))
    bite = proposed(8, "bite", ("A0", 0, 5), ("AM-MOD", 6, 6), ("AM-NEG", 7, 7), ("V", 8, 8))
    found = corpora.allennlp.to_json(said("The dogs that bark at night will not bite .", bark, bite))
    assert [verb["verb"] for verb in found["verbs"]] == ["bark", "bite"]
    assert [verb["description"] for verb in found["verbs"]] == [
        "[ARG0: The dogs] [R-ARG0: that] [V: bark] [ARGM-TMP: at night] will not bite .",
        "[ARG0: The dogs that bark at night] [ARGM-MOD: will] [ARGM-NEG: not] [V: bite] .",
    ]
    tags = ["B-ARG0", "I-ARG0", "B-R-ARG0", "B-V", "B-ARGM-TMP", "I-ARGM-TMP", "O", "O", "O", "O"]
    assert found["verbs"][0]["tags"] == tags


def test_arguments_in_pieces_and_verbs_in_pieces() -> None:
    say = proposed(3, "say", ("A1", 0, 0), ("A0", 2, 2), ("V", 3, 3), ("C-A1", 5, 7))
    (verb,) = corpora.allennlp.to_json(said("Dogs , he said , bark all night .", say))["verbs"]
    assert verb["description"] == "[ARG1: Dogs] , [ARG0: he] [V: said] , [C-ARG1: bark all night] ."
    turn = proposed(1, "turn", ("A0", 0, 0), ("V", 1, 1), ("A1", 2, 2), ("C-V", 3, 3))
    (verb,) = corpora.allennlp.to_json(said("She turned it off .", turn))["verbs"]
    assert verb["tags"] == ["B-ARG0", "B-V", "B-ARG1", "B-C-V", "O"]
    assert verb["description"] == "[ARG0: She] [V: turned] [ARG1: it] [C-V: off] ."


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("A0", "ARG0"),
        ("A5", "ARG5"),
        ("AA", "ARGA"),
        ("AM-TMP", "ARGM-TMP"),
        ("AM-PRX", "ARGM-PRX"),
        ("R-A1", "R-ARG1"),
        ("R-AM-LOC", "R-ARGM-LOC"),
        ("C-A1", "C-ARG1"),
        ("C-AM-MNR", "C-ARGM-MNR"),
        ("C-V", "C-V"),
    ],
)
def test_roles_are_named_as_theirs_and_back(ours: str, theirs: str) -> None:
    sentence = said("a b", proposed(1, "b", (ours, 0, 0), ("V", 1, 1)))
    record = corpora.allennlp.to_json(sentence)
    assert record["verbs"][0]["tags"] == [f"B-{theirs}", "B-V"]
    (back,) = corpora.allennlp.read(io.StringIO(json.dumps(record)))
    assert back == sentence


def test_words_are_those_of_the_text() -> None:
    (tokens,) = split_sentences('She said "(no)".')
    found = corpora.allennlp.to_json(RoleSentence(tuple(tokens), (Proposition(1, "say", (Argument("V", 1, 1),)),)))
    assert found["words"] == ["She", "said", '"', "(", "no", ")", '"', "."]
    assert found["verbs"][0]["description"] == 'She [V: said] " ( no ) " .'
    (back,) = corpora.allennlp.read(io.StringIO(json.dumps(found)))
    assert back.words == ("She", "said", '"', "-LRB-", "no", "-RRB-", '"', ".")


def test_overlaps_cannot_be_tagged() -> None:
    overlapping = proposed(1, "b", ("A0", 0, 1), ("A1", 1, 2))
    with pytest.raises(DataError, match="ARG0 and ARG1 of 'b' both cover word 1"):
        corpora.allennlp.to_json(said("a b c", overlapping))
    with pytest.raises(DataError, match="the predicate 'b' is word 3"):
        corpora.allennlp.to_json(said("a b c", Proposition(3, "b", ())))


THEIRS = {"A0": "ARG0", "AM-TMP": "ARGM-TMP", "C-A0": "C-ARG0", "R-A1": "R-ARG1", "V": "V"}


def chunks(tags: list[str]) -> list[tuple[str, int, int]]:
    """Spans of BIO tags, by the words at which a span of each role begins and those that go on."""
    begins = [at for at, tag in enumerate(tags) if tag[0] == "B"]
    ends = [next((at for at in range(b + 1, len(tags)) if tags[at][0] != "I"), len(tags)) - 1 for b in begins]
    return [(tags[b][2:], b, e) for b, e in zip(begins, ends, strict=True)]


@given(role_sentences())
def test_tags_say_what_the_arguments_are(sentence: RoleSentence) -> None:
    for proposition, verb in zip(sentence.propositions, corpora.allennlp.to_json(sentence)["verbs"], strict=True):
        expected = [(THEIRS[a.role], *a.span) for a in proposition.arguments]
        found = chunks(verb["tags"])
        if all(not first <= proposition.predicate <= last for _, first, last in expected):
            found.remove(("V", proposition.predicate, proposition.predicate))
        assert found == expected


@given(role_sentences())
def test_what_its_files_can_hold_comes_back(sentence: RoleSentence) -> None:
    # Words of their own, so that a predicate inside a role that is not V is found by its form.
    words = tuple(f"w{at}" for at in range(len(sentence)))
    made = []
    for one in sentence.propositions:
        kept = tuple(a for a in one.arguments if a.role != "V" and not a.first <= one.predicate <= a.last)
        whole = sorted([*kept, Argument("V", one.predicate, one.predicate)], key=lambda a: a.first)
        made.append(Proposition(one.predicate, words[one.predicate], tuple(whole)))
    sentence = RoleSentence(words, tuple(made))
    (back,) = corpora.allennlp.read(io.StringIO(json.dumps(corpora.allennlp.to_json(sentence))))
    assert back == sentence


def test_files_come_back(tmp_path: Path) -> None:
    sentences = [
        said("Dogs bark .", proposed(1, "bark", ("A0", 0, 0), ("V", 1, 1))),
        said("Rain ."),
    ]
    corpora.allennlp.write(sentences, tmp_path / "x.jsonl.gz")
    assert list(corpora.allennlp.read(tmp_path / "x.jsonl.gz")) == sentences


def test_verbs_without_a_tag_are_found_by_their_form() -> None:
    text = '{"verbs": [{"verb": "saw", "tags": ["B-ARG0", "O", "O"]}], "words": ["He", "saw", "it"]}'
    (sentence,) = corpora.allennlp.read(io.StringIO(text))
    assert sentence.propositions == (Proposition(1, "saw", (Argument("A0", 0, 0),)),)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "expected words, and verbs"),
        ('{"words": ["a"]}', "expected words, and verbs"),
        ('{"words": ["a"], "verbs": [{"verb": "a"}]}', "expected words, and verbs"),
        ('{"words": "a", "verbs": []}', "lists of text"),
        ('{"words": ["a"], "verbs": [{"verb": "a", "tags": [1]}]}', "lists of text"),
        ('{"words": ["a"], "verbs": [{"verb": "a", "tags": []}]}', "0 tags for 1 words"),
        ('{"words": ["a"], "verbs": [{"verb": "a", "tags": ["I-V"]}]}', "the tag 'I-V' after 'nothing'"),
        ('{"words": ["a", "b"], "verbs": [{"verb": "a", "tags": ["B-V", "I-ARG0"]}]}', "'I-ARG0' after 'B-V'"),
        ('{"words": ["a", "a"], "verbs": [{"verb": "a", "tags": ["O", "O"]}]}', "no tag B-V, and is 2 of the words"),
    ],
)
def test_broken_lines_are_placed(line: str, message: str) -> None:
    with pytest.raises(FormatError, match=rf"^<stream>:1:1: .*{message}"):
        list(corpora.allennlp.read(io.StringIO(line)))
