from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sapwood._core.trees import Arena

class SubsetModel:
    def __init__(
        self,
        arena: Arena,
        roots: NDArray[np.uint32],
        weights: NDArray[np.float64],
        decay: float,
        bag_of_words: bool,
    ) -> None: ...
    def evaluate(
        self,
        arena: Arena,
        roots: NDArray[np.uint32],
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    @property
    def nbytes(self) -> int: ...

class PreferenceMachine:
    def __init__(
        self,
        arena: Arena,
        roots: NDArray[np.uint32],
        ends: NDArray[np.uint64],
        scales: NDArray[np.float64],
        features: NDArray[np.float64],
        decay: float,
        bag_of_words: bool,
        cache_bytes: int,
    ) -> None: ...
    def train(
        self,
        order: NDArray[np.uint64],
        relevance: NDArray[np.float64],
        rule: int,
        rate: float,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    def replay(
        self,
        row: NDArray[np.uint64],
        weight: NDArray[np.float64],
        step: NDArray[np.uint64],
        steps: int,
        mistakes: int,
    ) -> None: ...
    def log(self) -> tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.uint64]]: ...
    def utilities(self, group: int) -> NDArray[np.float64]: ...
    @property
    def steps(self) -> int: ...
    @property
    def mistakes(self) -> int: ...
    @property
    def most_cached(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
