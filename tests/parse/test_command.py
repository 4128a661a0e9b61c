"""``sapwood train parser`` and ``sapwood parse``, as a user runs them."""

from __future__ import annotations

import io
import json

import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.cli import main
from sapwood.parse import PCFGParser

TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .))",
    "(S (NP (DT a) (NN cat)) (VP (VBZ sleeps)) (. .))",
    "(S (NP (PRP it)) (VP (VBZ sees) (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN cat)))) (. .))",
    "(S (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN dog)))) (VP (VBZ sees) (NP (PRP it))) (. .))",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("parser") / "en.sap"
    sw.save(PCFGParser().fit(TREES), path)
    return str(path)


def test_train(tmp_path, capsys):
    bank = tmp_path / "bank.mrg"
    bank.write_text("\n".join(f"( {tree} )" for tree in TREES))
    out = str(tmp_path / "en.sap")
    assert main(["train", "parser", str(bank), "-o", out, "--beam", "12", "--vertical", "1"]) == 0
    assert "4 trees" in capsys.readouterr().out
    assert sw.load(out).get_params()["beam"] == 12.0
    assert main(["train", "parser", str(bank), str(bank), "-o", out, "--exact", "--no-splits"]) == 0
    assert sw.load(out).get_params()["beam"] is None
    with pytest.raises(SystemExit) as caught:
        main(["train", "parser", str(bank), "-o", out, "--exact", "--beam", "3"])
    assert caught.value.code == 2
    bank.write_text("(NP the dog)")
    assert main(["train", "parser", str(bank), "-o", out]) == 1
    assert "the word 'the'" in capsys.readouterr().err
    assert main(["train", "parser", str(tmp_path / "none.mrg"), "-o", out]) == 1


