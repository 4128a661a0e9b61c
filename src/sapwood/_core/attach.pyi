from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sapwood._core.trees import Arena

class Paths:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(self, up: list[str], anchor: str, down: list[str], count: float) -> None: ...
    def learn(self, arena: Arena, trees: NDArray[np.uint32], top: bool) -> None: ...
    def path(self, number: int) -> tuple[list[str], str, list[str]]: ...
    def counts(self) -> NDArray[np.float64]: ...
    def forests(
        self,
        arena: Arena,
        trees: NDArray[np.uint32],
        top: bool,
        missing: int,
        reduction: int,
        minimum_count: float,
        progress: Callable[[int], None] | None,
    ) -> tuple[
        Arena,
        NDArray[np.uint32],
        NDArray[np.uint32],
        NDArray[np.uint32],
        NDArray[np.uint64],
        NDArray[np.uint32],
        NDArray[np.uint32],
        NDArray[np.uint32],
        NDArray[np.uint32],
        list[str],
        tuple[int, int, int],
    ]: ...
