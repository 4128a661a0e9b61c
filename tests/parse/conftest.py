"""Parsers that several tests use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sapwood as sw
from parse import fakes
from sapwood.corpora import nursery
from sapwood.parse import PCFGParser
from sapwood.parse.external import benepar, bllip, stanza


@pytest.fixture(scope="session")
def garden() -> sw.TreeArray:
    """The trees of the nursery."""
    return sw.TreeArray([sentence.tree for sentence in nursery.generate().sentences])


@pytest.fixture(scope="session")
def gardener(garden) -> PCFGParser:
    """A parser learnt from the nursery."""
    return PCFGParser().fit(garden[:400])


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The packages of other parsers are those of ``fakes``, and nothing is loaded yet."""
    if fakes.HAS_SPACY:
        from spacy.tokens.underscore import Underscore

        # What spans have beside their own attributes is the same for the whole process.
        monkeypatch.setattr(Underscore, "span_extensions", dict(Underscore.span_extensions))
    fakes.install(monkeypatch.setitem)
    monkeypatch.setattr(fakes.FakeBllip, "_parser_model_loaded", False)
    monkeypatch.setattr(bllip, "_loaded", {})
    for module in (benepar, stanza):
        module._load.cache_clear()
    yield
    for module in (benepar, stanza):
        module._load.cache_clear()
