"""What the command prints fits 80 columns: help of every command, and tables."""

from __future__ import annotations

import argparse

import pytest

from sapwood.cli import main
from sapwood.cli.running import build_parser


def parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Every parser below this one, itself included."""
    found = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                found += parsers(below)
    return found


@pytest.fixture(autouse=True)
def _terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_help_of_every_command_fits():
    everything = parsers(build_parser())
    assert len(everything) > 20
    for parser in everything:
        assert [line for line in parser.format_help().splitlines() if len(line) > 80] == [], parser.prog


def test_every_command_and_argument_is_described():
    for parser in parsers(build_parser()):
        assert parser.description, parser.prog
        for action in parser._actions:
            assert action.help or isinstance(action, argparse._SubParsersAction), (parser.prog, action.dest)


def test_the_list_of_corpora_fits(capsys, monkeypatch):
    monkeypatch.setattr("sapwood.corpora.catalog.nltk_search_path", list)
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    assert main(["data", "--no-count"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 80] == []


def test_scores_and_evaluations_fit(tmp_path, capsys):
    trees = tmp_path / "trees.mrg"
    trees.write_text("(S (NP (NN rain)) (VP (VBD fell)))\n" * 3)
    assert main(["score", "parses", str(trees), str(trees)]) == 0
    table = capsys.readouterr().out
    labels = tmp_path / "labels.txt"
    labels.write_text("a\nb\nc\n")
    assert main(["score", "labels", str(labels), str(labels)]) == 0
    table += capsys.readouterr().out
    assert [line for line in table.splitlines() if len(line) > 80] == []
