"""The page on decoding shows what the library really answers."""

from __future__ import annotations

import argparse
import doctest
import io
import re
from pathlib import Path

from sapwood.cli.decode import add_parser

PAGE = Path(__file__).parents[2] / "docs" / "decoding.md"


def test_every_example_on_the_page_runs():
    text = re.sub(r"^```.*$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    out: list[str] = []
    runner.run(test, out=out.append)
    assert len(test.examples) > 30
    assert runner.failures == 0, "".join(out)


def test_the_shell_example_is_real(monkeypatch, capsys):
    line, answer = re.search(r"echo '(.*)' \| sapwood decode -\n(.*)\n", PAGE.read_text(encoding="utf-8")).groups()
    monkeypatch.setattr("sys.stdin", io.StringIO(line))
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    args = parser.parse_args(["decode", "-"])
    assert args.run(args) == 0
    assert capsys.readouterr().out.strip() == answer
