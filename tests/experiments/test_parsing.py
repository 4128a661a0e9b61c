"""The experiment on parsing, on trees that the nursery grows."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.experiments import Setting, run
from sapwood.experiments.measuring import growth
from sapwood.experiments.parsing import adapting, models, networks, treebanks


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


_SPAN_TABLES = ("spans-web", "spans-articles", "spans-sample", "spans-length", "spans-calibration")


@pytest.fixture
def web(folder, monkeypatch):
    """The same with a web treebank and articles beside, and span parsers that are trained in no time."""
    pytest.importorskip("torch", reason="span parsers are trained with PyTorch")
    trees = [tree for tree in nursery.generate(size=200, seed=1).trees if tree.label == "S"][:90]
    (folder / "ewt-propbank").mkdir()
    (folder / "craft-treebank").mkdir()
    for name, some in (("train", trees[:60]), ("dev", trees[60:75]), ("test", trees[75:])):
        sw.write_trees(some, folder / f"ewt-propbank/{name}.trees")
    for number in range(10):
        lines = [f"( {tree})" for tree in trees[9 * number : 9 * number + 8]]
        (folder / f"craft-treebank/1153{number}.tree").write_text("\n".join([*lines, "( (TITLE (NN rain)))"]))
    quick = {name: replace(recipe, epochs=1) for name, recipe in models.MODELS.items() if not recipe.encoder}
    monkeypatch.setattr(models, "MODELS", quick)
    monkeypatch.setattr(networks, "MODELS", quick)
    tests = {name: tuple(one for one in some if one[0] in quick) for name, some in networks._TESTS.items()}
    monkeypatch.setattr(networks, "_TESTS", tests)
    monkeypatch.setattr(networks, "_SHOWN", ("web-plain",))
    return folder


def test_articles_are_split_by_number_and_hold_sentences(web):
    setting = Setting(data=web)
    parts = {name: treebanks.part(setting, treebanks.ARTICLES, name) for name in ("train", "dev", "test")}
    assert {name: len(part) for name, part in parts.items()} == {"train": 64, "dev": 8, "test": 8}
    assert {tree.label for part in parts.values() for tree in part} == {"S"}


@pytest.mark.slow
def test_the_tables_of_span_parsers(web, tmp_path):
    setting = Setting(data=web, cache=tmp_path / "cache", tables=_SPAN_TABLES)
    with sw.options(threads=1):
        tables = {table.name: table for table in run("parsing", setting)}
        again = {table.name: table for table in run("parsing", setting)}
    assert list(tables) == list(setting.tables)
    # What is trained is kept.
    assert tables == again
    assert len(list((tmp_path / "cache").glob("parser-*-state.sap"))) == 3
    rows = [row for name, table in tables.items() if name in networks._TESTS for row in table.rows]
    assert {(row[0], row[4]) for row in rows} == {
        ("web", "web"), ("web + articles", "web"), ("web + articles", "articles"), ("sample", "sample"),
    }  # fmt: skip
    assert sum(row[1] for row in tables["spans-length"].rows) == 15
    # Every constituent is in one row, with the mean of what the chart says of them.
    for row in tables["spans-calibration"].rows:
        low, high = (int(part) for part in row[0].removesuffix(" %").split("-"))
        assert row[1] == 0 or low - 1e-6 <= row[2] <= high + 1e-6


@pytest.mark.slow
def test_the_table_of_adaptation(web, tmp_path, monkeypatch):
    for name, value in (("MODELS", models.MODELS), ("_SIZES", (8,)), ("_EPOCHS", 1), ("_HELD_OUT", 4)):
        monkeypatch.setattr(adapting, name, value)
    setting = Setting(data=web, cache=tmp_path / "cache", tables=("adaptation",))
    with sw.options(threads=1):
        (table,) = run("parsing", setting)
        (again,) = run("parsing", setting)
    assert [row[:2] for row in table.rows] == [
        ["web alone", 0], ["articles alone", 8], ["web, then articles", 8],
    ]  # fmt: skip
    assert table == again
    assert len(list((tmp_path / "cache").glob("adapted-*.sap"))) == 2
