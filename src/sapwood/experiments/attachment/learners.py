"""The two learners with their settings, and how each is trained and asked here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sapwood.experiments.attachment.data import REDUCTION, Data
from sapwood.experiments.measuring import Stopwatch, peak_memory
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.parse.forests import FOOT_CLASSES
from sapwood.parse.incremental import Forests
from sapwood.tasks.attachment import AttachmentErrors, AttachmentRanker, evaluate
from sapwood.trees import TreeArray

__all__ = [
    "CACHE_MEGABYTES",
    "CLASSES",
    "Outcome",
    "attach",
    "attachment_ranker",
    "describe",
    "kernel",
    "learn",
    "network",
    "percentages",
]

CLASSES = (*FOOT_CLASSES, "other")
CACHE_MEGABYTES = 200
"""What a learner may keep of intermediate results; more data takes more time, but no more memory for them."""


def kernel(seed: int, *, decay: float = 0.5, loss: str = "setwise", epochs: int = 1) -> KernelRanker:
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


def attachment_ranker(data: Data, ranker: Any, *, specialize: bool) -> AttachmentRanker:
    """Make a model that chooses from the forests that all learners here have."""
    return AttachmentRanker(
        ranker, reduction=REDUCTION, specialize=specialize, paths=data.paths, min_count=data.min_count
    )


def attach(data: Data, ranker: Any, trees: TreeArray, *, specialize: bool = False) -> AttachmentRanker:
    """Train on some trees, with the forests that all learners here have."""
    model = attachment_ranker(data, ranker, specialize=specialize)
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
    learn: float
    answer: float
    megabytes: float


def learn(data: Data, what: str, ranker: Any, train: Callable[[], AttachmentRanker], forests: Forests) -> Outcome:
    """Train and count errors on forests, or take the outcome from the cache.

    It is kept under the description of the ranker and ``what``, which says what that does not: the data, and how it is
    learnt from.
    """

    def measure() -> dict[str, Any]:
        with Stopwatch() as learnt:
            model = train()
        with Stopwatch() as asked:
            errors = evaluate(forests, model.decision_function(forests))
        return {"errors": vars(errors), "learn": learnt.cpu, "answer": asked.cpu, "megabytes": peak_memory()}

    made = data.cache(f"{what}: {describe(ranker)}", measure)
    return Outcome(**{**made, "errors": AttachmentErrors(**made["errors"])})


def percentages(result: AttachmentErrors) -> tuple[float, ...]:
    """Return the error per word class and in all, in percent."""
    return tuple(100 * value for value in (*map(result.of, CLASSES), result.error))
