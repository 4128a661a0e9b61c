"""What the tables of all experiments count in: seconds, memory, percent, how cost grows, whether a gain is chance."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sapwood.experiments.tables import Cell
from sapwood.metrics import chi_squared, mcnemar

__all__ = ["Stopwatch", "compare_errors", "growth", "interval", "peak_memory", "percent"]


class Stopwatch:
    """Seconds that a block takes, on the clock (``wall``) and of all its threads (``cpu``).

    >>> with Stopwatch() as spent:
    ...     _ = sum(range(1000))
    >>> 0 <= spent.wall < 60
    True
    """

    wall = cpu = float("nan")

    def __enter__(self) -> Self:
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self._start[0], time.process_time() - self._start[1]


def peak_memory() -> float:
    """Return the most memory that this process has taken so far, in megabytes."""
    # Windows, where nothing of this was tried, has no such module.
    if sys.platform == "win32":
        return float("nan")
    import resource

    # The system counts in units of 1,024 bytes on Linux, in bytes on macOS.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def percent(right: Any) -> float:
    """Return the share of what is true, in percent.

    >>> percent([True, False, True, True])
    75.0
    """
    return 100 * float(np.mean(right))


def growth(sizes: Any, costs: Any) -> float:
    """Return the power of the size that a cost grows with, by least squares of the logarithms.

    >>> round(growth([10, 20, 40], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def interval(values: Any, form: str = ".3f") -> str:
    """Write the middle 95 % of resampled values.

    >>> interval(range(101), ".1f")
    '[2.5, 97.5]'
    """
    low, high = np.nanquantile(np.asarray(values, dtype=np.float64), (0.025, 0.975))
    return f"[{low:{form}}, {high:{form}}]"


def compare_errors(base: NDArray[np.bool_], other: NDArray[np.bool_]) -> list[Cell]:
    """Return by how many percent errors become fewer, p by McNemar's test, and χ² of the counts with its p.

    >>> right = np.array([True, False, True, False])
    >>> compare_errors(right, right)
    [0.0, 1.0, 0.0, 1.0]
    """
    before, after = 1 - float(base.mean()), 1 - float(other.mean())
    cells: list[Cell] = [100 * (before - after) / before if before else None, mcnemar(base, other).p_value]
    counts = np.array([[one.sum(), (~one).sum()] for one in (base, other)])
    if not counts.sum(axis=0).all():
        return [*cells, None, None]  # all right or all wrong: there is nothing to test
    squared = chi_squared(counts)
    return [*cells, squared.statistic, squared.p_value]
