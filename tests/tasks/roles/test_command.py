"""``sapwood train roles``: files that hold no roles are named, with the formats that do."""

from __future__ import annotations

from pathlib import Path

import pytest

from sapwood.cli import main

TREES = "(S (NP (NN dogs)) (VP (VBP bark)))\n" * 3
LINE = '{"words": ["dogs", "bark"], "propositions": []}\n'


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("trees.mrg", TREES, "trees without propositions"),
        ("bare.jsonl", LINE, "no propositions"),
    ],
)
def test_files_without_roles(
    name: str, content: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content)
    assert main(["train", "roles", str(tmp_path / name), "-o", str(tmp_path / "m.sap")]) == 1
    message = capsys.readouterr().err
    assert f"{name}: holds {what}" in message
    for form in ("JSON lines (.jsonl)", ".conll", "gold_skel"):
        assert form in message
    assert not (tmp_path / "m.sap").exists()
