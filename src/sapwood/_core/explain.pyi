"""Contributions, fragments and explicit maps."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

import sapwood._core.kernels
import sapwood._core.trees


class TooManyFragmentsError(Exception):
    pass

@overload
def attribute(model: sapwood._core.kernels.SubtreeModel, arena: sapwood._core.trees.Arena, element: sapwood._core.kernels.Bags, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def attribute(model: sapwood._core.kernels.SubsetModel, arena: sapwood._core.trees.Arena, element: sapwood._core.kernels.Bags, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def attribute(model: sapwood._core.kernels.PartialModel, arena: sapwood._core.trees.Arena, element: sapwood._core.kernels.Bags, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def heaviest(model: sapwood._core.kernels.SubtreeModel, combination: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arena: sapwood._core.trees.Arena | None, element: sapwood._core.kernels.Bags | None, capacity: int, limit: int) -> tuple[sapwood._core.trees.Arena, Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], list[list[str]], list[list[str]], bool]: ...

@overload
def heaviest(model: sapwood._core.kernels.SubsetModel, combination: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arena: sapwood._core.trees.Arena | None, element: sapwood._core.kernels.Bags | None, capacity: int, limit: int) -> tuple[sapwood._core.trees.Arena, Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], list[list[str]], list[list[str]], bool]: ...

@overload
def heaviest(model: sapwood._core.kernels.PartialModel, combination: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arena: sapwood._core.trees.Arena | None, element: sapwood._core.kernels.Bags | None, capacity: int, limit: int) -> tuple[sapwood._core.trees.Arena, Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], list[list[str]], list[list[str]], bool]: ...

class SubtreeVocabulary:
    def __init__(self, arena: sapwood._core.trees.Arena, roots: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def count(self, arena: sapwood._core.trees.Arena, rows: sapwood._core.kernels.Bags) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

class FragmentVocabulary:
    def __init__(self, arena: sapwood._core.trees.Arena, roots: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def count(self, arena: sapwood._core.trees.Arena, rows: sapwood._core.kernels.Bags) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

def frequent_fragments(arena: sapwood._core.trees.Arena, bags: sapwood._core.kernels.Bags, least: int, size_limit: int, height_limit: int, most: int) -> tuple[sapwood._core.trees.Arena, Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]: ...

def frequent_subtrees(arena: sapwood._core.trees.Arena, bags: sapwood._core.kernels.Bags, least: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

def measure(arena: sapwood._core.trees.Arena, roots: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

Vocabulary = SubtreeVocabulary | FragmentVocabulary
# The fragments, those of the other side, weights, counts, children left out on both sides, whether it is exact.
Found = tuple[
    sapwood._core.trees.Arena,
    NDArray[numpy.uint32],
    NDArray[numpy.uint32],
    NDArray[numpy.float64],
    NDArray[numpy.float64],
    list[list[str]],
    list[list[str]],
    bool,
]
