"""Where the bytes of a corpus come from: files, patterns, compressed files, members of archives, open streams.

Readers of all formats open their files here and nowhere else, so that a path, an encoding and a fault mean the same
in each of them. What the lines say belongs to the readers.
"""

from __future__ import annotations

import bz2
import codecs
import fnmatch
import glob
import gzip
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, cast

import numpy as np

from sapwood import _core
from sapwood.errors import BracketError, DataError, ParameterError
from sapwood.trees.array import TreeArray
from sapwood.trees.brackets import archive_in, packed_ending, read_into, refuse_what_names_no_file
from sapwood.trees.tree import Tree

__all__ = ["FormatError", "Line", "Source", "TreeTexts", "blocks", "encode_text", "file_names", "lines", "open_all"]

Source = str | os.PathLike[str] | IO[Any]

# Longer lines occur in no corpus; a limit keeps a hostile file from filling the memory.
LONGEST_LINE = 1 << 26

# What reading a damaged stream ends in.
_DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError)
# What opening a damaged archive ends in beside that: places before its beginning, unknown methods, encrypted members.
_BROKEN_ARCHIVE = (*_DAMAGE, OSError, RuntimeError, TypeError, ValueError, KeyError, OverflowError, struct.error)


class FormatError(DataError):
    """A corpus file breaks the rules of its format; says where and why.

    Attributes
    ----------
    source : str
        File name, or ``<stream>``; ``archive.zip/member`` for a member of an archive.
    line, column : int
        Position of the fault, both counted from 1.
    reason : str
        What is wrong there, without position.
    """

    def __init__(self, source: str, line: int, column: int, reason: str) -> None:
        self.source, self.line, self.column, self.reason = source, line, column, reason
        super().__init__(f"{source}:{line}:{column}: {reason}")

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, int, int, str]]:
        return type(self), (self.source, self.line, self.column, self.reason)


class Line(NamedTuple):
    """One line of a file, without its end, and where it stands."""

    source: str
    number: int
    text: str

    def fault(self, reason: str, column: int = 1) -> FormatError:
        """Make the error to raise when this line is not what it should be."""
        return FormatError(self.source, self.number, column, reason)


class _Named:
    """A binary stream under the name that messages should give it."""

    def __init__(self, stream: IO[Any], name: str) -> None:
        self._stream, self.name, self._line = stream, name, 0

    def read(self, size: int = -1) -> Any:
        return self._take(self._stream.read, size)

    def readline(self, size: int = -1) -> Any:
        raw = self._take(self._stream.readline, size)
        self._line += 1
        return raw

    def _take(self, take: Callable[[int], Any], size: int) -> Any:
        where = f":{self._line}:1" if self._line else ""
        try:
            return take(size)
        except _DAMAGE as error:
            after = f" after line {self._line}" if self._line else ""
            raise DataError(
                f"{self.name}{where}: the compressed file is not whole{after} ({error}); fetch or pack it again."
            ) from None
        except UnicodeDecodeError as error:
            raise DataError(f"{self.name}{where}: not valid text ({error}); open the file in binary mode.") from None
        except OSError as error:
            raise DataError(f"{self.name}{where}: cannot be read ({error.strerror or error}).") from None


def open_all(source: Source | Sequence[Source]) -> Iterator[Any]:
    """Open one file after the other; each is closed when the next is asked for.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        ``.gz``, ``.xz`` and ``.bz2`` files are decompressed. A path may lead through an archive, and a pattern may
        choose among its members: ``"treebank.zip/treebank/combined/wsj_*.mrg"``. Files and members of a zip come in
        sorted order, members of a tar in the archive's own.

    Yields
    ------
    stream
        With ``read``, ``readline`` and ``name``.
    """
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        refuse_what_names_no_file(name)
        if os.path.isdir(name):
            raise DataError(f"{name}: is a folder; name its files, for example {os.path.join(name, '*')!r}.")
        archive = archive_in(name)
        if archive is not None:
            yield from _members(*archive)
        elif os.path.exists(name) or not glob.has_magic(name):
            with _opened(name) as stream:
                yield stream
        else:
            names = sorted(one for one in glob.glob(name, recursive=True) if not os.path.isdir(one))
            if not names:
                raise DataError(f"no file matches {name!r} (looked from {os.getcwd()}).")
            for one in names:
                with _opened(one) as stream:
                    yield stream
    elif isinstance(source, (bytes, bytearray, memoryview)):
        refuse_what_names_no_file(bytes(source))
    elif isinstance(source, Sequence):
        if not source:
            raise DataError("source is an empty list; name at least one file.")
        for part in source:
            yield from open_all(part)
    elif hasattr(source, "read"):
        yield _Named(source, str(getattr(source, "name", "<stream>")))
    else:
        raise DataError(f"source must be a path, a pattern, an open file or a list of these, got {source!r}.")


