"""What an experiment gives: finished tables, as text, HTML and JSON. Computes nothing."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sapwood.errors import ParameterError

__all__ = ["Cell", "Table"]

Cell = str | int | float | None

# What a terminal shows without breaking lines.
_WIDTH = 80


@dataclass(frozen=True)
class Table:
    """A finished table.

    Parameters
    ----------
    name : str
        A short name, unique within the experiment.
    title : str
        What the table shows, on which data.
    columns : sequence of str
        Column heads; the first column names the rows.
    rows : sequence of sequences
        Text, numbers or None (not measured), one sequence per row.
    decimals : mapping of str to int
        Decimals of the numbers in a column; 2 where it says nothing.
    notes : sequence of str
        What a reader must know: data, seed, what was chosen how.
    chart : str
        The same as a picture, as ``sapwood.draw`` makes it, where one says more than the numbers; empty for none.

    Examples
    --------
    >>> print(Table("toy", "Accuracy on three questions", ("kernel", "accuracy"), [("SST", 2 / 3), ("ST", None)]))
    Accuracy on three questions
    kernel  accuracy
    ----------------
    SST         0.67
    ST             –
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    decimals: dict[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    chart: str = ""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ParameterError(
                    f"table {self.name!r}: row {number} has {len(row)} cells; there are {len(self.columns)} columns."
                )

    def cell(self, column: str, value: Cell) -> str:
        """Write one value as the table shows it."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "–"
        if isinstance(value, float):
            return f"{value:,.{self.decimals.get(column, 2)}f}"
        return f"{value:,}" if isinstance(value, int) else value

    def _texts(self) -> list[list[str]]:
        return [
            [self.cell(column, value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows
        ]

    def widths(self) -> list[int]:
        """Return how many characters each column takes."""
        return [max(map(len, column)) for column in zip(self.columns, *self._texts(), strict=True)]

    def __str__(self) -> str:
        cells, widths = self._texts(), self.widths()
        left = self._names()
        blocks = []
        # Where the first column alone does not name a row, the second does.
        named = 1 if len({row[0] for row in cells}) == len(cells) or len(widths) < 3 else 2
        for chosen in _blocks(widths, named):
            lines = [
                "  ".join(line[k].ljust(widths[k]) if left[k] else line[k].rjust(widths[k]) for k in chosen).rstrip()
                for line in [list(self.columns), *cells]
            ]
            rule = "-" * (sum(widths[k] for k in chosen) + 2 * (len(chosen) - 1))
            blocks.append("\n".join([lines[0], rule, *lines[1:]]))
        wrapped = [textwrap.fill(text, _WIDTH, break_on_hyphens=False) for text in (self.title, *self.notes)]
        return "\n".join([wrapped[0], "\n\n".join(blocks), *wrapped[1:]])

    def _names(self) -> list[bool]:
        """Say which columns hold names, which stand on the left, rather than numbers."""
        return [
            all(isinstance(row[k], str) or row[k] is None for row in self.rows) and bool(self.rows)
            for k in range(len(self.columns))
        ]

    def _repr_html_(self) -> str:
        from html import escape

        kinds = ["" if name else ' class="number" style="text-align:right"' for name in self._names()]
        head = "".join(
            f'<th scope="col"{kind}>{escape(column)}</th>' for kind, column in zip(kinds, self.columns, strict=True)
        )
        body = ""
        for row in self.rows:
            shown = zip(kinds, self.columns, row, strict=True)
            cells = "".join(f"<td{kind}>{escape(self.cell(column, value))}</td>" for kind, column, value in shown)
            body += f"<tr>{cells}</tr>"
        notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in self.notes)
        caption = f'<caption style="text-align:left">{escape(self.title)}</caption>'
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{self.chart}{notes}"

    def to_json(self) -> dict[str, Any]:
        """Give the table as JSON data."""
        return {
            "name": self.name,
            "title": self.title,
            "columns": list(self.columns),
            "rows": [[None if isinstance(v, float) and math.isnan(v) else v for v in row] for row in self.rows],
            "decimals": dict(self.decimals),
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Table:
        """Make a table of what ``to_json`` has given; it has no chart.

        Examples
        --------
        >>> table = Table("toy", "A toy", ("a", "b"), [["x", 0.5]], {"b": 1})
        >>> str(Table.from_json(table.to_json())) == str(table)
        True
        """
        return cls(*(data[name] for name in ("name", "title", "columns", "rows", "decimals", "notes")))


def _blocks(widths: Sequence[int], named: int) -> list[list[int]]:
    """Divide the columns of a wide table into blocks that fit a terminal and each begin with the columns of names."""
    names = list(range(min(named, len(widths))))
    blocks = [list(names)]
    for k in range(named, len(widths)):
        if len(blocks[-1]) > named and sum(widths[at] + 2 for at in blocks[-1]) + widths[k] > _WIDTH:
            blocks.append(list(names))
        blocks[-1].append(k)
    return blocks
