"""``sapwood train questions`` and what follows it."""

from __future__ import annotations

import json

import pytest

from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora.questions import Question

KERNEL = "SubsetTree(decay=0.2).normalized().on('focus') + 0.5 * Linear().normalized().on('words')"


@pytest.fixture(scope="module")
def files(tmp_path_factory, grown):
    place = tmp_path_factory.mktemp("questions")
    for name, chosen in (("train", grown[:120]), ("test", grown[200:260])):
        questions = [Question(*one.label, one.tree.leaves(), one.tree) for one in chosen]
        corpora.questions.write(questions, place / f"{name}.tsv", format="trees")
        corpora.questions.write(questions, place / f"{name}.txt")
    return place


def train(files, *more, data="train.tsv"):
    return main(["train", "questions", str(files / data), "-o", str(files / "q.sap"), *more])


def test_train_evaluate_predict_explain(files, capsys):
    assert train(files, "--kernel", KERNEL) == 0
    assert "support questions of 120, SubsetTree(decay=0.2)" in capsys.readouterr().out
    assert main(["evaluate", str(files / "q.sap"), str(files / "test.tsv"), "--json", "-"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["accuracy"] > 0.8
    assert scores["unparsed"] == 0
    assert main(["predict", str(files / "q.sap"), str(files / "test.tsv"), "--margins"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 60
    assert all(line.split("\t")[1].startswith(f"{line.split(chr(9))[0]}=") for line in lines)
    trees = files / "one.mrg"
    trees.write_text("(SBARQ (WHNP (WP Who)) (SQ (VP (VBD ran))) (. ?))\n")
    assert main(["explain", str(files / "q.sap"), str(trees), "--top", "3"]) == 0
    assert "heaviest fragments" in capsys.readouterr().out


def test_text_without_a_parser_is_flagged(files, capsys, tmp_path):
    assert train(files, "--kernel", KERNEL, "--labels", "fine", data="train.txt") == 0
    assert "120 of them without a parse" in capsys.readouterr().out
    asked = tmp_path / "asked.txt"
    asked.write_text("What food does Hugo eat ?\n\nENTY:food What food does Hugo eat ?\n", encoding="utf-8")
    assert main(["predict", str(files / "q.sap"), str(asked)]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [line[1] for line in lines] == ["unparsed"] * 3
    assert lines[0] == lines[2]
    assert main(["evaluate", str(files / "q.sap"), str(files / "test.txt")]) == 0
    assert "60 questions had no parse" in capsys.readouterr().out


@pytest.mark.slow
def test_tuning_prints_its_trials(files, capsys):
    assert train(files, "--kernel", KERNEL, "--tune", "3") == 0
    out = capsys.readouterr().out
    assert out.count("  svm") == 3
    assert out.count("  ridge") == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"LOC:city Where is K\xf6ln ?\n", "is not valid utf-8; save the file as UTF-8 or pass --encoding"),
        (b"LOC:city Where is it ?\n", "only the class"),
        (b"Where is it ?\n", "expected 'COARSE:fine question'"),
        (b"", "is empty"),
    ],
)
def test_bad_files_are_named(tmp_path, capsys, content, said):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    assert main(["train", "questions", str(path), "-o", str(tmp_path / "q.sap"), "--kernel", KERNEL]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "q.sap").exists()


def test_what_is_no_parser_is_refused(files, capsys):
    assert train(files, "--kernel", KERNEL) == 0
    assert train(files, "--kernel", KERNEL, "--parser", str(files / "q.sap")) == 1
    assert "holds a QuestionClassifier, not a parser" in capsys.readouterr().err


def test_other_encodings_and_labels_unseen_in_training(tmp_path, capsys):
    train, asked, model = tmp_path / "train.txt", tmp_path / "asked.txt", str(tmp_path / "q.sap")
    train.write_text("HUM:ind Who ran ?\nLOC:city Where is it ?\nHUM:ind Who fell ?\nLOC:city Where was he ?\n")
    asked.write_bytes(b"LOC:city Where is K\xf6ln ?\nNUM:dist How far is it ?\n")
    kernel = "SubsetTree(decay=0.2).normalized()"
    assert main(["train", "questions", str(train), "-o", model, "--kernel", kernel]) == 0
    assert main(["predict", model, str(asked)]) == 1
    assert "asked.txt:1:20: the byte 0xf6 is not valid utf-8" in capsys.readouterr().err
    assert main(["predict", model, str(asked), "--encoding", "latin-1"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "LOC\tunparsed"
    assert main(["evaluate", model, str(asked), "--encoding", "latin-1"]) == 0
    assert "1 have a label that was not there in training, and count as wrong: NUM" in capsys.readouterr().out
