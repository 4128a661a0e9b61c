"""Penn bracket notation, in and out: strings, files, globs, compressed files and streams.

The parsing itself is native; here are the doors and the messages. Formats other than brackets belong to
``corpora``.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from sapwood import _core
from sapwood.errors import BracketError, DataError, TreeError
from sapwood.files import atomic_write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sapwood.trees.array import TreeArray
    from sapwood.trees.tree import Tree

__all__ = ["parse_tree", "read_into", "read_trees", "to_brackets", "write_trees"]

Source = str | os.PathLike[str] | IO[Any]

# Only the white space that separates tokens has to be avoided; a no-break space is part of a word.
_UNWRITABLE = re.compile(r"[() \t-\r\0]")
_REPLACEMENTS = {"(": "-LRB-", ")": "-RRB-"}


def read_trees(
    source: Source | Sequence[Source],
    *,
    drop_traces: bool = False,
    drop_function_tags: bool = False,
    collapse_unary: bool = False,
    unescape: bool = False,
    encoding: str = "utf-8",
) -> TreeArray:
    """Read every tree of one or more treebank files.

    The nameless outer bracket of Penn files, ``( (S ...))``, is removed.

    Parameters
    ----------
    source : path, glob pattern, open file, or a list of these
        Names ending in ``.gz`` are decompressed. A pattern such as ``"wsj/*.mrg"`` is expanded in sorted order.
    drop_traces : bool
        Leave out ``-NONE-`` and every constituent that holds nothing else.
    drop_function_tags : bool
        Cut labels at the first ``-``, ``=`` or ``|``: ``NP-SBJ=2`` becomes ``NP``. Labels that start with ``-``,
        such as ``-LRB-``, and words stay as they are.
    collapse_unary : bool
        Turn X over a single X into one X.
    unescape : bool
        Turn the words ``-LRB-``, ``-RRB-``, ``-LSB-``, ... back into the brackets they stand for.
    encoding : str
        Encoding of the files.

    Returns
    -------
    TreeArray
        The trees in order of appearance.

    Raises
    ------
    BracketError
        With file, line, column and a caret under the fault. Nothing is returned then: no partial treebank.
    DataError
        If a file is missing, holds no tree, or a pattern matches nothing.

    Examples
    --------
    >>> import io
    >>> trees = read_trees(io.StringIO("( (S (NP-SBJ (NN rain)) (VP (VBZ falls))))"), drop_function_tags=True)
    >>> print(trees[0])
    (S (NP (NN rain)) (VP (VBZ falls)))
    """
    from sapwood.trees.array import TreeArray

    arena = _core.trees.Arena()
    roots = []
    for one in _expand(source):
        name, text = _load(one, encoding)
        found = read_into(
            arena,
            text,
            name,
            drop_traces=drop_traces,
            drop_function_tags=drop_function_tags,
            collapse_unary=collapse_unary,
            unescape=unescape,
        )
        if not len(found):
            raise DataError(f"{name}: holds no tree. Expected bracketed trees such as (S (NP dogs) (VP bark)).")
        roots.append(found)
    return TreeArray._from_arena(arena, np.concatenate(roots))


def write_trees(trees: Iterable[Tree | str], path: str | os.PathLike[str], *, escape: bool = False) -> None:
    """Write trees to a file, one per line; compressed if the name ends in ``.gz``.

    The file appears whole or not at all.

    Parameters
    ----------
    trees : TreeArray or iterable of Tree
        What to write.
    path : path
        The file to make or replace.
    escape : bool
        Write brackets inside labels as ``-LRB-`` and ``-RRB-`` and white space as ``_``. Without it such a label is
        an error, since the file would not read back as the same trees.
    """
    from sapwood.trees.array import TreeArray

    lines = []
    for index, tree in enumerate(TreeArray(trees)):
        if isinstance(tree, tuple):
            raise DataError(f"element {index} is a bag of trees; write its trees one by one.")
        lines.append(to_brackets(tree, escape=escape))
    data = "".join(line + "\n" for line in lines).encode()
    if os.fspath(path).endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    atomic_write(path, data)


def parse_tree(text: str) -> Tree:
    """Read exactly one tree from a string; see ``Tree.fromstring``."""
    from sapwood.trees.array import TreeArray

    if not isinstance(text, str):
        raise TreeError(f"expected bracketed text as a str, got {type(text).__name__}.")
    arena = _core.trees.Arena()
    roots = read_into(arena, _encode(text), "<string>", bare_tokens=True)
    if len(roots) != 1:
        hint = "read several with TreeArray or read_trees" if len(roots) else "the text is empty"
        raise BracketError("<string>", 1, 1, f"expected exactly one tree, found {len(roots)}: {hint}")
    tree = TreeArray._from_arena(arena, roots)[0]
    assert not isinstance(tree, tuple)
    return tree


def read_into(
    arena: _core.trees.Arena,
    text: bytes,
    name: str,
    *,
    drop_traces: bool = False,
    drop_function_tags: bool = False,
    collapse_unary: bool = False,
    unescape: bool = False,
    bare_tokens: bool = False,
) -> NDArray[np.uint32]:
    """Read all trees of a text into an arena and return their roots, or raise with the place of the fault."""
    roots, offset, reason = arena.read(text, drop_traces, drop_function_tags, collapse_unary, unescape, bare_tokens)
    if reason:
        raise _fault(name, text, offset, reason)
    return roots


def to_brackets(tree: Tree, *, escape: bool = False) -> str:
    """Write a tree on one line; what ``str(tree)`` gives, except that it refuses labels it cannot express.

    >>> from sapwood import Tree
    >>> to_brackets(Tree("NN", ["(x)"]), escape=True)
    '(NN -LRB-x-RRB-)'
    """
    parts: list[str] = []
    if tree.is_leaf:
        return f"({_label(tree.label, escape)})"
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            parts.append(")")
        elif node.is_leaf:
            parts.append(f" {_label(node.label, escape)}")
        else:
            parts.append(f" ({_label(node.label, escape)}")
            stack.append(None)
            stack.extend(reversed(node.children))
    return "".join(parts)[1:]


def _label(label: str, escape: bool) -> str:
    if not _UNWRITABLE.search(label):
        return label
    if not escape:
        raise TreeError(
            f"the label {label!r} holds a bracket or white space, which bracket notation cannot express; "
            "pass escape=True to write -LRB-, -RRB- and _ instead, or relabel the tree."
        )
    return _UNWRITABLE.sub(lambda found: _REPLACEMENTS.get(found.group(), "_"), label)


def _expand(source: Source | Sequence[Source]) -> list[Source]:
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        if os.path.exists(name) or not glob.has_magic(name):
            if os.path.isdir(name):
                raise DataError(f"{name}: is a folder; name its files, for example {os.path.join(name, '*.mrg')!r}.")
            return [name]
        names = sorted(glob.glob(name, recursive=True))
        if not names:
            raise DataError(f"no file matches {name!r} (looked from {os.getcwd()}).")
        return list(names)
    if isinstance(source, Sequence):
        if not source:
            raise DataError("source is an empty list; name at least one file.")
        return [one for part in source for one in _expand(part)]
    if hasattr(source, "read"):
        return [source]
    raise DataError(f"source must be a path, a glob pattern, an open file or a list of these, got {source!r}.")


def _load(source: Source, encoding: str) -> tuple[str, bytes]:
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        try:
            data = Path(name).read_bytes()
            if name.endswith(".gz"):
                with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                    data = stream.read()
        except FileNotFoundError:
            raise DataError(f"{name}: no such file (looked from {os.getcwd()}).") from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{name}: is not a whole gzip file ({error}); fetch or pack it again.") from None
        except OSError as error:
            raise DataError(f"{name}: cannot be read ({error.strerror}).") from None
    else:
        name = str(getattr(source, "name", "<stream>"))
        content = source.read()
        if isinstance(content, str):
            return name, _encode(content)
        data = bytes(content)
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return name, data
    try:
        return name, data.decode(encoding).encode()
    except UnicodeDecodeError as error:
        reason = f"a byte that is not valid {encoding}; pass the encoding of the file"
        raise _fault(name, data, error.start, reason) from None
    except LookupError:
        raise DataError(f"unknown encoding {encoding!r}; try 'utf-8' or 'latin-1'.") from None


def _encode(text: str) -> bytes:
    # A lone surrogate is passed on as invalid bytes, so that the reader reports where it stands.
    return text.encode("utf-8", "surrogatepass")


def _fault(name: str, text: bytes, offset: int, reason: str) -> BracketError:
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
