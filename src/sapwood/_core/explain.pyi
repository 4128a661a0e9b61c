from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._core.kernels import Bags
from sapwood._core.trees import Arena

class TooManyFragmentsError(Exception): ...

# The fragments, those of the other side, weights, counts, children left out on both sides, whether it is exact.
Found = tuple[
    Arena,
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.float64],
    NDArray[np.float64],
    list[list[str]],
    list[list[str]],
    bool,
]

def attribute(model: Any, arena: Arena, element: Bags, out: NDArray[np.float64]) -> None: ...
def heaviest(
    model: Any,
    combination: NDArray[np.float64],
    arena: Arena | None,
    element: Bags | None,
    capacity: int,
    limit: int,
) -> Found: ...
def frequent_fragments(
    arena: Arena, bags: Bags, least: int, size_limit: int, height_limit: int, most: int
) -> tuple[Arena, NDArray[np.uint32]]: ...
def frequent_subtrees(arena: Arena, bags: Bags, least: int) -> NDArray[np.uint32]: ...
def measure(arena: Arena, roots: NDArray[np.uint32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class Vocabulary:
    def __init__(self, arena: Arena, roots: NDArray[np.uint32]) -> None: ...
    def count(self, arena: Arena, rows: Bags) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]: ...

class SubtreeVocabulary(Vocabulary): ...
class FragmentVocabulary(Vocabulary): ...