def test_every_line_is_a_sentence(model, tmp_path, capsys):
    text = tmp_path / "in.txt"
    text.write_text("the dog sees. a cat\nsleeps\n\n")
    assert main(["parse", model, str(text), "--lines", "--format", "jsonl"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["words"] for one in records] == [["the", "dog", "sees", ".", "a", "cat"], ["sleeps"]]
    assert records[1]["offsets"] == [[20, 26]]
    with pytest.raises(SystemExit):
        main(["parse", model, str(text), "--lines", "--tokens"])


def test_text_to_trees(model, tmp_path, capsys):
    text = tmp_path / "in.txt"
    text.write_text("The dog sees a cat. It sleeps.\n\n\n(The) \U0001f600 \x07\x00\n", encoding="utf-8")
    assert main(["parse", model, str(text)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "(S (NP (DT The) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .))"
    assert [" ".join(sw.Tree.fromstring(line).leaves()) for line in lines[1:]] == [
        "It sleeps .",
        "-LRB- The -RRB- \U0001f600",
    ]


def test_n_best_lists_with_offsets(model, tmp_path, capsys):
    text = tmp_path / "in.txt"
    raw = "It sees the man  with a dog."
    text.write_text(raw)
    out = tmp_path / "lists.jsonl"
    assert main(["parse", model, str(text), "--nbest", "30", "--format", "jsonl", "--output", str(out)]) == 0
    assert capsys.readouterr().out == ""
    record = json.loads(out.read_text())
    assert [raw[begin:end] for begin, end in record["offsets"]] == ["It", "sees", "the", "man", "with", "a", "dog", "."]
    (found,) = list(corpora.nbest.read(out))
    assert len(found) > 1
    assert (found.scores[:-1] >= found.scores[1:]).all()
    assert main(["parse", model, str(text), "--nbest", "3"]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith("\n\n")
    assert shown.split("\n")[0] == str(found.parses[0])


def test_words_and_tags_may_be_given(model, tmp_path, capsys):
    lines = tmp_path / "in.txt"
    lines.write_text("a dog sleeps .\n\n   \nit sees it .\n")
    assert main(["parse", model, str(lines), "--tokens"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    lines.write_text("a/DT sees/NN sleeps/VBZ ./.\n")
    assert main(["parse", model, str(lines), "--tagged"]) == 0
    assert "(NN sees)" in capsys.readouterr().out
    lines.write_text("fine/NN\na dog\n")
    assert main(["parse", model, str(lines), "--tagged"]) == 1
    assert f"{lines}:2: 'a' has no tag" in capsys.readouterr().err


def test_standard_input(model, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a cat sleeps."), encoding="utf-8"))
    assert main(["parse", model]) == 0
    assert capsys.readouterr().out == "(S (NP (DT a) (NN cat)) (VP (VBZ sleeps)) (. .))\n"


@pytest.mark.slow
def test_a_line_of_two_thousand_words(model, tmp_path, capsys):
    line = tmp_path / "in.txt"
    line.write_text("the man sees a cat with a dog , " * 223)
    assert main(["parse", model, str(line), "--tokens"]) == 0
    captured = capsys.readouterr()
    assert len(sw.Tree.fromstring(captured.out).leaves()) == 2007
    assert "1 of 1 sentences" in captured.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", ":1:1: the byte 0xff is not valid utf-8;"),
        (b"fine\n\xe4", ":2:1: the byte 0xe4 is not valid utf-8;"),
    ],
)
def test_bytes_that_are_no_text(model, tmp_path, capsys, content, message):
    text = tmp_path / "in.txt"
    text.write_bytes(content)
    assert main(["parse", model, str(text)]) == 1
    assert message in capsys.readouterr().err


def test_nothing_to_parse_and_wrong_models(model, tmp_path, capsys):
    text = tmp_path / "in.txt"
    text.write_text("")
    assert main(["parse", model, str(text)]) == 0
    assert capsys.readouterr().out == ""
    assert main(["parse", model, str(tmp_path / "none.txt")]) == 1
    sw.save(sw.TreeArray(TREES), tmp_path / "trees.sap")
    assert main(["parse", str(tmp_path / "trees.sap"), str(text)]) == 1
    assert "not a parser" in capsys.readouterr().err
    assert main(["parse", model, str(text), "--nbest", "1000000"]) == 2


@pytest.mark.slow
def test_probabilities_and_trees_of_least_risk(model, tmp_path, capsys):
    text = tmp_path / "in.txt"
    text.write_text("It sees the man with a dog.")
    parser = sw.load(model)
    chart = parser.chart(["It", "sees", "the", "man", "with", "a", "dog", "."])
    assert main(["parse", model, str(text), "--probabilities", "--format", "jsonl"]) == 0
    record = json.loads(capsys.readouterr().out)
    whole = chart.to_dict()
    assert {name: record[name] for name in ("constituents", "tags", "entropy")} == {
        name: whole[name] for name in ("constituents", "tags", "entropy")
    }
    # The tree is the one that is given without probabilities.
    assert record["parses"][0][1] == str(parser.parse(chart.words))
    assert main(["parse", model, str(text), "--probabilities", "--format", "text"]) == 0
    assert capsys.readouterr().out == chart.text(parser.parse(chart.words)) + "\n\n"
    for tree in (chart.minimum_risk(), chart.best()):
        name = "best" if tree == chart.best() else "minimum-risk"
        assert main(["parse", model, str(text), "--tree", name]) == 0
        assert capsys.readouterr().out == f"{tree}\n"
    assert main(["parse", model, str(text), "--tree", "minimum-risk", "--format", "jsonl"]) == 0
    (score, _) = json.loads(capsys.readouterr().out)["parses"][0]
    assert score is None or score == pytest.approx(chart.log_probability(chart.minimum_risk()))
    assert main(["parse", model, str(text), "--format", "text"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["S", "├─ NP"]
    for wrong, said in (
        (["--probabilities"], "choose --format text or jsonl"),
        (["--tree", "minimum-risk", "--nbest", "2"], "leave one of the two out"),
        (["--format", "text", "--nbest", "2"], "choose mrg or jsonl"),
        (["--tagged", "--tree", "minimum-risk"], "leave it out"),
    ):
        assert main(["parse", model, str(text), *wrong]) == 2
        assert said in capsys.readouterr().err


def test_where_there_is_no_chart_the_tree_is_that_of_parsing(tmp_path, capsys):
    short = str(tmp_path / "short.sap")
    sw.save(PCFGParser(max_length=4).fit(TREES), short)
    text = tmp_path / "in.txt"
    text.write_text("It sees the man with a dog.")
    assert main(["parse", short, str(text), "--tree", "minimum-risk", "--probabilities", "--format", "jsonl"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["how"], "constituents" in record) == ("pieces", False)


def test_lists_of_span_parsers(tmp_path, capsys):
    from specimens import untrained_span_parser

    path = str(tmp_path / "spans.sap")
    sw.save(untrained_span_parser(), path)
    text = tmp_path / "in.txt"
    text.write_text("the dog\n")
    assert main(["parse", path, str(text), "--tokens", "--nbest", "3"]) == 0
    assert len(capsys.readouterr().out.split("\n")) == 3 + 2
    assert main(["parse", path, str(text), "--tagged"]) == 2
    assert "--tagged needs a PCFGParser" in capsys.readouterr().err
    flat = str(tmp_path / "flat.sap")
    sw.save(sw.parse.FlatParser(), flat)
    assert main(["parse", flat, str(text), "--probabilities", "--format", "text"]) == 2
    assert "need a PCFGParser or a SpanParser" in capsys.readouterr().err
