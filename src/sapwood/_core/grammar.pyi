from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood._core.explain import Found
from sapwood._core.kernels import Bags
from sapwood._core.trees import Arena

class Rules:
    def __init__(
        self,
        labels: Sequence[str],
        left: NDArray[np.uint32],
        ends: NDArray[np.uint64],
        right: NDArray[np.uint32],
        heads: NDArray[np.uint32],
        phrasal: Sequence[str],
        marks: Sequence[str],
        deletable: Sequence[str] | None,
        max_deletions: int | None,
        min_children: int,
        strict_head: bool,
    ) -> None: ...
    def reductions(self, left: str, right: Sequence[str], head: int) -> list[tuple[tuple[str, ...], float]]: ...
    def outside(self, arena: Arena, bags: Bags) -> tuple[NDArray[np.uint32], list[tuple[str, tuple[str, ...]]]]: ...
    def words(self, arena: Arena, bags: Bags) -> tuple[NDArray[np.uint32], list[str]]: ...

class Side:
    def __init__(self, productions: NDArray[np.uint32], heads: NDArray[np.uint32]) -> None: ...

class WordLinks:
    def __init__(
        self,
        rows: NDArray[np.uint32],
        ends: NDArray[np.uint64],
        words: NDArray[np.uint32],
        values: NDArray[np.float64],
    ) -> None: ...

class GrammarDrivenModel:
    def evaluate(
        self,
        arena: Arena,
        rows: Bags,
        side: Side,
        links: WordLinks | None,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    @property
    def nbytes(self) -> int: ...

class GrammarFragments:
    def heaviest(
        self,
        combination: NDArray[np.float64],
        arena: Arena | None,
        element: Bags | None,
        side: Side | None,
        links: WordLinks | None,
        pairs: bool,
        capacity: int,
        limit: int,
    ) -> Found: ...

class GrammarDriven:
    def __init__(
        self,
        rules: Rules,
        sets: Sequence[Sequence[str]],
        decay: float,
        deletion: float,
        mutation: float,
        lexical: str,
        deep: bool,
        canonical: bool,
        normalize_mutation: bool,
    ) -> None: ...
    def gram(
        self,
        arena: Arena,
        rows: Bags,
        row_side: Side,
        column_arena: Arena | None,
        columns: Bags | None,
        column_side: Side | None,
        links: WordLinks | None,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    def diagonal(
        self,
        arena: Arena,
        bags: Bags,
        side: Side,
        links: WordLinks | None,
        out: NDArray[np.float64],
        threads: int,
    ) -> None: ...
    def pairs(
        self,
        arena: Arena,
        bags: Bags,
        side: Side,
        links: WordLinks | None,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    def model(self, arena: Arena, bags: Bags, side: Side, weights: NDArray[np.float64]) -> GrammarDrivenModel: ...
    def fragments(self, arena: Arena, bags: Bags, side: Side, weights: NDArray[np.float64]) -> GrammarFragments: ...
