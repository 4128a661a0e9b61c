"""Roles in the nursery are whole: constituents, no overlaps, and fit to be written."""

from __future__ import annotations

from sapwood.corpora import nursery
from sapwood.corpora.nursery.roles import role_sentences
from sapwood.corpora.props import props_rows
from sapwood.trees import Positions


def test_every_argument_is_a_constituent_and_no_two_overlap() -> None:
    seen: set[str] = set()
    sentences = role_sentences(nursery.grow(size=600))
    for sentence in sentences:
        assert sentence.tree is not None
        at = Positions(sentence.tree)
        assert props_rows(sentence)
        for proposition in sentence.propositions:
            assert sentence.words[proposition.predicate]
            for argument in proposition.arguments:
                seen.add(argument.role)
                # What "which agent" asks about stands in a phrase of its own.
                assert at.spanning(*argument.span), (sentence.words, argument)
    assert seen >= {"A0", "A1", "A2", "A3", "AM-LOC", "AM-TMP", "AM-MOD", "AM-NEG", "AM-CAU", "AM-MNR", "R-A1", "V"}
    assert sentences == role_sentences(nursery.grow(size=600))
