"""Preferences learnt with a growing subset-tree model."""

from collections.abc import Callable
from typing import Annotated

import numpy
from numpy.typing import NDArray

import sapwood._core.trees


class SubsetModel:
    def __init__(self, arena: sapwood._core.trees.Arena, roots: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], decay: float, bag_of_words: bool) -> None: ...

    def evaluate(self, arena: sapwood._core.trees.Arena, roots: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int, progress: Callable[[int], None] | None) -> None: ...

    @property
    def nbytes(self) -> int: ...

class PreferencePerceptron:
    def __init__(self, arena: sapwood._core.trees.Arena, roots: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], scales: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], features: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], decay: float, bag_of_words: bool, cache_bytes: int) -> None: ...

    def train(self, order: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], relevance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rule: int, rate: float, progress: Callable[[int], None] | None) -> None: ...

    def replay(self, row: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], step: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: int, mistakes: int) -> None: ...

    def log(self) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]: ...

    def utilities(self, group: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def steps(self) -> int: ...

    @property
    def mistakes(self) -> int: ...

    @property
    def most_cached(self) -> int: ...

    @property
    def nbytes(self) -> int: ...
