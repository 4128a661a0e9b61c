"""Arrays as compact model files hold them: squeezed without loss, weights rounded to a grid before.

A packed array is a description in JSON and a few arrays whose names begin with its own: its bytes, squeezed by zlib;
for rounded weights their scales, and, where most are 0, the places of the others. Which arrays are packed is the
business of ``registry``, what may be rounded that of the classes.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.errors import ParameterError

__all__ = ["Grid", "pack", "pack_rounded", "unpack", "unpack_sparse"]

_TYPES = {name: np.dtype(name) for name in (
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64",
)}  # fmt: skip
_SCALES, _PLACES = ".scales", ".places"
# What zlib squeezes best becomes this many times smaller.
_MOST_SQUEEZED = 1032


@dataclass(frozen=True)
class Grid:
    """Where rounded weights may lie: so many steps to each side of 0, up to the largest of a row, a column or all.

    Parameters
    ----------
    steps : int
        At most 127. No weight moves by more than half a step; those below that become 0.
    axis : int, optional
        Along which weights have one scale: 1 for one scale per row of a matrix, 0 for one per column. Vectors beside
        matrices, such as biases, are few and stay as they are. By default all weights have the same scale.

    Examples
    --------
    >>> Grid(4).rounded(np.array([0.1, 0.25, -0.6, 0.8], np.float32))
    array([ 0. ,  0.2, -0.6,  0.8], dtype=float32)
    """

    steps: int
    axis: int | None = None

    def rounded(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the nearest values on the grid; those that lie on it stay as they are."""
        return self.values(*self.codes(values)) if self.rounds(values) else values

    def rounds(self, values: NDArray[np.float32]) -> bool:
        """Whether an array is rounded at all."""
        return bool(values.size) and (self.axis is None or values.ndim > 1)

    def codes(self, values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Return the number of steps of every weight, and the scales."""
        scales = np.abs(values).max(axis=self.axis, keepdims=True)
        if not np.isfinite(scales).all():
            raise ParameterError("the model has a weight that is not finite, so it cannot be saved; train it again.")
        shares = values / np.where(scales > 0, scales, 1).astype(np.float64)
        return np.rint(shares * self.steps).astype(np.int8), scales

    def values(self, codes: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weights of numbers of steps."""
        # The largest is its scale to the last bit, so that rounding again changes nothing.
        return np.asarray(codes.astype(np.float32) / np.float32(self.steps) * scales, np.float32)


def pack(values: NDArray[Any]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Squeeze an array; return arrays by the endings of their names, and the description.

    >>> parts, about = pack(np.arange(1000, dtype=np.uint32))
    >>> len(parts[""]) < 50, about
    (True, {'type': 'uint32', 'shape': [1000], 'rising': True})
    """
    about: dict[str, Any] = {"type": values.dtype.name, "shape": list(values.shape)}
    if values.ndim == 1 and values.dtype.kind in "iu" and _rises(values):
        about["rising"] = True
        values = np.diff(values, prepend=values.dtype.type(0))
    return {"": _squeezed(values)}, about


def pack_rounded(values: NDArray[np.float32], grid: Grid) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Round weights and squeeze them; see ``pack``."""
    if not grid.rounds(values):
        return pack(values)
    codes, scales = grid.codes(values)
    parts: dict[str, NDArray[Any]] = {_SCALES: np.ascontiguousarray(scales.reshape(-1))}
    about: dict[str, Any] = {
        "type": "float32", "shape": list(values.shape), "steps": grid.steps, "axis": grid.axis
    }  # fmt: skip
    flat = codes.reshape(-1)
    places = np.flatnonzero(flat)
    if 2 * len(places) < len(flat):
        about["places"] = len(places)
        parts[_PLACES] = _squeezed(np.diff(places, prepend=0))
        flat = flat[places]
    return {"": _squeezed(flat), **parts}, about


def unpack(
    name: str, arrays: Mapping[str, NDArray[Any]], about: Any, check_room: Callable[[int], None]
) -> NDArray[Any]:
    """Return an array from its parts and its description, of which nothing is believed.

    ``check_room`` is told how many bytes it will have, before it is made.

    Raises
    ------
    ValueError
        If they do not fit together: what is wrong.
    """
    if not isinstance(about, dict):
        raise ValueError("its description is none")
    dtype, shape = _TYPES.get(str(about.get("type"))), about.get("shape")
    if dtype is None or not isinstance(shape, list) or not all(map(_is_count, shape)):
        raise ValueError("its description is none")
    size = math.prod(shape)
    check_room(size * dtype.itemsize)
    if "steps" in about:
        return _unrounded(name, arrays, about, tuple(shape))
    values = _expanded(_part(arrays, name, np.uint8), dtype, size)
    if about.get("rising"):
        # Sums that are too large wrap around: whoever reads places and ends checks that they rise.
        values = np.cumsum(values, dtype=dtype)
    return values.reshape(shape)


def _unrounded(
    name: str, arrays: Mapping[str, NDArray[Any]], about: dict[str, Any], shape: tuple[int, ...]
) -> NDArray[np.float32]:
    grid, scales = _grid(name, arrays, about, shape)
    if "places" in about:
        places, found = _placed(name, arrays, about, shape)
        values = np.zeros(shape, np.float32)
        values.reshape(-1)[places] = found
        return values
    codes = _within(_expanded(_part(arrays, name, np.uint8), np.dtype(np.int8), math.prod(shape)), grid.steps)
    return grid.values(codes.reshape(shape), scales)


def unpack_sparse(name: str, arrays: Mapping[str, NDArray[Any]], about: Any) -> sparse.csr_array | None:
    """Return a matrix of rounded weights most of which are 0, without taking room for these; None for any other array.

    Raises
    ------
    ValueError
        As in ``unpack``.
    """
    shape = about.get("shape") if isinstance(about, dict) and {"steps", "places"} <= about.keys() else None
    if not isinstance(shape, list) or len(shape) != 2 or not all(map(_is_count, shape)):
        return None
    places, found = _placed(name, arrays, about, tuple(shape))
    rows, columns = np.divmod(places, max(1, shape[1]))
    ends = np.searchsorted(rows, np.arange(shape[0] + 1))
    return sparse.csr_array((found, columns.astype(np.int32), ends.astype(np.int32)), tuple(shape))


def _grid(
    name: str, arrays: Mapping[str, NDArray[Any]], about: dict[str, Any], shape: tuple[int, ...]
) -> tuple[Grid, NDArray[np.float32]]:
    """Return the grid of rounded weights, and its scales in a shape that goes with theirs."""
    steps, axis = about["steps"], about.get("axis")
    if not _is_count(steps) or not 1 <= steps <= 127 or not (axis is None or (_is_count(axis) and axis < len(shape))):
        raise ValueError("its grid is none")
    scales = _part(arrays, name + _SCALES, np.float32)
    scale_shape = tuple(1 if axis in (None, at) else length for at, length in enumerate(shape))
    if scales.shape != (math.prod(scale_shape),) or not (np.isfinite(scales) & (scales >= 0)).all():
        raise ValueError("its scales do not fit")
    return Grid(steps, axis), scales.reshape(scale_shape)


def _placed(
    name: str, arrays: Mapping[str, NDArray[Any]], about: dict[str, Any], shape: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the places of the weights that are not 0, in order, and these weights."""
    (grid, scales), count, size = _grid(name, arrays, about, shape), about["places"], math.prod(shape)
    if not _is_count(count) or count > size:
        raise ValueError("it holds more than there is room for")
    codes = _expanded(_part(arrays, name, np.uint8), np.dtype(np.int8), count)
    steps_between = _expanded(_part(arrays, name + _PLACES, np.uint8), np.dtype(np.int64), count)
    places = np.cumsum(steps_between)
    if count and (steps_between.min() < 0 or steps_between[1:].min(initial=1) < 1 or not 0 <= places[-1] < size):
        raise ValueError("its places are out of order")
    # A scale for each of them, without making an array of all.
    own = np.broadcast_to(scales, shape)[np.unravel_index(places, shape)]
    return places, grid.values(_within(codes, grid.steps), own)


def _rises(values: NDArray[Any]) -> bool:
    return bool(len(values) > 1 and values[0] >= 0 and (values[1:] >= values[:-1]).all())


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 48


def _within(codes: NDArray[np.int8], steps: int) -> NDArray[np.int8]:
    if len(codes) and max(int(codes.max()), -int(codes.min())) > steps:
        raise ValueError("it holds a number outside of its grid")
    return codes


def _part(arrays: Mapping[str, NDArray[Any]], name: str, dtype: Any) -> NDArray[Any]:
    found = arrays.get(name)
    if found is None or found.dtype != dtype or found.ndim != 1:
        raise ValueError(f"its part {name!r} is missing or of another type")
    return found


def _squeezed(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Squeeze numbers: the first bytes of all, then the second ones, so that high bytes that are 0 take no room."""
    flat = np.ascontiguousarray(values).reshape(-1)
    planes = flat.view(np.uint8).reshape(len(flat), flat.dtype.itemsize).T.tobytes()
    # Numbers without order have no repetitions to look for.
    tried = (_deflated(planes, way) for way in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY))
    return np.frombuffer(min(tried, key=len), np.uint8)


def _deflated(data: bytes, strategy: int) -> bytes:
    squeezer = zlib.compressobj(9, strategy=strategy)
    return squeezer.compress(data) + squeezer.flush()


def _expanded(packed: NDArray[np.uint8], dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """Undo ``_squeezed``: exactly so many numbers, or it is refused before more memory is taken."""
    size = count * dtype.itemsize
    if size > _MOST_SQUEEZED * (len(packed) + 8):
        raise ValueError("it promises more than it holds")
    expander = zlib.decompressobj()
    try:
        data = expander.decompress(packed.tobytes(), size + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(data) != size or not expander.eof or expander.unused_data:
        raise ValueError("it holds another number of bytes than it promises")
    planes = np.frombuffer(data, np.uint8).reshape(dtype.itemsize, count)
    return np.ascontiguousarray(planes.T).reshape(-1).view(dtype)
