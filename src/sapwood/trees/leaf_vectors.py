"""One vector per leaf of some trees: what a word means where it stands, beside how it is spelled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError

__all__ = ["LeafVectors", "as_matrix", "join_vectors"]

# Rows that are looked at together: a matrix on disk is never read as a whole.
_BLOCK = 65_536


@dataclass(frozen=True, eq=False)
class LeafVectors:
    """The vectors of the leaves of trees, tree after tree.

    Attributes
    ----------
    matrix : array of float16 or float32, shape (vectors, width)
        May be mapped from a file, and may hold vectors of other trees: slices of an array share it.
    begins : array of uint64
        Per tree, the row of its first leaf; the rows of its other leaves follow.
    """

    matrix: NDArray[Any]
    begins: NDArray[np.uint64]

    def __getitem__(self, trees: Any) -> LeafVectors:
        """Return the vectors of some of the trees."""
        return LeafVectors(self.matrix, np.ascontiguousarray(self.begins[trees]))

    def rows(self, sizes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the rows of all leaves in order; ``sizes`` are numbers of leaves, tree by tree."""
        sizes = sizes.astype(np.int64)
        ends = np.cumsum(sizes)
        first: NDArray[np.int64] = np.repeat(self.begins.astype(np.int64) - (ends - sizes), sizes)
        return first + np.arange(len(first))

    def compact(self, sizes: NDArray[Any]) -> LeafVectors:
        """Return the same without the vectors of other trees."""
        begins = (np.cumsum(sizes) - sizes).astype(np.uint64)
        if int(sizes.sum()) == len(self.matrix) and np.array_equal(begins, self.begins):
            return self
        return LeafVectors(np.asarray(self.matrix[self.rows(sizes)]), begins)


def join_vectors(parts: Sequence[LeafVectors | None]) -> LeafVectors | None:
    """Put the vectors of several arrays end to end; None if no array has any."""
    found = [part for part in parts if part is not None]
    if not found:
        return None
    if len(found) != len(parts):
        raise DataError("some of the arrays have vectors on their leaves and some have not; give all of them some.")
    first = found[0].matrix
    if all(part.matrix is first for part in found):
        return LeafVectors(first, np.concatenate([part.begins for part in found]))
    widths = sorted({part.matrix.shape[1] for part in found})
    if len(widths) > 1:
        raise DataError(f"the arrays have vectors of different lengths, {widths[0]} and {widths[-1]}.")
    starts = np.cumsum([0, *(len(part.matrix) for part in found)])
    begins = [part.begins + np.uint64(start) for part, start in zip(found, starts[:-1], strict=True)]
    return LeafVectors(np.concatenate([part.matrix for part in found]), np.concatenate(begins))


def as_matrix(vectors: Any, leaves: NDArray[Any]) -> NDArray[Any]:
    """Check vectors for so many leaves per element, and return them as one matrix.

    A matrix of float16 or float32 is taken as it is, so that one mapped from a file stays there.
    """
    count = int(leaves.sum())
    if isinstance(vectors, Iterable) and not hasattr(vectors, "dtype"):
        parts = [np.asarray(part) for part in vectors]
        if parts and all(part.ndim == 1 and part.shape == parts[0].shape for part in parts):
            return as_matrix(np.array(parts), leaves)
        if len(parts) != len(leaves):
            raise DataError(f"got vectors for {len(parts):,} elements; the array has {len(leaves):,}.")
        for number, (part, size) in enumerate(zip(parts, leaves.tolist(), strict=True)):
            if part.ndim != 2 or len(part) != size or part.shape[1] != parts[0].shape[1]:
                raise DataError(
                    f"the vectors of element {number} have the shape {part.shape}; expected ({size}, "
                    f"{parts[0].shape[-1] if parts[0].ndim else 0}), a row for each of its leaves."
                )
        matrix = np.concatenate(parts) if parts else np.zeros((0, 1), np.float16)
    else:
        matrix = np.asanyarray(vectors)
    if matrix.ndim != 2 or len(matrix) != count or matrix.shape[1] == 0:
        raise DataError(
            f"the vectors have the shape {matrix.shape}; expected one row for each of the {count:,} leaves."
        )
    if matrix.dtype not in (np.float16, np.float32):
        try:
            with np.errstate(over="ignore"):
                matrix = matrix.astype(np.float32)
        except (TypeError, ValueError):
            raise DataError(f"the vectors hold {matrix.dtype} instead of numbers.") from None
    for begin in range(0, len(matrix), _BLOCK):
        finite = np.isfinite(matrix[begin : begin + _BLOCK]).all(axis=1)
        if not finite.all():
            row = begin + int(np.flatnonzero(~finite)[0])
            raise DataError(f"the vector of leaf {row} holds NaN or infinite numbers.")
    return matrix
