from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._core.trees import Arena

class Forests:
    def __init__(
        self,
        arena: Arena,
        roots: NDArray[np.uint32],
        ends: NDArray[np.uint64],
        labels: list[str],
        outdegree: int,
        cache_bytes: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def cached_bytes(self) -> int: ...
    def plan_size(self, group: int) -> tuple[int, int]: ...

class Network32:
    steps: int
    def __init__(self, units: int, outdegree: int, labels: int, outputs: int, extras: int) -> None: ...
    @property
    def stride(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def size(self) -> int: ...
    def weights(self) -> NDArray[Any]: ...
    def first_moments(self) -> NDArray[Any]: ...
    def second_moments(self) -> NDArray[Any]: ...
    def set_weights(self, values: NDArray[Any]) -> None: ...
    def set_moments(self, first: NDArray[Any], second: NDArray[Any]) -> None: ...
    def train(
        self,
        forests: Forests,
        order: NDArray[np.uint64],
        targets: NDArray[np.float64],
        extras: NDArray[np.float64],
        loss: int,
        batch: int,
        adam: bool,
        rate: float,
        momentum: float,
        second_momentum: float,
        epsilon: float,
        clip: float,
        decay: float,
        progress: Callable[[int], None] | None,
    ) -> float: ...
    def gradient(
        self, forests: Forests, targets: NDArray[np.float64], extras: NDArray[np.float64], loss: int
    ) -> tuple[float, NDArray[Any]]: ...
    def evaluate(
        self,
        forests: Forests,
        extras: NDArray[np.float64],
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    def states(
        self, forests: Forests, out: NDArray[np.float64], threads: int, progress: Callable[[int], None] | None
    ) -> None: ...

class Network64(Network32): ...

def count_labels(arena: Arena, roots: NDArray[np.uint32]) -> tuple[list[str], NDArray[np.uint64]]: ...
