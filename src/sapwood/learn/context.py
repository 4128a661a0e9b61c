"""Classes of examples by the vectors of a few of their words and by sparse features, run by matrix products of NumPy.

The vector of each word is turned by the place where it stands in the example (the head, the first word, …); together
with the sum of the vectors of the features they go through one hidden layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.special import log_softmax

from sapwood.packing import Grid
from sapwood.registry import Reader, Writer

__all__ = ["ContextNetwork", "ContextRows", "Weights"]

Weights = dict[str, NDArray[np.float32]]

# How compact files round layers.
_GRID = Grid(31, axis=0)
_SHAPES: dict[str, tuple[str, ...]] = {
    "place": ("width", "turned"),
    "place_bias": ("turned",),
    "features": ("features", "feature size"),
    "hidden": ("inputs", "hidden"),
    "hidden_bias": ("hidden",),
    "output": ("hidden", "classes"),
    "output_bias": ("classes",),
}


@dataclass(frozen=True)
class ContextRows:
    """Examples.

    Attributes
    ----------
    vectors : array, words × width
        The vectors of all words.
    places : array of int, examples × places
        For each example the rows of its words in ``vectors``, always in the same order.
    features : csr_array, examples × features
        Which features each example has.
    """

    vectors: NDArray[Any]
    places: NDArray[np.int64]
    features: sparse.csr_array

    def __len__(self) -> int:
        return len(self.places)


class ContextNetwork:
    """A trained network; see ``context_training.train``.

    Parameters
    ----------
    classes : sequence of str
        What it tells apart.
    places : int
        How many words an example has.
    weights : dict of str to array
        Its layers.
    """

    def __init__(self, classes: Sequence[str], places: int, weights: Weights) -> None:
        self.classes, self.places, self.weights = list(classes), places, weights

    def log_probabilities(self, rows: ContextRows) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class, one row per example."""
        weights = self.weights
        # A word that stands in many examples is turned once.
        used, numbers = np.unique(rows.places, return_inverse=True)
        turned = rows.vectors[used].astype(np.float32) @ weights["place"] + weights["place_bias"]
        by_place = turned.reshape(len(used), self.places, -1)
        words = by_place[numbers.reshape(rows.places.shape), np.arange(self.places)].reshape(len(rows), -1)
        sums = np.asarray(rows.features.astype(np.float32) @ weights["features"])
        inputs = np.maximum(np.concatenate([words, sums], axis=1), 0.0)
        hidden = np.maximum(inputs @ weights["hidden"] + weights["hidden_bias"], 0.0)
        scores = hidden @ weights["output"] + weights["output_bias"]
        return np.asarray(log_softmax(scores.astype(np.float64), axis=1))

    def write(self, writer: Writer) -> dict[str, Any]:
        """Describe the network for a model file."""
        arrays = {name: writer.weights(self.weights[name], _GRID) for name in _SHAPES}
        return {"classes": self.classes, "places": self.places, "weights": arrays}

    @classmethod
    def read(cls, data: dict[str, Any], reader: Reader, *, features: int, places: int) -> ContextNetwork:
        """Rebuild what ``write`` described, for so many features and places."""
        classes = reader.labels({"classes": data["classes"], "classes_kind": "U"}).tolist()
        weights = {
            name: reader.finite(data["weights"][name], (None,) * len(sides), np.float32)
            for name, sides in _SHAPES.items()
        }
        known = {"classes": len(classes), "features": features}
        for name, sides in _SHAPES.items():
            for side, length in zip(sides, weights[name].shape, strict=True):
                if known.setdefault(side, length) != length:
                    raise reader.fail(f"the layer {name} of its network does not fit the others")
        whole = known["turned"] + known["feature size"] == known["inputs"]
        if data["places"] != places or known["turned"] % places or not whole:
            raise reader.fail("the layers of its network do not fit its words")
        return cls(classes, places, weights)

    @property
    def width(self) -> int:
        """The length of the vectors it takes."""
        return int(self.weights["place"].shape[0])
