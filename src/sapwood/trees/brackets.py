"""Penn bracket notation: from text to trees and back, and where the text is broken.

The parsing itself is native; here are the messages. Files of trees are read by ``treebank``, formats other than
brackets by ``corpora``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from sapwood import _core
from sapwood.errors import BracketError, DataError, TreeError
from sapwood.penn import BRACKETS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sapwood.trees.tree import Tree

__all__ = [
    "MOST_WRITTEN_OUT",
    "bracket_fault",
    "bracket_pieces",
    "encode",
    "is_writable",
    "parse_tree",
    "read_each_into",
    "read_into",
    "to_brackets",
]

# Only the white space that separates tokens has to be avoided; a no-break space is part of a word.
_UNWRITABLE = re.compile(r"[() \t-\r\0]")

MOST_WRITTEN_OUT = 100_000_000
"""So many nodes of one tree are written out at most: a few distinct subtrees may stand for exponentially many."""

_MANY_PIECES = 100_000

_PARSE = (
    "parse it first, with transform(texts) of a parser in sapwood.parse or in a pipeline such as "
    "make_pipeline(parser, KernelSVC()); QuestionClassifier(parser=parser) takes text itself"
)


def parse_tree(text: str) -> Tree:
    """Read exactly one tree from a string; see ``Tree.fromstring``."""
    from sapwood.trees.array import TreeArray

    if not isinstance(text, str):
        raise TreeError(f"expected bracketed text as a str, got {type(text).__name__}.")
    arena = _core.trees.Arena()
    roots = read_into(arena, encode(text), "<string>", bare_tokens=True)
    if len(roots) != 1:
        if _is_prose(text):
            raise BracketError("<string>", 1, 1, f"this is text, not a tree in brackets: {_shortened(text)}; {_PARSE}")
        hint = "read several with TreeArray or read_trees" if len(roots) else "the text is empty"
        raise BracketError("<string>", 1, 1, f"expected exactly one tree, found {len(roots)}: {hint}")
    tree = TreeArray._from_arena(arena, roots)[0]
    assert not isinstance(tree, tuple)
    return tree


def read_into(
    arena: _core.trees.Arena,
    text: bytes | str,
    name: str,
    *,
    drop_traces: bool = False,
    drop_function_tags: bool = False,
    collapse_unary: bool = False,
    unescape: bool = False,
    bare_tokens: bool = False,
) -> NDArray[np.uint32]:
    """Read all trees of a text into an arena and return their roots, or raise with the place of the fault.

    The text is UTF-8, or a str of ASCII characters.
    """
    roots, offset, reason = arena.read(text, drop_traces, drop_function_tags, collapse_unary, unescape, bare_tokens)
    if reason:
        raise bracket_fault(name, text if isinstance(text, bytes) else text.encode(), offset, reason)
    return roots


def read_each_into(arena: _core.trees.Arena, texts: list[str], numbers: Sequence[int]) -> NDArray[np.uint32]:
    """Read texts of one tree each into an arena and return their roots, or raise naming the element at fault.

    The numbers say which elements the texts are.
    """
    roots, offset, reason = arena.read_each([text if text.isascii() else encode(text) for text in texts])
    if len(roots) == len(texts):
        return roots
    number, text = numbers[len(roots)], texts[len(roots)]
    if not reason and _is_prose(text):
        raise DataError(f"element {number} is text, not a tree in brackets: {_shortened(text)}; {_PARSE}.")
    # A sentence may hold brackets, and a tree may lack its first one.
    hint = f"; if this is text, {_PARSE}" if re.match(r"\s*[^\s(]\S*\s", text) else ""
    if reason:
        raise bracket_fault(f"<element {number}>", encode(text), offset, reason + hint)
    if not offset:
        raise DataError(f"element {number} is an empty string; expected a tree in brackets.")
    raise DataError(
        f"element {number} holds {offset} trees; expected one tree per string. "
        f"Pass a list of strings for a bag of trees{hint}."
    )


def _is_prose(text: str) -> bool:
    """Tell whether a string that is no tree is text to be parsed: several words without a bracket."""
    return not re.search(r"[()]", text) and len(text.split()) > 1


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def is_writable(label: str) -> bool:
    """Tell whether bracket notation can express a label as it is."""
    return not _UNWRITABLE.search(label)


def to_brackets(tree: Tree, *, escape: bool = False) -> str:
    """Write a tree on one line; what ``str(tree)`` gives, except that it refuses labels it cannot express.

    >>> from sapwood import Tree
    >>> to_brackets(Tree("NN", ["(x)"]), escape=True)
    '(NN -LRB-x-RRB-)'
    """
    pieces = bracket_pieces(tree, escape=escape)
    parts = list(islice(pieces, _MANY_PIECES))
    if len(parts) == _MANY_PIECES:
        # Counting takes as long as writing does, so small trees are not counted.
        if tree.size() > MOST_WRITTEN_OUT:
            raise TreeError(
                f"the tree has more than {MOST_WRITTEN_OUT:,} nodes, too many to write down one by one; it repeats a "
                "subtree over and over: write that alone."
            )
        parts.extend(pieces)
    return "".join(parts)


def bracket_pieces(tree: Tree, *, escape: bool = False) -> Iterator[str]:
    """Yield what ``to_brackets`` writes piece by piece, none of them empty, for those who need only the beginning."""
    if tree.is_leaf:
        yield f"({_label(tree.label, escape)})"
        return
    yield f"({_label(tree.label, escape)}"
    stack: list[Tree | None] = [None, *reversed(tree.children)]
    while stack:
        node = stack.pop()
        if node is None:
            yield ")"
        elif node.is_leaf:
            yield f" {_label(node.label, escape)}"
        else:
            yield f" ({_label(node.label, escape)}"
            stack.append(None)
            stack.extend(reversed(node.children))


def _label(label: str, escape: bool) -> str:
    if is_writable(label):
        return label
    if not escape:
        raise TreeError(
            f"the label {label!r} holds a bracket or white space, which bracket notation cannot express; "
            "pass escape=True to write -LRB-, -RRB- and _ instead, or relabel the tree."
        )
    return _UNWRITABLE.sub(lambda found: BRACKETS.get(found.group(), "_"), label)


def encode(text: str) -> bytes:
    """Return text as the reader takes it; a lone surrogate becomes invalid bytes, of which the reader says where."""
    return text.encode("utf-8", "surrogatepass")


def bracket_fault(name: str, text: bytes, offset: int, reason: str) -> BracketError:
    """Make the error for a fault at an offset of a text, with its line and a caret under it."""
    start = text.rfind(b"\n", 0, offset) + 1
    end = text.find(b"\n", offset)
    end = len(text) if end < 0 else end
    line = text.count(b"\n", 0, offset) + 1
    # Neither a byte order mark nor the other half of a Windows line end is part of what people see.
    if start == 0 and text.startswith(b"\xef\xbb\xbf") and offset >= 3:
        start = 3
    if end > offset and text[end - 1 : end] == b"\r":
        end -= 1
    before = text[start:offset].decode("utf-8", "replace").expandtabs(1)
    after = text[offset:end].decode("utf-8", "replace").expandtabs(1)
    column = len(before) + 1
    # Long lines are cut around the fault so that the caret stays on the screen.
    head = before if len(before) <= 60 else f"...{before[-57:]}"
    tail = after if len(after) <= 40 else f"{after[:37]}..."
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in head + tail)
    return BracketError(name, line, column, reason, f"    {shown}\n    {' ' * len(head)}^")
