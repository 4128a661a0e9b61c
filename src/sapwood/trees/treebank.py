"""Files of trees in brackets: reading them whole, tree by tree or in blocks, and writing them.

``sapwood.sources`` opens the files, ``brackets`` reads what is in them; formats other than brackets belong to
``corpora``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np

from sapwood import _core
from sapwood.checks import check_count, check_flag
from sapwood.errors import BracketError, DataError, ParameterError, TooLargeError
from sapwood.memory import available
from sapwood.sources import Source, Stream, bare_name, open_all
from sapwood.text_files import check_encoding, texts
from sapwood.trees.array import TreeArray
from sapwood.trees.brackets import bracket_fault, encode, read_into
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["iter_tree_blocks", "iter_trees", "read_trees", "write_trees"]

# The files of a folder that hold trees.
_ENDINGS = (".mrg", ".ptb", ".prd", ".parse", ".psd", ".tree", ".trees")

# A single tree longer than this is a bracket that is never closed, not a sentence.
_LONGEST_TREE = 1 << 28

# So much of a text is read at once, so that Ctrl-C is noticed; longer ones are compared with free memory on the way.
_LARGE = 1 << 24

# So much is asked of a file at a time, and some make room for all of it beforehand.
_LARGEST_BLOCK = 1 << 30


def read_trees(
    source: Source | Iterable[Source],
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
    source : folder, path, pattern, open file, or an iterable of these
        A pattern such as ``"wsj/*.mrg"`` is expanded in sorted order, and a folder stands for all treebank files under
        it (``.mrg``, ``.ptb``, ``.prd``, ``.parse``, ``.psd``, ``.tree``, ``.trees``). Files in ``.gz``, ``.xz``,
        ``.lzma`` and ``.bz2`` are decompressed, and a path may lead into an archive: ``"gum.tar.xz/const/*.ptb"``.
    drop_traces : bool
        Leave out ``-NONE-``, the empty bracket ``( )`` that it has become in some files, and every constituent that
        holds nothing else.
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
    FormatError
        Where a byte is not valid in an encoding other than UTF-8.

    Examples
    --------
    >>> import io
    >>> trees = read_trees(io.StringIO("( (S (NP-SBJ (NN rain)) (VP (VBZ falls))))"), drop_function_tags=True)
    >>> print(trees[0])
    (S (NP (NN rain)) (VP (VBZ falls)))
    """
    flags = _checked_flags(
        drop_traces=drop_traces,
        drop_function_tags=drop_function_tags,
        collapse_unary=collapse_unary,
        unescape=unescape,
    )
    check_encoding(encoding)
    arena = _core.trees.Arena()
    roots = []
    for stream in _opened(source):
        pieces = _read_pieces(stream) if _is_utf8(encoding) else texts(stream, encoding)
        text = _joined(pieces, stream.name)
        # Python keeps ASCII as the very bytes that the reader wants: a copy would cost time and memory.
        text = encode(text) if isinstance(text, str) and not text.isascii() else text
        found = read_into(arena, text, stream.name, **flags)
        if not len(found):
            raise _no_tree(stream.name)
        roots.append(found)
    return TreeArray._from_arena(arena, np.concatenate(roots))


def iter_trees(
    source: Source | Iterable[Source],
    *,
    drop_traces: bool = False,
    drop_function_tags: bool = False,
    collapse_unary: bool = False,
    unescape: bool = False,
    encoding: str = "utf-8",
) -> Iterator[Tree]:
    """Yield the trees of files one by one, in memory that does not grow with the files.

    Parameters and errors are those of ``read_trees``. A fault is raised when it is reached, after the trees before
    it; for whole-sale work on blocks of trees see ``iter_tree_blocks``.

    Examples
    --------
    >>> import io
    >>> for tree in iter_trees(io.StringIO("(NP (NN rain)) (NP (NN snow))")):
    ...     print(tree)
    (NP (NN rain))
    (NP (NN snow))
    """
    blocks = iter_tree_blocks(
        source,
        drop_traces=drop_traces,
        drop_function_tags=drop_function_tags,
        collapse_unary=collapse_unary,
        unescape=unescape,
        encoding=encoding,
    )
    # Blocks of files hold no bags.
    return (cast(Tree, tree) for block in blocks for tree in block)


def iter_tree_blocks(
    source: Source | Iterable[Source],
    *,
    block_bytes: int = 1 << 20,
    drop_traces: bool = False,
    drop_function_tags: bool = False,
    collapse_unary: bool = False,
    unescape: bool = False,
    encoding: str = "utf-8",
) -> Iterator[TreeArray]:
    """Yield the trees of files as arrays of roughly ``block_bytes`` of text each.

    Every block has a store of its own, so what has been yielded can be forgotten. Other parameters and errors are
    those of ``read_trees``.

    Examples
    --------
    >>> import io
    >>> [len(block) for block in iter_tree_blocks(io.StringIO("(A b) " * 9), block_bytes=24)]
    [4, 4, 1]
    """
    size = check_count(block_bytes, "block_bytes", most=_LARGEST_BLOCK)
    flags = _checked_flags(
        drop_traces=drop_traces,
        drop_function_tags=drop_function_tags,
        collapse_unary=collapse_unary,
        unescape=unescape,
    )
    check_encoding(encoding)
    # What is wrong with the arguments is said now, what is wrong with a file when it is reached.
    return _tree_blocks(source, encoding, size, flags)


