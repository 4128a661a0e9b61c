"""Workers of one command: they end with it, whatever becomes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sapwood.cli.local_cluster import local_cluster
from sapwood.errors import ParameterError

pytest.importorskip("distributed")


def _session(pid: int) -> list[int]:
    """Return the processes of a session."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, session = (place / "stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(session) == pid and state not in "ZX":
            found.append(int(place.name))
    return found


def _ended(pid: int, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while _session(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not _session(pid)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_workers_end_with_the_block_and_at_once_after_an_error() -> None:
    from distributed import Client

    before = set(_children(os.getpid()))
    with local_cluster(1) as address, Client(address) as client:
        (leader,) = set(_children(os.getpid())) - before
        assert client.submit(lambda: 6 * 7).result(timeout=60) == 42
        assert len(_session(leader)) > 1
    assert _ended(leader)
    try:
        with local_cluster(1):
            (leader,) = set(_children(os.getpid())) - before
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert _ended(leader, 1.0)
    else:
        pytest.fail("Ctrl-C was lost")


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_workers_end_when_the_command_is_killed() -> None:
    program = "import time\nfrom sapwood.cli.local_cluster import local_cluster\n"
    program += "with local_cluster(1):\n    print('ready', flush=True)\n    time.sleep(60)\n"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        (leader,) = _children(process.pid)
        process.send_signal(signal.SIGKILL)
    assert _ended(leader)


def test_workers_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('it is broken')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ParameterError, match=r"--workers 2: .* cannot be started .*it is broken"), local_cluster(2):
        pass
