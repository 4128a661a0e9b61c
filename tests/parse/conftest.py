"""Parsers that several tests use."""

from __future__ import annotations

import pytest

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.parse import PCFGParser


@pytest.fixture(scope="session")
def garden() -> sw.TreeArray:
    """The trees of the nursery."""
    return sw.TreeArray([sentence.tree for sentence in nursery.grow().sentences])


@pytest.fixture(scope="session")
def gardener(garden) -> PCFGParser:
    """A parser learnt from the nursery."""
    return PCFGParser().fit(garden[:400])
