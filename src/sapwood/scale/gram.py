"""A Gram matrix in a Zarr array, tile by tile: any size, any number of workers, the same bytes.

The folder holds the array (``gram.zarr``), what workers need (the kernel and the examples, as model files), and a
ledger with the checksums of finished tiles. A worker reads the examples once, writes its tiles itself, and then notes
them; so nothing large passes through the scheduler or the client, and what is finished is never computed again. A tile
holds what the kernel gives for its rows and columns alone.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import cluster
from sapwood.checks import check_count
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.extras import need
from sapwood.files import load, save
from sapwood.interrupts import hold_interrupts, leave_behind
from sapwood.kernels.base import Kernel
from sapwood.kernels.choice import check_kernel
from sapwood.kernels.data import as_data
from sapwood.kernels.evaluation import finite_gram
from sapwood.notebook import HtmlTable
from sapwood.resuming import fingerprint
from sapwood.scale.ledger import Ledger, safely
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["GramStore", "gram_to_zarr"]

_KIND = "gram"
_ONLY_VIEW = "only"


def gram_to_zarr(
    kernel: Kernel,
    X: Any,
    folder: str | os.PathLike[str],
    *,
    Y: Any = None,
    client: Any = None,
    tile: int = 2000,
    dtype: str = "float64",
    compress: bool = False,
    check: bool = True,
) -> GramStore:
    """Compute ``kernel(X, Y)`` into a Zarr array, or go on where an earlier call was stopped.

    Parameters
    ----------
    kernel : Kernel
        What to compare with. A kernel that learns from data learns from Y, or from X where there is none.
    X, Y : TreeArray, Examples, list of trees or matrix
        What to compare. Without Y the matrix is symmetric: one triangle is computed, the other one is its mirror image.
    folder : path
        A new or empty folder, or that of an earlier call with the same arguments. With a cluster, a folder that all
        workers see under this name.
    client : distributed.Client, optional
        The cluster; without one the tiles are computed here, one after the other.
    tile : int
        Rows and columns of a tile. A tile is what a dying worker costs, and what a worker must have memory for.
    dtype : {"float64", "float32"}
        How values are stored; they are computed in double precision.
    compress : bool
        Whether tiles are compressed (zstd). Kernel values of real trees hardly are.
    check : bool
        Whether tiles that are there already are read and compared with their checksums; those that differ are computed
        again.

    Returns
    -------
    GramStore
        The matrix, with ``computed``: how many tiles this call has computed.

    Raises
    ------
    DataError
        If the folder belongs to another kernel, other data or other parameters, or cannot be written. Whatever
        happens, finished tiles are kept.

    Examples
    --------
    >>> import tempfile
    >>> from sapwood.kernels import SubsetTree
    >>> trees = ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))", "(NP (NNS dogs))"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = gram_to_zarr(SubsetTree(decay=1.0), trees, folder, tile=2)
    ...     print(store, store.computed)
    ...     print(store[:])
    GramStore(3 x 3, float64, 3 of 3 tiles) 3
    [[6. 3. 0.]
     [3. 6. 0.]
     [0. 0. 3.]]
    """
    need("zarr", "a Gram matrix on disk")
    kernel = check_kernel(kernel)
    check_count(tile, "tile")
    if dtype not in ("float64", "float32"):
        raise ParameterError(f"dtype must be 'float64' or 'float32', got {dtype!r}.")
    rows = as_data(X)
    columns = None if Y is None else as_data(Y)
    shape = (int(rows.shape[0]), int((rows if columns is None else columns).shape[0]))
    if 0 in shape:
        raise DataError("there is nothing to compare: an array is empty.")
    bound = kernel.bind(rows if columns is None else columns)
    about = {
        "kernel": repr(kernel),
        "shape": list(shape),
        "symmetric": columns is None,
        "tile": int(tile),
        "dtype": dtype,
        "compress": bool(compress),
        "fingerprint": fingerprint(bound, _storable(rows), None if columns is None else _storable(columns)),
    }
    ledger = Ledger.begin(folder, _KIND, about)
    store = GramStore(ledger)
    with safely(ledger.folder, store._kept):
        # Written again by every call, so that workers never meet a damaged copy.
        save(bound, ledger.folder / "kernel.sap")
        save(_storable(rows), ledger.folder / "rows.sap")
        if columns is not None:
            save(_storable(columns), ledger.folder / "columns.sap")
        store._make_array(repr(kernel))
    store._compute(client, check)
    return store


class GramStore(HtmlTable):
    """A Gram matrix on disk, perhaps unfinished.

    Parameters
    ----------
    folder : path
        What was given to ``gram_to_zarr``.

    Attributes
    ----------
    shape : (int, int)
    tiles : list of (int, int)
        The tiles that are computed, by row and column of tiles; of a symmetric matrix, those from the diagonal on.
    computed : int
        How many tiles the call that made this object has computed.
    array : zarr.Array
        The matrix itself, for any program that reads Zarr; 0 where a tile is missing.
    """

    def __init__(self, folder: str | os.PathLike[str] | Ledger) -> None:
        self._ledger = folder if isinstance(folder, Ledger) else Ledger.open(folder, _KIND)
        about = self._ledger.about
        try:
            self.shape: tuple[int, int] = (int(about["shape"][0]), int(about["shape"][1]))
            self._tile, self._symmetric = int(about["tile"]), bool(about["symmetric"])
            self.dtype = np.dtype(about["dtype"])
            if min(self.shape) < 1 or self._tile < 1:
                raise ValueError
        except (KeyError, ValueError, TypeError, IndexError):
            raise ModelFileError(f"{self.folder}: run.json is damaged; remove the folder to start anew.") from None
        self.computed = 0
        self._whole = False

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._ledger.folder

    @property
    def array(self) -> Any:
        """The Zarr array."""
        return _open_array(str(self.folder), "r")

    @property
    def tiles(self) -> list[tuple[int, int]]:
        """All tiles that are computed rather than mirrored."""
        down, across = (-(-length // self._tile) for length in self.shape)
        return [(i, j) for i in range(down) for j in range(i if self._symmetric else 0, across)]

    def missing(self) -> list[tuple[int, int]]:
        """Return the tiles that are not finished."""
        finished = self._ledger.finished()
        return [(i, j) for i, j in self.tiles if _key(i, j) not in finished]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray[np.floating[Any]]:
        """Return a part of the matrix; refuses where a tile of it is missing or differs from its checksum."""
        # Finished tiles stay finished, so a matrix that was whole once is not asked again.
        missing = [] if self._whole else self.missing()
        self._whole = not missing
        if missing:
            raise DataError(
                f"{self.folder}: {len(missing)} of {len(self.tiles)} tiles are missing; call gram_to_zarr with the "
                "same arguments to compute them, or read what is there from .array."
            )
        try:
            array = self.array
            return leave_behind(lambda: np.asarray(array[key]))
        except ValueError as error:
            if "checksum" not in str(error):
                raise
            raise DataError(
                f"{self.folder}: a tile is damaged; call gram_to_zarr with the same arguments to compute it again."
            ) from None

    def damaged(self, client: Any = None) -> list[tuple[int, int]]:
        """Read every finished tile and return those that differ from their checksums."""
        finished = self._ledger.finished()
        present = [(i, j) for i, j in self.tiles if _key(i, j) in finished]
        shared = (str(self.folder), self._tile, self.shape, self._symmetric)
        tasks = [(i, j, finished[_key(i, j)]) for i, j in present]
        with safely(self.folder):
            found = cluster.run(client, _check_tile, tasks, shared=shared, what="tiles", total=len(tasks))
            return sorted((i, j) for (i, j, _), intact in found if not intact)

    def timings(self) -> dict[str, float]:
        """Return the seconds that workers have spent on finished tiles, by what they spent them on."""
        total: dict[str, float] = {"prepare": 0.0, "compute": 0.0, "write": 0.0}
        for note in self._ledger.finished().values():
            for name in total:
                total[name] += float(note.get("seconds", {}).get(name, 0.0))
        return total

    def __repr__(self) -> str:
        tiles = len(self.tiles)
        return (
            f"GramStore({self.shape[0]:,} x {self.shape[1]:,}, {self.dtype}, "
            f"{tiles - len(self.missing()):,} of {tiles:,} tiles)"
        )

    def _make_array(self, kernel: str) -> None:
        zarr = need("zarr", "a Gram matrix on disk")
        if (self.folder / "gram.zarr" / "zarr.json").exists():
            return
        codecs = zarr.codecs
        packing = [codecs.ZstdCodec(level=1)] if self._ledger.about["compress"] else []
        with hold_interrupts():
            zarr.create_array(
                store=self.folder / "gram.zarr",
                shape=self.shape,
                chunks=(self._tile, self._tile),
                dtype=self.dtype,
                fill_value=0.0,
                compressors=[*packing, codecs.Crc32cCodec()],
                attributes={"kernel": kernel, "fingerprint": self._ledger.about["fingerprint"]},
                # Half a header would stop every later call, so it is replaced.
                overwrite=True,
            )

    def _kept(self) -> str:
        tiles = len(self.tiles)
        return f"{tiles - len(self.missing())} of {tiles} tiles are finished; the same call goes on from there."

    def _compute(self, client: Any, check: bool) -> None:
        tiles = self.tiles
        if check:
            for i, j in self.damaged(client):
                self._ledger.forget(_key(i, j))
        missing = self.missing()
        shared = (str(self.folder), str(self._ledger.about["fingerprint"]), self._tile, self.shape, self._symmetric)
        total, finished = len(tiles), len(tiles) - len(missing)
        run = partial(cluster.run, what="tiles", total=total, finished=finished)
        try:
            with safely(self.folder, self._kept):
                for _ in run(client, _compute_tile, missing, shared=shared):
                    self.computed += 1
                self._remove_leftovers()
        finally:
            # Workers keep theirs for the next tile; here nobody would ask again.
            _examples.cache_clear()
            _block.cache_clear()

    def _remove_leftovers(self) -> None:
        """Remove what Zarr leaves of a tile when the process that writes it is killed: a file as large as the tile."""
        for path in (self.folder / "gram.zarr").rglob("*.partial"):
            path.unlink(missing_ok=True)


# What runs on workers.


def _compute_tile(
    folder: str, fingerprint: str, tile: int, shape: tuple[int, int], symmetric: bool, i: int, j: int
) -> None:
    start = time.perf_counter()
    try:
        kernel = _examples(folder, fingerprint, "kernel")
        rows = _block(folder, fingerprint, "rows", i * tile, min((i + 1) * tile, shape[0]))
        side = "rows" if symmetric else "columns"
        columns = (
            None if symmetric and i == j else _block(folder, fingerprint, side, j * tile, min((j + 1) * tile, shape[1]))
        )
    except ModelFileError as error:
        raise DataError(
            f"{error} A worker must see the folder of the matrix under the same name as the client."
        ) from None
    prepared = time.perf_counter()
    K = finite_gram(kernel, rows, columns, range(i * tile, i * tile + rows.shape[0]))
    computed = time.perf_counter()
    array = _open_array(folder, "r+")
    K = K.astype(array.dtype, copy=False)
    checksums = []
    for (a, b), block in _images(i, j, K, symmetric):
        with hold_interrupts():
            array[_slices(a, b, tile, shape)] = block
        checksums.append(_checksum(block))
    written = time.perf_counter()
    seconds = {"prepare": prepared - start, "compute": computed - prepared, "write": written - computed}
    note = {"crc32": checksums, "seconds": {name: round(value, 6) for name, value in seconds.items()}}
    Ledger(Path(folder), _KIND, {}).note(_key(i, j), note)


def _check_tile(
    folder: str, tile: int, shape: tuple[int, int], symmetric: bool, i: int, j: int, note: dict[str, Any]
) -> bool:
    array = _open_array(folder, "r")
    places = [(i, j), (j, i)] if symmetric and i != j else [(i, j)]
    try:
        found = [_checksum(_read(array, _slices(a, b, tile, shape))) for a, b in places]
    except (ValueError, OSError, RuntimeError):
        # Zarr's own checksum, a length that does not fit, or a compressed tile that cannot be opened.
        return False
    return found == note.get("crc32")


def _images(i: int, j: int, K: NDArray[Any], symmetric: bool) -> Iterator[tuple[tuple[int, int], NDArray[Any]]]:
    yield (i, j), K
    if symmetric and i != j:
        mirrored = np.empty((K.shape[1], K.shape[0]), dtype=K.dtype)
        # In strips that fit the cache: in one go it would take as long as many a kernel.
        for begin in range(0, len(K), 32):
            mirrored[:, begin : begin + 32] = K[begin : begin + 32].T
        yield (j, i), mirrored


def _slices(i: int, j: int, tile: int, shape: tuple[int, int]) -> tuple[slice, slice]:
    return slice(i * tile, min((i + 1) * tile, shape[0])), slice(j * tile, min((j + 1) * tile, shape[1]))


def _checksum(values: NDArray[Any]) -> int:
    return zlib.crc32(values.data)


def _key(i: int, j: int) -> str:
    return f"{i:06d}-{j:06d}"


def _open_array(folder: str, mode: str) -> Any:
    zarr = need("zarr", "a Gram matrix on disk")
    try:
        with hold_interrupts():
            return zarr.open_array(store=Path(folder) / "gram.zarr", mode=mode)
    except (FileNotFoundError, ValueError, KeyError) as error:
        raise DataError(
            f"{folder}: gram.zarr cannot be opened ({error}). A worker must see the folder under the same name as the "
            "client; if all do, remove the folder to start anew."
        ) from None


def _read(array: Any, tile: tuple[slice, slice]) -> NDArray[np.floating[Any]]:
    with hold_interrupts():
        return np.ascontiguousarray(array[tile])


# Examples, read once per worker.


def _storable(X: Any) -> Any:
    """Return examples as something that can be stored; matrices become the only view of Examples."""
    return X if isinstance(X, (TreeArray, Examples)) else Examples(**{_ONLY_VIEW: X})


@lru_cache(maxsize=6)
def _examples(folder: str, fingerprint: str, name: str) -> Any:
    value = load(Path(folder) / f"{name}.sap")
    if isinstance(value, Examples) and list(value.views) == [_ONLY_VIEW]:
        return value[_ONLY_VIEW]
    return value


@lru_cache(maxsize=16)
def _block(folder: str, fingerprint: str, name: str, begin: int, end: int) -> Any:
    block = _examples(folder, fingerprint, name)[begin:end]
    # Its own store, so that kernels do not walk that of all trees, and bytes do not depend on which tiles came before.
    return block.detach() if isinstance(block, TreeArray) else block
