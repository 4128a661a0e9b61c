"""Getting the files of a known encoder: from the Hugging Face hub, a folder or a zip file, checked by their digests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from sapwood.downloads import fetch
from sapwood.errors import ParameterError
from sapwood.words.encoder.places import KNOWN, KnownEncoder, digest, user_folder

__all__ = ["fetch_encoder"]


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
    # Where config.json is, an encoder is taken to be there: it comes last.
    for file, sha256 in known.files:
        target = folder / file
        if target.is_file() and digest(target) == sha256:
            continue
        tell = None if report is None else (lambda done, file=file: report(file, done))
        fetch(target, _address(known, file), source=source, sha256=sha256, report=tell)
    return folder


def _address(known: KnownEncoder, file: str) -> str:
    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    return f"{hub.rstrip('/')}/{known.hub}/resolve/main/{file}"
