"""Training a ``ContextNetwork`` with PyTorch, which only training needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood import settings
from sapwood.extras import import_torch
from sapwood.learn.context import ContextNetwork, ContextRows

__all__ = ["ContextTraining", "train"]

# Few examples are gone through more often, until there are so many steps.
_LEAST_STEPS = 400


@dataclass(frozen=True)
class ContextTraining:
    """How the network is shaped and trained: minutes on one core for a hundred thousand examples."""

    word_size: int = 128
    feature_size: int = 96
    hidden_size: int = 256
    dropout: float = 0.4
    feature_dropout: float = 0.15
    epochs: int = 5
    batch_size: int = 128
    learning_rate: float = 1e-3
    alpha: float = 0.01
    seed: int = 0


def train(rows: ContextRows, labels: Sequence[str], setting: ContextTraining, what: str) -> ContextNetwork:
    """Train on examples and their classes, and return the averages of the weights over the last steps.

    Parameters
    ----------
    what : str
        What is trained, for the message where PyTorch is missing.
    """
    torch = import_torch(what)
    nn, relu = torch.nn, torch.relu
    torch.set_num_threads(settings.threads())
    torch.manual_seed(setting.seed)
    random = np.random.default_rng(setting.seed)
    classes = sorted(set(labels))
    numbers = {name: at for at, name in enumerate(classes)}
    right = torch.tensor([numbers[label] for label in labels])
    places = rows.places.shape[1]
    width = rows.vectors.shape[1]
    center, spread = _moments(rows.vectors)
    inputs = places * setting.word_size + setting.feature_size
    parts = nn.ModuleDict(
        {
            "place": nn.ModuleList(nn.Linear(width, setting.word_size) for _ in range(places)),
            "features": nn.EmbeddingBag(rows.features.shape[1], setting.feature_size, mode="sum"),
            "hidden": nn.Linear(inputs, setting.hidden_size),
            "output": nn.Linear(setting.hidden_size, len(classes)),
        }
    )
    nn.init.normal_(parts["features"].weight, std=0.05)
    own = list(parts.parameters())
    averages = [one.detach().clone() for one in own]
    optimizer = torch.optim.AdamW(own, lr=setting.learning_rate, weight_decay=setting.alpha, fused=True)
    batches = -(-len(rows) // setting.batch_size)
    epochs = max(setting.epochs, -(-_LEAST_STEPS // batches))
    steps, step = epochs * batches, 0
    warm = min(100, max(1, steps // 10))
    middle, scale = torch.from_numpy(center), torch.from_numpy(1.0 / spread)

    def drop(x: object) -> object:
        return nn.functional.dropout(x, setting.dropout)

    for epoch in range(epochs):
        order = random.permutation(len(rows))
        with settings.progress_bar(len(order), f"context, epoch {epoch + 1} of {epochs}") as progress:
            for start in range(0, len(order), setting.batch_size):
                chosen = order[start : start + setting.batch_size]
                found = rows.features[chosen]
                kept = random.random(found.nnz) >= setting.feature_dropout
                ends = np.concatenate([[0], np.cumsum(kept)])[found.indptr[:-1]]
                words = []
                for place, layer in enumerate(parts["place"]):
                    vectors = torch.from_numpy(rows.vectors[rows.places[chosen, place]].astype(np.float32))
                    words.append(layer(nn.functional.dropout((vectors - middle) * scale, 0.5 * setting.dropout)))
                sums = parts["features"](
                    torch.from_numpy(found.indices[kept].astype(np.int64)), torch.from_numpy(ends.astype(np.int64))
                )
                hidden = drop(relu(parts["hidden"](drop(relu(torch.cat([*words, sums], dim=1))))))
                loss = nn.functional.cross_entropy(parts["output"](hidden), right[torch.from_numpy(chosen)])
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                # Up in a straight line, then down.
                share = min((step + 1) / warm, max(0.02, (steps - step) / max(1, steps - warm)))
                optimizer.param_groups[0]["lr"] = setting.learning_rate * share
                optimizer.step()
                step += 1
                with torch.no_grad():
                    torch._foreach_lerp_(averages, own, max(0.002, 9.0 / (10.0 + step)))
                if progress is not None:
                    progress(start + len(chosen))
    with torch.no_grad():
        for one, average in zip(own, averages, strict=True):
            one.copy_(average)
        # The scale of the vectors goes into the first layer.
        turned = torch.cat([layer.weight for layer in parts["place"]]) * scale
        found_weights = {
            "place": turned.T,
            "place_bias": torch.cat([layer.bias for layer in parts["place"]]) - turned @ middle,
            "features": parts["features"].weight,
            "hidden": parts["hidden"].weight.T,
            "hidden_bias": parts["hidden"].bias,
            "output": parts["output"].weight.T,
            "output_bias": parts["output"].bias,
        }
        weights = {name: np.array(value.numpy(), np.float32, order="C") for name, value in found_weights.items()}
    return ContextNetwork(classes, places, weights)


def _moments(vectors: NDArray[np.generic]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return mean and standard deviation of every column, block by block."""
    count, blocks = len(vectors), range(0, len(vectors), 10_000)
    center = sum(vectors[at : at + 10_000].sum(axis=0, dtype=np.float64) for at in blocks) / count
    squares = sum(((vectors[at : at + 10_000] - center) ** 2).sum(axis=0) for at in blocks) / count
    return np.asarray(center, np.float32), np.asarray(np.sqrt(squares) + 1e-3, np.float32)
