"""The command line: JSON lines in and out, exit codes, and files that are whole or absent."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from decode.generators import role_problem
from oracles.decoding import best_roles
from sapwood.cli import main
from sapwood.cli.decode import METHODS
from sapwood.decode.roles import METHODS as ROLE_METHODS

GOOD = {"scores": [[2.0, 0.0], [3.0, 0.0]], "spans": [[0, 1], [-1, -1]], "roles": ["Agent", "Thème"], "id": 7}


def call(*arguments: str) -> int:
    return main(["decode", *arguments])


def write(path, *rows) -> str:
    path.write_text("\n".join(json.dumps(row) if isinstance(row, dict) else row for row in rows), encoding="utf-8")
    return str(path)


def test_answers_line_by_line(tmp_path, capsys):
    assert call(write(tmp_path / "in.jsonl", GOOD, "", {**GOOD, "id": "b", "excludes": [[0, 1]]})) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {
        "id": 7,
        "assignment": [1, 0],
        "filled": [{"role": "Thème", "span": [0, 1]}],
        "value": 3.0,
        "bound": 3.0,
        "status": "optimal",
        "violations": {"overlap": 0, "excludes": 0, "requires": 0, "allowed": 0},
    }
    assert second["id"] == "b"


def test_spans_in_pieces_are_answered_with_their_pieces(tmp_path, capsys):
    row = {"scores": [[2, 0, 0], [0, 1, 0]], "spans": [[0, 0], [1, 1], [-1, -1]], "pieces": [[0, 3, 4], [0, 2, 2]]}
    assert call(write(tmp_path / "in.jsonl", row)) == 0
    assert json.loads(capsys.readouterr().out)["filled"] == [
        {"role": 0, "span": [0, 0], "pieces": [[3, 4], [2, 2]]},
        {"role": 1, "span": [1, 1]},
    ]
    assert call(write(tmp_path / "in.jsonl", {**row, "pieces": {"0": [3, 4]}})) == 1
    assert "pieces must be a list of triples, got dict" in capsys.readouterr().err
    assert call(write(tmp_path / "in.jsonl", {**row, "pieces": [[0, 0, 4]]})) == 1
    assert "pieces of spans[0] share the token 0" in capsys.readouterr().err


def test_agrees_with_enumeration(tmp_path, capsys):
    rng = np.random.default_rng(3)
    problems = [role_problem(rng) for _ in range(50)]
    rows = [{key: getattr(value, "tolist", lambda v=value: v)() for key, value in p.items()} for p in problems]
    assert call(write(tmp_path / "in.jsonl", *rows), "--threads", "2") == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["value"] for answer in answers] == [pytest.approx(best_roles(**p)) for p in problems]
    assert {answer["status"] for answer in answers} == {"optimal", "infeasible"}


def test_reads_standard_input_and_writes_a_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(GOOD)))
    target = tmp_path / "out.jsonl"
    assert call("-", "--method", "local", "--output", str(target)) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(target.read_text())["violations"]["overlap"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_an_empty_file_has_no_answers(tmp_path, capsys):
    assert call(write(tmp_path / "in.jsonl", "")) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "in.jsonl:2: not a line of JSON"),
        ("[1]", "expected an object"),
        ('{"scores": [[1.0]]}', "the field 'spans' is missing"),
        ({**GOOD, "scores": [[float("nan"), 0.0]] * 2}, "scores[0, 0] is NaN"),
        ({**GOOD, "spans": [[1, 0], [-1, -1]]}, "ends before it starts"),
        ({**GOOD, "n_tokens": 1}, "beyond the last token"),
        ({**GOOD, "n_tokens": "many"}, "tokens must be"),
        ({**GOOD, "excludes": 3}, "excludes must be a list"),
        ({**GOOD, "roles": ["Agent"]}, "roles must name each"),
    ],
)
def test_mistakes_in_the_data_say_where(tmp_path, capsys, row, message):
    target = tmp_path / "out.jsonl"
    assert call(write(tmp_path / "in.jsonl", GOOD, row), "--output", str(target)) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert "in.jsonl:2" in captured.err
    assert captured.out == ""
    assert not target.exists()


def test_missing_files_and_bad_options(tmp_path, capsys):
    assert call(str(tmp_path / "nowhere.jsonl")) == 1
    assert "nowhere.jsonl" in capsys.readouterr().err
    path = write(tmp_path / "in.jsonl", GOOD)
    assert call(path, "--output", str(tmp_path / "no" / "out.jsonl")) == 1
    (tmp_path / "latin").write_bytes(b'{"id": "\xe9"}')
    assert call(str(tmp_path / "latin")) == 1
    assert "UTF-8" in capsys.readouterr().err
    for option, value in (("--method", "magic"), ("--beam", "0")):
        with pytest.raises(SystemExit) as stop:
            call(path, option, value)
        assert stop.value.code == 2
        assert option in capsys.readouterr().err


def test_the_command_offers_every_method():
    assert METHODS == ROLE_METHODS
