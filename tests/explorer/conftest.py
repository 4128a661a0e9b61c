"""Models, and a server with them, for all tests of the explorer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.browser import Browser, find_chromium
from explorer.running import Served, serve
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder
from sapwood.explorer.starter import train_starters


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one model of each kind, one that is damaged, and a link to one outside."""
    place = tmp_path_factory.mktemp("models")
    train_starters(place, size=600)
    (place / "damaged.sap").write_bytes((place / "trees.sap").read_bytes()[:2000])
    outside = tmp_path_factory.mktemp("outside") / "secret.sap"
    outside.write_bytes((place / "trees.sap").read_bytes())
    (place / "linked.sap").symlink_to(outside)
    return place


@pytest.fixture(scope="session")
def models(folder: Path) -> ModelFolder:
    return ModelFolder(folder)


@pytest.fixture
def limits() -> Limits:
    return Limits()


@pytest.fixture(scope="session")
def served(folder: Path) -> Iterator[Served]:
    """The explorer on the folder of models."""
    running = serve(str(folder))
    yield running
    running.process.kill()
    running.process.communicate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.skip("there is no Chromium on this machine (on Debian: apt-get install chromium)")
    running = Browser(program)
    yield running
    running.close()
