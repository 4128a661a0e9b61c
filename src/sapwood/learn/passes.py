"""What learners share that go through their examples several times: the loop, progress, and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import settings
from sapwood.resuming import CheckpointFile, fingerprint

__all__ = ["Position", "open_checkpoint", "passes", "shuffled"]

Order = NDArray[Any]


@dataclass
class Position:
    """Where a training is: the epoch, and how many of its examples are done."""

    epoch: int = 0
    done: int = 0


def open_checkpoint(model: Any, seed: int, *data: Any) -> CheckpointFile:
    """Return the file that the parameter ``checkpoint`` of a model names; it belongs to these parameters and data."""
    if model.checkpoint is None:
        return CheckpointFile(None, "")
    params = {name: value for name, value in model.get_params(deep=False).items() if name != "checkpoint"}
    return CheckpointFile(model.checkpoint, fingerprint({**params, "random_state": seed}, *data))


def shuffled(count: int, *seed: int) -> Order:
    """Return the numbers below ``count`` in a random order, the same for the same seed."""
    return np.random.default_rng(seed).permutation(count)


def passes(
    at: Position,
    epochs: int,
    count: int,
    size: int,
    order: Callable[[int], Order],
    *,
    file: CheckpointFile | None = None,
    keep: Callable[[], None] | None = None,
    end: Callable[[], bool | None] | None = None,
) -> Iterator[Order]:
    """Yield the examples of each epoch in blocks, from a position on, and keep that up to date.

    Parameters
    ----------
    at : Position
        Where to begin; says afterwards where training is.
    epochs : int
        How many there are.
    count, size : int
        Examples per epoch, and per block.
    order : callable
        Returns the examples of an epoch in their order.
    file, keep : CheckpointFile and callable, optional
        When a checkpoint is wanted, ``keep`` writes it. The last one is left to the caller.
    end : callable, optional
        Called at the end of every epoch, before the next begins; True ends training.
    """
    with settings.progress_bar(epochs * count, "Training", "examples") as progress:
        stopped = False
        while at.epoch < epochs and not stopped:
            examples = order(at.epoch)
            while at.done < count:
                block = examples[at.done : at.done + size]
                yield block
                at.done += len(block)
                if progress is not None:
                    progress(at.epoch * count + at.done)
                if file is not None and file.wanted and keep is not None:
                    keep()
            stopped = end is not None and bool(end())
            at.epoch, at.done = at.epoch + 1, 0
            if file is not None and file.wanted and keep is not None:
                keep()
