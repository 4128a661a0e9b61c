"""Trees as SVG pictures with colored, marked and faint nodes.

A box says how much a node weighs: orange speaks for, blue against, and the stronger the color the more. Marked nodes
have a frame and are bold. What is not sure is faint, and says so in numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from sapwood.draw.picture import Picture
from sapwood.draw.places import fragment_places
from sapwood.draw.text import percent
from sapwood.errors import DataError
from sapwood.trees.notebook import NodeStyle, draw_tree
from sapwood.trees.tree import Tree

__all__ = ["fragment_nodes", "probable_svg", "weighted_svg"]

# The strongest box; darker ones would leave the label below a contrast of 4.5 to 1.
_STRONGEST = 0.5


def weighted_svg(
    tree: Tree, weights: Sequence[float], *, marked: Collection[int] = (), legend: bool = False
) -> Picture:
    """Draw a tree with every node colored by a number.

    Parameters
    ----------
    tree : Tree
        What to draw. A tree too large to look at becomes a line of text that says so.
    weights : sequence of float
        One per node, in pre-order.
    marked : collection of int
        Positions, in pre-order, of nodes to frame, such as those of a fragment.
    legend : bool
        Whether a line below says what the colors mean.

    Examples
    --------
    >>> picture = weighted_svg(Tree.fromstring("(NP (DT the) (NN dog))"), [0.5, -0.25, 0.0, 0.1, 0.05], marked=[0, 1])
    >>> picture.startswith("<svg"), picture.count("<text"), picture.count("<rect")
    (True, 5, 4)
    """
    _check_numbers(tree, weights, "weights")
    largest = max((abs(weight) for weight in weights), default=0.0)
    labels = [node.label for node in tree.preorder()] if largest else []
    styles = [_style(label, weight, largest) for label, weight in zip(labels, weights, strict=bool(largest))]
    entries = [("for", "speaks for it")] if any(weight > 0 for weight in weights) else []
    entries += [("against", "speaks against it")] if any(weight < 0 for weight in weights) else []
    entries += [("mark", "strongest fragment")] if marked else []
    return Picture(draw_tree(tree, styles, marked=marked, legend=entries if legend else ()))


def probable_svg(tree: Tree, probabilities: Sequence[float]) -> Picture:
    """Draw a tree that is faint where it is not sure, with the probability behind the label of each such node.

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
    firm = [min(1.0, max(0.0, probability)) for probability in probabilities]
    styles = [NodeStyle(behind=percent(one), firm=one if percent(one) else 1.0) for one in firm]
    return Picture(draw_tree(tree, styles))


def _style(label: str, weight: float, largest: float) -> NodeStyle:
    if not weight:
        return NodeStyle()
    # The root lets small weights show too.
    strength = _STRONGEST * math.sqrt(abs(weight) / largest)
    return NodeStyle("for" if weight > 0 else "against", strength, hover=f"{label}: {weight:+.4g}")


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
