"""Linear models trained from shards: one shard in memory at a time, whatever their number.

The model keeps the map of the shards, so that it takes trees, and is stored like every other model. Stochastic gradient
descent is scikit-learn's; here is the order of the shards, and where a training stands.
"""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from sapwood import settings
from sapwood.checks import check_amount, check_choice, check_count
from sapwood.errors import DataError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.learn.calibration import available_where, normalized_rows
from sapwood.parse.base import BaseParser
from sapwood.registry import Reader, Writer, register
from sapwood.resuming import CheckpointFile, fingerprint
from sapwood.scale.parts import in_parts
from sapwood.scale.shards import Shards
from sapwood.trees.array import TreeArray

__all__ = ["ShardClassifier"]

Matrix = NDArray[np.float64]

_LOSSES = ("hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron")
# Trees that are mapped at once in prediction.
_BLOCK = 10_000


def _has_probabilities(model: ShardClassifier) -> None:
    if model.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(f"loss={model.loss!r} has no probabilities; train with loss='log_loss'.")


class ShardClassifier(ClassifierMixin, SequenceInput, BaseEstimator):
    """A linear classifier of trees, trained from the shards of a feature map.

    Parameters
    ----------
    loss : {"hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"}
        What training minimises; "hinge" is a support vector machine.
    alpha : float
        Weight of the penalty on weights, Σw²/2.
    epochs : int
        How often all shards are gone through.
    normalized : bool
        Whether rows are divided by their norm, as ``kernel.normalized()`` does.
    random_state : int
        Seed of the order of shards and rows.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    coef_ : array of shape (1 or classes, columns)
    intercept_ : array
    feature_map_ : feature map
        What turns trees into rows.

    Examples
    --------
    >>> import tempfile
    >>> from sapwood.kernels import HashedFragmentMap
    >>> from sapwood.scale import in_parts, map_to_shards
    >>> trees = ["(S (WH who) (V runs))", "(S (N dogs) (V run))", "(S (WH what) (V ran))", "(S (N he) (V ran))"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shards = map_to_shards(HashedFragmentMap(), in_parts(trees, ["ask", "tell"] * 2, size=2), folder)
    ...     model = ShardClassifier(epochs=20, alpha=1e-3).fit(shards)
    >>> model.predict(["(S (WH who) (V barks))"])
    array(['ask'], dtype='<U4')
    """

    classes_: NDArray[Any]
    coef_: Matrix
    intercept_: Matrix
    feature_map_: Any

    def __init__(
        self,
        *,
        loss: str = "hinge",
        alpha: float = 1e-6,
        epochs: int = 5,
        normalized: bool = True,
        random_state: int = 0,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.epochs = epochs
        self.normalized = normalized
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self, X: Shards | str | os.PathLike[str], y: None = None, *, checkpoint: str | os.PathLike[str] | None = None
    ) -> Self:
        """Train from shards.

        Parameters
        ----------
        X : Shards or path
            Shards with labels, or their folder.
        y : None
            Labels are in the shards.
        checkpoint : path, optional
            Where to note how far training is, every ten seconds; from there the same call goes on, to the same weights
            bit for bit. Removed at the end.

        Raises
        ------
        DataError
            If the shards have no labels, or labels of one class only.
        """
        self._check()
        if y is not None:
            raise DataError("labels are taken from the shards; give them to map_to_shards, and no y here.")
        if not isinstance(X, (Shards, str, os.PathLike)):
            raise DataError(f"expected Shards or the path of their folder, got {type(X).__name__}.")
        shards = X if isinstance(X, Shards) else Shards(X)
        if len(shards.classes) < 2:
            found = f"only the class {shards.classes.tolist()[0]!r}" if len(shards.classes) else "no labels"
            raise DataError(f"{shards.folder}: the shards have {found}; a classifier needs at least two classes.")
        self.classes_ = shards.classes
        notes = CheckpointFile(checkpoint, fingerprint(self.get_params(), shards.fingerprint))
        solver = SGDClassifier(loss=self.loss, alpha=self.alpha, random_state=self.random_state)
        done = 0
        state = notes.read()
        if state is not None:
            done = int(state.values["done"])
            solver.classes_, solver.t_ = self.classes_, float(state.values["t"])
            solver.coef_, solver.intercept_ = state.arrays["coef"].copy(), state.arrays["intercept"].copy()
        steps = self.epochs * len(shards)
        with settings.progress_bar(steps, "Training", "shards") as progress:
            for step in range(done, steps):
                epoch, place = divmod(step, len(shards))
                order = np.random.default_rng((self.random_state, epoch)).permutation(len(shards))
                rows, labels = shards[int(order[place])]
                if labels is None:
                    raise DataError(f"{shards.folder}: shard {order[place]} has no labels; map all parts with labels.")
                # Another order of rows in every pass.
                solver.random_state = int(np.random.default_rng((self.random_state, step)).integers(2**31))
                solver.partial_fit(self._scaled(rows), labels, classes=self.classes_)
                if notes.wanted:
                    notes.write(
                        {"done": step + 1, "t": float(solver.t_)},
                        {"coef": solver.coef_, "intercept": solver.intercept_},
                    )
                if progress is not None:
                    progress(step + 1)
        self.coef_, self.intercept_ = np.ascontiguousarray(solver.coef_), solver.intercept_
        self.feature_map_ = shards.feature_map()
        notes.remove()
        return self

    def decision_function(self, X: Any) -> Matrix:
        """Return the margins of trees: one number each for two classes, else one per class.

        Parameters
        ----------
        X : TreeArray or list of trees
            Mapped 10,000 at a time.
        """
        check_is_fitted(self)
        blocks = [
            self._scaled(self.feature_map_.transform(block)) @ self.coef_.T + self.intercept_
            for block, _ in in_parts(TreeArray(X), size=_BLOCK)
        ]
        margins = np.concatenate(blocks) if blocks else np.empty((0, len(self.coef_)))
        return margins[:, 0] if len(self.classes_) == 2 else margins

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the largest margin for each tree."""
        margins = self.decision_function(X)
        best = (margins > 0).astype(np.intp) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[best])

    @available_where(_has_probabilities)
    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class for each tree; for the losses "log_loss" and "modified_huber"."""
        margins = self.decision_function(X)
        values = expit(margins) if self.loss == "log_loss" else (np.clip(margins, -1.0, 1.0) + 1.0) / 2.0
        return np.column_stack([1.0 - values, values]) if values.ndim == 1 else normalized_rows(values)

    def _scaled(self, rows: Any) -> Any:
        return normalize(rows, copy=False) if self.normalized else rows

    def _check(self) -> None:
        check_choice(self.loss, "loss", _LOSSES)
        check_amount(self.alpha, "alpha", zero=False)
        check_count(self.epochs, "epochs")
        check_count(self.random_state, "random_state", 0, None)


