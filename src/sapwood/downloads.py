"""Files from the network, a folder or a zip file, checked by their digests; a download that was stopped goes on.

The only module that uses the network, and only when it is asked to. What is got, and on which terms, is said by those
who use it: ``words.encoder.fetching`` and ``corpora.obtaining``.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zipfile
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from sapwood.errors import DataError
from sapwood.writing import unwritable

__all__ = ["fetch", "file_digest"]

_BLOCK = 1 << 20
_TIMEOUT = 60.0
_OTHERWISE = " Or get it in another way, and say where it is with --from."


def fetch(
    target: Path,
    address: str,
    *,
    source: str | os.PathLike[str] | None = None,
    sha256: str | None = None,
    report: Callable[[int], None] | None = None,
) -> str:
    """Put a file at its place, whole and checked or not at all.

    Parameters
    ----------
    target : Path
        The file; what has come so far is kept beside it, under its name with ``.part``.
    address : str
        Where it is on the network.
    source : path, optional
        Take it from here in place of the network: the file itself, or a folder or zip file that holds one of its name.
    sha256 : str, optional
        The digest that it must have. Without one, a part goes on only if the server says that its file is still the
        same (``ETag``).
    report : callable, optional
        Takes the number of bytes that are there.

    Returns
    -------
    str
        The digest.

    Raises
    ------
    DataError
        If it cannot be had, or has another digest: then it is not kept.
    """
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if source is None:
            _download(address, part, sha256 is not None, report)
        else:
            _write(part, _blocks_of(Path(source), target.name), "wb", report)
        found = file_digest(part)
        if sha256 not in (None, found):
            _discard(part)
            raise DataError(
                f"{target.name} of {source or address}: the SHA-256 is {found}, expected {sha256}; it is another "
                "version or damaged, and was not kept."
            )
        os.replace(part, target)
        _tag_of(part).unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(target, error) from None
    return found


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _download(address: str, part: Path, checked: bool, report: Callable[[int], None] | None) -> None:
    """Take a file from the network, going on with the part that is there."""
    there, headers = _resumed(part, checked)
    try:
        with urlopen(Request(address, headers=headers), timeout=_TIMEOUT) as answer:
            # 206 is the rest of the file, 200 all of it.
            mode = "ab" if there and answer.status == 206 else "wb"
            if mode == "wb":
                _keep_tag(part, answer.headers.get("ETag"))
            length = answer.headers.get("Content-Length")
            before = there if mode == "ab" else 0
            _write(part, iter(lambda: answer.read(_BLOCK), b""), mode, report)
            if length is not None and part.stat().st_size < before + int(length):
                raise _broken_off(address)
    except HTTPError as error:
        # It is the answer of the server, too, and open.
        error.close()
        if error.code == 416 and there:
            if checked:
                return  # nothing is missing; whether it is right is checked
            _discard(part)
            raise DataError(f"{address}: its length has changed meanwhile; run the command again.") from None
        raise DataError(f"{address}: the server says {error.code} {error.reason}.{_OTHERWISE}") from None
    except HTTPException:
        raise _broken_off(address) from None
    except (URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{address}: cannot be reached ({reason}); run the command again where there is a network, and it goes on."
            f"{_OTHERWISE}"
        ) from None


def _resumed(part: Path, checked: bool) -> tuple[int, dict[str, str]]:
    """Return how many bytes are there, and what to ask the server for."""
    there = part.stat().st_size if part.is_file() else 0
    tag = _tag_of(part).read_text().strip() if _tag_of(part).is_file() else ""
    if not there or not (checked or tag):
        return 0, {}
    return there, {"Range": f"bytes={there}-"} | ({"If-Range": tag} if tag else {})


def _broken_off(address: str) -> DataError:
    return DataError(f"{address}: the connection broke off; run the command again, and it goes on.")


def _tag_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.etag")


def _keep_tag(part: Path, tag: str | None) -> None:
    # A weak tag says that the content means the same, not that its bytes are.
    if tag and not tag.startswith("W/"):
        _tag_of(part).write_text(tag)
    else:
        _tag_of(part).unlink(missing_ok=True)


def _discard(part: Path) -> None:
    for path in (part, _tag_of(part)):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def _blocks_of(source: Path, file: str) -> Iterator[bytes]:
    """Yield the blocks of a file: it itself, or the one of this name in a folder or a zip file."""
    if source.is_dir():
        found = min(source.rglob(file), key=lambda path: (len(path.parts), path), default=None)
        if found is None:
            raise DataError(f"{source}: there is no {file} in this folder.")
        with open(found, "rb") as stream:
            yield from _blocks(stream)
    elif source.is_file() and source.name == file:
        with open(source, "rb") as stream:
            yield from _blocks(stream)
    elif source.is_file() and zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            names = [name for name in archive.namelist() if name == file or name.endswith(f"/{file}")]
            if not names:
                raise DataError(f"{source}: there is no {file} in it.")
            # Other folders in it may hold files of the same name, such as those of pooling layers.
            with archive.open(min(names, key=lambda name: (name.count("/"), name))) as member:
                yield from _blocks(member)
    else:
        raise DataError(f"{source}: is no folder and no zip file, and not the file {file}.")


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: stream.read(_BLOCK), b"")


def _write(part: Path, blocks: Iterator[bytes], mode: str, report: Callable[[int], None] | None) -> None:
    with open(part, mode) as stream:
        for block in blocks:
            stream.write(block)
            if report is not None:
                report(stream.tell())
