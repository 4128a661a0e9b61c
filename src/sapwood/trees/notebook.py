"""How a tree shows in a notebook: an SVG picture, laid out by svgling.

Only the plain picture. Highlighting and annotations belong to ``draw``.
"""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import escape

from sapwood.trees.tree import Tree, fold

__all__ = ["printable", "tree_svg", "with_page_colours"]

# svgling recurses, and a picture beyond these sizes helps nobody.
_MAX_HEIGHT = 100
_MAX_NODES = 2000
# What XML cannot hold, not even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def tree_svg(tree: Tree) -> str:
    """Draw a tree as SVG; a tree too large to look at becomes a line of text that says so."""
    height, size = tree.height(), tree.size()
    if height > _MAX_HEIGHT or size > _MAX_NODES:
        text = escape(f"a tree of {size:,} nodes and height {height:,}, too large to draw")
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" width="520" height="24">'
            f'<text x="4" y="16" font-family="sans-serif" font-size="13">{text}</text></svg>'
        )
    import svgling

    def build(node: Tree, below: list[Any]) -> Any:
        return (printable(node.label), *below) if below else printable(node.label)

    drawn = svgling.draw_tree(fold(tree, lambda node: node.children, build))
    return with_page_colours(drawn.get_svg().tostring())


def printable(label: str) -> str:
    """Return a label without what XML cannot hold."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", label)


def with_page_colours(picture: str) -> str:
    """Let what svgling draws in black take the colour of the text around it, so that it shows on dark pages too."""
    # Labels cannot be hit: in text, "<" is always escaped.
    picture = picture.replace('<line stroke="black"', '<line stroke="currentColor"')
    # A label may be wider than the box that was reckoned for it; it must not be cut off there.
    picture = picture.replace('<svg width="', '<svg overflow="visible" width="')
    return picture.replace("<svg ", '<svg class="sapwood-tree" fill="currentColor" overflow="visible" ', 1)
