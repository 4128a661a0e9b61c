"""Worker processes for one command, in a session of their own: Ctrl-C at the terminal does not reach them.

``python -m sapwood.cli.local_cluster N`` starts them, prints the address of their scheduler, and ends with them when it
is told to, or when its standard input ends because whoever has started it is no more.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module

from sapwood.errors import ParameterError

__all__ = ["local_cluster"]

_FAREWELL, _PATIENCE = "end\n", 5.0


@contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """Start so many workers and give the address of their scheduler; end them with the block.

    Whatever goes wrong in the block, Ctrl-C included, ends them at once: nobody waits for what they are computing.
    """
    from tempfile import TemporaryFile

    command = [sys.executable, "-m", __name__, str(workers)]
    with TemporaryFile() as said:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            if not address:
                process.wait()
                said.seek(0)
                reason = said.read().decode(errors="replace").strip().rpartition("\n")[2]
                raise ParameterError(f"--workers {workers}: the processes cannot be started ({reason}).")
            yield address
            with suppress(OSError, subprocess.TimeoutExpired):
                process.communicate(_FAREWELL, _PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                _kill(process.pid)
            process.wait()
            process.stdout.close()
            with suppress(OSError):
                process.stdin.close()


def _serve(workers: int) -> None:
    # Dask reports at length what the command reports in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    start = import_module("distributed").LocalCluster
    with start(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        if sys.stdin.readline() != _FAREWELL:
            # Whoever has started this was killed.
            _kill(0)


def _kill(group: int) -> None:
    """End a process with all that it has started; 0 is this one."""
    if sys.platform == "win32":
        # There are no groups of processes, so that workers end when they miss their scheduler. Not tried.
        os.kill(group or os.getpid(), signal.SIGTERM)
    else:
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
