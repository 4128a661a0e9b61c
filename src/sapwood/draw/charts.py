"""Small charts as SVG: lines, bars and points, with axes that name their units and a title that can be read aloud.

Takes finished numbers and knows nothing of what they mean. A chart stands alone, asks for nothing from outside, and
follows light and dark on pages with ``palette_css``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from sapwood.draw.picture import Picture
from sapwood.errors import DataError, ParameterError
from sapwood.palette import FONT, colour, paints, text_width

__all__ = ["Bar", "Point", "Series", "bar_chart", "line_chart", "scatter_chart"]

# The size of letters, and how much room the names of bars have at most, in pixels.
_SIZE, _NAMES = 12.0, 224.0


@dataclass(frozen=True)
class Series:
    """One line of a chart: its name, and as many x as y."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Bar:
    """One bar: its name and value, and a group that gives its colour."""

    name: str
    value: float
    group: str = ""


@dataclass(frozen=True)
class Point:
    """One point: where it is, the group that gives its colour and shape, and a text to show when pointed at."""

    x: float
    y: float
    group: str = ""
    text: str = ""


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    x_log: bool = False,
    y_log: bool = False,
    width: int = 560,
    height: int = 300,
) -> Picture:
    """Draw one line per series.

    Parameters
    ----------
    title : str
        What the chart shows; read aloud by screen readers, not drawn.
    series : sequence of Series
        Lines; points that are not finite are left out. Without a point left, the chart says so.
    x_label, y_label : str
        What the axes measure, with units.
    x_log, y_log : bool
        Whether x or y grows by factors; all of them must then be above 0.
    width, height : int
        Size in pixels at full scale.

    Examples
    --------
    >>> chart = line_chart("Learning", [Series("SST", [10, 20], [0.5, 0.7])], x_label="trees", y_label="accuracy")
    >>> chart.startswith("<svg"), chart.count("<polyline"), chart.count("<circle")
    (True, 1, 2)
    """
    for one in series:
        if len(one.x) != len(one.y):
            raise DataError(f"the series {one.name!r} has {len(one.x)} x and {len(one.y)} y; give as many of both.")
        for axis, log, values in (("x", x_log, one.x), ("y", y_log, one.y)):
            if log and any(value <= 0 for value in values):
                raise DataError(f"the series {one.name!r} has {axis} not above 0, which {axis}_log cannot show.")
    points = {
        number: [(float(x), float(y)) for x, y in zip(one.x, one.y, strict=True) if _finite(x) and _finite(y)]
        for number, one in enumerate(series)
    }
    flat = [point for one in points.values() for point in one]
    frame = _Frame(title, flat, (x_label, y_label), (width, height), x_log=x_log, y_log=y_log)
    hues = paints(one.name for one in series)
    frame.axes([(one.name, hues[one.name], "dash" if one.dashed else "line") for one in series])
    for number, one in enumerate(series):
        shade = colour(hues[one.name])
        places = [frame.place(x, y) for x, y in points[number]]
        dash = ' stroke-dasharray="5 4"' if one.dashed else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        style = f"fill:none;stroke:{shade};stroke-width:2"
        frame.parts.append(f'<polyline points="{path}" style="{style}"{dash}/>')
        if len(places) <= 30:
            frame.parts += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" style="fill:{shade}">'
                f"<title>{escape(f'{one.name}: {_number(raw[0])}, {_number(raw[1])}')}</title></circle>"
                for (x, y), raw in zip(places, points[number], strict=True)
            ]
    return frame.finish()


def scatter_chart(
    title: str, points: Sequence[Point], *, x_label: str, y_label: str, width: int = 560, height: int = 360
) -> Picture:
    """Draw points, coloured and shaped by group.

    Examples
    --------
    >>> chart = scatter_chart("PCA", [Point(0, 1, "right", "a tree"), Point(1, 0)], x_label="first", y_label="second")
    >>> chart.count("<title>"), "a tree" in chart
    (3, True)
    """
    shown = [point for point in points if _finite(point.x) and _finite(point.y)]
    groups = list(dict.fromkeys(point.group for point in shown))
    places = [(point.x, point.y) for point in shown]
    frame = _Frame(title, places, (x_label, y_label), (width, height), room=0.06)
    hues = paints(groups)
    frame.axes([(group, hues[group], f"shape{number % 3}") for number, group in enumerate(groups)])
    # Small groups are drawn last, or the many would hide the few.
    sizes = {group: sum(point.group == group for point in shown) for group in groups}
    for point in sorted(shown, key=lambda one: -sizes[one.group]):
        shape = groups.index(point.group) % 3
        x, y = frame.place(point.x, point.y)
        frame.parts.append(
            _mark(x, y, hues[point.group], shape, point.text or f"{_number(point.x)}, {_number(point.y)}")
        )
    return frame.finish()


