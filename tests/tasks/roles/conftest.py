"""The corpora on this machine, if any."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora; tests that need it are skipped where it is missing."""
    if not DATA.is_dir():
        pytest.skip(f"the corpora are not on this machine ({DATA})")
    return DATA
