from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

class Rows32:
    def __len__(self) -> int: ...
    def row(self, item: int) -> NDArray[np.float32]: ...

class Rows64:
    def __len__(self) -> int: ...
    def row(self, item: int) -> NDArray[np.float64]: ...

class Triangle(Rows32):
    def __init__(self, size: int, cache_bytes: int, top: float = 1.0) -> None: ...
    @staticmethod
    def nbytes(size: int) -> float: ...
    def set(self, begin: int, block: NDArray[np.float64]) -> None: ...

class ShortTriangle(Rows32):
    def __init__(self, size: int, cache_bytes: int, top: float = 1.0) -> None: ...
    @staticmethod
    def nbytes(size: int) -> float: ...
    def set(self, begin: int, block: NDArray[np.float64]) -> None: ...

def dot_products(
    row_ends: NDArray[np.uint64],
    row_numbers: NDArray[np.uint32],
    row_values: NDArray[np.float64],
    column_ends: NDArray[np.uint64],
    column_numbers: NDArray[np.uint32],
    column_values: NDArray[np.float64],
    features: int,
    out: NDArray[np.float64],
    threads: int,
) -> None: ...
def square32(table: NDArray[np.float32]) -> Rows32: ...
def square64(table: NDArray[np.float64]) -> Rows64: ...
def dot_rows32(
    ends: NDArray[np.uint64],
    numbers: NDArray[np.uint32],
    values: NDArray[np.float64],
    features: int,
    scale: float,
    constant: float,
    degree: int,
    factors: NDArray[np.float64],
    cache_bytes: int,
) -> Rows32: ...
def dot_rows64(
    ends: NDArray[np.uint64],
    numbers: NDArray[np.uint32],
    values: NDArray[np.float64],
    features: int,
    scale: float,
    constant: float,
    degree: int,
    factors: NDArray[np.float64],
    cache_bytes: int,
) -> Rows64: ...

class Term:
    def __init__(self, weight: float, factors: Sequence[int], scale: NDArray[np.float64]) -> None: ...

class Same32:
    def __init__(
        self,
        sizes: NDArray[np.uint64],
        values: NDArray[np.float32],
        tags: NDArray[np.uint32],
        rows: NDArray[np.uint32],
    ) -> None: ...

class Component32:
    def __init__(self, values: Rows32, items: NDArray[np.uint32], same: Same32 | None) -> None: ...

class Same64:
    def __init__(
        self,
        sizes: NDArray[np.uint64],
        values: NDArray[np.float64],
        tags: NDArray[np.uint32],
        rows: NDArray[np.uint32],
    ) -> None: ...

class Component64:
    def __init__(self, values: Rows64, items: NDArray[np.uint32], same: Same64 | None) -> None: ...

# Weights, biases, objectives, gaps, iterations, and whether all problems converged.
_Found = tuple[
    NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.uint64], bool
]

class PointKernel32:
    def __init__(
        self, components: Sequence[Component32], terms: Sequence[Term], diagonal: NDArray[np.float64]
    ) -> None: ...
    def __len__(self) -> int: ...
    def row(self, point: int) -> NDArray[np.float32]: ...
    def solve(
        self,
        ends: NDArray[np.uint64],
        points: NDArray[np.uint32],
        sides: NDArray[np.int8],
        costs: NDArray[np.float64],
        tolerance: float,
        max_iterations: int,
        window_bytes: int,
        shrinking: bool,
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> _Found: ...

class PointKernel64:
    def __init__(
        self, components: Sequence[Component64], terms: Sequence[Term], diagonal: NDArray[np.float64]
    ) -> None: ...
    def __len__(self) -> int: ...
    def row(self, point: int) -> NDArray[np.float64]: ...
    def solve(
        self,
        ends: NDArray[np.uint64],
        points: NDArray[np.uint32],
        sides: NDArray[np.int8],
        costs: NDArray[np.float64],
        tolerance: float,
        max_iterations: int,
        window_bytes: int,
        shrinking: bool,
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> _Found: ...
