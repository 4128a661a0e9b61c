"""Where the bytes of a file come from: files, patterns, compressed files, members of archives, open streams.

Readers of all formats open their files here and nowhere else, so that a path means the same in each of them. Lines of
text are in ``text_files``.
"""

from __future__ import annotations

import bz2
import fnmatch
import glob
import gzip
import logging
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from sapwood.errors import DataError

__all__ = ["Source", "Sources", "Stream", "bare_name", "file_names", "open_all"]

_LOGGER = logging.getLogger(__name__)

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
_UNPACKERS: dict[str, Callable[[Any, str], Any]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".lzma": lzma.open,
    ".bz2": bz2.open,
}
# What Python cannot unpack by itself.
_OTHERWISE_PACKED = (".z", ".zst")

# What reading a damaged stream ends in.
_DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError)
# What opening a damaged archive ends in beside that: places before its beginning, unknown methods, encrypted members.
_BROKEN_ARCHIVE = (*_DAMAGE, OSError, RuntimeError, TypeError, ValueError, KeyError, OverflowError, struct.error)


class Stream:
    """An open file under the name that messages should give it; whatever reading it ends in becomes a ``DataError``."""

    def __init__(self, stream: IO[Any], name: str) -> None:
        self._stream, self.name, self._line = stream, name, 0
        _LOGGER.debug("reading %s", name)

    def read(self, size: int = -1) -> bytes | str:
        """Return as much as is asked for, or all."""
        return self._take(self._stream.read, size)

    def readline(self, size: int = -1) -> bytes | str:
        """Return the next line with its end."""
        raw = self._take(self._stream.readline, size)
        self._line += 1
        return raw

    def _take(self, take: Callable[[int], Any], size: int) -> bytes | str:
        where = f"{self.name}:{self._line}:1" if self._line else self.name
        try:
            content = take(size)
        except _DAMAGE as error:
            after = f" after line {self._line}" if self._line else ""
            raise DataError(
                f"{where}: the compressed file is not whole{after} ({error}); fetch or pack it again."
            ) from None
        except UnicodeDecodeError as error:
            # Only files that were opened as text decode while they are read, with an encoding of their own.
            raise DataError(
                f"{where}: holds the byte 0x{error.object[error.start]:02x}, which is not valid {error.encoding} "
                "there; open the file with the encoding that it has, such as open(name, encoding='latin-1')."
            ) from None
        except DataError:
            raise
        except (OSError, ValueError) as error:
            raise DataError(f"{where}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
        if isinstance(content, (bytes, str)):
            return content
        if isinstance(content, (bytearray, memoryview)):
            return bytes(content)
        raise DataError(
            f"{where}: read() gave {type(content).__name__}, expected text or bytes; pass an open file that waits for "
            "its data."
        )


Source = str | os.PathLike[str] | IO[Any] | Stream
Sources = Source | Sequence[Source]


def open_all(source: Source | Iterable[Source], *, endings: tuple[str, ...] = ()) -> Iterator[Stream]:
    """Open one file after the other; each is closed when the next is asked for.

    Parameters
    ----------
    source : path, pattern, folder, open file, or an iterable of these
        ``.gz``, ``.xz``, ``.lzma`` and ``.bz2`` files are decompressed. A path may lead through an archive, and a
        pattern may choose among its members: ``"treebank.zip/treebank/combined/wsj_*.mrg"``. Files and members of a
        zip come in sorted order, members of a tar in the archive's own. Folders that match a pattern are passed over.
    endings : tuple of str
        A folder stands for all files under it with these endings, compressed or not. Without any it is refused.

    Yields
    ------
    stream
        With ``read``, ``readline`` and ``name``.

    Examples
    --------
    >>> import io
    >>> [stream.read() for stream in open_all([io.BytesIO(b"one"), io.BytesIO(b"two")])]
    [b'one', b'two']
    """
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        _refuse_what_names_no_file(name)
        archive = _archive_in(name)
        if archive is not None:
            yield from _members(*archive)
            return
        for one in _chosen(name, endings):
            with _opened(one) as stream:
                yield stream
    elif isinstance(source, (bytes, bytearray, memoryview)):
        _refuse_what_names_no_file(bytes(source))
    elif hasattr(source, "read"):
        name = str(getattr(source, "name", "<stream>"))
        if getattr(source, "closed", False):
            raise DataError(f"{name}: the file is closed; pass an open one, or its path.")
        yield Stream(cast("IO[Any]", source), name)
    elif isinstance(source, Iterable):
        empty = True
        for part in source:
            empty = False
            yield from open_all(part, endings=endings)
        if empty:
            raise DataError("source is an empty list; name at least one file.")
    else:
        raise DataError(f"source must be a path, a pattern, an open file or a list of these, got {source!r}.")


def file_names(pattern: str | os.PathLike[str]) -> list[str]:
    """List the files, or the members of an archive, that a pattern chooses, in sorted order; perhaps none."""
    name = os.fspath(pattern)
    archive = _archive_in(name)
    if archive is None:
        return _matching(name)
    place, inside = archive
    with _damage_named(place):
        if place.lower().endswith(".zip"):
            with zipfile.ZipFile(place) as packed:
                members = packed.namelist()
        else:
            with tarfile.open(place, "r|*") as tape:
                members = [member.name for member in tape if member.isfile()]
    return sorted(f"{place}/{one}" for one in fnmatch.filter(members, inside) if not one.endswith("/"))


def bare_name(path: str | os.PathLike[str]) -> str:
    """Return a name in small letters and without the ending of a compressed file.

    Examples
    --------
    >>> bare_name("WSJ_0001.MRG.GZ")
    'wsj_0001.mrg'
    """
    name = os.fspath(path).lower()
    stem, ending = os.path.splitext(name)
    return stem if ending in _UNPACKERS else name


def _refuse_what_names_no_file(name: str | bytes) -> None:
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


def _chosen(name: str, endings: tuple[str, ...]) -> list[str]:
    """List the files that a name stands for: itself, those under a folder, or those that match a pattern."""
    if os.path.isdir(name):
        if not endings:
            raise DataError(f"{name}: is a folder; name its files, for example {os.path.join(name, '*')!r}.")
        found = (one for one in Path(name).rglob("*") if bare_name(one).endswith(endings))
        names = sorted(str(one) for one in found if one.is_file())
        if not names:
            raise DataError(
                f"{name}: no file under this folder ends in {', '.join(endings)}; name the files with a pattern such "
                f"as {os.path.join(name, '*.txt')!r}."
            )
        return names
    if os.path.exists(name) or not glob.has_magic(name):
        return [name]
    names = _matching(name)
    if not names:
        raise DataError(f"no file matches {name!r} (looked from {os.getcwd()}).")
    return names


def _matching(pattern: str) -> list[str]:
    return sorted(name for name in glob.glob(pattern, recursive=True) if not os.path.isdir(name))


def _archive_in(name: str) -> tuple[str, str] | None:
    """Split a path at the archive that it leads through, if it does; the rest of the archive itself is ``.``."""
    path = Path(name)
    for part in (path, *path.parents):
        if str(part).lower().endswith(_ARCHIVES) and part.is_file():
            return str(part), path.relative_to(part).as_posix()
    return None


def _ending(name: str) -> str:
    # Some write ``.GZ``.
    return os.path.splitext(name)[1].lower()


@contextmanager
def _opened(name: str) -> Iterator[Stream]:
    try:
        stream = _UNPACKERS.get(_ending(name), open)(name, "rb")
    except FileNotFoundError:
        raise DataError(f"{name}: no such file (looked from {os.getcwd()}).") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{name}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    with stream:
        if _ending(name) in _OTHERWISE_PACKED:
            raise DataError(
                f"{name}: of compressed files those in {', '.join(_UNPACKERS)} are unpacked here; unpack it first."
            )
        yield Stream(stream, name)


def _members(archive: str, pattern: str) -> Iterator[Stream]:
    if pattern == ".":
        raise DataError(f"{archive}: is an archive; name the files in it, for example {archive + '/*'!r}.")
    found = False
    with _damage_named(archive):
        if archive.lower().endswith(".zip"):
            with zipfile.ZipFile(archive) as packed:
                for name in sorted(fnmatch.filter(packed.namelist(), pattern)):
                    if not name.endswith("/"):
                        found = True
                        with packed.open(name) as content:
                            yield _member(content, archive, name)
        else:
            # Streaming mode reads the archive once from front to back, which a compressed one needs.
            with tarfile.open(archive, "r|*") as tape:
                for member in tape:
                    if member.isfile() and fnmatch.fnmatchcase(member.name, pattern):
                        found = True
                        yield _member(cast("IO[bytes]", tape.extractfile(member)), archive, member.name)
    if not found:
        raise DataError(f"{archive}: holds no file that matches {pattern!r}.")


def _member(content: IO[bytes], archive: str, name: str) -> Stream:
    unpack = _UNPACKERS.get(_ending(name))
    return Stream(content if unpack is None else unpack(content, "rb"), f"{archive}/{name}")


@contextmanager
def _damage_named(archive: str) -> Iterator[None]:
    try:
        yield
    except _BROKEN_ARCHIVE as error:
        raise DataError(f"{archive}: is not a whole archive ({error}); fetch or pack it again.") from None
