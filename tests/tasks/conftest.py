"""Questions that the nursery grows, once for all tests."""

from __future__ import annotations

import pytest

from sapwood.corpora import nursery


@pytest.fixture(scope="session")
def grown():
    """Sentences of the nursery that are labelled questions."""
    return [one for one in nursery.generate().sentences if one.label is not None]
