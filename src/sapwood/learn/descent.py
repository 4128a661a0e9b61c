"""Gradient descent on the weights of a small network in PyTorch, which only training needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import settings

__all__ = ["descend", "moments"]

# Few examples are gone through more often, until there are so many steps.
_LEAST_STEPS = 400


def descend(
    torch: Any,
    parts: Any,
    loss: Callable[[NDArray[np.int64]], Any],
    count: int,
    random: np.random.Generator,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    alpha: float,
    betas: tuple[float, float] = (0.9, 0.999),
    longest: float | None = None,
) -> None:
    """Train the parameters of a module, and leave the averages of the last steps in it.

    Parameters
    ----------
    parts : torch.nn.Module
        What is trained.
    loss : callable
        Takes the numbers of the examples of a batch, and returns their loss.
    count : int
        The number of examples.
    epochs, batch_size, learning_rate, alpha, betas
        Passes, unless examples are few; examples per step; and of AdamW, whose rate rises over the first steps and
        then falls in a straight line.
    longest : float, optional
        Longer gradients are cut to this length.
    """
    torch.set_num_threads(settings.threads())
    batches = -(-count // batch_size)
    epochs = max(epochs, -(-_LEAST_STEPS // batches))
    steps, step = epochs * batches, 0
    warm = min(100, max(1, steps // 10))
    own = list(parts.parameters())
    averages = [one.detach().clone() for one in own]
    optimizer = torch.optim.AdamW(own, lr=learning_rate, weight_decay=alpha, betas=betas, fused=True)
    parts.train()
    for epoch in range(epochs):
        order = random.permutation(count)
        with settings.progress_bar(count, f"Network, epoch {epoch + 1} of {epochs}", "examples") as progress:
            for start in range(0, count, batch_size):
                chosen = order[start : start + batch_size]
                optimizer.zero_grad(set_to_none=True)
                loss(chosen).backward()
                if longest is not None:
                    torch.nn.utils.clip_grad_norm_(own, longest)
                share = min((step + 1) / warm, max(0.02, (steps - step) / max(1, steps - warm)))
                optimizer.param_groups[0]["lr"] = learning_rate * share
                optimizer.step()
                step += 1
                with torch.no_grad():
                    torch._foreach_lerp_(averages, own, max(0.002, 9.0 / (10.0 + step)))
                if progress is not None:
                    progress(start + len(chosen))
    with torch.no_grad():
        for one, average in zip(own, averages, strict=True):
            one.copy_(average)
    parts.eval()


def moments(vectors: Sequence[NDArray[Any]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return mean and standard deviation of every column of matrices with the same columns.

    >>> center, spread = moments([np.array([[1.0], [3.0]]), np.array([[5.0]])])
    >>> f"{center[0]:.2f} ± {spread[0]:.2f}"
    '3.00 ± 1.63'
    """
    count = sum(map(len, vectors))
    center = sum(part.sum(axis=0, dtype=np.float64) for part in vectors) / count
    squares = sum(((part - center) ** 2).sum(axis=0) for part in vectors) / count
    return np.asarray(center, np.float32), np.asarray(np.sqrt(squares) + 1e-3, np.float32)
