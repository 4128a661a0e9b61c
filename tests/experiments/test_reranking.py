"""The experiment on reranking, on lists that the nursery grows: every table comes, and twice the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sapwood import corpora
from sapwood.corpora import nursery
from sapwood.errors import DataError
from sapwood.experiments import Setting, reranking, run
from sapwood.metrics import parseval
from sapwood.tasks.reranking import RERANKING_RULES


@pytest.fixture(scope="module")
def lists():
    return [replace(one, fold=at % 3) for at, one in enumerate(nursery.generate(size=150).forests(limit=6))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, lists):
    place = tmp_path_factory.mktemp("data")
    (place / "nbest-wsj-sample").mkdir()
    corpora.nbest.write(lists, place / "nbest-wsj-sample" / "lists.jsonl")
    return place


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch):
    """Only the folder of the test counts, whatever is on the machine."""
    monkeypatch.setattr("sapwood.corpora.catalog.nltk_search_path", list)
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    monkeypatch.setattr(reranking, "_SAMPLES", 200)
    monkeypatch.setattr(reranking, "_KERNELS", ((0.3, 0.01), (0.3, 0.1)))
    monkeypatch.setattr(reranking, "_NETWORK_EPOCHS", 2)
    monkeypatch.setattr(reranking, "_KERNEL_EPOCHS", 3)
    monkeypatch.setattr(reranking, "_MEMBERS", 2)


def test_the_rows_are_what_parseval_says_and_come_twice_the_same(folder, lists):
    (table,) = run("reranking", Setting(data=folder, tables=("bllip",)))
    rows = {row[0]: row for row in table.rows}
    gold = [one.gold for one in lists]
    first = parseval(gold, [one.parses[int(one.scores.argmax())] for one in lists], rules=RERANKING_RULES).overall
    assert rows["parser's first choice"][1:4] == pytest.approx(
        (100 * first.recall, 100 * first.precision, 100 * first.f1)
    )
    # The right tree is in every list of the nursery.
    assert rows["oracle"][3] == 100.0
    learners = [f"{name}{how}" for name in ("kernel", "network", "both") for how in ("", ", consensus")]
    for name in ("parser, consensus", *learners, "oracle"):
        gain, low, high = rows[name][-3:]
        assert gain == pytest.approx(rows[name][3] - 100 * first.f1)
        assert low <= gain <= high
    assert rows["kernel"][-2] > 0
    (again,) = run("reranking", Setting(data=folder, tables=("bllip",)))
    assert again.rows == table.rows


def test_a_stopped_run_goes_on_from_the_cache(folder, tmp_path, monkeypatch):
    setting = Setting(data=folder, cache=tmp_path, tables=("bllip",))
    done = []
    fold = reranking._fold

    def counted(lists, at, seed):
        if at == 2 and 2 not in done:
            done.append(2)
            raise KeyboardInterrupt
        done.append(at)
        return fold(lists, at, seed)

    monkeypatch.setattr(reranking, "_fold", counted)
    with pytest.raises(KeyboardInterrupt):
        list(run("reranking", setting))
    (table,) = run("reranking", setting)
    assert done == [0, 1, 2, 2]
    (again,) = run("reranking", setting)
    assert done == [0, 1, 2, 2]
    assert again.to_json() == table.to_json()


def test_own_lists_are_made_by_the_parser_and_kept(tmp_path):
    (tmp_path / "treebank/combined").mkdir(parents=True)
    trees = [f"( {one.tree})" for one in nursery.generate(size=40).sentences]
    (tmp_path / "treebank/combined/wsj_0001.mrg").write_text("\n".join(trees))
    setting = Setting(data=tmp_path, cache=tmp_path / "cache", tables=("own", "own-40"))
    table, short = run("reranking", setting)
    assert [table.name, short.name] == ["own", "own-40"]
    # All sentences of the nursery have fewer than 40 words.
    assert short.rows == table.rows
    assert {row[0]: row for row in table.rows}["oracle"][-3] >= 0
    assert list(setting.read) == ["penn-sample"]
    (tmp_path / "treebank/combined/wsj_0001.mrg").unlink()
    again, _ = run("reranking", setting)
    assert again.to_json() == table.to_json()


def test_long_sentences_are_learnt_from_and_not_scored(folder, lists, monkeypatch):
    words = [len(one.gold.leaves()) for one in lists]
    most = sorted(words)[len(words) // 2]
    monkeypatch.setitem(reranking._PUBLISHED, most, "")
    short = [one for one, count in zip(lists, words, strict=True) if count <= most]
    (table,) = reranking._compare(Setting(data=folder), "toy", "toys", lists, {"toy": most})
    first = parseval(
        [one.gold for one in short],
        [one.parses[int(one.scores.argmax())] for one in short],
        rules=RERANKING_RULES,
    ).overall
    assert table.rows[0][3] == pytest.approx(100 * first.f1)
    assert f"{len(short)} of {len(lists)} sentences" in table.title


def test_bad_lists_are_named(folder, tmp_path, lists):
    with pytest.raises(DataError, match="nbest-wsj' was not found"):
        next(iter(run("reranking", Setting(data=tmp_path))))
    corpora.nbest.write([replace(one, fold=None) for one in lists], tmp_path / "nbest-own.jsonl.xz")
    with pytest.raises(DataError, match="at least three folds"):
        next(iter(run("reranking", Setting(data=folder, cache=tmp_path, tables=("own",)))))
