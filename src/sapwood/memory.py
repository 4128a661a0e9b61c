"""How much memory there is: the machine's, the container's and the process's own limit, whichever is nearest.

What a result will take is estimated where it is made.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

__all__ = ["available", "release"]


def available() -> int | None:
    """Return the bytes that this process may still take, or None where the system does not tell."""
    limits = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        limits += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except OSError:
        pass
    try:
        most = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        if most != "max":
            used = int(Path("/sys/fs/cgroup/memory.current").read_text())
            # Cached files are counted as used, but the system gives them up when memory is asked for.
            lines = Path("/sys/fs/cgroup/memory.stat").read_text().splitlines()
            cached = sum(int(line.split()[1]) for line in lines if line.startswith(("active_file ", "inactive_file ")))
            limits.append(int(most) - used + cached)
    except (OSError, ValueError):
        pass
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limits.append(soft - pages * resource.getpagesize())
    except (ImportError, OSError, ValueError):
        pass
    return max(0, min(limits)) if limits else None


def release() -> None:
    """Give memory back to the system that was freed, but that the C library of Linux keeps for later.

    Between arrays of ever different sizes it finds little use for it: without this, training takes twice the memory.
    """
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
