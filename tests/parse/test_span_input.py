"""Odd input to span parsers: long words and lines, other scripts, one tree, encoders that are not there."""

from __future__ import annotations

import io
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

import sapwood as sw
from sapwood.cli import main
from sapwood.errors import ModelFileError
from sapwood.parse import SpanParser
from sapwood.parse.spans.labels import SpanVocabulary
from sapwood.words.encoder import EncoderSpec
from sapwood.words.encoder.places import KNOWN
from specimens import SPANS, untrained_span_parser

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")


@pytest.fixture
def model(tmp_path) -> str:
    path = str(tmp_path / "spans.sap")
    sw.save(untrained_span_parser(), path)
    return path


def parsed(model: str, text: str, capsys, monkeypatch, *more: str) -> list[sw.Tree]:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    assert main(["parse", model, *more]) == 0
    return [sw.Tree.fromstring(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    "lines",
    [
        ["x" * 10_000],
        ["the dog", "", "   ", "\t", "dog"],
        ["дом стоит", "שלום עולם", "中文 日本語", "🙂 👩‍👩‍👧", "e\u0301a"],
        ["-LRB- the -RRB-", "``"],
    ],
    ids=["a long word", "empty lines", "other scripts", "brackets and quotes"],
)
def test_lines_of_words(model, lines, capsys, monkeypatch):
    found = parsed(model, "\n".join(lines) + "\n", capsys, monkeypatch, "--tokens")
    assert [tree.leaves() for tree in found] == [tuple(line.split()) for line in lines if line.split()]


@pytest.mark.slow
def test_a_line_of_two_thousand_words(model, capsys, monkeypatch):
    (tree,) = parsed(model, " ".join(["dog"] * 2000), capsys, monkeypatch, "--tokens")
    assert tree.leaves() == ("dog",) * 2000


def test_nothing_to_parse(model, capsys, monkeypatch):
    assert parsed(model, "\n\n", capsys, monkeypatch) == []
    parser = untrained_span_parser()
    assert len(parser.parse_batch([])) == 0
    assert list(parser.charts([])) == []
    assert parser.parse_text(" \n ") == []


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize("learner", ["grammar", "network"])
def test_a_treebank_of_one_tree(learner, tmp_path, capsys):
    (tmp_path / "one.mrg").write_text("( (S (NP (NN rain)) (VP (VBD fell))) )")
    out = str(tmp_path / "one.sap")
    arguments = ["train", "parser", str(tmp_path / "one.mrg"), "-o", out, "--learner", learner]
    if learner == "network":
        arguments += ["--epochs", "1", "--validation", str(tmp_path / "one.mrg")]
    assert main(arguments) == 0
    assert sw.load(out).parse(["rain", "fell"]).leaves() == ("rain", "fell")
    (tmp_path / "one.mrg").write_text("")
    assert main(arguments) == 1
    assert "tree" in capsys.readouterr().err


def test_a_model_whose_encoder_is_not_there(tmp_path, capsys, monkeypatch):
    """It says which encoder, and how to get it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "nowhere"))
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    parser = untrained_span_parser()
    weights = dict(parser._network.weights)
    weights |= {"dense": np.zeros((12, 3), np.float32), "dense_bias": np.zeros(3, np.float32)}
    wide = {"first": 27, "last": 27}
    weights |= {name: np.zeros(size, np.float32) for name, size in wide.items()}
    weights |= {f"lstm_input_{side}": np.zeros((27, 32), np.float32) for side in (0, 1)}
    spec = EncoderSpec("minilm", KNOWN["minilm"].sha256, (1,), "ends", "int8")
    needy = SpanParser(**SPANS)
    needy._set(type(parser._network)(parser._network.features, weights), parser.vocabulary_, spec)
    path = str(tmp_path / "needy.sap")
    sw.save(needy, path)
    with pytest.raises(ModelFileError, match=r"the encoder 'minilm' .*all-MiniLM-L6-v2.* sapwood data get minilm"):
        sw.load(path).parse(["rain"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"It rains."), encoding="utf-8"))
    assert main(["parse", path]) == 1
    assert "sapwood data get minilm" in capsys.readouterr().err
    # Other encoders have no command, but the folders that were looked into.
    needy._spec = replace(spec, name="some-encoder")
    with pytest.raises(ModelFileError, match=r"the encoder 'some-encoder' is not on this machine; pass its folder"):
        needy.parse(["rain"])


def test_emoji_are_no_words():
    scores = np.array([[3, 1, 0], [9, 8, 1], [0, 2, 1]], np.float32)
    vocabulary = SpanVocabulary((("S",),), ("NN", ",", "NFP"), "")
    assert vocabulary.with_emoji(["rain", "🙏🏽", "🇩🇪"], scores).argmax(axis=1).tolist() == [0, 2, 2]
    assert vocabulary.with_emoji(["rain", ":-RRB-", ","], scores) is scores
    # Where there is no tag for what is no word, the network decides.
    without = replace(vocabulary, tags=("NN", ",", "SYM"))
    assert without.with_emoji(["rain", "🙏🏽", "🇩🇪"], scores).argmax(axis=1).tolist() == [0, 0, 1]
