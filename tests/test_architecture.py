"""ARCHITECTURE.md names modules, packages and public names; what it names exists, and its walks are short."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import entries

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sapwood"
TEXT = (ROOT / "ARCHITECTURE.md").read_text()


def section(title: str) -> str:
    return TEXT.partition(f"## {title}")[2].partition("\n## ")[0]


PATHS = sorted({one or two for one, two in re.findall(r"`([\w./*]+(?:\.py|\.md|/))`|\]\(([\w./]+)\)", TEXT)})
WALKS = dict(re.findall(r"^([A-Z][^:\n]+): (`.+?)(?:\n\n|\n?\Z)", section("Three ways"), re.M | re.S))


def found(name: str, module: str | None) -> Any:
    """Return what a dotted name stands for, in a module or in any public package."""
    places = [f"sapwood.{module.removesuffix('.py').replace('/', '.')}"] if module else entries.PACKAGES
    first, *rest = name.split(".")
    modules = [import_module(place) for place in places]
    value = next((getattr(one, first) for one in modules if hasattr(one, first)), None)
    for attribute in rest:
        value = getattr(value, attribute, None)
    return value


@pytest.mark.parametrize("path", PATHS)
def test_what_it_names_is_there(path: str) -> None:
    assert any(list(folder.glob(path)) for folder in (SOURCE, ROOT)), f"there is no {path}"


@pytest.mark.parametrize("title", WALKS)
def test_every_step_of_a_walk_is_a_name_or_a_module(title: str) -> None:
    steps = WALKS[title].replace("\n", " ").split("→")
    assert 5 <= len(steps) <= 8
    for step in steps:
        match = re.match(r"\s*`([\w./]+)`(?: \(`([\w/]+\.py)`\))?", step)
        assert match, f"no name or module in {step!r}"
        # Folders are looked for above.
        if not match[1].endswith("/"):
            assert found(match[1], match[2]) is not None, f"{step!r} leads nowhere"


def test_there_are_three_walks() -> None:
    assert len(WALKS) == 3


def test_packages_are_listed_from_the_bottom_up() -> None:
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {name: -at for at, layer in enumerate(layers) for name in re.findall(r"sapwood\.(\w+)", layer)}
    rows = [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| (`.+?) \|", section("Packages"), re.M)]
    assert {name for row in rows for name in row} >= set(height)
    # decode stands beside the layers: it may use none of them.
    lowest = [min(height[name] for name in row) for row in rows if set(row) <= set(height)]
    assert lowest == sorted(lowest)