def _write(model: ShardClassifier, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model)
    # Most columns of a hashed map are empty, so weights are stored where there are some.
    places = np.flatnonzero(model.coef_.any(axis=0))
    return {
        "params": writer.parameters(model),
        "map": writer.part(model.feature_map_),
        **writer.labels(model.classes_),
        "columns": model.coef_.shape[1],
        "places": writer.array(places.astype(np.int64)),
        "weights": writer.array(model.coef_[:, places]),
        "intercept": writer.array(model.intercept_),
    }


def _read(data: dict[str, Any], reader: Reader) -> ShardClassifier:
    model: ShardClassifier = reader.make(ShardClassifier, data)
    model.classes_ = reader.labels(data)
    outputs = 1 if len(model.classes_) == 2 else len(model.classes_)
    model.feature_map_ = reader.part(data["map"])
    # Parsers transform, too, but into trees.
    if not hasattr(model.feature_map_, "transform") or isinstance(model.feature_map_, BaseParser):
        raise reader.fail("it holds no feature map")
    columns = reader.count(data["columns"])
    width = getattr(model.feature_map_, "n_features", None) or len(getattr(model.feature_map_, "weights_", ()))
    if not 0 < columns <= 2**31 or columns != (width or columns):
        raise reader.fail("its columns are not those of the feature map")
    places = reader.indices(data["places"], columns, np.int64)
    weights = reader.finite(data["weights"], (outputs, len(places)))
    model.intercept_ = reader.finite(data["intercept"], (outputs,))
    model.coef_ = reader.zeros((outputs, columns))
    model.coef_[:, places] = weights
    return model


register("ShardClassifier", ShardClassifier, _write, _read)
