"""Pages that promise something name the tests that hold it, and those tests exist."""

from __future__ import annotations

import re

import pytest

from paths import ROOT

PAGES = ["docs/reliability.md", "docs/model-files.md", "docs/scale.md", "docs/explorer.md", "SECURITY.md"]


def _tests() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        found.update(re.findall(r"^ *def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE))
    return found


def _named(text: str) -> tuple[set[str], set[str]]:
    """Return the tests and the files of tests that a text names."""
    return set(re.findall(r"`(test_\w+)`", text)), set(re.findall(r"`(tests/[\w./-]+)`", text))


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_that_pages_name_exist(page: str) -> None:
    tests, files = _named((ROOT / page).read_text(encoding="utf-8"))
    assert sorted(tests - _tests()) == []
    assert sorted(file for file in files if not (ROOT / file).exists()) == []


def test_every_promise_has_a_test() -> None:
    """The rows of the table of promises, and the points of the lists of promises."""
    reliability = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    promised = _section(reliability, "What is promised")
    rows = [line for line in promised.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 15
    points = _points(_section(reliability, "Hostile files"))
    files = (ROOT / "docs/model-files.md").read_text(encoding="utf-8")
    points += _points(_section(files, "Versions")) + _points(_section(files, "What is checked, and when"))
    points += _points(_section(files, "Why loading runs no code"))
    points += _points(_section((ROOT / "docs/scale.md").read_text(encoding="utf-8"), "A Gram matrix on disk"))
    assert len(points) > 20
    assert [text for text in (*rows, *points) if not any(_named(text))] == []


def _section(page: str, title: str) -> str:
    return page.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def _points(section: str) -> list[str]:
    """Return the points of the lists of a section, each with the lines that go on with it."""
    return re.findall(r"^(?:[-*]|\d+\.) .*(?:\n {2,}.*)*", section, re.MULTILINE)
