"""The sample of the Penn Treebank that NLTK ships: real trees, for tests that skip where it is missing."""

from __future__ import annotations

import io
import zipfile
from functools import cache

import pytest

import sapwood as sw
from paths import TREEBANK


@cache
def sample_texts() -> list[str]:
    """The files of the sample, as text; skips the test that asks where there is none."""
    if not TREEBANK.exists():
        pytest.skip(f"NLTK's treebank sample is not on this machine ({TREEBANK})")
    with zipfile.ZipFile(TREEBANK) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".mrg"))
        return [archive.read(name).decode() for name in names]


@cache
def sample_trees(*, plain: bool = False) -> sw.TreeArray:
    """Every tree of the sample; plain ones have neither traces nor function tags."""
    text = io.StringIO("\n".join(sample_texts()))
    return sw.read_trees(text, drop_traces=plain, drop_function_tags=plain)
