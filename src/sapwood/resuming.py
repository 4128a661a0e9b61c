"""Long work that can be stopped and goes on: what it is about, and how far it is.

Work is resumed only where it is the same work, and that is what a fingerprint is for: a digest of the data and the
parameters that the result depends on. How far it is stands in a checkpoint, one file that is replaced as the work
proceeds and holds the fingerprint, JSON values and arrays.

    file = CheckpointFile(path, fingerprint(parameters, X, y))   # path may be None: then nothing is kept
    if (found := file.read()) is not None:                       # raises if it belongs to other work
        ...                                                      # go on from found.values and found.arrays
    while ...:
        ...
        if file.wanted:                                          # ten seconds have passed
            file.write({"done": done}, {"weights": weights})

The same file serves as a cache of one result: ``write`` it when it is there, and ``read`` it the next time; with the
fingerprint in its name, results of other work have files of their own. Work that many processes finish part by part
keeps one file per part, each written whole or not at all (``sapwood.writing.atomic_write``), in a folder whose
description holds the fingerprint. What the values mean is the business of whoever does the work.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ModelFileError, ParameterError
from sapwood.files import load, save
from sapwood.registry import Reader, Writer, register

__all__ = ["Checkpoint", "CheckpointFile", "fingerprint"]


@dataclass
class Checkpoint:
    """How far some work is: JSON values and arrays, under names of its own choice."""

    fingerprint: str
    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


class CheckpointFile:
    """A checkpoint on disk.

    Parameters
    ----------
    path : path or None
        Where; None keeps nothing.
    fingerprint : str
        Of the work; a checkpoint of other work is an error.
    seconds : float
        After how long the next write is wanted.
    """

    def __init__(self, path: str | os.PathLike[str] | None, fingerprint: str, seconds: float = 10.0) -> None:
        self._path, self._fingerprint, self._seconds = path, fingerprint, seconds
        self._written = time.monotonic()

    @property
    def wanted(self) -> bool:
        """Whether it is time for the next write."""
        return self._path is not None and time.monotonic() - self._written >= self._seconds

    def read(self) -> Checkpoint | None:
        """Return the checkpoint if there is one."""
        if self._path is None or not Path(self._path).exists():
            return None
        found = load(self._path)
        if not isinstance(found, Checkpoint) or found.fingerprint != self._fingerprint:
            raise ModelFileError(
                f"{os.fspath(self._path)}: belongs to a run with other data or parameters; remove it to start anew, or "
                "name another file."
            )
        return found

    def write(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Write how far the work is, whole or not at all."""
        if self._path is None:
            return
        save(Checkpoint(self._fingerprint, values, arrays), self._path)
        self._written = time.monotonic()

    def remove(self) -> None:
        """Remove the file, if there is one."""
        if self._path is not None:
            Path(self._path).unlink(missing_ok=True)


def fingerprint(*values: Any) -> str:
    """Return a digest of parameters, arrays, trees, kernels and all else that can be saved; the same in every process.

    >>> from sapwood.kernels import SubsetTree
    >>> fingerprint(SubsetTree(decay=0.4)) == fingerprint(SubsetTree(0.4)) != fingerprint(SubsetTree(0.5))
    True
    """
    digest = hashlib.sha256()
    for value in values:
        _add(value, digest)
    return digest.hexdigest()


def _add(value: Any, digest: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape};".encode())
        digest.update(np.ascontiguousarray(value).data)
    elif hasattr(value, "indptr"):  # a sparse matrix
        for array in (np.array(value.shape), value.data, value.indices, value.indptr):
            _add(array, digest)
    elif isinstance(value, Mapping):
        _add(sorted(value.items(), key=lambda item: repr(item[0])), digest)
    elif isinstance(value, (list, tuple, np.ndarray)):
        digest.update(f"{len(value)} values:".encode())
        for item in value:
            _add(item, digest)
    elif value is None or isinstance(value, (str, bytes, bool, int, float, np.generic, os.PathLike)):
        text = repr(value)
        digest.update(f"{len(text)}:".encode() + text.encode("utf-8", "surrogatepass"))
    else:
        _add_object(value, digest)


def _add_object(value: Any, digest: Any) -> None:
    writer = Writer()
    try:
        # As it would be saved: repr leaves out what is long, such as the rules of a grammar.
        data = json.dumps(writer.part(value), ensure_ascii=False)
    except ParameterError:
        # Of a class of the user's own.
        _add(type(value).__qualname__, digest)
        _add(value.get_params(deep=False) if hasattr(value, "get_params") else repr(value), digest)
    else:
        _add(data, digest)
        for array in writer.arrays.values():
            _add(array, digest)


def _write(checkpoint: Checkpoint, writer: Writer) -> dict[str, Any]:
    return {
        "fingerprint": checkpoint.fingerprint,
        "values": checkpoint.values,
        "arrays": {
            name: [array.dtype.str, array.ndim, writer.array(array)] for name, array in checkpoint.arrays.items()
        },
    }


def _read(data: dict[str, Any], reader: Reader) -> Checkpoint:
    arrays = {
        str(name): reader.array(key, np.dtype(kind), int(ndim)) for name, (kind, ndim, key) in data["arrays"].items()
    }
    return Checkpoint(str(data["fingerprint"]), dict(data["values"]), arrays)


register("Checkpoint", Checkpoint, _write, _read)
