"""Penn bracket notation, in and out: strings, files, globs, compressed files and streams.

The parsing itself is native; here are the doors and the messages. Formats other than brackets belong to
``corpora``.
"""

from __future__ import annotations

import codecs
import glob
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from sapwood import _core
from sapwood.errors import BracketError, DataError, ParameterError, SapwoodError, TreeError
from sapwood.penn import BRACKETS
from sapwood.writing import atomic_write, path_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sapwood.trees.array import TreeArray
    from sapwood.trees.tree import Tree

__all__ = [
    "MOST_WRITTEN_OUT",
    "archive_in",
    "bracket_pieces",
    "is_writable",
    "iter_tree_blocks",
    "iter_trees",
    "packed_ending",
    "parse_tree",
    "read_each_into",
    "read_into",
    "read_trees",
    "refuse_what_names_no_file",
    "to_brackets",
    "write_trees",
]

Source = str | os.PathLike[str] | IO[Any]

# Only the white space that separates tokens has to be avoided; a no-break space is part of a word.
_UNWRITABLE = re.compile(r"[() \t-\r\0]")

# Endings of archives. The readers of corpora look into them, this module does not.
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")

# Endings of files that are compressed in other ways than this module unpacks.
_OTHERWISE_PACKED = (".bz2", ".xz", ".lzma", ".z", ".zst")
# Those of them that the readers of corpora unpack.
_ALSO_READ = (".bz2", ".xz")

# A single tree longer than this is a bracket that is never closed, not a sentence.
_LONGEST_TREE = 1 << 28

# So much is asked of a file at a time, and some make room for all of it beforehand.
_LARGEST_BLOCK = 1 << 30

MOST_WRITTEN_OUT = 100_000_000
"""So many nodes of one tree are written out at most: a few distinct subtrees may stand for exponentially many."""

_MANY_PIECES = 100_000

_PARSE = (
    "parse it first, with transform(texts) of a parser in sapwood.parse or in a pipeline such as "
    "make_pipeline(parser, KernelSVC()); QuestionClassifier(parser=parser) takes text itself"
)


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
    source : path, glob pattern, open file, or an iterable of these
        Names ending in ``.gz`` are decompressed. A pattern such as ``"wsj/*.mrg"`` is expanded in sorted order.
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

    Examples
    --------
    >>> import io
    >>> trees = read_trees(io.StringIO("( (S (NP-SBJ (NN rain)) (VP (VBZ falls))))"), drop_function_tags=True)
    >>> print(trees[0])
    (S (NP (NN rain)) (VP (VBZ falls)))
    """
    from sapwood.trees.array import TreeArray

    flags = _checked_flags(
        drop_traces=drop_traces,
        drop_function_tags=drop_function_tags,
        collapse_unary=collapse_unary,
        unescape=unescape,
    )
    _check_encoding(encoding)
    arena = _core.trees.Arena()
    roots = []
    for one in _expand(source):
        name, text = _load(one, encoding)
        found = read_into(arena, text, name, **flags)
        if not len(found):
            raise DataError(f"{name}: holds no tree. Expected bracketed trees such as (S (NP dogs) (VP bark)).")
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
    return (cast("Tree", tree) for block in blocks for tree in block)


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
    if isinstance(block_bytes, bool) or not isinstance(block_bytes, (int, np.integer)) or block_bytes < 1:
        raise DataError(f"block_bytes must be an integer of at least 1, got {block_bytes!r}.")
    if block_bytes > _LARGEST_BLOCK:
        raise DataError(
            f"block_bytes must be at most {_LARGEST_BLOCK:,}, got {block_bytes:,}; read_trees reads everything at once."
        )
    flags = _checked_flags(
        drop_traces=drop_traces,
        drop_function_tags=drop_function_tags,
        collapse_unary=collapse_unary,
        unescape=unescape,
    )
    _check_encoding(encoding)
    # What is wrong with the arguments is said now, what is wrong with a file when it is reached.
    return _tree_blocks(source, encoding, int(block_bytes), flags)


def _tree_blocks(
    source: Source | Iterable[Source], encoding: str, size: int, flags: dict[str, bool]
) -> Iterator[TreeArray]:
    from sapwood.trees.array import TreeArray

    for one in _expand(source):
        name, any_tree = _name(one), False
        for text, line, column in _whole_trees(_pieces(one, encoding, size), name):
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
            raise DataError(f"{name}: holds no tree. Expected bracketed trees such as (S (NP dogs) (VP bark)).")


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
            raise _fault(
                name,
                b"\n" * (line - 1) + kept[:1000],
                line - 1 + len(kept) - len(kept.lstrip()),
                f"this bracket is not closed within {_LONGEST_TREE >> 20} MB; add the missing ')'",
            )
    if kept:
        yield kept, line, column


def _pieces(source: Source, encoding: str, size: int) -> Iterator[bytes]:
    """Yield a file as UTF-8 in pieces of about the size asked for."""
    name = _name(source)
    recode = None if _is_utf8(encoding) else codecs.getincrementaldecoder(encoding)()
    done = 0
    with ExitStack() as opened:
        with _faults_named(name):
            stream: Any = source
            if isinstance(source, (str, os.PathLike)) and _is_gzip(name):
                stream = opened.enter_context(gzip.open(name))
            elif isinstance(source, (str, os.PathLike)):
                stream = opened.enter_context(open(name, "rb"))
        while True:
            with _faults_named(name):
                piece = _checked(stream.read(max(size, 16)), name)
            if not piece:
                break
            if isinstance(piece, str):
                yield _encode(piece)
            else:
                yield piece if recode is None else _encode(_decoded(recode, piece, name, encoding, done))
            done += len(piece)
        if recode is not None:
            _decoded(recode, b"", name, encoding, done)


def _decoded(recode: codecs.IncrementalDecoder, piece: bytes, name: str, encoding: str, done: int) -> str:
    """Decode a piece of a file; an empty one is the end."""
    try:
        return recode.decode(piece, final=not piece)
    except UnicodeError as error:
        raise DataError(
            f"{name}: near byte {done + getattr(error, 'start', 0):,} is a byte that is not valid {encoding}; pass the "
            "encoding of the file."
        ) from None


def write_trees(trees: Iterable[Tree | str], path: str | os.PathLike[str], *, escape: bool = False) -> None:
    """Write trees to a file, one per line; compressed if the name ends in ``.gz``.

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
    from sapwood.trees.array import TreeArray

    if hasattr(path, "write"):
        raise ParameterError(
            f"path must be the name of a file, got an open {type(path).__name__}; to write to that, use "
            "stream.write('\\n'.join(TreeArray(trees).to_strings()))."
        )
    name = path_name(path)
    blocks = TreeArray(trees)._string_blocks(escape=escape)
    pieces = ("".join(line + "\n" for line in block).encode() for block in blocks)
    atomic_write(name, _compressed(pieces) if _is_gzip(name) else pieces)


