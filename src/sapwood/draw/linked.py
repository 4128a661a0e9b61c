"""Two trees that face each other, with lines between the words that are alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from sapwood.draw.picture import Picture
from sapwood.errors import DataError
from sapwood.palette import FONT, colour, text_width
from sapwood.trees.notebook import printable, tree_svg
from sapwood.trees.tree import Tree

__all__ = ["linked_svg"]

# A larger picture helps nobody.
_MAX_NODES, _MAX_HEIGHT = 500, 40
_SPACE, _LEVEL, _GAP, _MARGIN = 16.0, 36.0, 90.0, 12.0


def linked_svg(first: Tree, second: Tree, links: Sequence[tuple[int, int, float]]) -> Picture:
    """Draw a tree above another one that stands on its head, and lines between their leaves.

    Parameters
    ----------
    first, second : Tree
        What to draw. Trees too large to look at become lines of text that say so.
    links : sequence of (int, int, float)
        Which leaf of the first tree goes with which of the second, counted from 0, and how much that weighs: the
        larger, the stronger the line; what is negative is drawn in another colour and broken.

    Examples
    --------
    >>> dog, cat = (Tree.fromstring(f"(NP (DT a) (NN {word}))") for word in ("dog", "cat"))
    >>> picture = linked_svg(dog, cat, [(0, 0, 1.0), (1, 1, 0.25)])
    >>> picture.startswith("<svg"), picture.count("<path")
    (True, 2)
    """
    sizes = [len(tree.leaves()) for tree in (first, second)]
    for left, right, weight in links:
        if not (0 <= left < sizes[0] and 0 <= right < sizes[1]) or not math.isfinite(weight):
            raise DataError(
                f"the link ({left}, {right}, {weight}) does not fit trees of {sizes[0]} and {sizes[1]} leaves; weights "
                "are finite numbers."
            )
    if any(tree.size() > _MAX_NODES or tree.height() > _MAX_HEIGHT for tree in (first, second)):
        return Picture("".join(tree_svg(tree) for tree in (first, second)))
    layouts = [_Layout(tree) for tree in (first, second)]
    width = max(layout.width for layout in layouts)
    upper = _MARGIN + _LEVEL * layouts[0].height
    lower = upper + _GAP
    height = lower + _LEVEL * layouts[1].height + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}" font-size="13" fill="currentColor" '
        f'style="max-width:100%;height:auto;min-width:{0.7 * width:.0f}px">'
        f"<title>{escape(' '.join(map(printable, first.leaves())))} ~ "
        f"{escape(' '.join(map(printable, second.leaves())))}</title>",
        *layouts[0].drawn(upper, -1.0),
        *layouts[1].drawn(lower, 1.0),
    ]
    largest = max((abs(weight) for _, _, weight in links), default=0.0) or 1.0
    for left, right, weight in sorted(links, key=lambda link: abs(link[2])):
        x, y = layouts[0].leaves[left], layouts[1].leaves[right]
        share = abs(weight) / largest
        shade = colour("against" if weight < 0 else "for")
        broken = ";stroke-dasharray:4 3" if weight < 0 else ""
        parts.append(
            f'<path d="M{x:.1f} {upper + 8:.1f} C{x:.1f} {upper + 40:.1f} {y:.1f} {lower - 50:.1f} {y:.1f} '
            f'{lower - 16:.1f}" style="fill:none;stroke:{shade};'
            f'stroke-width:{0.8 + 3.2 * share:.1f};stroke-opacity:{0.25 + 0.75 * share:.2f}{broken}">'
            f"<title>{escape(printable(first.leaves()[left]))} ~ {escape(printable(second.leaves()[right]))}: "
            f"{weight:.3g}</title></path>"
        )
    return Picture("".join([*parts, "</svg>"]))


class _Layout:
    """Where the nodes of a tree stand: leaves in one row, everything else above the middle of what it covers."""

    def __init__(self, tree: Tree) -> None:
        self.nodes: list[tuple[str, float, int, int]] = []  # label, x, height above the leaves, parent
        self.leaves: list[float] = []
        self.width = _MARGIN
        self.height = self._place(tree, -1)[1]

    def _place(self, node: Tree, parent: int, least: float = 10.0) -> tuple[float, int]:
        number = len(self.nodes)
        label = printable(node.label)
        self.nodes.append((label, 0.0, 0, parent))
        if node.is_leaf:
            wide = max(least, text_width(label))
            x, level = self.width + wide / 2, 0
            self.width += wide + _SPACE
            self.leaves.append(x)
        else:
            start = self.width
            # An only child stands below its label, which needs as much room.
            least = max(least, text_width(label)) if len(node.children) == 1 else 10.0
            below = [self._place(child, number, least) for child in node.children]
            x, level = (below[0][0] + below[-1][0]) / 2, 1 + max(height for _, height in below)
            # Labels wider than what they cover push the next ones away.
            self.width = max(self.width, start + text_width(label) + _SPACE / 2)
        self.nodes[number] = (label, x, level, parent)
        return x, level

    def drawn(self, row: float, direction: float) -> list[str]:
        """Return the lines and labels, with the leaves in a row and the rest in a direction from it."""
        parts = []
        for label, x, level, parent in self.nodes:
            y = row + direction * _LEVEL * level
            if parent >= 0:
                _, over, height, _ = self.nodes[parent]
                end = row + direction * _LEVEL * height
                far, near = (-14.0, 4.0) if direction < 0 else (4.0, -12.0)
                parts.append(
                    f'<line x1="{x:.1f}" y1="{y + far:.1f}" x2="{over:.1f}" y2="{end + near:.1f}" '
                    'stroke="currentColor" stroke-opacity="0.4"/>'
                )
            weight = ' font-style="italic"' if level == 0 else ""
            parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle"{weight}>{escape(label)}</text>')
        return parts
