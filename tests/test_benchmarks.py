"""The tools of ``benchmarks/``: turns, ratios with their spread, verdicts, and the history."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    if not FOLDER.exists():
        pytest.skip("the benchmarks are not beside these tests")
    monkeypatch.syspath_prepend(str(FOLDER))
    import measure
    import run
    import table

    yield {"measure": measure, "run": run, "table": table}
    for name in ("measure", "run", "table"):
        sys.modules.pop(name, None)


def test_works_take_turns(tools: dict[str, ModuleType]) -> None:
    order: list[str] = []
    found = tools["measure"].interleaved({name: lambda name=name: order.append(name) for name in "ab"}, repeat=3)
    assert "".join(order) == "abababab"
    assert {name: len(one.seconds) for name, one in found.items()} == {"a": 3, "b": 3}


def test_ratios_are_medians_of_turns(tools: dict[str, ModuleType]) -> None:
    measured = tools["measure"].Measured
    ours, theirs = measured((1.0, 1.0, 2.0), (10, 10, 10)), measured((2.0, 2.2, 4.0), (30, 30, 30))
    row = tools["table"].Row.compare("x", "y", ours, theirs, 100, "trees", 2.0)
    assert (row.ratio, row.rate, row.against, row.instructions) == (2.0, 100.0, pytest.approx(100 / 2.2), 3.0)
    assert row.spread == pytest.approx(0.05)
    assert row.verdict == "met"
    assert "2.00x" in tools["table"].show([row])


def test_history_tells_what_changed(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    row, path = tools["table"].Row, tmp_path / "history.jsonl"
    facts = {"cpu": "this one", "cores": 2, "load": [0.5, 0.5, 0.5]}
    remember = tools["run"].remember
    assert remember(path, facts, [row("Gram", "rival", 4.0, spread=0.05)]) == []
    assert remember(path, facts, [row("Gram", "rival", 4.2, spread=0.05)]) == []
    (line,) = remember(path, facts, [row("Gram", "rival", 2.0, spread=0.05)])
    assert line.startswith("Gram, rival: 4.20x -> 2.00x since ")
    assert remember(path, {**facts, "cpu": "another"}, [row("Gram", "rival", 8.0)]) == []
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert [entry["rows"][0]["ratio"] for entry in entries] == [4.0, 4.2, 2.0, 8.0]


def test_a_quiet_host_needs_no_note(tools: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    watch = tools["measure"].busy()
    monkeypatch.setattr(watch, "others", lambda: 0.0)
    assert watch.note() == ""
    monkeypatch.setattr(watch, "others", lambda: 100.0)
    assert watch.note().startswith("the host was busy: others used 100.0 of ")