def file_names(pattern: str | os.PathLike[str]) -> list[str]:
    """List the files, or the members of an archive, that a pattern chooses, in sorted order; perhaps none."""
    name = os.fspath(pattern)
    archive = archive_in(name)
    if archive is None:
        return sorted(one for one in glob.glob(name, recursive=True) if not os.path.isdir(one))
    try:
        if archive[0].lower().endswith(".zip"):
            with zipfile.ZipFile(archive[0]) as packed:
                members = packed.namelist()
        else:
            with tarfile.open(archive[0], "r|*") as tape:
                members = [member.name for member in tape if member.isfile()]
    except _BROKEN_ARCHIVE as error:
        raise DataError(f"{archive[0]}: is not a whole archive ({error}); fetch or pack it again.") from None
    return sorted(f"{archive[0]}/{one}" for one in fnmatch.filter(members, archive[1]) if not one.endswith("/"))


def lines(source: Source | Sequence[Source], *, encoding: str = "utf-8") -> Iterator[Line]:
    """Yield the lines of one or more files, holding one at a time.

    A byte-order mark at the start of a file and the line ends (LF or CR LF) are removed; nothing else is.

    Raises
    ------
    FormatError
        Where a byte is not valid in the encoding, or is NUL, or a line is longer than 64 MB.
    DataError
        If a file is missing or empty, or a compressed one is not whole.

    Examples
    --------
    >>> import io
    >>> [(line.number, line.text) for line in lines(io.StringIO("one\\ntwo"))]
    [(1, 'one'), (2, 'two')]
    """
    if not _keeps_ascii(encoding):
        raise ParameterError(f"files in {encoding} cannot be read line by line; convert them to UTF-8 first.")
    for stream in open_all(source):
        name = stream.name
        number = 0
        while True:
            raw = stream.readline(LONGEST_LINE)
            if not raw:
                break
            number += 1
            if len(raw) >= LONGEST_LINE:
                raise FormatError(name, number, 1, f"a line of more than {LONGEST_LINE >> 20} MB; not a text file")
            yield Line(name, number, _decode(raw, encoding, name, number))
        if not number:
            raise DataError(f"{name}: is empty; remove it from the list of files or fetch it again.")


class TreeTexts:
    """Trees that stand in the lines of a file, read many at a time.

    Reading one tree is quick, turning it into a Python object is not, and sharing that work among the trees of a few
    dozen lines makes it several times quicker.

    Examples
    --------
    >>> texts = TreeTexts()
    >>> number = texts.add("(NP (NN rain))", Line("file", 1, "(NP (NN rain))"), 1)
    >>> print(texts.trees()[number])
    (NP (NN rain))
    """

    def __init__(self, *, drop_traces: bool = False) -> None:
        self._arena = _core.trees.Arena()
        self._roots: list[Any] = []
        self._drop_traces = drop_traces

    def add(self, text: str, line: Line, column: int) -> int:
        """Take a tree in brackets that begins in this column of a line; return its number."""
        try:
            data = text.encode("utf-8", "surrogatepass")
            roots = read_into(self._arena, data, line.source, drop_traces=self._drop_traces, bare_tokens=True)
        except BracketError as fault:
            at, row = fault.column + (column - 1 if fault.line == 1 else 0), line.number + fault.line - 1
            raise BracketError(line.source, row, at, fault.reason, fault.context) from None
        if len(roots) != 1:
            raise line.fault(f"expected one tree here, found {len(roots)}", column)
        self._roots.append(roots)
        return len(self._roots) - 1

    def array(self) -> TreeArray:
        """Return the trees as an array."""
        roots = np.concatenate(self._roots) if self._roots else np.zeros(0, dtype=np.uint32)
        return TreeArray._from_arena(self._arena, roots)

    def trees(self) -> list[Tree]:
        """Return the trees as objects."""
        return [tree for tree in self.array() if isinstance(tree, Tree)]


