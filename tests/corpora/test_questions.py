from __future__ import annotations

import io
from pathlib import Path

import pytest

from sapwood import corpora
from sapwood.corpora.questions import Question
from sapwood.errors import BracketError, DataError, FormatError, ParameterError
from sapwood.trees import Tree

ROW = "NUM\tdist\tHow far ?\t(S1 (X (WRB How) (RB far) (. ?)))\t(X ( )(WRB How)(RB far)(. ?))\n"


def test_both_formats_are_told_apart() -> None:
    published, table = io.StringIO("LOC:city What city ?\n"), io.StringIO(ROW)
    first, second = list(corpora.questions.read([published, table]))
    assert (first.label, first.words, first.tree) == ("LOC:city", ("What", "city", "?"), None)
    assert second.tree == Tree.fromstring("(S1 (X (WRB How) (RB far) (. ?)))")
    assert second.gold == Tree.fromstring("(X (WRB How) (RB far) (. ?))")


def test_round_trips(tmp_path: Path) -> None:
    questions = list(corpora.questions.read(io.StringIO(ROW + "LOC\tcity\tWhere ?\t\t\n")))
    corpora.questions.write(questions, tmp_path / "q.tsv.gz", format="trees")
    assert list(corpora.questions.read(tmp_path / "q.tsv.gz")) == questions
    plain = [Question(one.coarse, one.fine, one.words) for one in questions]
    corpora.questions.write(plain, tmp_path / "q.txt")
    assert list(corpora.questions.read(tmp_path / "q.txt")) == plain


@pytest.mark.parametrize(
    "question",
    [
        Question("NUM", "x y", ("a",)),
        Question("NUM", "x", ()),
        Question("", "x", ("a",)),
    ],
)
def test_what_cannot_be_written_is_refused(question: Question, tmp_path: Path) -> None:
    for way in ("published", "trees"):
        if (way, question.fine) != ("trees", "x y"):
            with pytest.raises(DataError):
                corpora.questions.write([question], tmp_path / "x", format=way)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("NUM\tdist\tHow far ?\t(S1)\n", "expected 5 columns"),
        ("NUM\t\tHow far ?\t\t\n", "is empty"),
        ("NUM\tdist\tHow far ?\t(X (A How) (B near) (C ?))\t\n", "not those of the question"),
        ("NUM\tdist\tHow far ?\t(A a) (B b)\t\n", "expected one tree here, found 2"),
    ],
)
def test_faults_in_tables(text: str, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(corpora.questions.read(io.StringIO(ROW + text)))
    assert reason in caught.value.reason
    assert caught.value.line == 2


def test_faults_in_published_files_and_trees() -> None:
    with pytest.raises(FormatError, match=":2:1: expected 'COARSE:fine question'"):
        list(corpora.questions.read(io.StringIO("NUM:dist How far ?\nHow far ?\n")))
    with pytest.raises(BracketError, match=r":2:20: this bracket is never closed"):
        list(corpora.questions.read(io.StringIO(ROW + "NUM\tdist\tHow far ?\t(X (A How) (B far) (C ?)\t\n")))
    with pytest.raises(ParameterError, match="format must be"):
        next(corpora.questions.read(io.StringIO(ROW), format="xml"))  # type: ignore[arg-type]


@pytest.mark.slow
def test_counts(data: Path) -> None:
    packed = data / "nltk-zips/qc.zip/qc"
    train = list(corpora.questions.read(packed / "train.txt", encoding="latin-1"))
    test = list(corpora.questions.read(packed / "test.txt"))
    assert (len(train), len(test)) == (5452, 500)
    assert len({question.coarse for question in train}) == 6
    assert len({question.label for question in train}) == 50
    with pytest.raises(FormatError, match="is not valid utf-8; save the file as UTF-8 or pass its encoding"):
        list(corpora.questions.read(packed / "train.txt"))


@pytest.mark.slow
def test_counts_with_trees(data: Path) -> None:
    for name, rows, gold in (("train", 5452, 2399), ("test", 500, 462)):
        questions = list(corpora.questions.read(data / f"trec-qc-trees/{name}.tsv.gz"))
        assert len(questions) == rows
        assert sum(question.gold is not None for question in questions) == gold
        assert all(question.tree is not None for question in questions)