def bar_chart(
    title: str, bars: Sequence[Bar], *, label: str, decimals: int = 2, width: int = 560, start: float | None = None
) -> Picture:
    """Draw one horizontal bar per name, with its value beside it.

    Parameters
    ----------
    title : str
        What the chart shows; read aloud, not drawn.
    bars : sequence of Bar
        From top to bottom. Values below 0 go to the left.
    label : str
        What the bars measure, with unit.
    decimals : int
        Of the values shown.
    width : int
        In pixels at full scale.
    start : float, optional
        Where bars begin, if not at 0; the axis then says so.

    Examples
    --------
    >>> chart = bar_chart("Seconds", [Bar("questions", 3.2), Bar("pairs", 1)], label="seconds", decimals=1)
    >>> chart.count("<rect"), ">3.2<" in chart
    (2, True)
    """
    if not 0 <= decimals <= 15:
        raise ParameterError(f"decimals: expected 0 to 15, got {decimals}.")
    if start is not None and not _finite(start):
        raise ParameterError(f"start: expected a finite number or None, got {start}.")
    shown = [bar for bar in bars if _finite(bar.value)]
    if not shown:
        return _empty(title, width)
    base = 0.0 if start is None else float(start)
    low, high = min([base, *(bar.value for bar in shown)]), max([base, *(bar.value for bar in shown)])
    ticks = _ticks(low, high, 5)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    groups = list(dict.fromkeys(bar.group for bar in shown))
    left = 16 + min(_NAMES, max(text_width(bar.name, _SIZE) for bar in shown))
    right = width - 14 - max(text_width(f"{bar.value:,.{decimals}f}", _SIZE) for bar in shown)
    scale = (right - left) / ((high - low) or 1.0)
    hues = paints(groups)
    named = [(group, hues[group], "shape2") for group in groups if group]
    parts, top = _legend(named, left, width)
    bottom = top + 26 * len(shown)
    for tick in ticks:
        x = left + (tick - low) * scale
        parts.append(_rule(x, top - 4, x, bottom + 4) + _text(x, bottom + 18, _number(tick), "middle"))
    for row, bar in enumerate(shown):
        y = top + 26 * row
        a, b = sorted((left + (base - low) * scale, left + (bar.value - low) * scale))
        parts.append(_text(left - 8, y + 16, _cut(bar.name, _NAMES), "end", ink=True))
        parts.append(
            f'<rect x="{a:.1f}" y="{y + 3:.1f}" width="{max(b - a, 0.5):.1f}" height="18" rx="2" '
            f'style="fill:{colour(hues[bar.group])}"/>'
        )
        parts.append(_text(b + 5, y + 16, f"{bar.value:,.{decimals}f}", "start", ink=True))
    unit = label if base == 0 else f"{label}, from {_number(base)}"
    parts.append(_text((left + right) / 2, bottom + 36, unit, "middle"))
    return _svg(title, width, bottom + 44, parts)


class _Axis:
    """One side of a plot: where values lie along it, from 0 to 1, and what is written beside it."""

    def __init__(
        self, values: Sequence[float], ticks: int, *, log: bool, room: float = 0.0, whole: bool = False
    ) -> None:
        self._log = log
        shown = [math.log10(value) for value in values] if log else values
        self._low, self._high = _widened(min(shown), max(shown), room)
        self.ticks = _log_ticks(min(values), max(values)) if log else _ticks(self._low, self._high, ticks)
        if whole and not log:
            # From tick to tick, unless there is room left on purpose.
            self.ticks = [tick for tick in self.ticks if not room or self._low <= tick <= self._high]
            self._low, self._high = min([self._low, *self.ticks]), max([self._high, *self.ticks])

    def place(self, value: float) -> float:
        return ((math.log10(value) if self._log else value) - self._low) / (self._high - self._low)


