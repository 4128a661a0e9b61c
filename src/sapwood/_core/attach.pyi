"""Incremental trees and the ways to attach a word to them."""

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

import sapwood._core.trees


class Paths:
    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def add(self, up: Sequence[str], anchor: str, down: Sequence[str], count: float) -> None: ...

    def learn(self, arena: sapwood._core.trees.Arena, trees: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], top: bool) -> None: ...

    def path(self, number: int) -> tuple[list[str], str, list[str]]: ...

    def counts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def forests(self, arena: sapwood._core.trees.Arena, trees: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], top: bool, missing: int, reduction: int, minimum_count: float, progress: Callable[[int], None] | None) -> tuple[sapwood._core.trees.Arena, Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], list[str], tuple[int, int, int]]: ...
