"""What an experiment shows besides tables: a finished picture, and what a terminal shows in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sapwood.draw import Series, line_chart
from sapwood.experiments.tables import Table

__all__ = ["Figure", "Part", "plot_lines", "side_by_side"]


@dataclass(frozen=True)
class Figure:
    """A finished picture.

    Parameters
    ----------
    title : str
        What it shows, on which data.
    picture : str
        SVG or HTML as ``sapwood.draw`` makes it; whatever came from data is escaped already.
    text : str
        What a terminal shows instead; empty for nothing.
    notes : sequence of str
        What a reader must know.
    wide : bool
        Whether it needs the whole width of a page.

    Examples
    --------
    >>> print(Figure("A dog", "<svg/>", "(NN dog)"))
    (NN dog)
    """

    title: str
    picture: str
    text: str = ""
    notes: Sequence[str] = ()
    wide: bool = False

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.picture


Part = Table | Figure | str
"""What a section of a report holds: a table, a figure, or text that is shown as it is."""


def plot_lines(
    title: str,
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    log: bool = True,
) -> str:
    """Draw lines over the same values of x: learning curves, by default over a logarithmic axis."""
    series = [Series(name, x, values) for name, values in lines.items()]
    return line_chart(title, series, x_label=x_label, y_label=y_label, x_log=log)


def side_by_side(*pictures: tuple[str, str]) -> str:
    """Put pictures beside each other, each under its title, which may be empty."""
    parts = [f"{f'<strong>{title}</strong>' if title else ''}<div>{picture}</div>" for title, picture in pictures]
    return f'<div class="pair">{"".join(f"<div>{part}</div>" for part in parts)}</div>'