def _compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    # The same trees give the same bytes: this kind of header holds neither a time nor a name.
    packer = zlib.compressobj(level=9, wbits=31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def parse_tree(text: str) -> Tree:
    """Read exactly one tree from a string; see ``Tree.fromstring``."""
    from sapwood.trees.array import TreeArray

    if not isinstance(text, str):
        raise TreeError(f"expected bracketed text as a str, got {type(text).__name__}.")
    arena = _core.trees.Arena()
    roots = read_into(arena, _encode(text), "<string>", bare_tokens=True)
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
        raise _fault(name, text if isinstance(text, bytes) else text.encode(), offset, reason)
    return roots


def _checked_flags(**flags: object) -> dict[str, bool]:
    for flag, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ParameterError(f"{flag} must be True or False, got {value!r}.")
    return {flag: bool(value) for flag, value in flags.items()}


def read_each_into(arena: _core.trees.Arena, texts: list[str], numbers: Sequence[int]) -> NDArray[np.uint32]:
    """Read texts of one tree each into an arena and return their roots, or raise naming the element at fault.

    The numbers say which elements the texts are.
    """
    roots, offset, reason = arena.read_each([text if text.isascii() else _encode(text) for text in texts])
    if len(roots) == len(texts):
        return roots
    number, text = numbers[len(roots)], texts[len(roots)]
    if not reason and _is_prose(text):
        raise DataError(f"element {number} is text, not a tree in brackets: {_shortened(text)}; {_PARSE}.")
    # A sentence may hold brackets, and a tree may lack its first one.
    hint = f"; if this is text, {_PARSE}" if re.match(r"\s*[^\s(]\S*\s", text) else ""
    if reason:
        raise _fault(f"<element {number}>", _encode(text), offset, reason + hint)
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
        # Counting takes as long as writing does, which small trees should not pay for.
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


def _expand(source: Source | Iterable[Source]) -> Iterator[Source]:
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        refuse_what_names_no_file(name)
        _refuse_archives(name)
        if os.path.exists(name) or not glob.has_magic(name):
            if os.path.isdir(name):
                raise DataError(f"{name}: is a folder; name its files, for example {os.path.join(name, '*.mrg')!r}.")
            _refuse_otherwise_packed(name)
            yield name
            return
        names = sorted(glob.glob(name, recursive=True))
        if not names:
            raise DataError(f"no file matches {name!r} (looked from {os.getcwd()}).")
        for one in names:
            if os.path.isdir(one):
                raise DataError(
                    f"the pattern {name!r} matches the folder {one!r}; narrow it to files, for example to those that "
                    "end in '*.mrg'."
                )
            _refuse_otherwise_packed(one)
        yield from names
    elif isinstance(source, (bytes, bytearray, memoryview)):
        refuse_what_names_no_file(bytes(source))
    elif hasattr(source, "read"):
        stream = cast("IO[Any]", source)
        if getattr(stream, "closed", False):
            raise DataError(f"{_name(stream)}: the file is closed; pass an open one, or its path.")
        yield stream
    elif isinstance(source, Iterable):
        empty = True
        for part in source:
            empty = False
            yield from _expand(part)
        if empty:
            raise DataError("source is an empty list; name at least one file.")
    else:
        raise DataError(f"source must be a path, a glob pattern, an open file or a list of these, got {source!r}.")


def refuse_what_names_no_file(name: str | bytes) -> None:
    """Raise for bytes, for names that no file can have, and for a tree in place of a name."""
    if isinstance(name, bytes):
        raise DataError(
            "source is bytes; a path must be text: pass os.fsdecode(path). Content that is bytes is read through "
            "io.BytesIO(data)."
        )
    if "\0" in name:
        raise DataError(f"{name[:60]!r}: no file has such a name; it holds a NUL character.")
    if name.lstrip().startswith("(") and not os.path.exists(name) and not glob.glob(name, recursive=True):
        shown = name if len(name) <= 60 else f"{name[:57]}..."
        raise DataError(
            f"{shown!r}: no such file (looked from {os.getcwd()}). If this is a tree and not the name of a file, read "
            "it with Tree.fromstring(text), or many of them with TreeArray([text, ...])."
        )


def _refuse_otherwise_packed(name: str) -> None:
    if packed_ending(name) in _OTHERWISE_PACKED and os.path.exists(name):
        other = (
            f", or read it with sapwood.corpora.read_treebank({name!r})" if packed_ending(name) in _ALSO_READ else ""
        )
        raise DataError(f"{name}: of compressed files only those in .gz are unpacked here; unpack it first{other}.")


def archive_in(name: str) -> tuple[str, str] | None:
    """Split a path at the archive that it leads through, if it does; the rest of the archive itself is ``.``."""
    path = Path(name)
    for part in (path, *path.parents):
        if str(part).lower().endswith(_ARCHIVES) and part.is_file():
            return str(part), path.relative_to(part).as_posix()
    return None


def _refuse_archives(name: str) -> None:
    if split := archive_in(name):
        archive, rest = split
        inside = f"{name}/*.mrg" if rest == "." else name
        raise DataError(
            f"{name}: {os.path.basename(archive)} is an archive; read the files in it with "
            f"sapwood.corpora.read_treebank({inside!r})."
        )


def _load(source: Source, encoding: str) -> tuple[str, bytes | str]:
    name = _name(source)
    with _faults_named(name):
        if isinstance(source, (str, os.PathLike)):
            data = Path(name).read_bytes()
            if _is_gzip(name):
                with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                    data = stream.read()
        else:
            content = _checked(source.read(), name)
            if isinstance(content, str):
                # Python keeps ASCII as the very bytes that the reader wants: a copy would cost time and memory.
                return name, content if content.isascii() else _encode(content)
            data = content
    if _is_utf8(encoding):
        return name, data
    try:
        return name, _encode(data.decode(encoding))
    except UnicodeError as error:
        reason = f"a byte that is not valid {encoding}; save the file as UTF-8 or pass its encoding"
        raise _fault(name, data, getattr(error, "start", 0), reason) from None


@contextmanager
def _faults_named(name: str) -> Iterator[None]:
    """Turn whatever opening and reading a file ends in into an error that names the file and says what to do."""
    try:
        yield
    except SapwoodError:
        raise
    except FileNotFoundError:
        raise DataError(f"{name}: no such file (looked from {os.getcwd()}).") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        kind = "gzip" if _is_gzip(name) else "compressed"
        raise DataError(f"{name}: is not a whole {kind} file ({error}); fetch or pack it again.") from None
    except UnicodeDecodeError as error:
        # Only files that were opened as text decode while they are read, with an encoding of their own.
        raise DataError(
            f"{name}: holds the byte 0x{error.object[error.start]:02x}, which is not valid {error.encoding} there; "
            "open the file with the encoding that it has, such as open(name, encoding='latin-1')."
        ) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{name}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None


def _checked(content: Any, name: str) -> bytes | str:
    """Return what a stream gave, or raise if it is no content."""
    if isinstance(content, str):
        return content
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    raise DataError(
        f"{name}: read() gave {type(content).__name__}, expected text or bytes; pass an open file that waits for its "
        "data."
    )


def _check_encoding(encoding: object) -> None:
    if not isinstance(encoding, str):
        raise ParameterError(f"encoding must be a name such as 'utf-8' or 'latin-1', got {encoding!r}.")
    try:
        # Refuses unknown names, and those of transformations such as 'hex', which turn bytes into no text.
        "".encode(encoding)
    except (LookupError, ValueError):
        raise DataError(f"unknown encoding {encoding!r}; try 'utf-8' or 'latin-1'.") from None


def packed_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a name that may say how a file is compressed; in small letters, since some write ``.GZ``."""
    return os.path.splitext(os.fspath(path))[1].lower()


def _is_gzip(name: str) -> bool:
    return packed_ending(name) == ".gz"


def _name(source: Source) -> str:
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<stream>"))


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


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
