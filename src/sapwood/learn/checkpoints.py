"""Checkpoints: where a training stands, written so that it goes on to the same weights bit for bit.

A checkpoint holds numbers and arrays, and a fingerprint of the data and parameters it belongs to: training on anything
else does not go on from it. What the numbers mean is the business of the learner.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.errors import ModelFileError
from sapwood.files import load, save
from sapwood.registry import Reader, Writer, register
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["Checkpoint", "CheckpointFile", "fingerprint"]


@dataclass
class Checkpoint:
    """The state of a training: JSON values and arrays under names of the learner's choice."""

    fingerprint: str
    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


class CheckpointFile:
    """A checkpoint on disk, written at most every so many seconds.

    Parameters
    ----------
    path : path or None
        Where; None keeps nothing.
    fingerprint : str
        What the training must agree with.
    seconds : float
        The least time between two writes.
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
                f"{os.fspath(self._path)}: belongs to a training with other data or parameters; remove it to start "
                "anew, or name another checkpoint."
            )
        return found

    def write(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Write the state of the training, whole or not at all."""
        if self._path is None:
            return
        save(Checkpoint(self._fingerprint, values, arrays), self._path)
        self._written = time.monotonic()


def fingerprint(*parts: Any) -> str:
    """Return a digest of parameters, arrays, trees and examples; the same in every process."""
    digest = hashlib.sha256()
    for part in parts:
        _add(part, digest)
    return digest.hexdigest()


def _add(part: Any, digest: Any) -> None:
    if isinstance(part, TreeArray):
        labels, *arrays = part._arena.dump(part._roots)
        _add("\0".join(labels), digest)
        for array in arrays:
            _add(array, digest)
        if part._ends is not None:
            _add(part._ends, digest)
    elif isinstance(part, Examples):
        for name in part.views:
            _add(name, digest)
            _add(part[name], digest)
    elif sparse.issparse(part):
        for array in (part.data, part.indices, part.indptr):
            _add(array, digest)
    elif isinstance(part, np.ndarray) and part.dtype != object:
        digest.update(f"{part.dtype.str}{part.shape};".encode())
        digest.update(np.ascontiguousarray(part).data)
    elif isinstance(part, np.ndarray):
        _add(repr([sorted(row.items()) if isinstance(row, dict) else row for row in part.tolist()]), digest)
    else:
        text = part if isinstance(part, str) else repr(part)
        digest.update(f"{len(text)}:".encode() + text.encode("utf-8", "surrogatepass"))


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
