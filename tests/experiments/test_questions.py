"""The experiment on questions, on a handful that the nursery grows: every table comes, and twice the same."""

from __future__ import annotations

import json

import pytest

from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.corpora.kelp import KelpExample
from sapwood.corpora.questions import Question
from sapwood.errors import DataError
from sapwood.experiments import Setting, run
from sapwood.tasks.questions.views import lexical_tree
from sapwood.words import WordNet


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    try:
        WordNet()("dog", "cat")
    except DataError:
        pytest.skip("WordNet is not on this machine")
    place = tmp_path_factory.mktemp("data")
    grown = [one for one in nursery.generate().sentences if one.label is not None]
    for part, kelp, chosen in (("train", "train_5500.coarse", grown[:90]), ("test", "TREC_10.coarse", grown[100:130])):
        questions = [Question(*one.label, one.tree.leaves(), one.tree) for one in chosen]
        (place / "trec-qc-trees").mkdir(exist_ok=True)
        (place / "trec-qc-kelp").mkdir(exist_ok=True)
        corpora.questions.write(questions, place / "trec-qc-trees" / f"{part}.tsv", format="trees")
        trees = [lexical_tree(one.tree) for one in questions if one.tree is not None]
        examples = [KelpExample((q.coarse,), trees={"lct": t}) for q, t in zip(questions, trees, strict=True)]
        corpora.kelp.write(examples, place / "trec-qc-kelp" / f"{kelp}.klp")
    return place


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch):
    """Only the folder of the test counts, whatever is on the machine."""
    monkeypatch.setattr("sapwood.corpora.catalog.nltk_search_path", list)
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)


def test_every_table_comes_in_order_and_the_same_again(folder, tmp_path, capsys):
    out = tmp_path / "tables.json"
    assert main(["experiment", "questions", "--data", str(folder), "--json", str(out)]) == 0
    tables = json.loads(out.read_text())["tables"]
    assert [table["name"] for table in tables] == ["validation", "test", "leaves", "curve", "time"]
    validation, test = tables[0], tables[1]
    assert [row[0] for row in validation["rows"]] == [row[0] for row in test["rows"]]
    assert sum(row[3] is not None for row in validation["rows"]) == 2
    assert all(0 <= row[1] <= 100 for row in test["rows"])
    assert "Brown corpus is not here" in capsys.readouterr().out
    (curve,) = run("questions", Setting(data=folder, tables=("curve",)))
    record = tables[3].pop("made")
    assert curve.to_json() == tables[3]
    assert record["command"].startswith("sapwood experiment questions --seed 0 --threads ")
    assert set(record["data"]) == {"trec-trees", "trec-kelp", "wordnet"}


def test_missing_data_is_named_with_how_to_get_it(tmp_path):
    with pytest.raises(DataError, match="'trec-trees' was not found"):
        next(iter(run("questions", Setting(data=tmp_path))))
