from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood._core.trees import Arena

class Rules:
    def __init__(
        self,
        parents: NDArray[np.uint32],
        lefts: NDArray[np.uint32],
        rights: NDArray[np.uint32],
        weights: NDArray[np.float64],
        uppers: NDArray[np.uint32],
        lowers: NDArray[np.uint32],
        chain_weights: NDArray[np.float64],
        chain_ends: NDArray[np.uint64],
        chain_labels: NDArray[np.uint32],
        stay: NDArray[np.float64],
        prior: NDArray[np.float64],
        labels: NDArray[np.uint32],
        root: int,
    ) -> None: ...
    @property
    def symbols(self) -> int: ...
    @property
    def binary(self) -> int: ...

def parse_batch(
    rules: Rules,
    labels: Sequence[str],
    sentence_ends: NDArray[np.uint64],
    tag_ends: NDArray[np.uint64],
    symbols: NDArray[np.uint32],
    weights: NDArray[np.float64],
    words: Sequence[str],
    count: int,
    derivations: int,
    beam: float,
    bytes: int,
    cover_labels: Sequence[int],
    cover_price: float,
    threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[
    Arena,
    NDArray[np.uint32],
    NDArray[np.uint64],
    NDArray[np.float64],
    NDArray[np.uint8],
    NDArray[np.uint64],
]: ...
def inside(
    rules: Rules,
    sentence_ends: NDArray[np.uint64],
    tag_ends: NDArray[np.uint64],
    symbols: NDArray[np.uint32],
    weights: NDArray[np.float64],
    bytes: int,
    threads: int,
    progress: Callable[[int], None] | None,
) -> NDArray[np.float64]: ...
