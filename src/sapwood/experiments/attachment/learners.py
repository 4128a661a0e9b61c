"""The two learners with their settings, and how each is trained and asked here."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

from sapwood.experiments.attachment.data import REDUCTION, Data
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.parse.incremental import FOOT_CLASSES, Forests
from sapwood.tasks.attachment import AttachmentErrors, AttachmentRanker, evaluate
from sapwood.trees import TreeArray

__all__ = ["CACHE_MEGABYTES", "CLASSES", "Outcome", "attach", "describe", "kernel", "measure", "network", "percent"]

CLASSES = (*FOOT_CLASSES, "other")
CACHE_MEGABYTES = 200
"""What a learner may keep of intermediate results; more data takes more time, but no more memory for them."""


def kernel(seed: int, *, decay: float = 0.5, loss: str = "pairwise", epochs: int = 1) -> KernelRanker:
    """Make the voted perceptron on preferences (averaged, which is the vote that can be compiled)."""
    return KernelRanker(
        SubsetTree(decay=decay), loss=loss, epochs=epochs, memory_limit=CACHE_MEGABYTES, random_state=seed
    )


def network(
    seed: int, *, epochs: int, loss: str = "setwise", learning_rate: float = 0.004, averaging: float = 2.0
) -> RecursiveRanker:
    """Make the recursive network: 25 units, outdegree 15, one update per forest, early stopping on validation."""
    return RecursiveRanker(
        loss=loss,
        learning_rate=learning_rate,
        averaging=averaging,
        epochs=epochs,
        patience=8,
        alpha=1e-3,
        memory_limit=CACHE_MEGABYTES,
        random_state=seed,
    )


def attach(data: Data, ranker: Any, trees: TreeArray, *, specialize: bool = False) -> AttachmentRanker:
    """Train on some trees, with the forests that all learners here have."""
    model = AttachmentRanker(ranker, reduction=REDUCTION, specialize=specialize, paths=data.paths)
    # A kernel learns as long as it is told to; asking for its validation error would only cost time.
    held_out = data.validation if isinstance(ranker, RecursiveRanker) else None
    return model.fit(trees, validation=held_out)


def describe(ranker: Any) -> str:
    """Say on one line what a learner is: under this name its results are kept."""
    return " ".join(repr(ranker).split())


@dataclass(frozen=True)
class Outcome:
    """How a trained model did: its errors, CPU seconds to learn and to answer, and the memory of the process so far."""

    errors: AttachmentErrors
    learn: float = 0.0
    answer: float = 0.0
    megabytes: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Outcome:
        """Take it back."""
        return cls(**{**data, "errors": AttachmentErrors(**data["errors"])})


def measure(model: AttachmentRanker, forests: Forests, started: float) -> Outcome:
    """Count errors on forests; ``started`` is the CPU time when learning began."""
    learnt = time.process_time()
    errors = evaluate(forests, model.decision_function(forests))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return Outcome(errors, learnt - started, time.process_time() - learnt, peak)


def percent(result: AttachmentErrors) -> tuple[float, ...]:
    """Return the error per word class and in all, in percent."""
    return tuple(100 * value for value in (*map(result.of, CLASSES), result.error))
