"""Trees as text for the terminal."""

from __future__ import annotations

from sapwood.trees.tree import Tree

__all__ = ["outline"]


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
    lines: list[str] = []
    stack: list[tuple[Tree, str, str]] = [(tree, "", "")]
    while stack:
        node, lead, below = stack.pop()
        if max_lines is not None and len(lines) >= max_lines:
            left = node.size() + sum(other.size() for other, _, _ in stack)
            lines.append(f"... {left:,} more nodes")
            break
        text = node.label
        children = node.children
        if len(children) == 1 and children[0].is_leaf:
            text, children = f"{text} {children[0].label}", ()
        line = lead + text
        lines.append(line if len(line) <= width else f"{line[: width - 3]}...")
        for position, child in reversed(list(enumerate(children))):
            last = position == len(children) - 1
            # Beyond the width nothing would show, so the lead stops growing there.
            room = len(below) < width
            stack.append(
                (child, below + ("└─ " if last else "├─ "), below + (("   " if last else "│  ") if room else ""))
            )
    return "\n".join(lines)
