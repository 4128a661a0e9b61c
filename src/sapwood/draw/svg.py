"""Trees as SVG pictures with coloured and marked nodes, laid out by svgling.

Colour says how much a node weighs: red for positive, blue for negative numbers, grey for nothing. Marked nodes are
drawn with a heavier stroke.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

from sapwood.draw.picture import Picture
from sapwood.draw.places import fragment_places
from sapwood.errors import DataError
from sapwood.trees.notebook import tree_svg, with_page_colours
from sapwood.trees.tree import Tree

__all__ = ["fragment_nodes", "weighted_svg"]

# svgling lays a tree out by recursion, and a picture beyond these sizes helps nobody.
_MAX_HEIGHT = 100
_MAX_NODES = 2000


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
    if len(weights) != tree.size():
        raise DataError(
            f"the tree has {tree.size():,} nodes but there are {len(weights):,} weights; give one per node."
        )
    if not all(map(math.isfinite, weights)):
        raise DataError("a weight is NaN or infinite; every node needs a number.")
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


def _nested(tree: Tree) -> tuple[Any, list[tuple[int, ...]]]:
    """Return the tree as svgling takes it, and the path of every node in pre-order."""
    finished: list[Any] = []
    for node in tree.postorder():
        count = len(node.children)
        kids = finished[len(finished) - count :]
        del finished[len(finished) - count :]
        finished.append((node.label, *kids) if kids else node.label)
    paths: list[tuple[int, ...]] = []
    stack: list[tuple[Tree, tuple[int, ...]]] = [(tree, ())]
    while stack:
        node, path = stack.pop()
        paths.append(path)
        stack.extend((child, (*path, index)) for index, child in reversed(list(enumerate(node.children))))
    return finished[0], paths


def _colour(weight: float, largest: float) -> str:
    if not largest or not weight:
        return "#808080"
    # From grey to full colour: the root lets small weights show too.
    strength = (abs(weight) / largest) ** 0.5
    faded = round(128 * (1 - strength))
    full = round(128 + 90 * strength)
    return f"rgb({full},{faded},{faded})" if weight > 0 else f"rgb({faded},{faded},{full})"
