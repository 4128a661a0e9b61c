"""Roles in the nursery are whole: constituents, no overlaps, and fit to be written."""

from __future__ import annotations

import pytest

from sapwood.corpora import nursery
from sapwood.corpora.columns import cell_rows
from sapwood.trees import Positions


@pytest.mark.slow
def test_every_argument_is_a_constituent_and_no_two_overlap() -> None:
    seen: set[str] = set()
    sentences = nursery.generate(size=600).role_sentences()
    for sentence in sentences:
        assert sentence.tree is not None
        at = Positions(sentence.tree)
        assert cell_rows(sentence)
        for proposition in sentence.propositions:
            assert sentence.words[proposition.predicate]
            for argument in proposition.arguments:
                seen.add(argument.role)
                # What "which agent" asks about stands in a phrase of its own.
                assert at.spanning(*argument.span), (sentence.words, argument)
    assert seen >= {"A0", "A1", "A2", "A3", "AM-LOC", "AM-TMP", "AM-MOD", "AM-NEG", "AM-CAU", "AM-MNR", "R-A1", "V"}
    assert sentences == nursery.generate(size=600).role_sentences()
