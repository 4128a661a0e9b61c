"""Training a ``ContextNetwork`` with PyTorch, which only training needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.extras import import_torch
from sapwood.learn.context import ContextNetwork, ContextRows
from sapwood.learn.descent import descend, moments

__all__ = ["ContextTraining", "train"]


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
    torch.manual_seed(setting.seed)
    random = np.random.default_rng(setting.seed)
    classes = sorted(set(labels))
    numbers = {name: at for at, name in enumerate(classes)}
    right = torch.tensor([numbers[label] for label in labels])
    places = rows.places.shape[1]
    inputs = places * setting.word_size + setting.feature_size
    parts = nn.ModuleDict(
        {
            "place": nn.ModuleList(nn.Linear(rows.vectors.shape[1], setting.word_size) for _ in range(places)),
            "features": nn.EmbeddingBag(rows.features.shape[1], setting.feature_size, mode="sum"),
            "hidden": nn.Linear(inputs, setting.hidden_size),
            "output": nn.Linear(setting.hidden_size, len(classes)),
        }
    )
    nn.init.normal_(parts["features"].weight, std=0.05)
    blocks = range(0, len(rows.vectors), 10_000)
    center, spread = moments([rows.vectors[at : at + 10_000] for at in blocks])
    middle, scale = torch.from_numpy(center), torch.from_numpy(1.0 / spread)

    def drop(x: Any, share: float = setting.dropout) -> Any:
        return nn.functional.dropout(x, share)

    def loss(chosen: NDArray[np.int64]) -> Any:
        found = rows.features[chosen]
        kept = random.random(found.nnz) >= setting.feature_dropout
        starts = np.concatenate([[0], np.cumsum(kept)])[found.indptr[:-1]]
        words = []
        for place, layer in enumerate(parts["place"]):
            vectors = torch.from_numpy(rows.vectors[rows.places[chosen, place]].astype(np.float32))
            words.append(layer(drop((vectors - middle) * scale, 0.5 * setting.dropout)))
        sums = parts["features"](
            torch.from_numpy(found.indices[kept].astype(np.int64)), torch.from_numpy(starts.astype(np.int64))
        )
        hidden = drop(relu(parts["hidden"](drop(relu(torch.cat([*words, sums], dim=1))))))
        return nn.functional.cross_entropy(parts["output"](hidden), right[torch.from_numpy(chosen)])

    descend(
        torch,
        parts,
        loss,
        len(rows),
        random,
        epochs=setting.epochs,
        batch_size=setting.batch_size,
        learning_rate=setting.learning_rate,
        alpha=setting.alpha,
    )
    with torch.no_grad():
        # The scale of the vectors goes into the first layer.
        turned = torch.cat([layer.weight for layer in parts["place"]]) * scale
        layers = {
            "place": turned.T,
            "place_bias": torch.cat([layer.bias for layer in parts["place"]]) - turned @ middle,
            "features": parts["features"].weight,
            "hidden": parts["hidden"].weight.T,
            "hidden_bias": parts["hidden"].bias,
            "output": parts["output"].weight.T,
            "output_bias": parts["output"].bias,
        }
        weights = {name: np.array(value.numpy(), np.float32, order="C") for name, value in layers.items()}
    return ContextNetwork(classes, places, weights)
