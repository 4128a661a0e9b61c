from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sapwood._core.explain import Found
from sapwood._core.grammar import WordLinks
from sapwood._core.kernels import Bags
from sapwood._core.trees import Arena

class Vocabulary:
    @staticmethod
    def under_preterminals(arena: Arena, bags: Bags, phrases: list[str]) -> Vocabulary: ...
    @staticmethod
    def of_labels(arena: Arena, bags: Bags, leaves_only: bool) -> Vocabulary: ...
    def only(self, marked: NDArray[np.bool_]) -> Vocabulary: ...
    def in_kinds(self, kinds: NDArray[np.uint32]) -> Vocabulary: ...
    def words(self, arena: Arena) -> list[str]: ...
    def labels(self) -> NDArray[np.uint32]: ...
    def __len__(self) -> int: ...

class WordFeatures:
    def __init__(
        self, ends: NDArray[np.uint64], features: NDArray[np.uint32], weights: NDArray[np.float64]
    ) -> None: ...
    def __len__(self) -> int: ...

class WordModel(Protocol):
    def evaluate(
        self,
        arena: Arena,
        rows: Bags,
        vocabulary: Vocabulary,
        features: WordFeatures,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    @property
    def nbytes(self) -> int: ...

class Fragments:
    def heaviest(
        self,
        combination: NDArray[np.float64],
        arena: Arena | None,
        element: Bags | None,
        vocabulary: Vocabulary | None,
        links: WordLinks,
        pairs: bool,
        capacity: int,
        limit: int,
    ) -> Found: ...

class SemanticFragments(Fragments): ...
class SmoothedFragments(Fragments): ...

class WordKernel(Protocol):
    def gram(
        self,
        arena: Arena,
        bags: Bags,
        vocabulary: Vocabulary,
        left: WordFeatures,
        right: WordFeatures,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    def between(
        self,
        arena: Arena,
        rows: Bags,
        row_words: Vocabulary,
        left: WordFeatures,
        column_arena: Arena,
        columns: Bags,
        column_words: Vocabulary,
        right: WordFeatures,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    def diagonal(
        self,
        arena: Arena,
        bags: Bags,
        vocabulary: Vocabulary,
        left: WordFeatures,
        right: WordFeatures,
        out: NDArray[np.float64],
        threads: int,
    ) -> None: ...
    def pairs(
        self,
        arena: Arena,
        bags: Bags,
        vocabulary: Vocabulary,
        left: WordFeatures,
        right: WordFeatures,
        out: NDArray[np.float64],
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None: ...
    def model(
        self,
        arena: Arena,
        bags: Bags,
        vocabulary: Vocabulary,
        right: WordFeatures,
        weights: NDArray[np.float64],
    ) -> WordModel: ...
    def fragments(
        self, arena: Arena, bags: Bags, vocabulary: Vocabulary, weights: NDArray[np.float64]
    ) -> Fragments: ...

class Semantic(WordKernel):
    def __init__(self, decay: float, leaf_weight: float) -> None: ...

class Smoothed(WordKernel):
    def __init__(
        self, decay: float, depth_decay: float, max_subsequence: int, terminal_factor: float, leaves_only: bool
    ) -> None: ...
