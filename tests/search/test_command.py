"""``sapwood nearest`` and ``sapwood duplicates``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sapwood as sw
from sapwood.cli import main
from sapwood.search import TreeIndex

TREES = ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))", "(VP (VB go))", "(NP (DT a) (NN dog))"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "trees.mrg").write_text("\n".join(TREES) + "\n")
    (tmp_path / "queries.mrg").write_text("(NP (DT a) (NN dog))\n")
    return str(tmp_path / "queries.mrg"), str(tmp_path / "trees.mrg")


def test_nearest(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nearest", *files, "--top", "2", "--explain", "1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == TREES[0]
    assert printed[1].split(maxsplit=2) == ["1.0000", "0", TREES[0]]
    assert printed[-1].strip().startswith("exact: no other tree is above 1; 4 compared")
    assert main(["nearest", *files, "--at-least", "0.9", "--json", "-"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert [hit["number"] for hit in found["hits"]] == [0, 3]
    assert found["exact"]


def test_nearest_in_a_saved_index(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sw.save(TreeIndex(TREES), tmp_path / "index.sap")
    assert main(["nearest", files[0], str(tmp_path / "index.sap"), "--top", "1"]) == 0
    assert TREES[0] in capsys.readouterr().out
    assert main(["nearest", files[0], str(tmp_path / "index.sap"), "--kernel", "Subtree().normalized()"]) == 2
    assert "has its own kernel, SubsetTree(decay=0.4).normalized(); leave --kernel out" in capsys.readouterr().err
    sw.save(sw.TreeArray(TREES), tmp_path / "other.sap")
    assert main(["nearest", files[0], str(tmp_path / "other.sap")]) == 1
    assert "holds a TreeArray, not an index of trees" in capsys.readouterr().err


def test_duplicates(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "kept.mrg"
    assert main(["duplicates", files[1], "--output", str(out)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["2 trees: 0, 3", f"  {TREES[0]}", "4 trees, 1 group, 1 tree to spare"]
    assert out.read_text().splitlines() == TREES[:3]
    assert main(["duplicates", files[1], "--json", "-", "--at-least", "0.5"]) == 0
    assert json.loads(capsys.readouterr().out)["groups"] == [{"representative": 0, "members": [0, 1, 3]}]


def test_bad_options(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["duplicates", files[1], "--at-least", "2"]) == 2
    assert "at_least must be a number from 0 to 1" in capsys.readouterr().err
    assert main(["nearest", *files, "--kernel", "SubsetTree()"]) == 2
    assert "is not normalized" in capsys.readouterr().err


@pytest.mark.parametrize("portable", [[], ["--portable"]])
def test_index(files: tuple[str, str], portable: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "trees.idx")
    kernel = ["--kernel", "Subtree(0.5).normalized()"]
    assert main(["index", files[1], "-o", path, *kernel, *portable]) == 0
    assert "TreeIndex(4 trees, Subtree(decay=0.5).normalized())" in capsys.readouterr().out
    assert main(["nearest", files[0], path, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["nearest", *files, *kernel, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert main(["duplicates", path, "--output", str(tmp_path / "kept.mrg")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "4 trees, 1 group, 1 tree to spare"
    assert (tmp_path / "kept.mrg").read_text().splitlines() == TREES[:3]
    assert main(["show", path]) == 0
    assert "TreeIndex" in capsys.readouterr().out
    plain = ["--kernel", "(SubsetTree() * Subtree()).normalized()"]
    assert main(["index", files[1], "-o", path, *plain, *portable]) == (0 if portable else 2)
    assert portable or "use sapwood.save" in capsys.readouterr().err
