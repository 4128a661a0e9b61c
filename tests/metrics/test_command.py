from __future__ import annotations

import json
from pathlib import Path

import pytest

from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.trees import write_trees

GOLD = "(TOP (S (NP (NN rain)) (VP (VBZ falls) (ADVP (RB down)))))\n(TOP (S (NP (NN snow)) (VP (VBZ melts))))\n"
PARSES = "(TOP (S (NP (NN rain)) (VP (VBZ falls)) (PRT (RB down))))\n(TOP (S (NP (NN snow)) (VP (VBZ melts))))\n"


def run(*arguments: object) -> int:
    return main(["score", *map(str, arguments)])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.mrg").write_text(GOLD)
    (tmp_path / "parse.mrg").write_text(PARSES)
    (tmp_path / "gold.txt").write_text("A\nB\nA\nNONE\n" * 10)
    (tmp_path / "one.txt").write_text("A\nB\nB\nNONE\n" * 10)
    (tmp_path / "two.txt").write_text("A\nA\nB\nA\n" * 10)
    return tmp_path


def test_parses(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("parses", files / "gold.mrg", files / "parse.mrg", "--json", "-") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["all"]["matched"], result["all"]["gold"], result["all"]["predicted"]) == (6, 7, 7)
    assert result["<=40"] == result["all"]
    assert run("parses", files / "gold.mrg", files / "parse.mrg") == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].split()[:6] == ["length", "trees", "LR", "LP", "F1", "CB"]
    assert table[1].split()[:5] == ["all", "2", "85.71", "85.71", "85.71"]


def test_sentences_with_other_punctuation_are_told_of(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "g.mrg").write_text("(S (NN a) ('' '))\n" * 12)
    (files / "p.mrg").write_text("(S (NN a) (POS '))\n" * 12)
    assert run("parses", files / "g.mrg", files / "p.mrg") == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].split()[:5] == ["all", "12", "100.00", "100.00", "100.00"]
    assert "so evalb leaves out: 12 (tree 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12). The gold tags decided" in " ".join(
        out.split()
    )
    assert all(len(line) <= 80 for line in out.splitlines())
    assert run("parses", files / "g.mrg", files / "g.mrg") == 0
    assert "punctuation" not in capsys.readouterr().out


def test_what_evalb_leaves_out_is_named(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "g.mrg").write_text("(S (NN a) ('' '))\n" * 30)
    (files / "p.mrg").write_text("(S (NN a) ('' '))\n" * 3 + "(S (NN a) (POS '))\n" * 26 + "(S (NN b))\n")
    assert run("parses", files / "g.mrg", files / "p.mrg", "--punctuation", "own", "--json", files / "x.json") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "different words: 27 (tree 4, 5, 6" in out
    assert "23 and 7 more)" in out
    result = json.loads((files / "x.json").read_text())
    assert result["left_out"] == {
        "errors": list(range(4, 31)), "skipped": [], "retagged": list(range(4, 30))
    }  # fmt: skip
    assert result["all"]["matched"] == 3
    assert run("parses", files / "g.mrg", files / "p.mrg", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["left_out"]["errors"] == [30]


def test_tags(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "p.mrg").write_text(PARSES.replace("(NN snow)", "(NNP snow)"))
    assert run("tags", files / "gold.mrg", files / "p.mrg", "--json", "-") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["count"], result["accuracy"]) == (5, 0.8)
    assert result["classes"]["NN"] == {
        "precision": 1.0,
        "recall": 0.5,
        "f1": 2 / 3,
        "gold": 2,
        "predicted": 1,
        "correct": 1,
    }


