"""Writing files whole or not at all, compressed if their names say so.

Every file that Sapwood writes goes through ``atomic_write``, so that a kill or a full disk leaves the old file or
none, and so that a fault names the file and what to do.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import logging
import lzma
import os
import reprlib
import secrets
import stat
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from sapwood.errors import OutputError, ParameterError, SapwoodError

__all__ = ["atomic_write", "check_writable", "is_stream", "path_name", "unwritable", "write_text"]

_LOGGER = logging.getLogger(__name__)


def path_name(path: str | os.PathLike[str]) -> str:
    """Return a path as text, or raise for what is none, such as an open file."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str):
        raise ParameterError(f"path must be the name of a file, as a str or a pathlib.Path, got {reprlib.repr(path)}.")
    return name


def atomic_write(path: str | os.PathLike[str], data: bytes | Iterable[bytes], *, flush: bool = True) -> None:
    """Write a file so that it appears whole or not at all, even if the process is killed halfway.

    A file that is replaced keeps its permissions. A link stays, and the file it leads to is written; what is no file,
    such as a pipe or ``/dev/stdout``, is written into. Content may come in pieces, of which a file holds one at a time
    in memory. Without ``flush`` a machine that loses power may lose the content; for files that are checked before
    they are used.

    Raises
    ------
    OutputError
        If the folder is missing or may not be written to, the file is write-protected, or the disk is full; nothing
        is left behind.
    """
    path = _given_name(path)
    pieces = (data,) if isinstance(data, bytes) else data
    if is_stream(path):
        # What is sent cannot be taken back if a later piece fails, so there is none.
        whole = b"".join(pieces)
        try:
            with open(path, "wb") as stream:
                stream.write(whole)
        except OSError as error:
            raise unwritable(path, error) from None
        return
    target = Path(os.path.realpath(path) if os.path.islink(path) else path)
    # Not made of the name, which may be as long as names can be.
    draft = target.with_name(f".{secrets.token_hex(8)}.part") if target.name else target
    try:
        mode = _mode_of(target)
        with _draft(draft) as stream:
            if mode is not None:
                # Permissions are a courtesy, the file is not: some mounts refuse them, and not every system has them.
                with contextlib.suppress(AttributeError, OSError):
                    os.fchmod(stream.fileno(), mode)
            stream.writelines(pieces)
            if flush:
                stream.flush()
                os.fsync(stream.fileno())
            if stream.name != str(draft):
                # The file has had no name so far, so that a kill leaves nothing behind. What is buffered goes with it.
                stream.flush()
                os.link(f"/proc/self/fd/{stream.fileno()}", draft, src_dir_fd=stream.fileno())
        os.replace(draft, target)
        _LOGGER.debug("wrote %s", target)
    except BaseException as error:
        # On a disk that cannot be written to there is nothing to remove either.
        with contextlib.suppress(OSError, ValueError):
            draft.unlink(missing_ok=True)
        # Whoever makes the pieces has named the fault.
        if isinstance(error, SapwoodError) or not isinstance(error, (OSError, ValueError)):
            raise
        raise unwritable(target, error) from None


def write_text(path: str | os.PathLike[str], text: str | Iterable[str]) -> None:
    """Write text in UTF-8, whole or in pieces, as ``atomic_write`` does; ``.gz``, ``.xz`` and ``.bz2`` are compressed.

    Examples
    --------
    >>> import gzip, tempfile
    >>> path = Path(tempfile.mkdtemp(), "words.txt.gz")
    >>> write_text(path, ["rain ", "falls"])
    >>> gzip.decompress(path.read_bytes())
    b'rain falls'
    """
    pieces = (piece.encode() for piece in ([text] if isinstance(text, str) else text))
    atomic_write(path, _packed(pieces, os.path.splitext(path_name(path))[1].lower()))


def _packed(pieces: Iterable[bytes], ending: str) -> Iterator[bytes]:
    packer: Any
    match ending:
        case ".gz":
            # The same text gives the same bytes: this kind of header holds neither a time nor a name.
            packer = zlib.compressobj(level=9, wbits=31)
        case ".xz":
            packer = lzma.LZMACompressor()
        case ".bz2":
            packer = bz2.BZ2Compressor()
        case _:
            yield from pieces
            return
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise what ``atomic_write`` would raise, as far as that can be told, before the work for a file is done.

    Nothing is touched. What is no file, such as a pipe or ``/dev/stdout``, is let through.

    Raises
    ------
    OutputError
        If the folder is missing or may not be written to, or there is a folder or a write-protected file of this name.
    """
    path = _given_name(path)
    if is_stream(path):
        return
    target = Path(os.path.realpath(path) if os.path.islink(path) else path)
    try:
        if os.path.isdir(target):
            raise _system_error(IsADirectoryError, errno.EISDIR)
        if not os.path.isdir(target.parent):
            raise _system_error(FileNotFoundError, errno.ENOENT)
        _mode_of(target)
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise _system_error(PermissionError, errno.EACCES)
    except (OSError, ValueError) as error:
        raise unwritable(target, error) from None


def _given_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file to write, or raise if there is none."""
    name = path_name(path)
    if not name:
        raise ParameterError("the name of the file to write is empty; name a file.")
    return name


def _system_error(kind: type[OSError], number: int) -> OSError:
    return kind(number, os.strerror(number))


def _mode_of(target: Path) -> int | None:
    """Return who may read and write a file, if there is one; raise if it may not be written to.

    To replace a file only its folder has to be writable, but who protects a file means its content.
    """
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise _system_error(PermissionError, errno.EACCES)
    return stat.S_IMODE(mode) if stat.S_ISREG(mode) else None


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether there is something that data is sent to rather than kept in: replacing it would break it for others."""
    # Behind these names may be a file that somebody holds open, and who replaces it writes past them.
    name = os.path.abspath(path)
    if name in ("/dev/stdout", "/dev/stderr") or name.startswith(("/dev/fd/", "/proc/")):
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _draft(path: Path) -> IO[bytes]:
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        try:
            return open(os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
        except (OSError, ValueError):
            # Not every file system has nameless files; a real fault shows again in a moment.
            pass
    return open(path, "xb")


def unwritable(path: str | os.PathLike[str], error: Exception) -> OutputError:
    """Make the error to raise when a file cannot be written, from what the system says."""
    number = getattr(error, "errno", None)
    folder = str(Path(path).parent)
    if number in (errno.ENOENT, errno.ENOTDIR) and not os.path.isdir(folder):
        reason = f"there is no folder {folder!r}; make it first."
    elif os.path.isdir(path):
        reason = "cannot be written, since it is a folder; name a file in it."
    elif number in (errno.ENOSPC, errno.EDQUOT):
        reason = "the disk is full; make room or choose another folder. Nothing was written."
    elif number in (errno.EACCES, errno.EPERM, errno.EROFS) and _is_protected(path, folder):
        reason = "the file is write-protected; make it writable (chmod u+w) or choose another name."
    elif number in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = f"the folder {folder!r} may not be written to; choose another."
    else:
        reason = f"cannot be written ({getattr(error, 'strerror', None) or error})."
    made = OutputError(f"{os.fspath(path)}: {reason}")
    made.errno = number
    return made


def _is_protected(path: str | os.PathLike[str], folder: str) -> bool:
    """Whether it is the file that may not be written to, and not all that is in its folder."""
    return os.path.isfile(path) and not os.access(path, os.W_OK) and os.access(folder, os.W_OK)
