"""The Penn tags: kinds of words do not overlap, and the treebank's own examples."""

from __future__ import annotations

from sapwood import penn
from sapwood.tasks.roles.predicates import VERBAL_TAGS


def test_a_tag_is_of_one_kind():
    kinds = [
        penn.NOUN_TAGS,
        penn.VERB_TAGS,
        penn.AUXILIARY_TAGS,
        penn.ADJECTIVE_TAGS,
        penn.ADVERB_TAGS,
        penn.QUESTION_TAGS,
        penn.PUNCTUATION_TAGS,
    ]
    tags = [tag for kind in kinds for tag in kind]
    assert len(tags) == len(set(tags))
    assert set(penn.FINITE_TAGS) - {"MD"} < set(penn.VERB_TAGS)
    # Parsers that tag auxiliaries apart mean verbs by it.
    assert {"AUX", "AUXG", "VBZ"} < VERBAL_TAGS


def test_tags_without_inflection():
    assert [penn.base_tag(tag) for tag in ("NNPS", "AUXG", "VBN", "JJS", "RBR", "MD", "-LRB-", "")] == [
        "NNP", "VB", "VB", "JJ", "RB", "MD", "-LRB-", "",
    ]  # fmt: skip


def test_brackets_are_spelled_by_side_and_shape():
    assert {name[1] for sign, name in penn.BRACKETS.items() if sign in "([{"} == {"L"}
    assert {name[1] for sign, name in penn.BRACKETS.items() if sign in ")]}"} == {"R"}
    assert [penn.BRACKETS[sign][2:4] for sign in "([{"] == ["RB", "SB", "CB"]
