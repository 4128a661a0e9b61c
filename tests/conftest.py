"""What all tests share: Hypothesis profiles, paths to data that may be present, and a runner for fresh processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import sapwood as sw
from paths import DATA, SHARED, TREEBANK

# A shell that starts the tests in the background makes them ignore Ctrl-C, and with them everything that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("quick", max_examples=60, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, suppress_health_check=_QUIET)
settings.register_profile("long", max_examples=2000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "quick"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora; tests that need it are skipped where it is missing."""
    if not DATA.is_dir():
        pytest.skip(f"the corpora are not on this machine ({DATA})")
    return DATA


@pytest.fixture(scope="session")
def kernel_vectors() -> list[dict[str, Any]]:
    """Pairs of trees with kernel values that other programs agree on."""
    path = SHARED / "vectors" / "syntactic_kernels.json"
    if not path.exists():
        pytest.skip(f"the reference values are not on this machine ({path})")
    pairs: list[dict[str, Any]] = json.loads(path.read_text())["pairs"]
    return pairs


@pytest.fixture(scope="session")
def treebank_texts() -> list[str]:
    """The files of NLTK's Penn Treebank sample, as text."""
    if not TREEBANK.exists():
        pytest.skip(f"NLTK's treebank sample is not on this machine ({TREEBANK})")
    with zipfile.ZipFile(TREEBANK) as archive:
        names = sorted(name for name in archive.namelist() if "/combined/" in name and name.endswith(".mrg"))
        return [archive.read(name).decode() for name in names]


@pytest.fixture(scope="session")
def treebank(treebank_texts: list[str]) -> sw.TreeArray:
    """Real trees: every tree of the sample."""
    import io

    return sw.read_trees(io.StringIO("\n".join(treebank_texts)))


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run code in a new Python process; a crash shows as a negative return code."""

    def run(code: str, *, timeout: float = 60.0, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=tmp_path,
            env={**os.environ, **environment},
        )

    return run