def test_parsers_are_evaluated_on_treebanks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sapwood.files import save
    from sapwood.metrics import parseval, score_tags
    from sapwood.parse import PCFGParser

    trees = nursery.generate(size=60).trees
    parser = PCFGParser().fit(trees[:40])
    save(parser, tmp_path / "en.sap")
    write_trees(trees[40:], tmp_path / "gold.mrg")
    assert main(["evaluate", str(tmp_path / "en.sap"), str(tmp_path / "gold.mrg"), "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    found = parser.parse_batch(trees[40:].leaves())
    assert result["all"]["f1"] == parseval(trees[40:], found).overall.f1 < 1
    assert result["tags"]["accuracy"] == score_tags(trees[40:], found).accuracy
    assert main(["evaluate", str(tmp_path / "en.sap"), str(tmp_path / "gold.mrg")]) == 0
    assert f"Tags, punctuation included: {100 * result['tags']['accuracy']:.2f}." in capsys.readouterr().out
    assert main(["predict", str(tmp_path / "en.sap"), str(tmp_path / "gold.mrg")]) == 2
    assert "use: sapwood parse" in capsys.readouterr().err


def test_parameter_files_and_more_labels_to_delete(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "x.prm").write_text("LABELED 0\nDELETE_LABEL TOP\n")
    assert (
        run("parses", files / "gold.mrg", files / "parse.mrg", "--prm", files / "x.prm", "--delete", "S", "--json", "-")
        == 0
    )
    assert json.loads(capsys.readouterr().out)["all"]["gold"] == 5


def test_labels(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("labels", files / "gold.txt", files / "one.txt", "--ignore", "NONE", "--json", "-") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["accuracy"] == 0.75
    assert result["micro"]["f1"] == pytest.approx(2 / 3)
    assert run("labels", files / "gold.txt", files / "one.txt") == 0
    assert "accuracy 75.00 on 40 items" in capsys.readouterr().out


def test_rankings(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "r.tsv").write_text("a\t1\t0.5\na\t0\t0.7\nb\t3\t2\nb\t1\t1\n")
    assert run("ranking", files / "r.tsv", "--at", "1", "--at", "2", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["setwise"] == {"1": 0.5, "2": 0.0}
    (files / "r.tsv").write_text("a\t1\t0.5\na\t0\n")
    assert run("ranking", files / "r.tsv") == 1
    assert "r.tsv:2:1: expected a group, a relevance and a score" in capsys.readouterr().err


def test_nbest_lists(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    garden = nursery.generate(size=30)
    corpora.nbest.write(garden.forests(), files / "n.jsonl")
    assert run("nbest", files / "n.jsonl", "--json", "-") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["oracle"]["f1"] == 1.0
    assert result["groups"] == 30
    assert run("nbest", files / "n.jsonl") == 0
    assert "L1" in capsys.readouterr().out


def test_comparing_labels_and_parses(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run("compare", files / "gold.txt", files / "one.txt", files / "two.txt", "--samples", "200", "--json", "-") == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert (result["first"], result["second"]) == (0.75, 0.25)
    assert result["mcnemar"]["p_value"] < 1e-3
    assert result["bootstrap"]["low"] > 0
    trees = nursery.generate(size=60)
    write_trees(trees.trees, files / "g.mrg")
    write_trees([trees.forest(number).parses[0] for number in range(60)], files / "p.mrg")
    assert run("compare", files / "g.mrg", files / "g.mrg", files / "p.mrg", "--trees", "--samples", "200") == 0
    assert capsys.readouterr().out.startswith("F1: first 100.00, second ")


def test_exit_codes(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("labels", files / "gold.txt", files / "none.txt") == 1
    assert "no such file" in capsys.readouterr().err
    (files / "short.txt").write_text("A\n\n")
    assert run("labels", files / "gold.txt", files / "short.txt") == 1
    assert "short.txt:2:1: a blank line" in capsys.readouterr().err
    compare = ("compare", files / "gold.txt", files / "one.txt", files / "two.txt")
    for wrong in ((*compare, "--samples", "0"), ("ranking", files / "r.tsv", "--at", "0"), ("nonsense",)):
        with pytest.raises(SystemExit) as caught:
            run(*wrong)
        assert caught.value.code == 2
