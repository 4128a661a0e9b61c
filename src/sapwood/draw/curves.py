"""Curves over sizes: measured points and fitted powers on two logarithmic axes, as SVG.

A power of x is a straight line there, and its exponent the slope. Knows numbers and names, and nothing of what was
measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sapwood.errors import DataError

__all__ = ["Curve", "curves_svg"]

_COLOURS = ("#1b6ca8", "#b03a2e", "#1e8449", "#7d3c98", "#b9770e", "#117a65")
_WIDTH, _HEIGHT = 640, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 40, 56


@dataclass(frozen=True)
class Curve:
    """Points with a name, and perhaps the power that was fitted to them.

    Attributes
    ----------
    name : str
    points : sequence of (float, float)
        Above 0, both.
    power : (float, float), optional
        Factor and exponent: a line through ``factor * x ** exponent`` over the range of the points.
    """

    name: str
    points: Sequence[tuple[float, float]]
    power: tuple[float, float] | None = None


def curves_svg(curves: Sequence[Curve], *, title: str, across: str, up: str) -> str:
    """Draw curves on logarithmic axes.

    Parameters
    ----------
    curves : sequence of Curve
        At least one point in all.
    title, across, up : str
        What stands above the figure, under it and beside it.

    Examples
    --------
    >>> curve = Curve("Gram", [(100, 0.1), (1000, 9.0)], power=(1.26e-5, 1.95))
    >>> picture = curves_svg([curve], title="Cost", across="trees", up="seconds")
    >>> picture.startswith("<svg"), picture.count("<circle"), "n^1.95" in picture
    (True, 2, True)
    """
    places = [point for curve in curves for point in curve.points]
    if not places:
        raise DataError("there is nothing to draw: no curve has a point.")
    if any(not (0 < value < math.inf) for point in places for value in point):
        raise DataError("a point is not above 0 and finite, so it has no place on a logarithmic axis.")
    x_axis = _Axis([x for x, _ in places], _LEFT, _WIDTH - _RIGHT)
    y_axis = _Axis([y for _, y in places], _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_WIDTH / 2}" y="22" text-anchor="middle" font-size="15">{escape(title)}</text>',
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 14}" text-anchor="middle">{escape(across)}</text>',
        f'<text transform="translate(18 {(_TOP + _HEIGHT - _BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(up)}</text>",
    ]
    for value in x_axis.ticks:
        at = x_axis(value)
        parts.append(f'<line x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{_HEIGHT - _BOTTOM}" stroke="#dddddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{_short(value)}</text>')
    for value in y_axis.ticks:
        at = y_axis(value)
        parts.append(f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{_short(value)}</text>')
    for number, curve in enumerate(curves):
        colour = _COLOURS[number % len(_COLOURS)]
        name = curve.name
        if curve.power is not None and curve.points:
            factor, exponent = curve.power
            ends = [min(x for x, _ in curve.points), max(x for x, _ in curve.points)]
            (x1, y1), (x2, y2) = ((x_axis(x), y_axis(factor * x**exponent)) for x in ends)
            parts.append(
                f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="2"/>'
            )
            name += f": n^{exponent:.2f}"
        parts += [f'<circle cx="{x_axis(x):.1f}" cy="{y_axis(y):.1f}" r="4" fill="{colour}"/>' for x, y in curve.points]
        at = _TOP + 18 + 18 * number
        # A square: circles are points.
        parts.append(f'<rect x="{_LEFT + 10}" y="{at - 8}" width="8" height="8" fill="{colour}"/>')
        parts.append(f'<text x="{_LEFT + 24}" y="{at}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"])


class _Axis:
    """Where a value goes between two pixels, and which values get a line."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        low, high = math.log10(min(values)), math.log10(max(values))
        margin = max(0.08 * (high - low), 0.1)
        self._low, self._high, self._begin, self._end = low - margin, high + margin, begin, end
        steps = (1,) if high - low > 2.5 else (1, 2, 5)
        exponents = range(math.floor(self._low), math.ceil(self._high) + 1)
        everything = [step * 10.0**exponent for exponent in exponents for step in steps]
        self.ticks = [value for value in everything if self._low <= math.log10(value) <= self._high]

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return self._begin + share * (self._end - self._begin)


def _short(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"
