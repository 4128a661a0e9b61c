from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sapwood._core.smo import Rows32
from sapwood._core.trees import Arena

class Bags:
    def __init__(
        self, arena: Arena, roots: NDArray[np.uint32], ends: NDArray[np.uint64] | None, threads: int
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def node_count(self) -> float: ...
    def distinct_count(self) -> int: ...

class NativeModel(Protocol):
    def evaluate(
        self,
        arena: Arena,
        rows: Bags,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    @property
    def nbytes(self) -> int: ...

class NativeScorer(Protocol):
    def evaluate(
        self,
        arena: Arena,
        roots: NDArray[np.uint32],
        ends: NDArray[np.uint64] | None,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    @property
    def nbytes(self) -> int: ...

class NativeKernel(Protocol):
    def gram(
        self,
        arena: Arena,
        rows: Bags,
        column_arena: Arena | None,
        columns: Bags | None,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    def diagonal(self, arena: Arena, bags: Bags, out: NDArray[np.float64], threads: int) -> None: ...
    def pairs(
        self,
        arena: Arena,
        bags: Bags,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    def model(self, arena: Arena, bags: Bags, weights: NDArray[np.float64]) -> NativeModel: ...
    def scorer(self, arena: Arena, bags: Bags, weights: NDArray[np.float64]) -> NativeScorer: ...
    def rows(
        self,
        arena: Arena,
        rows: Bags,
        column_arena: Arena,
        columns: Bags,
        factors: NDArray[np.float64],
        cache_bytes: int,
    ) -> Rows32: ...

class Subtree(NativeKernel):
    def __init__(self, decay: float) -> None: ...

class Subset(NativeKernel):
    def __init__(self, decay: float, bag_of_words: bool, height_limit: int) -> None: ...

class Partial(NativeKernel):
    def __init__(
        self, decay: float, depth_decay: float, max_subsequence: int, leaves: bool, terminal_factor: float
    ) -> None: ...
