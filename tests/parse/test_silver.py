"""Silver trees: which are kept, and a parser that learns from them on the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.errors import ParameterError
from sapwood.parse import FlatParser, PCFGParser, silver_trees
from specimens import untrained_span_parser

TREES = nursery.generate(size=200).trees


@pytest.fixture(scope="module")
def teacher() -> PCFGParser:
    return PCFGParser().fit(TREES[:150])


def test_all_trees_or_those_that_are_sure(teacher):
    sentences = [list(tree.leaves()) for tree in TREES[150:]]
    every = list(silver_trees(teacher, sentences))
    assert every == [one.tree for one in teacher.parse_sentences(sentences) if one.how == "parser"]
    sure = list(silver_trees(teacher, iter(sentences), min_probability=0.97))
    assert 0 < len(sure) < len(every)
    for tree in every:
        probable = teacher.chart(tree.leaves()).log_probability(tree) / len(tree.leaves()) >= math.log(0.97)
        assert (tree in sure) == probable
    assert [tree.leaves() for tree in silver_trees(teacher, "The dog saw a cat. A cat saw the dog.")] == [
        ("The", "dog", "saw", "a", "cat", "."), ("A", "cat", "saw", "the", "dog", ".")
    ]  # fmt: skip


def test_charts_of_spans_judge_too():
    spans = untrained_span_parser()
    sentences = [["the"], ["the", "dog"], ["dog"] * 7, ["the", "dog", "the"]] * 6
    every = list(silver_trees(spans, sentences))
    assert every == list(spans.parse_batch(sentences))
    bound = sorted(spans.chart(words).nbest(1).scores[0] / len(words) for words in sentences)[10]
    kept = list(silver_trees(spans, sentences, min_probability=math.exp(bound - 1e-9)))
    assert len(kept) == sum(
        spans.chart(tree.leaves()).nbest(1).scores[0] / len(tree.leaves()) >= bound - 1e-9 for tree in every
    )
    assert 0 < len(kept) < len(every)


def test_long_text_is_read_little_by_little(teacher):
    read = []

    def endless():
        while True:
            read.append(1)
            yield ["the", "dog", "saw", "a", "cat", "."]

    found = silver_trees(teacher, endless())
    next(found)
    assert len(read) <= 256


def test_wrong_arguments(teacher):
    with pytest.raises(ParameterError, match="min_probability"):
        silver_trees(teacher, [], min_probability=1.5)
    with pytest.raises(ParameterError, match="a FlatParser does not say how sure it is"):
        silver_trees(FlatParser(), [], min_probability=0.5)


@pytest.fixture
def files(tmp_path: Path, teacher) -> Path:
    sw.save(teacher, tmp_path / "teacher.sap")
    sw.write_trees(TREES[:30], tmp_path / "gold.mrg")
    text = "\n\n".join(" ".join(tree.leaves()) for tree in TREES[20:])
    (tmp_path / "text.txt").write_text(text)
    return tmp_path


def train(files: Path, *more: object) -> int:
    return main(["train", "parser", str(files / "gold.mrg"), "-o", str(files / "out.sap"), *map(str, more)])


def test_command(files, capsys):
    silver = "--silver", files / "text.txt", "--teacher", files / "teacher.sap"
    assert train(files, *silver, "--gold-copies", 2, "--checkpoint", files / "state.sap", "--learner", "grammar") == 2
    assert "a grammar has no --checkpoint" in capsys.readouterr().err
    assert train(files, *silver, "--gold-copies", 2) == 0
    out = capsys.readouterr().out
    # Ten sentences of the text are those of gold trees; others may occur twice.
    (kept, count) = (int(word) for word in out.split("\n")[0].replace("silver:", "").split() if word.isdigit())
    assert kept <= count <= 170
    assert f"{kept + 60:,} trees" in out
    assert len(sw.load(files / "out.sap").tags_) > 5
    (files / "text.txt").write_text("The child saw the old scarf with a farmer in the garden with this apple.")
    assert train(files, *silver, "--min-probability", 0.999) == 1
    assert "lower --min-probability" in capsys.readouterr().err
    for wrong, said in (
        (["--silver", files / "text.txt"], "go together"),
        (["--teacher", files / "teacher.sap"], "go together"),
        (["--gold-copies", 3], "is about silver trees"),
        (["--min-probability", 0.5], "is about silver trees"),
    ):
        assert train(files, *wrong) == 2
        assert said in capsys.readouterr().err


@pytest.mark.slow
def test_command_goes_on_where_it_was_stopped(files, capsys, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from sapwood.parse import silver

    options = [
        "--learner", "network", "--silver", files / "text.txt", "--teacher", files / "teacher.sap", "--epochs", 1,
        "--checkpoint", files / "state.sap", "--min-probability", 0.9, "--threads", 1,
    ]  # fmt: skip
    original = silver._judged

    def stopped(*arguments):
        for number, tree in enumerate(original(*arguments)):
            if number == 120:
                raise KeyboardInterrupt
            yield tree

    monkeypatch.setattr(silver, "_judged", stopped)
    assert train(files, *options) == 130
    capsys.readouterr()
    asked = []

    def counted(teacher, sentences, least):
        return original(teacher, (asked.append(1) or words for words in sentences), least)

    monkeypatch.setattr(silver, "_judged", counted)
    assert train(files, *options) == 0
    first = capsys.readouterr().out.split("\n")[0]
    count = int(first.split()[-2])
    assert len(asked) == count - 120
    # Finished silver trees are not made again.
    (files / "state.sap").unlink()
    assert train(files, *options) == 0
    assert len(asked) == count - 120
    assert capsys.readouterr().out.split("\n")[0] == first
    assert json.loads(json.dumps(sw.load(files / "out.sap").size()))["labels"] > 3
    # Another text is other work.
    (files / "text.txt").write_text("The dog saw a cat.")
    assert train(files, *options) == 1
    assert "belongs to a run with other data or parameters" in capsys.readouterr().err
