"""Training the network of words in context with PyTorch; nothing else in frames needs it.

The loss of a role is the negative log-probability of its filler among all candidates, leaving it unfilled included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.extras import import_torch
from sapwood.learn.descent import descend
from sapwood.tasks.frames.context.batches import Batch, Numbered, joined
from sapwood.tasks.frames.context.network import EPSILON, Weights
from sapwood.tasks.frames.context.rows import PLACES
from sapwood.tasks.frames.hashing import Numbers

__all__ = ["ContextModel", "Sizes", "Training", "train"]

Tensor = Any


@dataclass(frozen=True)
class Training:
    """How the network is shaped and trained: small enough for minutes on one core, and not searched for."""

    token_size: int = 192
    candidate_size: int = 128
    pair_size: int = 64
    read_size: int = 96
    dropout: float = 0.3
    epochs: int = 6
    batch_size: int = 6
    learning_rate: float = 1e-3
    alpha: float = 0.01
    seed: int = 0


@dataclass(frozen=True)
class Sizes:
    """How many codes of tokens, codes of features and keys of roles there are, and how wide the encoder's vectors."""

    tokens: int
    features: int
    keys: int
    width: int


class ContextModel:
    """The network of ``network.scores`` in PyTorch, with the keys of roles instead of their vectors.

    Parameters
    ----------
    setting : Training
        Its shape.
    sizes : Sizes
        The sizes of its tables.
    keys : array of int, roles × keys
        The keys of each role, filled up with 0.
    names : array of float32, roles × width
        What the encoder makes of the names of roles.
    center, spread : arrays of float32
        Of the encoder's vectors, which are scaled by them.
    """

    def __init__(
        self,
        setting: Training,
        sizes: Sizes,
        keys: Numbers,
        names: NDArray[np.float32],
        center: NDArray[np.float32],
        spread: NDArray[np.float32],
    ) -> None:
        self.torch = torch = import_torch("training a FrameLabeler with an encoder")
        self.setting = setting
        nn = torch.nn
        torch.manual_seed(setting.seed)
        token, size = setting.token_size, setting.candidate_size

        def table(count: int, width: int, spread: float) -> Any:
            made = nn.EmbeddingBag(count, width, mode="sum", padding_idx=0)
            nn.init.normal_(made.weight, std=spread)
            with torch.no_grad():
                made.weight[0] = 0.0
            return made

        self.parts = nn.ModuleDict(
            {
                "state": nn.Linear(sizes.width, token),
                "tokens": table(sizes.tokens, token, 0.1),
                "reader": nn.LSTM(token, setting.read_size, batch_first=True, bidirectional=True),
                "place": nn.Linear(token + 2 * setting.read_size, size * len(PLACES), bias=False),
                "features": table(sizes.features, size, 0.05),
                "frame": nn.Linear(size, size),
                "norm": nn.LayerNorm(size, eps=EPSILON),
                "hidden": nn.Linear(size, size),
                "role_keys": table(sizes.keys, size, 0.05),
                "role_names": nn.Linear(sizes.width, size),
                "query": nn.Linear(size, size, bias=False),
                "pair_candidate": nn.Linear(size, setting.pair_size),
                "pair_role": nn.Linear(size, setting.pair_size, bias=False),
                "pair_output": nn.Linear(setting.pair_size, 1, bias=False),
            }
        )
        self._center, self._spread = torch.from_numpy(center), torch.from_numpy(spread)
        self._keys = torch.from_numpy(keys)
        self._names = (torch.from_numpy(names) - self._center) / self._spread

    def roles(self, numbers: Tensor) -> Tensor:
        """Return the vectors of roles."""
        parts = self.parts
        return self.torch.relu(parts["role_keys"](self._keys[numbers]) + parts["role_names"](self._names[numbers]))

    def read(self, words: Tensor, lengths: Numbers) -> Tensor:
        """Return the states of reading each sentence forward and backward."""
        rnn = self.torch.nn.utils.rnn
        packed = rnn.pack_sequence(words.split(lengths.tolist()), enforce_sorted=False)
        padded, _ = rnn.pad_packed_sequence(self.parts["reader"](packed)[0], batch_first=True)
        return self.torch.cat([states[:length] for states, length in zip(padded, lengths.tolist(), strict=True)])

    def scores(self, batch: Batch) -> list[Tensor]:
        """Return a table of roles × candidates for every target; see ``network.scores``."""
        torch, parts, dropout = self.torch, self.parts, self.setting.dropout
        tensor, relu = torch.from_numpy, torch.relu
        heights, lengths = ([shape[side] for shape in batch.shapes] for side in (0, 1))
        of_role, of_candidate = tensor(batch.role_targets), tensor(batch.candidate_targets)

        def drop(x: Tensor, share: float = dropout, target: Tensor = None) -> Tensor:
            """Leave out columns, the same ones in all rows of a target: as good as others in each, and cheaper."""
            if target is None or not parts.training:
                return torch.nn.functional.dropout(x, share, parts.training)
            return x * torch.nn.functional.dropout(x.new_ones(len(heights), x.shape[1]), share)[target]

        vectors = drop((tensor(batch.vectors) - self._center) / self._spread, 0.5 * dropout)
        words = drop(relu(parts["state"](vectors) + parts["tokens"](tensor(batch.tokens))))
        words = torch.cat([words, drop(self.read(words, batch.lengths))], dim=1)
        turned = parts["place"](words).reshape(len(words) * len(PLACES), -1)
        roles = drop(self.roles(tensor(batch.roles)), target=of_role)
        counts = torch.tensor(heights)
        totals = roles.new_zeros(len(counts), roles.shape[1]).index_add(0, of_role, roles)
        frames = parts["frame"](totals / counts[:, None])
        candidates = (
            torch.nn.functional.embedding_bag(
                tensor(batch.places),
                turned,
                tensor(batch.place_offsets),
                mode="sum",
                per_sample_weights=tensor(batch.weights).to(turned.dtype),
            )
            + parts["features"](tensor(batch.features), tensor(batch.feature_offsets))
            + frames[of_candidate]
        )
        hidden = drop(relu(parts["norm"](candidates)), target=of_candidate)
        hidden = drop(relu(parts["hidden"](hidden)), target=of_candidate)
        # Split and not sliced: the gradient of a slice is as large as the whole.
        by_role = (one.split(heights) for one in (parts["query"](roles), parts["pair_role"](roles)))
        by_candidate = (one.split(lengths) for one in (hidden, parts["pair_candidate"](hidden)))
        return [
            query @ candidate.T + parts["pair_output"](relu(pair_role[:, None] + pair_candidate[None]))[..., 0]
            for query, pair_role, candidate, pair_candidate in zip(*by_role, *by_candidate, strict=True)
        ]

    def loss(self, batch: Batch, right: NDArray[np.int64]) -> Tensor:
        """Return the mean loss of the targets."""
        torch = self.torch
        tables = self.scores(batch)
        chosen = torch.from_numpy(right).split([len(table) for table in tables])
        losses = [
            torch.nn.functional.cross_entropy(table, each, reduction="sum")
            for table, each in zip(tables, chosen, strict=True)
        ]
        return torch.stack(losses).sum() / len(tables)

    def weights(self) -> Weights:
        """Return the weights as ``network.scores`` takes them: what is the same in every sentence is worked out."""
        torch, parts = self.torch, self.parts
        reader = dict(parts["reader"].named_parameters())
        with torch.no_grad():
            # The scale of the vectors goes into the first layer.
            state = parts["state"].weight / self._spread
            found = {
                "state": state.T,
                "state_bias": parts["state"].bias - state @ self._center,
                "tokens": parts["tokens"].weight,
                **{
                    f"{direction}_{part}": value
                    for direction, end in (("forward", "_l0"), ("backward", "_l0_reverse"))
                    for part, value in (
                        ("input", reader["weight_ih" + end].T),
                        ("recurrent", reader["weight_hh" + end].T),
                        ("bias", reader["bias_ih" + end] + reader["bias_hh" + end]),
                    )
                },
                "place": parts["place"].weight.T,
                "features": parts["features"].weight,
                "frame": parts["frame"].weight.T,
                "bias": parts["frame"].bias,
                "scale": parts["norm"].weight,
                "shift": parts["norm"].bias,
                "hidden": parts["hidden"].weight.T,
                "hidden_bias": parts["hidden"].bias,
                "roles": self.roles(torch.arange(len(self._keys))),
                "query": parts["query"].weight.T,
                "pair_candidate": parts["pair_candidate"].weight.T,
                "pair_role": parts["pair_role"].weight.T,
                "pair_bias": parts["pair_candidate"].bias,
                "pair_output": parts["pair_output"].weight[0],
            }
            return {name: np.array(value.numpy(), np.float32, order="C") for name, value in found.items()}


def train(
    model: ContextModel,
    sentences: Sequence[Numbered],
    vectors: Sequence[NDArray[np.float16]],
    right: Sequence[NDArray[np.int64]],
) -> Weights:
    """Train, and return the averages of the weights over the last steps.

    Parameters
    ----------
    sentences, vectors, right
        For every sentence its targets, the vectors of its words, and the right candidates of its roles.
    """
    setting = model.setting

    def loss(chosen: NDArray[np.int64]) -> Tensor:
        batch = joined([sentences[at] for at in chosen], [vectors[at] for at in chosen])
        return model.loss(batch, np.concatenate([right[at] for at in chosen]))

    descend(
        model.torch,
        model.parts,
        loss,
        len(sentences),
        np.random.default_rng(setting.seed),
        epochs=setting.epochs,
        batch_size=setting.batch_size,
        learning_rate=setting.learning_rate,
        alpha=setting.alpha,
        betas=(0.9, 0.98),
        longest=5.0,
    )
    return model.weights()
