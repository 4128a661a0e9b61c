"""The two learners with their settings, and how each is trained and asked here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.experiments.attachment.data import REDUCTION, Data
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.parse.incremental import FOOT_CLASSES
from sapwood.tasks.attachment import AttachmentErrors, AttachmentRanker, evaluate
from sapwood.trees import TreeArray

__all__ = ["CLASSES", "attach", "errors", "kernel", "network", "percent"]

CLASSES = (*FOOT_CLASSES, "other")


def kernel(seed: int, *, decay: float = 0.5, loss: str = "pairwise", epochs: int = 1) -> KernelRanker:
    """Make the voted perceptron on preferences (averaged, which is the vote that can be compiled)."""
    return KernelRanker(SubsetTree(decay=decay), loss=loss, epochs=epochs, random_state=seed)


def network(seed: int, *, epochs: int, loss: str = "setwise", alpha: float = 1e-3) -> RecursiveRanker:
    """Make the recursive network: 25 units, outdegree 15, one update per forest, early stopping on validation."""
    return RecursiveRanker(loss=loss, epochs=epochs, patience=10, alpha=alpha, random_state=seed)


def attach(data: Data, ranker: Any, trees: TreeArray, *, specialize: bool = False) -> AttachmentRanker:
    """Train on some trees, with the forests that all learners here have."""
    model = AttachmentRanker(ranker, reduction=REDUCTION, specialize=specialize, paths=data.paths)
    # A kernel learns as long as it is told to; asking for its validation error would only cost time.
    held_out = data.validation if isinstance(ranker, RecursiveRanker) else None
    return model.fit(trees, validation=held_out)


def errors(data: Data, model: AttachmentRanker) -> AttachmentErrors:
    """Count errors on the test part."""
    utility: NDArray[np.float64] = model.decision_function(data.test_forests)
    return evaluate(data.test_forests, utility)


def percent(result: AttachmentErrors) -> tuple[float, ...]:
    """Return the error per word class and in all, in percent."""
    return tuple(100 * value for value in (*map(result.of, CLASSES), result.error))
