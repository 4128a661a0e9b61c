"""Trees as SVG pictures with coloured, marked and faint nodes, laid out by svgling.

Colour says how much a node weighs: red for positive, blue for negative numbers, grey for nothing. Marked nodes are
drawn with a heavier stroke. What is not sure is faint, and says so in numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from sapwood.draw.picture import Picture
from sapwood.draw.places import fragment_places
from sapwood.draw.text import percent
from sapwood.errors import DataError
from sapwood.trees.notebook import printable, tree_svg, with_page_colours
from sapwood.trees.tree import Tree

__all__ = ["fragment_nodes", "probable_svg", "weighted_svg"]

# svgling lays a tree out by recursion, and a picture beyond these sizes helps nobody.
_MAX_HEIGHT = 100
_MAX_NODES = 2000
# As faint as text may be and still have a contrast of 4.5 to 1, in black on white and in white on black; lines may be
# fainter. While svgling draws, colours that end in 00 to 64 stand for 0 to 100 percent of the colour of the page.
_FAINTEST_TEXT, _FAINTEST_LINE = 0.58, 0.15
_TEXT, _LINE = "#0102", "#0103"
_FADED = re.compile(r'(<(?:text|line|tspan)\b[^>]*?) (fill|stroke)="#010[23]([0-9a-f]{2})"')


def weighted_svg(tree: Tree, weights: Sequence[float], *, marked: Collection[int] = ()) -> Picture:
    """Draw a tree with every node coloured by a number.

    Parameters
    ----------
    tree : Tree
        What to draw. A tree too large to look at becomes a line of text that says so.
    weights : sequence of float
        One per node, in pre-order.
    marked : collection of int
        Positions, in pre-order, of nodes to draw bold, such as those of a fragment.

    Examples
    --------
    >>> picture = weighted_svg(Tree.fromstring("(NP (DT the) (NN dog))"), [0.5, -0.25, 0.0, 0.1, 0.05], marked=[0, 1])
    >>> picture.startswith("<svg"), picture.count("<text")
    (True, 5)
    """
    _check_numbers(tree, weights, "weights")
    if len(weights) > _MAX_NODES or tree.height() > _MAX_HEIGHT:
        return Picture(tree_svg(tree))
    import svgling

    nested, paths = _nested(tree)
    layout = svgling.draw_tree(nested)
    largest = max((abs(weight) for weight in weights), default=0.0)
    for position, (path, weight) in enumerate(zip(paths, weights, strict=True)):
        # Set directly, because svgling's own setters lay the whole tree out again for each node.
        colour = _colour(weight, largest)
        style = {"text_color": colour, "text_stroke": colour} if position in marked else {"text_color": colour}
        layout.sublayout(path)[0].options.update(**style)
    layout.relayout()
    return Picture(with_page_colours(layout.get_svg().tostring()))


def probable_svg(tree: Tree, probabilities: Sequence[float]) -> Picture:
    """Draw a tree that is faint where it is not sure, with the probability below the label of each such node.

    Parameters
    ----------
    tree : Tree
        What to draw. A tree too large to look at becomes a line of text that says so.
    probabilities : sequence of float
        One per node, in pre-order.

    Examples
    --------
    >>> picture = probable_svg(Tree.fromstring("(NP (DT the) (NN dog))"), [0.62, 1.0, 1.0, 0.9, 1.0])
    >>> "62%<" in picture, "90%<" in picture, "100%<" in picture
    (True, True, False)
    """
    _check_numbers(tree, probabilities, "probabilities")
    if len(probabilities) > _MAX_NODES or tree.height() > _MAX_HEIGHT:
        return Picture(tree_svg(tree))
    import svgling

    nested, paths = _nested(tree, [percent(probability) for probability in probabilities])
    layout = svgling.draw_tree(nested)
    known = dict(zip(paths, (min(1.0, max(0.0, probability)) for probability in probabilities), strict=True))
    for path, probability in known.items():
        layout.sublayout(path)[0].options.update(text_color=f"{_TEXT}{round(100 * probability):02x}")
    layout.relayout()
    # Styles of lines do not outlast a new layout. A line is as sure as what it joins.
    for path, probability in known.items():
        line = f"{_LINE}{round(100 * min(probability, known[path[:-1]])):02x}"
        layout.set_edge_style(path, svgling.core.EdgeStyle(stroke=line))
    return Picture(_FADED.sub(_faded, with_page_colours(layout.get_svg().tostring())))


def _faded(found: re.Match[str]) -> str:
    tag, what, shade = found.groups()
    least = _FAINTEST_TEXT if what == "fill" else _FAINTEST_LINE
    opacity = least + (1 - least) * int(shade, 16) / 100
    return f'{tag} {what}="currentColor" {what}-opacity="{opacity:.2f}"'


def _check_numbers(tree: Tree, numbers: Sequence[float], what: str) -> None:
    if len(numbers) != tree.size():
        raise DataError(f"the tree has {tree.size():,} nodes but there are {len(numbers):,} {what}; give one per node.")
    if not all(map(math.isfinite, numbers)):
        raise DataError(f"one of the {what} is NaN or infinite; every node needs a number.")


def fragment_nodes(tree: Tree, fragment: Tree) -> list[int]:
    """Return the positions, in pre-order, of the nodes that the first occurrence of a fragment covers.

    A fragment keeps productions whole: where it has children, the tree must have the same ones.

    Examples
    --------
    >>> tree = Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD ran)))")
    >>> fragment_nodes(tree, Tree.fromstring("(NP DT (NN dog))"))
    [1, 2, 4, 5]
    """
    found = fragment_places(tree, fragment, limit=1)
    return found[0] if found else []


def _nested(tree: Tree, texts: Sequence[str] | None = None) -> tuple[Any, list[tuple[int, ...]]]:
    """Return the tree as svgling takes it, and the path of every node in pre-order; ``texts`` go below labels."""
    labels: list[str] = []
    counts: list[int] = []
    paths: list[tuple[int, ...]] = []
    stack: list[tuple[Tree, tuple[int, ...]]] = [(tree, ())]
    while stack:
        node, path = stack.pop()
        below = texts[len(labels)] if texts else ""
        labels.append(printable(node.label) + (f"\n{below}" if below else ""))
        counts.append(len(node.children))
        paths.append(path)
        stack.extend((child, (*path, index)) for index, child in reversed(list(enumerate(node.children))))
    finished: list[Any] = []
    for label, count in zip(reversed(labels), reversed(counts), strict=True):
        kids = [finished.pop() for _ in range(count)]
        finished.append((label, *kids) if kids else label)
    return finished[0], paths


def _colour(weight: float, largest: float) -> str:
    if not largest or not weight:
        return "#808080"
    # From grey to full colour: the root lets small weights show too.
    strength = (abs(weight) / largest) ** 0.5
    faded = round(128 * (1 - strength))
    full = round(128 + 90 * strength)
    return f"rgb({full},{faded},{faded})" if weight > 0 else f"rgb({faded},{faded},{full})"
