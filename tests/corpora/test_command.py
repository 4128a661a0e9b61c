from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sapwood.cli import main
from sapwood.corpora.catalog import CATALOG


def run(*arguments: object) -> int:
    return main(["data", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sapwood.corpora.catalog.nltk_search_path", list)
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    (tmp_path / "questionbank").mkdir()
    (tmp_path / "questionbank" / "4000qs.txt").write_text("(SBARQ (WP Why))\n" * 3)
    return tmp_path


@pytest.mark.slow
def test_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--data", str(folder)) == 0
    shown = capsys.readouterr().out
    assert "not a benchmark" in shown
    assert "3 trees" in shown
    assert "sapwood data get penn-sample" in shown.split("Not found:")[1]


@pytest.mark.slow
def test_json_and_environment(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAPWOOD_DATA", str(folder))
    assert run("--json", "-") == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == len(CATALOG) + 1
    found = {row["name"]: row for row in rows}
    assert found["questionbank"]["counts"] == {"trees": 3}
    assert found["quora"]["path"] is None
    assert found["quora"]["obtain"]


def test_exit_codes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("no-such-corpus") == 2
    assert run("--data", str(folder / "nowhere")) == 2
    assert "is no folder" in capsys.readouterr().err
    (folder / "questionbank" / "4000qs.txt").write_text("(SBARQ (WP Why)\n")
    assert run("--data", str(folder), "questionbank") == 1
    assert "4000qs.txt:1:1: this bracket is never closed" in capsys.readouterr().out
    assert run("--data", str(folder), "--no-count", "questionbank") == 0


def test_the_command_line_is_described_without_heavy_imports() -> None:
    import subprocess

    code = (
        "import sys; from sapwood.cli import data, score; data.COMMAND, score.COMMAND;"
        "assert not {'numpy', 'sklearn', 'nltk'} & set(sys.modules), 'heavy'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_everything_at_hand_is_found(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--data", str(data), "--no-count", "--json", "-") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows if row["path"] is None] == ["penn-treebank"]
