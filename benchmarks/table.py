"""What benchmarks measure with and report: the best of several runs, rows with a ratio and its target, one table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from measure import Measured


@dataclass(frozen=True)
class Row:
    """One comparison.

    ``rate`` and ``against`` are per second, in ``unit``; ``ratio`` is how many times faster (or larger) we are. With
    ``at_most`` the target is a ceiling rather than a floor.
    """

    what: str
    versus: str
    ratio: float
    rate: float | None = None
    against: float | None = None
    unit: str = ""
    target: float | None = None
    at_most: bool = False
    note: str = ""
    spread: float | None = None  # of the ratio, as a share of it
    instructions: float | None = None  # how many times more the other one needs, where they are counted
    busy: str = ""  # what others did to the machine meanwhile

    @classmethod
    def compare(
        cls, what: str, versus: str, ours: Measured, theirs: Measured, amount: float, unit: str,
        target: float | None = None, **more: Any,
    ) -> Row:  # fmt: skip
        """Make a row of two programs that were measured in turns, each doing ``amount`` of ``unit`` per run."""
        counted = None if not ours.counted or theirs.counted is None else theirs.counted / ours.counted
        return cls(
            what, versus, ours.over(theirs), amount / max(ours.median, 1e-9), amount / max(theirs.median, 1e-9), unit,
            target, spread=ours.ratio_spread(theirs), instructions=counted, **more,
        )  # fmt: skip

    @property
    def verdict(self) -> str:
        """Say whether the target is met; nothing where there is none."""
        if self.target is None:
            return ""
        met = self.ratio <= self.target if self.at_most else self.ratio >= self.target
        return "met" if met else "missed"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def best(work: Callable[[], object], *, repeat: int = 5, clock: Callable[[], float] = time.process_time) -> float:
    """Return the seconds of the fastest of several runs: on a busy machine the one that was disturbed least."""
    seconds = []
    for _ in range(repeat):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


def show(rows: Iterable[Row]) -> str:
    """Lay out rows as aligned text."""
    cells = [("", "Sapwood /s", "other /s", "", "compared with", "ratio", "±", "instr.", "target", "")]
    notes: list[str] = []
    for row in rows:
        mark = ""
        for note in filter(None, (row.note, row.busy)):
            if note not in notes:
                notes.append(note)
            mark += f" [{notes.index(note) + 1}]"
        sign = "<=" if row.at_most else ">="
        target = "" if row.target is None else f"{sign} {row.target:,g}x"
        cells.append(
            (
                row.what + mark,
                _rate(row.rate),
                _rate(row.against),
                row.unit,
                row.versus,
                f"{row.ratio:,.{2 if row.ratio < 100 else 0}f}x",
                "" if row.spread is None else f"{row.spread:.0%}",
                "" if row.instructions is None else f"{row.instructions:,.2f}x",
                target,
                row.verdict,
            )
        )
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    right = {1, 2, 5, 6, 7, 8}
    lines = []
    for line in cells:
        padded = [
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    lines += [f"[{number}] {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(lines)


def _rate(value: float | None) -> str:
    if value is None:
        return ""
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:,.2f}{unit}"
    return f"{value:,.1f}"