def blocks(rows: Iterable[Line], *, size: int = 64) -> Iterator[list[Line]]:
    """Yield lines a few dozen at a time, never from two files at once."""
    block: list[Line] = []
    for line in rows:
        if len(block) >= size or (block and line.number == 1):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def encode_text(text: str, path: str | os.PathLike[str]) -> bytes:
    """Turn text into the bytes of a file with this name, compressed if it ends in ``.gz`` or ``.xz``."""
    data, ending = text.encode(), packed_ending(path)
    if ending == ".gz":
        return gzip.compress(data, mtime=0)
    return lzma.compress(data) if ending == ".xz" else data


def _decode(raw: bytes | str, encoding: str, name: str, number: int) -> str:
    if isinstance(raw, str):
        text = raw
    else:
        if number == 1 and raw.startswith(codecs.BOM_UTF8):
            raw = raw[3:]
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError as error:
            column = len(raw[: error.start].decode(encoding, "replace")) + 1
            byte = f"the byte 0x{raw[error.start]:02x} is not valid {encoding}"
            reason = f"{byte}; save the file as UTF-8 or pass its encoding"
            raise FormatError(name, number, column, reason) from None
    if "\0" in text:
        raise FormatError(name, number, text.index("\0") + 1, "a NUL character; this is not a text file")
    text = text.removesuffix("\n").removesuffix("\r")
    return text.removeprefix("\ufeff") if number == 1 else text


def _keeps_ascii(encoding: str) -> bool:
    try:
        return "\n(\t".encode(encoding) == b"\n(\t"
    except LookupError:
        raise ParameterError(f"unknown encoding {encoding!r}; try 'utf-8' or 'latin-1'.") from None


@contextmanager
def _opened(name: str) -> Iterator[_Named]:
    openers: dict[str, Callable[[str, str], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    try:
        stream = openers.get(packed_ending(name), open)(name, "rb")
    except FileNotFoundError:
        raise DataError(f"{name}: no such file (looked from {os.getcwd()}).") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror}).") from None
    with stream:
        yield _Named(stream, name)


def _unpacked(stream: IO[bytes], name: str) -> IO[Any]:
    """Decompress a member of an archive that is compressed by itself."""
    ending = packed_ending(name)
    if ending == ".gz":
        return cast(IO[Any], gzip.GzipFile(fileobj=stream))
    return cast(IO[Any], lzma.LZMAFile(stream)) if ending == ".xz" else stream


def _members(archive: str, pattern: str) -> Iterator[_Named]:
    if pattern == ".":
        raise DataError(f"{archive}: is an archive; name the files in it, for example {archive + '/*'!r}.")
    found = False
    try:
        if archive.lower().endswith(".zip"):
            with zipfile.ZipFile(archive) as packed:
                for name in sorted(fnmatch.filter(packed.namelist(), pattern)):
                    if not name.endswith("/"):
                        found = True
                        with packed.open(name) as stream:
                            yield _Named(_unpacked(stream, name), f"{archive}/{name}")
        else:
            # Streaming mode reads the archive once from front to back, which a compressed one needs.
            with tarfile.open(archive, "r|*") as tape:
                for member in tape:
                    if member.isfile() and fnmatch.fnmatchcase(member.name, pattern):
                        content = tape.extractfile(member)
                        assert content is not None
                        found = True
                        yield _Named(_unpacked(content, member.name), f"{archive}/{member.name}")
    except _BROKEN_ARCHIVE as error:
        raise DataError(f"{archive}: is not a whole archive ({error}); fetch or pack it again.") from None
    if not found:
        raise DataError(f"{archive}: holds no file that matches {pattern!r}.")
