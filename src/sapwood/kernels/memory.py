"""How much memory a result will take and how much there is, asked before anything is allocated."""

from __future__ import annotations

from pathlib import Path

from sapwood.errors import TooLargeError

__all__ = ["available", "require"]


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


def require(rows: int, columns: int, *, arrays: int = 1) -> None:
    """Raise ``TooLargeError`` if so many float64 arrays of this shape will not fit."""
    needed = arrays * rows * columns * 8
    free = available()
    # Small results are not worth the question, and a system that does not tell gets the benefit of the doubt.
    if needed < 1 << 26 or free is None or needed <= 0.95 * free:
        return
    raise TooLargeError(
        f"a {rows:,} x {columns:,} Gram matrix needs {needed / 1e9:,.1f} GB but only {free / 1e9:,.1f} GB are free. "
        "Instead: compute it in blocks of rows with kernel(X[a:b], X), train on a subset, or describe every example by "
        "its kernel with a few hundred landmarks, sapwood.kernels.LandmarkMap(kernel), and train a linear model on it."
    )