def _tree_blocks(
    source: Source | Iterable[Source], encoding: str, size: int, flags: dict[str, bool]
) -> Iterator[TreeArray]:
    for stream in _opened(source):
        name, any_tree = stream.name, False
        for text, line, column in _whole_trees(_pieces(stream, encoding, size), name):
            arena = _core.trees.Arena()
            try:
                # A byte-order mark is skipped at the start of a file only: a space hides later ones from the reader.
                roots = read_into(arena, text if line == column == 1 else b" " + text, name, **flags)
            except BracketError as fault:
                shift = column - 1 - (not line == column == 1) if fault.line == 1 else 0
                raise BracketError(
                    name, fault.line + line - 1, fault.column + shift, fault.reason, fault.context
                ) from None
            if len(roots):
                any_tree = True
                yield TreeArray._from_arena(arena, roots)
        if not any_tree:
            raise _no_tree(name)


def _whole_trees(pieces: Iterator[bytes], name: str) -> Iterator[tuple[bytes, int, int]]:
    """Join the pieces of a text and cut them again between trees; each with the line and column where it begins."""
    line = column = 1
    kept, depth = b"", 0
    for piece in pieces:
        start = len(kept)
        kept += piece
        end, depth = _core.trees.whole_trees(kept, start, depth)
        # Text outside any bracket, or a bracket too many, will not get better by waiting: the reader says so now.
        if depth == 0 and end == start:
            end = len(kept)
            while end and kept[end - 1] >= 0x80:  # the last character may be cut in two
                end -= 1
        if end > start:
            yield kept[:end], line, column
            breaks = kept.count(b"\n", 0, end)
            tail = kept[kept.rfind(b"\n", 0, end) + 1 : end].decode("utf-8", "replace")
            if line == column == 1 and not breaks:
                tail = tail.removeprefix("\ufeff")  # no part of what people see
            line, column = line + breaks, len(tail) + (1 if breaks else column)
            kept, depth = kept[end:], max(depth, 0)
        elif len(kept) > _LONGEST_TREE:
            raise bracket_fault(
                name,
                b"\n" * (line - 1) + kept[:1000],
                line - 1 + len(kept) - len(kept.lstrip()),
                f"this bracket is not closed within {_LONGEST_TREE >> 20} MB; add the missing ')'",
            )
    if kept:
        yield kept, line, column


def _pieces(stream: Stream, encoding: str, size: int) -> Iterator[bytes]:
    """Yield a file as UTF-8 in pieces of about the size asked for."""
    size = max(size, 16)
    if not _is_utf8(encoding):
        yield from map(encode, texts(stream, encoding, size))
        return
    while piece := stream.read(size):
        yield piece if isinstance(piece, bytes) else encode(piece)


def _read_pieces(stream: Stream) -> Iterator[Any]:
    while piece := stream.read(_LARGE):
        yield piece


def _joined(pieces: Iterator[Any], name: str) -> Any:
    """Put a text together, unless it turns out to be more than memory holds: compressed files do not tell."""
    found, total, checked = [], 0, 0
    for piece in pieces:
        found.append(piece)
        total += len(piece)
        if total > checked + _LARGE:
            free, checked = available(), total
            # The text is put together once more, and then there are the trees.
            if free is not None and 2 * total > free:
                raise TooLargeError(
                    f"{name}: its text has more than {total / 1e9:.1f} GB, and only {free / 1e9:.1f} GB are free for "
                    "its trees; iter_trees reads one tree after the other."
                )
    if len(found) == 1:
        return found[0]
    return found[0][:0].join(found) if found else b""


def _opened(source: Source | Iterable[Source]) -> Iterator[Stream]:
    for stream in open_all(source, endings=_ENDINGS):
        if bare_name(stream.name).endswith((".conllu", ".conll-u")):
            raise DataError(
                f"{stream.name}: CoNLL-U has dependencies, and bracketed trees were expected; "
                "TreeArray(sapwood.corpora.conllu.read(path)) makes trees of dependencies."
            )
        if bare_name(stream.name).endswith(".parquet"):
            raise DataError(
                f"{stream.name}: a Parquet file, and bracketed trees were expected; TreeArray.from_parquet(path, "
                "column) reads a column of trees."
            )
        yield stream


def _no_tree(name: str) -> DataError:
    return DataError(f"{name}: holds no tree. Expected bracketed trees such as (S (NP dogs) (VP bark)).")


def write_trees(trees: Iterable[Tree | str], path: str | os.PathLike[str], *, escape: bool = False) -> None:
    """Write trees to a file, one per line; compressed if the name ends in ``.gz``, ``.xz`` or ``.bz2``.

    The file appears whole or not at all. Text is made of some thousands of trees at a time, whatever their number.

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
    if hasattr(path, "write"):
        raise ParameterError(
            f"path must be the name of a file, got an open {type(path).__name__}; to write to that, use "
            "stream.write('\\n'.join(TreeArray(trees).to_strings()))."
        )
    blocks = TreeArray(trees)._string_blocks(escape=escape)
    write_text(path, ("".join(line + "\n" for line in block) for block in blocks))


def _checked_flags(**flags: object) -> dict[str, bool]:
    for flag, value in flags.items():
        check_flag(value, flag)
    return {flag: bool(value) for flag, value in flags.items()}


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")
