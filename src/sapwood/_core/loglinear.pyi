from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

def score(
    features: NDArray[np.uint32],
    ends: NDArray[np.uint64],
    row_ends: NDArray[np.uint64],
    role_ends: NDArray[np.uint64],
    key_ends: NDArray[np.uint64],
    keys: NDArray[np.uint32],
    masks: NDArray[np.uint32],
    shared: int,
    groups: int,
    weights: NDArray[np.float32],
    bits: int,
    out: NDArray[np.float64],
    threads: int,
    progress: Callable[[int], None] | None,
) -> None: ...
def loss_and_gradient(
    features: NDArray[np.uint32],
    ends: NDArray[np.uint64],
    row_ends: NDArray[np.uint64],
    role_ends: NDArray[np.uint64],
    key_ends: NDArray[np.uint64],
    keys: NDArray[np.uint32],
    masks: NDArray[np.uint32],
    shared: int,
    groups: int,
    right: NDArray[np.uint32],
    weights: NDArray[np.float64],
    bits: int,
    gradient: NDArray[np.float64],
) -> float: ...
def adagrad_epoch(
    features: NDArray[np.uint32],
    ends: NDArray[np.uint64],
    row_ends: NDArray[np.uint64],
    role_ends: NDArray[np.uint64],
    key_ends: NDArray[np.uint64],
    keys: NDArray[np.uint32],
    masks: NDArray[np.uint32],
    shared: int,
    groups: int,
    right: NDArray[np.uint32],
    order: NDArray[np.uint64],
    weights: NDArray[np.float32],
    squares: NDArray[np.float32],
    moved: NDArray[np.uint32],
    step: int,
    bits: int,
    rate: float,
    decay: float,
    negligible: float,
    batch: int,
    threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[float, int]: ...
def adagrad_settle(
    weights: NDArray[np.float32],
    squares: NDArray[np.float32],
    moved: NDArray[np.uint32],
    step: int,
    bits: int,
    rate: float,
    decay: float,
) -> None: ...
