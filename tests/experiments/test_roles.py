"""The experiment on the nursery in the clothes of a corpus: every table is made, and says what it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from sapwood.corpora import nursery, write_joined
from sapwood.corpora.nursery.roles import role_sentences
from sapwood.errors import DataError
from sapwood.experiments import EXPERIMENTS, Setting, roles, run


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    sentences = role_sentences(nursery.grow(size=240))
    (tmp_path / "ewt-propbank").mkdir()
    for part, chosen in {"train": sentences[:140], "dev": sentences[140:180], "test": sentences[180:]}.items():
        write_joined(chosen, tmp_path / "ewt-propbank" / f"{part}.conll.gz")
    for name, value in {"_TRAIN": 150, "_TUNED": 120, "_TEST": 100, "_SIZES": (60, 120, 240)}.items():
        monkeypatch.setattr(roles, name, value)
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    monkeypatch.setattr("sapwood.corpora.catalogue.nltk_search_path", list)
    roles._sentences.cache_clear()
    return Setting(data=tmp_path, cache=tmp_path / "cache")


def test_every_table_is_made(setting: Setting) -> None:
    tables = {table.name: table for table in run("roles", setting)}
    assert len(tables) == 9
    kernels = {row[0]: row for row in tables["kernels ewt-propbank"].rows}
    assert set(kernels) >= {"truncated", "plain", "nodes", "substructures", "both", "flat", "composite", "paf"}
    assert all(row[1] > 60 for row in kernels.values())
    ends = {row[0]: row for row in tables["end-to-end ewt-propbank"].rows}
    assert ends["predicates given"][3] > 85
    assert [row[0] for row in tables["cost"].rows][:2] == [60, 120]
    assert tables["features"].rows[1][0] == "basic, composite"
    # Grams that were kept are used: the same figures come out again.
    assert setting.cache is not None
    assert list(setting.cache.glob("gram-*.npz"))
    again = next(t for t in run("roles", Setting(setting.data, cache=setting.cache, tables=("features",))))
    assert again.rows == tables["features"].rows


def test_without_corpora_it_says_so(setting: Setting, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="see sapwood data"):
        list(run("roles", Setting(data=tmp_path / "empty")))
    assert "kernels" in EXPERIMENTS["roles"].tables
