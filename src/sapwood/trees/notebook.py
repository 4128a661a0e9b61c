"""Trees as SVG pictures: where nodes stand, and how they look. Labels stay text, and nothing recurses.

``draw`` decides what a box, a frame or a faint label means; here is what they look like. The explorer draws trees by
the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING

from sapwood.palette import FONT, colour, text_width
from sapwood.trees.positions import Positions
from sapwood.trees.tree import Tree

if TYPE_CHECKING:
    from sapwood.trees.array import TreeArray

__all__ = ["NodeStyle", "array_html", "draw_tree", "printable", "tree_svg"]

# Trees of an array that are drawn.
_SHOWN = 3
# A picture beyond these sizes helps nobody.
_MAX_HEIGHT = 100
_MAX_NODES = 2000
_ROW, _GAP, _BOX, _LONGEST, _MARGIN = 44.0, 12.0, 22.0, 28, 4.0
# Pictures shrink to fit a page, but not below this share of their size; then the page scrolls.
_SMALLEST = 0.7
# What XML cannot hold, not even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class NodeStyle:
    """How one node looks: a box filled to a degree, a small text behind the label, how firm the ink is, what hovers."""

    __slots__ = ("behind", "fill", "firm", "hover", "strength")

    def __init__(
        self, fill: str = "", strength: float = 0.0, behind: str = "", firm: float = 1.0, hover: str = ""
    ) -> None:
        self.fill, self.strength, self.behind, self.firm, self.hover = fill, strength, behind, firm, hover


_PLAIN = NodeStyle()


def array_html(title: str, trees: TreeArray) -> str:
    """Draw the first few trees side by side, under a title, and say how many more there are."""
    pictures = []
    for element in trees[:_SHOWN]:
        bag = element if isinstance(element, tuple) else (element,)
        pictures += [
            f'<div style="min-width:0">{tree._repr_svg_()}</div>'
            if tree.size() <= 60
            else f"<div>a tree of {tree.size():,} nodes</div>"
            for tree in bag[:_SHOWN]
        ]
        if len(bag) > _SHOWN:
            pictures.append(f"<div>{len(bag) - _SHOWN:,} more in this bag</div>")
    if len(trees) > _SHOWN:
        pictures.append(f"<div>{len(trees) - _SHOWN:,} more</div>")
    style = "display:flex;flex-wrap:wrap;align-items:flex-end;gap:2em;padding:.5em 0"
    return f'<div><code>{escape(title)}</code></div><div style="{style}">{"".join(pictures)}</div>'


def tree_svg(tree: Tree) -> str:
    """Draw a tree as SVG; a tree too large to look at becomes a line of text that says so."""
    return draw_tree(tree)


def draw_tree(
    tree: Tree,
    styles: Sequence[NodeStyle] = (),
    *,
    marked: Collection[int] = (),
    legend: Sequence[tuple[str, str]] = (),
) -> str:
    """Draw a tree as SVG.

    Parameters
    ----------
    tree : Tree
        What to draw. A tree too large to look at becomes a line of text that says so.
    styles : sequence of NodeStyle
        One per node in pre-order, or none.
    marked : collection of int
        Nodes with a frame and in bold; lines between two of them are strong.
    legend : sequence of (str, str)
        Roles of colors and what they stand for, in a line below.
    """
    height, size = tree.height(), tree.size()
    if height > _MAX_HEIGHT or size > _MAX_NODES:
        return _text_only(f"a tree of {size:,} nodes and height {height:,}, too large to draw")
    at = Positions(tree)
    styles = styles or [_PLAIN] * len(at)
    place = _Layout(at, [text_width(f" {style.behind}", 10.0) if style.behind else 0.0 for style in styles])
    chosen = set(marked)
    rows = [_legend(legend, place.height)] if legend else []
    wide = max(place.width, *(sum(24 + text_width(name, 11.5) for _, name in legend) for _ in (0,)), 40.0)
    tall = place.height + (22 if legend else 0)
    parts = []
    for node in range(1, len(at)):
        above = at.parent[node]
        strong = node in chosen and above in chosen
        ink = f"stroke:{colour('mark')};stroke-width:2.5" if strong else "stroke:currentColor"
        firm = 1.0 if strong else 0.4 * min(styles[node].firm, styles[above].firm)
        parts.append(
            f'<line x1="{place.x[above]:.1f}" y1="{place.y[above] + _BOX / 2:.1f}" x2="{place.x[node]:.1f}" '
            f'y2="{place.y[node] - _BOX / 2:.1f}" style="{ink}" stroke-opacity="{firm:.2f}"/>'
        )
    for node, style in enumerate(styles):
        parts.append(_node(place, node, style, node in chosen, leaf=not at.children[node], label=at.labels[node]))
    said = escape(printable(_spoken(tree)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sapwood-tree" role="img" width="{wide:.0f}" '
        f'height="{tall:.0f}" viewBox="0 0 {wide:.0f} {tall:.0f}" overflow="visible" fill="currentColor" '
        f'font-family="{FONT}" font-size="13" text-anchor="middle" '
        f'style="max-width:100%;height:auto;min-width:{_SMALLEST * wide:.0f}px">'
        f"<title>{said}</title>{''.join(parts)}{''.join(rows)}</svg>"
    )


def _node(place: _Layout, node: int, style: NodeStyle, marked: bool, *, leaf: bool, label: str) -> str:
    x, y, wide = place.x[node], place.y[node], place.boxes[node]
    box = ""
    if (style.fill and style.strength) or marked:
        fill = f"fill:{colour(style.fill)};fill-opacity:{style.strength:.2f}" if style.fill else "fill:none"
        frame = f";stroke:{colour('mark')};stroke-width:2" if marked else ""
        box = (
            f'<rect x="{x - wide / 2:.1f}" y="{y - _BOX / 2:.1f}" width="{wide:.1f}" height="{_BOX:.0f}" rx="5" '
            f'style="{fill}{frame}"/>'
        )
    # As faint as text may be and still have a contrast of 4.5 to 1, in black on white and in white on black.
    firm = f' fill-opacity="{0.62 + 0.38 * style.firm:.2f}"' if style.firm < 1 else ""
    kind = (' font-style="italic"' if leaf else "") + (' font-weight="700"' if marked else "") + firm
    behind = f'<tspan font-size="10" dx="3">{escape(style.behind)}</tspan>' if style.behind else ""
    hover = style.hover or (label if place.texts[node] != printable(label) else "")
    hover = f"<title>{escape(printable(hover))}</title>" if hover else ""
    return f'<g>{hover}{box}<text x="{x:.1f}" y="{y + 4.5:.1f}"{kind}>{escape(place.texts[node])}{behind}</text></g>'


def _legend(entries: Sequence[tuple[str, str]], top: float) -> str:
    parts, x = [], _MARGIN
    for role, name in entries:
        style = f"fill:none;stroke:{colour(role)};stroke-width:2" if role == "mark" else f"fill:{colour(role)}"
        parts.append(
            f'<rect x="{x:.1f}" y="{top + 7:.1f}" width="10" height="10" rx="2" style="{style}"/>'
            f'<text x="{x + 15:.1f}" y="{top + 16:.1f}" font-size="11.5" text-anchor="start">{escape(name)}</text>'
        )
        x += 24 + text_width(name, 11.5)
    return "".join(parts)


class _Layout:
    """Where nodes stand: no two boxes of a row touch, because every subtree has a strip of its own."""

    def __init__(self, at: Positions, extra: Sequence[float]) -> None:
        count = len(at)
        self.texts = [_short(printable(label)) for label in at.labels]
        self.boxes = [max(24.0, text_width(text) + 12 + more) for text, more in zip(self.texts, extra, strict=True)]
        depth = [0] * count
        for node in range(1, count):
            depth[node] = depth[at.parent[node]] + 1
        inner, strips = [0.0] * count, list(self.boxes)
        for node in range(count - 1, -1, -1):
            below = at.children[node]
            inner[node] = sum(strips[child] for child in below) + _GAP * max(0, len(below) - 1)
            strips[node] = max(self.boxes[node], inner[node])
        left = [_MARGIN] * count
        for node in range(count):
            start = left[node] + (strips[node] - inner[node]) / 2
            for child in at.children[node]:
                left[child] = start
                start += strips[child] + _GAP
        self.x = [0.0] * count
        for node in range(count - 1, -1, -1):
            below = at.children[node]
            middle = (self.x[below[0]] + self.x[below[-1]]) / 2 if below else left[node] + strips[node] / 2
            half = self.boxes[node] / 2
            self.x[node] = min(max(middle, left[node] + half), left[node] + strips[node] - half)
        self.y = [level * _ROW + _BOX / 2 + _MARGIN for level in depth]
        self.width = strips[0] + 2 * _MARGIN
        self.height = max(depth) * _ROW + _BOX + 2 * _MARGIN


def printable(label: str) -> str:
    """Return a label without what XML cannot hold."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", label)


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _spoken(tree: Tree) -> str:
    words = " ".join(tree.leaves())
    return words if len(words) <= 300 else f"{words[:299]}…"


def _text_only(text: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="520" height="24" fill="currentColor">'
        f'<text x="4" y="16" font-family="{FONT}" font-size="13">{escape(text)}</text></svg>'
    )
