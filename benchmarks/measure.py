"""Measuring on machines that others use too: programs in turns, medians with their spread, and what the host did.

``interleaved`` runs ours, the rival, ours, ..., so that whatever slows the machine down slows both. CPU seconds are of
this process and its children; instructions are counted where the kernel lets us (``perf_event_open``), and then hardly
depend on what else runs.
"""

from __future__ import annotations

import ctypes
import os
import platform
import statistics
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Measured", "busy", "interleaved"]

# Beyond this share of cores in use by others, figures are marked.
BUSY = 0.25


@dataclass(frozen=True)
class Measured:
    """CPU seconds of each run, and instructions where they were counted."""

    seconds: tuple[float, ...]
    instructions: tuple[int, ...] = ()

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, as a share of the median; of two or three runs, between extremes."""
        if len(self.seconds) < 2 or self.median == 0:
            return 0.0
        if len(self.seconds) < 4:
            return (max(self.seconds) - min(self.seconds)) / 2 / self.median
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return (high - low) / 2 / self.median

    @property
    def counted(self) -> float | None:
        """The median of instructions."""
        return statistics.median(self.instructions) if self.instructions else None

    def over(self, other: Measured) -> float:
        """Return how many times longer the other takes: the median of ratios run by run, where both ran as often."""
        if len(self.seconds) != len(other.seconds):
            return other.median / max(self.median, 1e-9)
        return statistics.median(b / max(a, 1e-9) for a, b in zip(self.seconds, other.seconds, strict=True))

    def ratio_spread(self, other: Measured) -> float:
        """Return the spread of those ratios."""
        if len(self.seconds) != len(other.seconds):
            return self.spread + other.spread
        return Measured(tuple(b / max(a, 1e-9) for a, b in zip(self.seconds, other.seconds, strict=True))).spread


def interleaved(
    works: Mapping[str, Callable[[], object]], *, repeat: int = 5, warm: bool = True
) -> dict[str, Measured]:
    """Run all in turns, ``repeat`` times each, the first round unmeasured if ``warm``."""
    counter = _Instructions()
    seconds: dict[str, list[float]] = {name: [] for name in works}
    counts: dict[str, list[int]] = {name: [] for name in works}
    for turn in range(-1 if warm else 0, repeat):
        for name, work in works.items():
            before, start = counter.read(), _cpu()
            work()
            spent, after = _cpu() - start, counter.read()
            if turn >= 0:
                seconds[name].append(spent)
                if before is not None and after is not None:
                    counts[name].append(after - before)
    counter.close()
    return {name: Measured(tuple(seconds[name]), tuple(counts[name])) for name in works}


class Busy:
    """How much of the machine others used since this was made."""

    def __init__(self) -> None:
        self._start, self._own, self._all = time.perf_counter(), _cpu(), _machine_cpu()

    def others(self) -> float | None:
        """Return the number of cores that others kept busy, on average; None where the system does not tell."""
        spent, total = time.perf_counter() - self._start, _machine_cpu()
        if total is None or self._all is None or spent <= 0:
            return None
        return max(0.0, (total - self._all - (_cpu() - self._own)) / spent)

    def note(self) -> str:
        """Say so if the host was busy; nothing where it was quiet."""
        others = self.others()
        cores = os.cpu_count() or 1
        if others is None or others < BUSY * cores:
            return ""
        return f"the host was busy: others used {others:.1f} of {cores} cores, load {os.getloadavg()[0]:.1f}"


def busy() -> Busy:
    """Begin to watch what others do."""
    return Busy()


def _cpu() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _machine_cpu() -> float | None:
    """Seconds that all cores together have worked since the machine was started."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    fields = [int(value) for value in stat.read_text().splitlines()[0].split()[1:]]
    idle = fields[3] + (fields[4] if len(fields) > 4 else 0)
    return (sum(fields[:8]) - idle) / os.sysconf("SC_CLK_TCK")


class _Instructions:
    """Instructions of this process in user space, threads to come included; nothing where they cannot be counted."""

    def __init__(self) -> None:
        self._file = -1
        call = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
        if call is None or platform.system() != "Linux":
            return
        # struct perf_event_attr: hardware event 1, instructions; inherited, without kernel and hypervisor.
        flags = (1 << 1) | (1 << 5) | (1 << 6)
        attributes = struct.pack("IIQQQQQ", 0, 112, 1, 0, 0, 0, flags).ljust(112, b"\0")
        try:
            self._file = ctypes.CDLL(None, use_errno=True).syscall(call, attributes, 0, -1, -1, 0)
        except (OSError, AttributeError):
            self._file = -1

    def read(self) -> int | None:
        if self._file < 0:
            return None
        try:
            return int(struct.unpack("Q", os.read(self._file, 8))[0])
        except OSError:
            return None

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
