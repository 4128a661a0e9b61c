"""The experiment on parsing, on trees that the nursery grows."""

from __future__ import annotations

import pytest

from sapwood.corpora import nursery
from sapwood.experiments import Setting, run
from sapwood.experiments.measuring import growth


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("sapwood.corpora.catalog.nltk_search_path", list)
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    (tmp_path / "treebank/combined").mkdir(parents=True)
    trees = [f"( {one.tree})" for one in nursery.generate(size=120).sentences]
    for number in range(1, 11):
        part = "\n".join(trees[12 * number - 12 : 12 * number])
        (tmp_path / f"treebank/combined/wsj_{number:04}.mrg").write_text(part)
    return tmp_path


def test_every_table_comes_and_names_its_data(folder):
    setting = Setting(data=folder)
    tables = {table.name: table for table in run("parsing", setting)}
    # There is no web treebank here.
    assert list(tables) == ["sample", "curve", "cost"]
    assert list(setting.read) == ["penn-sample"]
    assert [row[0] for row in tables["curve"].rows][-1] == 108
    best = dict(zip(tables["sample"].columns, tables["sample"].rows[1], strict=True))
    assert best["F1"] == pytest.approx(tables["curve"].rows[-1][1])
    assert best["oracle of 30"] >= best["F1"]
    assert "Time grows with the power" in tables["cost"].notes[0]


def test_the_power_is_that_of_the_lengths():
    lengths = [5, 10, 40]
    assert growth(lengths, [0.5 * length**3 for length in lengths]) == pytest.approx(3)
