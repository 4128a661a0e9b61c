"""Trees as text for the terminal, bare or with a number per node."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from sapwood.trees.tree import Tree

__all__ = ["cut", "outline", "percent", "probable_outline", "weighted_outline", "wrapped"]


def outline(tree: Tree, *, width: int = 80, max_lines: int | None = None) -> str:
    """Draw a tree as an indented outline, a pre-terminal and its word on one line.

    Parameters
    ----------
    tree : Tree
        What to draw.
    width : int
        Lines are cut to this many characters.
    max_lines : int, optional
        The outline stops after so many lines and says how many nodes are left out.

    Examples
    --------
    >>> print(outline(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD barked)))")))
    S
    ├─ NP
    │  ├─ DT the
    │  └─ NN dog
    └─ VP
       └─ VBD barked
    """
    return _outline(tree, None, width, max_lines)


def weighted_outline(tree: Tree, weights: Sequence[float], *, width: int = 80, max_lines: int | None = None) -> str:
    """Draw an outline with a number before each line, and a bar that shows its size.

    Parameters
    ----------
    tree : Tree
        What to draw.
    weights : sequence of float
        One per node, in pre-order. A pre-terminal and its word share a line, and there their sum is shown.
    width, max_lines
        As for ``outline``.

    Examples
    --------
    >>> print(weighted_outline(Tree.fromstring("(NP (DT the) (NN dog))"), [0.5, -0.25, 0.0, 0.1, 0.05]))
    +0.5000 ++++++  NP
    -0.2500 ---     ├─ DT the
    +0.1500 ++      └─ NN dog
    """
    largest = max((abs(weight) for weight in weights), default=0.0)
    return _outline(tree, lambda first, last: _margin(float(sum(weights[first:last])), largest), width, max_lines)


def probable_outline(
    tree: Tree, probabilities: Sequence[float], *, width: int = 80, max_lines: int | None = None
) -> str:
    """Draw an outline with the probability of each node before it; nothing stands before what is next to certain.

    Parameters
    ----------
    tree : Tree
        What to draw.
    probabilities : sequence of float
        One per node, in pre-order; those of words are not shown.
    width, max_lines
        As for ``outline``.

    Examples
    --------
    >>> print(probable_outline(Tree.fromstring("(S (NP (NN rain)) (VP (VBZ falls)))"), [1, 0.8, 0.75, 1, 1, 1, 1]))
          S
     80%  ├─ NP
     75%  │  └─ NN rain
          └─ VP
             └─ VBZ falls
    """
    return _outline(tree, lambda first, last: f"{percent(probabilities[first]):>4}  ", width, max_lines)


def percent(probability: float) -> str:
    """Return a probability as a percentage; nothing for what is next to certain.

    >>> percent(0.816), percent(0.96), percent(0.001)
    ('82%', '', '<1%')
    """
    if probability >= 0.95:
        return ""
    return f"{100 * probability:.0f}%" if probability >= 0.01 else "<1%"


def cut(line: str, width: int) -> str:
    """Shorten a line to a width, with three dots where something is missing.

    >>> cut("a long line", 8)
    'a lon...'
    """
    return line if len(line) <= width else f"{line[: max(0, width - 3)]}..."


def wrapped(line: str, width: int) -> list[str]:
    """Break a line of which nothing may be missing into several, all but the first indented.

    >>> wrapped("score of description 1.25 = 0.25 (bias) + 1 (nodes)", 40)
    ['score of description 1.25 = 0.25 (bias)', '    + 1 (nodes)']
    """
    # Narrower than this, next to nothing would stand beside the indent.
    return textwrap.wrap(line, max(width, 20), subsequent_indent="    ", break_on_hyphens=False)


def _outline(tree: Tree, margin: Callable[[int, int], str] | None, width: int, max_lines: int | None) -> str:
    """Draw an outline; ``margin`` gives what stands before the nodes from the first to the last, in pre-order."""
    lines: list[str] = []
    node_number = 0
    stack: list[tuple[Tree, str, str]] = [(tree, "", "")]
    while stack:
        node, lead, below = stack.pop()
        if max_lines is not None and len(lines) >= max_lines:
            left = node.size() + sum(other.size() for other, _, _ in stack)
            lines.append(f"... {left:,} more nodes")
            break
        text = node.label
        children = node.children
        first = node_number
        node_number += 1
        if len(children) == 1 and children[0].is_leaf:
            text, children = f"{text} {children[0].label}", ()
            node_number += 1
        before = "" if margin is None else margin(first, node_number)
        lines.append(cut(before + lead + text, width))
        for position, child in reversed(list(enumerate(children))):
            last = position == len(children) - 1
            # Beyond the width nothing would show, so the lead stops growing there.
            room = len(below) < width
            stack.append(
                (child, below + ("└─ " if last else "├─ "), below + (("   " if last else "│  ") if room else ""))
            )
    return "\n".join(lines)


def _margin(weight: float, largest: float) -> str:
    length = round(6 * min(1.0, abs(weight) / largest)) if largest > 0 else 0
    number = f"{weight:+.4f}" if 1e-4 <= abs(weight) < 100 or weight == 0 else f"{weight:+.0e}"
    return f"{number:>7} {('+' if weight > 0 else '-') * length:<6}  "