class _Frame:
    """A plot with two axes: where values lie on it, and the parts drawn so far."""

    def __init__(
        self,
        title: str,
        points: Sequence[tuple[float, float]],
        labels: tuple[str, str],
        size: tuple[int, int],
        *,
        x_log: bool = False,
        y_log: bool = False,
        room: float = 0.0,
    ) -> None:
        self.title, self._labels = title, labels
        self.width, self.height = size
        self.parts: list[str] = []
        self._top, self.empty = 18.0, not points
        if self.empty:
            return
        xs, ys = zip(*points, strict=True)
        self._x, self._y = _Axis(xs, 6, log=x_log, room=room), _Axis(ys, 5, log=y_log, room=room, whole=True)
        self._left = 40 + max((text_width(_number(tick), _SIZE) for tick in self._y.ticks), default=0.0)
        # The last number below the plot needs half of its width to the right of it.
        half = max((text_width(_number(tick), _SIZE) / 2 for tick in self._x.ticks[-1:]), default=0.0)
        self._right, self._bottom = self.width - max(18.0, half + 2.0), self.height - 46.0

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = self._left + self._x.place(x) * (self._right - self._left)
        return across, self._bottom - self._y.place(y) * (self._bottom - self._top)

    def axes(self, names: Sequence[tuple[str, int, str]]) -> None:
        """Draw the legend and both axes."""
        if self.empty:
            return
        left, right, bottom = self._left, self._right, self._bottom
        self.parts, self._top = _legend([entry for entry in names if entry[0]], left, self.width)
        for tick in self._y.ticks:
            y = bottom - self._y.place(tick) * (bottom - self._top)
            self.parts.append(_rule(left, y, right, y) + _text(left - 7, y + 4, _number(tick), "end"))
        for tick in self._x.ticks:
            x = left + self._x.place(tick) * (right - left)
            if left - 1 <= x <= right + 1:
                self.parts.append(_rule(x, bottom, x, bottom + 4) + _text(x, bottom + 18, _number(tick), "middle"))
        self.parts.append(_rule(left, bottom, right, bottom, "muted"))
        self.parts.append(_text((left + right) / 2, bottom + 38, self._labels[0], "middle"))
        middle = (self._top + bottom) / 2
        name = _text(14, middle + 4, self._labels[1], "middle")
        self.parts.append(f'<g transform="rotate(-90 14 {middle:.1f})">{name}</g>')

    def finish(self) -> Picture:
        return _empty(self.title, self.width) if self.empty else _svg(self.title, self.width, self.height, self.parts)


def _finite(value: float) -> bool:
    return math.isfinite(value)


def _widened(low: float, high: float, room: float) -> tuple[float, float]:
    """Give a range some room, and one without extent (or with none that a number can tell) an extent."""
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        half = abs(low) / 2 or 0.5
        return low - half, high + half
    return low - room * (high - low), high + room * (high - low)


def _ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers that cover a range."""
    low, high = _widened(low, high, 0.0)
    raw = (high - low) / about
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten in a range, with 2 and 5 between them where there is room."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if len(powers) <= 4 else (1,)
    return [tick for power in powers for factor in factors if low <= (tick := factor * 10.0**power) <= high * 1.001]


def _number(value: float) -> str:
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return "0" if text == "-0" else text.replace("-", "\N{MINUS SIGN}")


def _legend(entries: Sequence[tuple[str, int, str]], left: float, width: int) -> tuple[list[str], float]:
    """Draw names of series in as many rows as they need; return the parts and where the plot may begin."""
    parts: list[str] = []
    x, y = left, 14.0
    for name, number, shape in entries:
        size = 30 + text_width(name, _SIZE)
        if x > left and x + size > width - 10:
            x, y = left, y + 18
        if shape in ("line", "dash"):
            dash = ' stroke-dasharray="5 4"' if shape == "dash" else ""
            style = f"stroke:{colour(number)};stroke-width:2"
            parts.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 18}" y2="{y - 4}" style="{style}"{dash}/>')
        else:
            parts.append(_mark(x + 9, y - 4, number, int(shape[-1]), ""))
        parts.append(_text(x + 23, y, name, "start", ink=True))
        x += size + 10
    return parts, (y + 14 if entries else 12.0)


def _mark(x: float, y: float, number: int, form: int, text: str) -> str:
    """Draw a circle, a square or a diamond: shapes, so that colour is not the only sign."""
    style = f"fill:{colour(number)};fill-opacity:.8;stroke:{colour('card')};stroke-width:1"
    inner = f"<title>{escape(text)}</title>" if text else ""
    if form == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" style="{style}">{inner}</circle>'
    size = 6.5 if form == 1 else 5.0
    shape = [(-1, -1), (1, -1), (1, 1), (-1, 1)] if form == 2 else [(0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)]
    corners = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in shape)
    return f'<polygon points="{corners}" style="{style}">{inner}</polygon>'


def _rule(x1: float, y1: float, x2: float, y2: float, role: str = "line") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" style="stroke:{colour(role)}"/>'


def _text(x: float, y: float, text: str, anchor: str, *, ink: bool = False) -> str:
    style = f"fill:{colour('ink' if ink else 'muted')}"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="{style}">{escape(text)}</text>'


def _cut(text: str, room: float) -> str:
    """Return a text, or as much of it as there is room for."""
    if text_width(text, _SIZE) <= room:
        return text
    fitting = (text[:length] for length in range(len(text) - 1, 0, -1))
    return next((f"{one}…" for one in fitting if text_width(f"{one}…", _SIZE) <= room), "…")


def _empty(title: str, width: int) -> Picture:
    return _svg(title, width, 40, [_text(12, 24, "nothing to show", "start")])


def _svg(title: str, width: float, height: float, parts: Iterable[str]) -> Picture:
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="{FONT}" font-size="12" '
        f'style="max-width:100%;height:auto">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
