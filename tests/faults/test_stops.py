"""Calls that are stopped at a random point end, and leave the process fit for the next call."""

from __future__ import annotations

import random
import signal
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from faults.calls import CALLS, stop


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_at_a_random_point(name: str, stopwatch: Callable[..., Any]) -> None:
    call = CALLS[name]()
    with stopwatch(3.0):
        found = stop(call, signal.SIGINT, random.Random(zlib.crc32(name.encode())), 0.6)
    assert found.outcome in ("stopped", "finished"), found


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["SubsetTree", "KernelSVR.fit", "decode_roles_batch"])
def test_sigterm_ends_the_process_within_native_code(name: str) -> None:
    assert stop(CALLS[name](), signal.SIGTERM, random.Random(1), 0.3).outcome in ("stopped", "finished")
