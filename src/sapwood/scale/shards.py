"""Feature maps of any number of trees: one sparse matrix per part, in a file of its own.

A shard is a safetensors file with the rows of one part and their labels; the ledger holds its checksum and a
fingerprint of what it was made from. Parts come in a stream, or are read by the workers themselves, so that no process
ever holds more than a few of them. What is learnt from shards belongs to ``linear``.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood import cluster
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.files import load, save
from sapwood.notebook import HtmlTable
from sapwood.resuming import fingerprint
from sapwood.scale.ledger import Ledger, safely
from sapwood.scale.parts import as_part
from sapwood.writing import atomic_write

__all__ = ["Shards", "map_to_shards"]

_KIND = "shards"


def map_to_shards(
    mapping: Any,
    parts: Iterable[Any],
    folder: str | os.PathLike[str],
    *,
    read: Callable[[Any], Any] | None = None,
    client: Any = None,
    dtype: str = "float64",
    check: bool = True,
) -> Shards:
    """Describe trees by a feature map, part by part, or go on where an earlier call was stopped.

    Parameters
    ----------
    mapping : HashedFragmentMap, FragmentMap, SubtreeMap or LandmarkMap
        The map; fitted, where it learns something.
    parts : iterable
        Each part becomes one shard: trees, or a pair of trees and labels (see ``in_parts``). With ``read``, whatever
        that takes, such as the name of a file or a number.
    folder : path
        A new or empty folder, or that of an earlier call with the same arguments. With a cluster, a folder that all
        workers see under this name.
    read : callable, optional
        Called by the worker with a part; gives trees, or trees and labels. So data need not pass through the client.
    client : distributed.Client, optional
        The cluster; without one, parts are mapped here, one after the other.
    dtype : {"float64", "float32"}
        How values are stored.
    check : bool
        Whether shards that are there already are compared with their checksums; those that differ are made again.

    Returns
    -------
    Shards
        With ``computed``: how many shards this call has made.

    Examples
    --------
    >>> import tempfile
    >>> from sapwood.kernels import HashedFragmentMap
    >>> from sapwood.scale import in_parts
    >>> trees = ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))", "(NP (NNS dogs))"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shards = map_to_shards(HashedFragmentMap(n_features=256), in_parts(trees, [0, 0, 1], size=2), folder)
    ...     print(shards, [labels.tolist() for _, labels in shards])
    Shards(2 shards, 3 rows, 256 columns) [[0, 0], [1]]
    """
    if not hasattr(mapping, "transform"):
        raise ParameterError(f"mapping must be a feature map such as HashedFragmentMap(), got {mapping!r}.")
    if dtype not in ("float64", "float32"):
        raise ParameterError(f"dtype must be 'float64' or 'float32', got {dtype!r}.")
    about = {"map": repr(mapping), "dtype": dtype, "fingerprint": fingerprint(mapping)}
    ledger = Ledger.begin(folder, _KIND, about)
    with safely(ledger.folder):
        # Written again by every call, so that workers never meet a damaged copy.
        save(mapping, ledger.folder / "map.sap")
    finished = ledger.finished()
    count = 0

    def wanted() -> Iterator[tuple[int, Any, str]]:
        nonlocal count
        for number, part in enumerate(parts):
            count = number + 1
            given = as_part(part) if read is None else part
            source = fingerprint(*given) if read is None else fingerprint(repr(part))
            note = finished.get(_key(number))
            if note is not None:
                if note.get("source") != source:
                    raise DataError(
                        f"{ledger.folder}: shard {number} was made from another part; name another folder, or remove "
                        "this one to start anew."
                    )
                if not check or _intact(ledger.folder, number, note):
                    continue
                ledger.forget(_key(number))
            yield number, given, source

    made = 0
    shared = (str(ledger.folder), str(about["fingerprint"]), dtype, read)

    def kept() -> str:
        return f"{len(ledger.finished())} shards are finished; the same call goes on from there."

    try:
        with safely(ledger.folder, kept):
            for _ in cluster.run(client, _make_shard, wanted(), shared=shared, what="shards"):
                made += 1
    finally:
        _map.cache_clear()
    extra = [key for key in ledger.finished() if int(key) >= count]
    if extra:
        raise DataError(
            f"{ledger.folder}: holds {count + len(extra)} shards, but there are only {count} parts; name another "
            "folder, or remove this one to start anew."
        )
    shards = Shards(ledger.folder)
    shards.computed = made
    return shards


class Shards(HtmlTable):
    """Sparse matrices on disk, one after the other.

    Iteration gives each shard as a matrix and its labels (None where there are none) and holds one at a time.

    Parameters
    ----------
    folder : path
        What was given to ``map_to_shards``.

    Attributes
    ----------
    shape : (int, int)
        Rows of all shards, and columns.
    classes : array
        The distinct labels, sorted; empty where there are none.
    computed : int
        How many shards the call that made this object has made.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._ledger = Ledger.open(folder, _KIND)
        self._notes = sorted(self._ledger.finished().items())
        missing = [number for number, (key, _) in enumerate(self._notes) if key != _key(number)]
        if missing:
            raise DataError(
                f"{self.folder}: shard {missing[0]} is missing; call map_to_shards with the same arguments to make it."
            )
        try:
            rows = sum(int(note["rows"]) for _, note in self._notes)
            self.shape = (rows, int(self._notes[0][1]["columns"]) if self._notes else 0)
            found: set[Any] = set()
            for _, note in self._notes:
                found.update(note["classes"])
            self.classes: NDArray[Any] = np.array(sorted(found))
        except (KeyError, TypeError, ValueError):
            raise ModelFileError(f"{self.folder}: the notes of shards are damaged; make them again.") from None
        self.computed = 0

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self._ledger.folder

    @property
    def fingerprint(self) -> str:
        """A digest of the map and of everything that was mapped."""
        return fingerprint(self._ledger.about["fingerprint"], [note["source"] for _, note in self._notes])

    def feature_map(self) -> Any:
        """Load the map that made them."""
        return load(self.folder / "map.sap")

    def __len__(self) -> int:
        return len(self._notes)

    def __getitem__(self, number: int) -> tuple[sparse.csr_array, NDArray[Any] | None]:
        """Read one shard and compare it with its checksum."""
        if not 0 <= number < len(self._notes):
            raise IndexError(f"there is no shard {number}; there are {len(self._notes)}, counted from 0")
        path = _path(self.folder, number)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ModelFileError(f"{path}: cannot be read ({error.strerror}); map the parts again.") from None
        if zlib.crc32(data) != self._notes[number][1].get("crc32"):
            raise ModelFileError(f"{path}: differs from its checksum; map the parts again, which makes it anew.")
        return _decode(data)

    def __iter__(self) -> Iterator[tuple[sparse.csr_array, NDArray[Any] | None]]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"Shards({len(self):,} shards, {self.shape[0]:,} rows, {self.shape[1]:,} columns)"


