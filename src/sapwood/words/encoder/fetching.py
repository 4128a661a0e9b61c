"""Getting the files of a known encoder: from the Hugging Face hub, a folder or a zip file, checked by their digests.

The only module that uses the network, and only when it is asked to.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from sapwood.errors import DataError, ParameterError
from sapwood.words.encoder.places import KNOWN, KnownEncoder, digest, user_folder
from sapwood.writing import unwritable

__all__ = ["fetch_encoder"]

_BLOCK = 1 << 20
_TIMEOUT = 60.0


def fetch_encoder(
    name: str, source: str | Path | None = None, *, report: Callable[[str, int], None] | None = None
) -> Path:
    """Put the files of a known encoder where it is found by its name.

    Parameters
    ----------
    name : str
        Such as ``"minilm"``.
    source : path, optional
        A folder or zip file that holds the files; without it they are taken from the hub (``HF_ENDPOINT`` names
        another one). A download that was stopped goes on where it ended.
    report : callable, optional
        Takes the name of a file and the number of bytes that are there.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    DataError
        If a file cannot be had, or is another one than expected: then it is not kept.
    """
    known = KNOWN.get(name)
    if known is None:
        raise ParameterError(f"there is no encoder called {name!r} that Sapwood knows; known are {', '.join(KNOWN)}.")
    folder = user_folder() / known.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None
    # Where config.json is, an encoder is taken to be there: it comes last.
    for file, sha256 in known.files:
        target = folder / file
        if target.is_file() and digest(target) == sha256:
            continue
        part = target.with_name(f"{file}.part")
        tell = None if report is None else (lambda done, file=file: report(file, done))
        try:
            if source is None:
                _download(_address(known, file), part, tell)
            else:
                _write(part, _blocks_of(Path(source), file), "wb", tell)
            _check(part, sha256, f"{file} of {source or known.hub}")
            os.replace(part, target)
        except OSError as error:
            raise unwritable(target, error) from None
    return folder


def _address(known: KnownEncoder, file: str) -> str:
    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    return f"{hub.rstrip('/')}/{known.hub}/resolve/main/{file}"


def _download(address: str, part: Path, tell: Callable[[int], None] | None) -> None:
    """Take a file from the network, going on with the part that is there."""
    there = part.stat().st_size if part.is_file() else 0
    request = Request(address, headers={"Range": f"bytes={there}-"} if there else {})
    try:
        with urlopen(request, timeout=_TIMEOUT) as answer:
            # 206 is the rest of the file, 200 all of it.
            mode = "ab" if there and answer.status == 206 else "wb"
            length = answer.headers.get("Content-Length")
            before = there if mode == "ab" else 0
            _write(part, iter(lambda: answer.read(_BLOCK), b""), mode, tell)
            if length is not None and part.stat().st_size < before + int(length):
                raise DataError(f"{address}: the connection broke off; run the command again, and it goes on.")
    except HTTPError as error:
        # It is the answer of the server, too, and open.
        error.close()
        if error.code == 416 and there:
            return  # nothing is missing; whether it is right is checked
        raise DataError(f"{address}: the server says {error.code} {error.reason}.{_OTHERWISE}") from None
    except (URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{address}: cannot be reached ({reason}); run the command again where there is a network, and it goes on."
            f"{_OTHERWISE}"
        ) from None


_OTHERWISE = " Or take the folder from elsewhere, and name it with --from."


def _blocks_of(source: Path, file: str) -> Iterator[bytes]:
    """Yield the blocks of a file in a folder or a zip file."""
    if source.is_dir():
        if not (source / file).is_file():
            raise DataError(f"{source}: there is no {file}; expected a folder as the Hugging Face hub lays it out.")
        with open(source / file, "rb") as stream:
            yield from _blocks(stream)
        return
    if not source.is_file() or not zipfile.is_zipfile(source):
        raise DataError(f"{source}: is no folder and no zip file.")
    with zipfile.ZipFile(source) as archive:
        names = [name for name in archive.namelist() if name == file or name.endswith(f"/{file}")]
        if not names:
            raise DataError(f"{source}: there is no {file} in it.")
        # Other folders in it may hold files of the same name, such as those of pooling layers.
        with archive.open(min(names, key=lambda name: (name.count("/"), name))) as member:
            yield from _blocks(member)


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: stream.read(_BLOCK), b"")


def _write(part: Path, blocks: Iterator[bytes], mode: str, tell: Callable[[int], None] | None) -> None:
    with open(part, mode) as stream:
        for block in blocks:
            stream.write(block)
            if tell is not None:
                tell(stream.tell())


def _check(part: Path, sha256: str, what: str) -> None:
    with open(part, "rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        part.unlink()
        raise DataError(
            f"{what}: the SHA-256 is {found}, expected {sha256}; it is another version or damaged, and was not kept."
        )
