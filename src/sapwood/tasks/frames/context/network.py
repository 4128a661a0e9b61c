"""The network that scores candidates for roles from words in context, run by matrix products of NumPy.

The state of every word, with its attributes, becomes a vector; a candidate is the sum of the vectors of its words, each
turned by the place where it stands (first, last, head, next to it, the target), and of the vectors of its features.
A role is a vector, too. How well they go together is their product after a layer over candidates, plus what a small
layer over both says.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit, log_softmax

from sapwood.tasks.frames.context.batches import Batch
from sapwood.tasks.frames.context.rows import PLACES
from sapwood.tasks.frames.hashing import Numbers

__all__ = ["EPSILON", "SHAPES", "Weights", "scores", "wrong_shape"]

Weights = dict[str, NDArray[np.float32]]
EPSILON = 1e-5
"""Added to the variance where candidates are scaled."""

SHAPES: dict[str, tuple[str, ...]] = {
    "state": ("width", "token"),
    "state_bias": ("token",),
    "tokens": ("token codes", "token"),
    "forward_input": ("token", "gates"),
    "forward_recurrent": ("read", "gates"),
    "forward_bias": ("gates",),
    "backward_input": ("token", "gates"),
    "backward_recurrent": ("read", "gates"),
    "backward_bias": ("gates",),
    "place": ("words", "places"),
    "features": ("feature codes", "candidate"),
    "frame": ("role", "candidate"),
    "bias": ("candidate",),
    "scale": ("candidate",),
    "shift": ("candidate",),
    "hidden": ("candidate", "candidate"),
    "hidden_bias": ("candidate",),
    "roles": ("roles", "role"),
    "query": ("role", "candidate"),
    "pair_candidate": ("candidate", "pair"),
    "pair_role": ("role", "pair"),
    "pair_bias": ("pair",),
    "pair_output": ("pair",),
}
"""The arrays of weights, with names for their sides."""


def wrong_shape(weights: Weights, sides: dict[str, int]) -> str | None:
    """Return the name of an array that is missing or does not fit the others, or sides that are known; else None."""
    known = dict(sides)
    for name, wanted in SHAPES.items():
        array = weights.get(name)
        if array is None or array.ndim != len(wanted):
            return name
        for side, length in zip(wanted, array.shape, strict=True):
            if known.setdefault(side, length) != length:
                return name
    if known["gates"] != 4 * known["read"]:
        return "forward_input"
    fits = known["words"] == known["token"] + 2 * known["read"] and known["places"] == known["candidate"] * len(PLACES)
    return None if fits else "place"


def scores(weights: Weights, batch: Batch) -> list[NDArray[np.float64]]:
    """Return a table of roles × candidates for every target: logarithms of the probabilities of candidates."""
    words = batch.vectors @ weights["state"] + weights["state_bias"] + weights["tokens"][batch.tokens].sum(axis=1)
    words = np.maximum(words, 0.0)
    read = [_read(words, batch.lengths, weights, direction) for direction in ("forward", "backward")]
    turned = (np.concatenate([words, *read], axis=1) @ weights["place"]).reshape(len(words) * len(PLACES), -1)
    roles = weights["roles"][batch.roles]
    counts = np.array([count for count, _ in batch.shapes])
    frames = _bags(np.arange(len(roles)), np.cumsum(counts) - counts, 1.0 / counts[batch.role_targets], roles)
    candidates = (
        _bags(batch.places, batch.place_offsets, batch.weights, turned)
        + _bags(batch.features, batch.feature_offsets, np.ones(len(batch.features), np.float32), weights["features"])
        + (frames @ weights["frame"])[batch.candidate_targets]
        + weights["bias"]
    )
    centered = candidates - candidates.mean(axis=1, keepdims=True)
    scaled = centered / np.sqrt((centered**2).mean(axis=1, keepdims=True) + EPSILON)
    hidden = np.maximum(scaled * weights["scale"] + weights["shift"], 0.0)
    hidden = np.maximum(hidden @ weights["hidden"] + weights["hidden_bias"], 0.0)
    queries = roles @ weights["query"]
    of_candidates = hidden @ weights["pair_candidate"] + weights["pair_bias"]
    of_roles = roles @ weights["pair_role"]
    found = []
    role = candidate = 0
    for height, length in batch.shapes:
        rows, columns = slice(role, role + height), slice(candidate, candidate + length)
        both = np.maximum(of_roles[rows, None] + of_candidates[None, columns], 0.0) @ weights["pair_output"]
        found.append(log_softmax((queries[rows] @ hidden[columns].T + both).astype(np.float64), axis=1))
        role, candidate = role + height, candidate + length
    return found


def _read(words: NDArray[np.float32], lengths: Numbers, weights: Weights, direction: str) -> NDArray[np.float32]:
    """Return the states of an LSTM that reads each sentence in one direction."""
    recurrent = weights[f"{direction}_recurrent"]
    driven = words @ weights[f"{direction}_input"] + weights[f"{direction}_bias"]
    states = np.empty((len(words), len(recurrent)), np.float32)
    # Longest first, so that those which are still read stand together.
    order = np.argsort(-lengths, kind="stable")
    begins, sizes = (np.cumsum(lengths) - lengths)[order], lengths[order]
    hidden = np.zeros((len(lengths), len(recurrent)), np.float32)
    cell = np.zeros_like(hidden)
    for step in range(int(lengths.max(initial=0))):
        active = int(np.searchsorted(-sizes, -step, side="left"))
        at = (begins if direction == "forward" else begins + sizes - 1)[:active] + (
            step if direction == "forward" else -step
        )
        inlet, forget, content, outlet = np.split(driven[at] + hidden[:active] @ recurrent, 4, axis=1)
        cell[:active] = expit(forget) * cell[:active] + expit(inlet) * np.tanh(content)
        hidden[:active] = states[at] = expit(outlet) * np.tanh(cell[:active])
    return states


def _bags(
    numbers: Numbers, offsets: Numbers, weights: NDArray[np.floating], vectors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the weighted sums of bags of vectors."""
    ends = np.concatenate([offsets, [len(numbers)]])
    matrix = csr_matrix((weights.astype(np.float32), numbers, ends), shape=(len(offsets), len(vectors)))
    return np.asarray(matrix @ vectors)