# What runs on workers.


def _make_shard(
    folder: str, print_of_map: str, dtype: str, read: Callable[[Any], Any] | None, number: int, part: Any, source: str
) -> None:
    trees, labels = as_part(part if read is None else read(part))
    try:
        mapping = _map(folder, print_of_map)
    except ModelFileError as error:
        raise DataError(f"{error} A worker must see the folder under the same name as the client.") from None
    rows = mapping.transform(trees)
    matrix = sparse.csr_array(rows).astype(dtype)
    data = _encode(matrix, labels)
    # Checked by its sum before it is used, so it need not be flushed.
    atomic_write(_path(Path(folder), number), data, flush=False)
    note = {
        "crc32": zlib.crc32(data),
        "source": source,
        "rows": matrix.shape[0],
        "columns": matrix.shape[1],
        "bytes": len(data),
        "classes": [] if labels is None else np.unique(labels).tolist(),
    }
    Ledger(Path(folder), _KIND, {}).note(_key(number), note)


@lru_cache(maxsize=2)
def _map(folder: str, print_of_map: str) -> Any:
    return load(Path(folder) / "map.sap")


def _encode(matrix: sparse.csr_array, labels: NDArray[Any] | None) -> bytes:
    from safetensors.numpy import save as serialize

    arrays = {
        "data": matrix.data,
        "indices": matrix.indices.astype(np.int32),
        "indptr": matrix.indptr.astype(np.int64),
    }
    about: dict[str, Any] = {"columns": matrix.shape[1]}
    if labels is not None and labels.dtype.kind == "U":
        names, numbers = np.unique(labels, return_inverse=True)
        about["names"] = names.tolist()
        arrays["labels"] = numbers.astype(np.int32)
    elif labels is not None:
        arrays["labels"] = np.ascontiguousarray(labels)
    return bytes(serialize(arrays, metadata={"sapwood": json.dumps(about, ensure_ascii=False)}))


def _decode(data: bytes) -> tuple[sparse.csr_array, NDArray[Any] | None]:
    from safetensors.numpy import load as deserialize

    # The bytes have passed their checksum, so they are what _encode wrote.
    length = int.from_bytes(data[:8], "little")
    about = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["sapwood"])
    arrays = deserialize(data)
    ends = arrays["indptr"]
    # scikit-learn's linear models take 32-bit indices only.
    ends = ends.astype(np.int32) if ends[-1] < 2**31 else ends
    matrix = sparse.csr_array((arrays["data"], arrays["indices"], ends), shape=(len(ends) - 1, int(about["columns"])))
    labels = arrays.get("labels")
    return matrix, np.array(about["names"])[labels] if labels is not None and "names" in about else labels


def _intact(folder: Path, number: int, note: dict[str, Any]) -> bool:
    try:
        return zlib.crc32(_path(folder, number).read_bytes()) == note.get("crc32")
    except OSError:
        return False


def _key(number: int) -> str:
    return f"{number:08d}"


def _path(folder: Path, number: int) -> Path:
    return folder / f"shard-{_key(number)}.safetensors"
