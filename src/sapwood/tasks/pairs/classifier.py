"""A classifier of pairs: ``PairFeatures`` and a logistic model that says what each feature adds to its decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_count
from sapwood.draw.html import fragment_table, panel
from sapwood.draw.text import cut
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.learn.additive import AdditiveLogistic, read_additive, write_additive
from sapwood.learn.explain import Explanation, OtherPart
from sapwood.learn.targets import check_labels
from sapwood.parse.parameter import PARSER, as_parser
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.pairs.features import PairFeatures, read_unfitted, write_unfitted
from sapwood.tasks.pairs.reading import read_pair_trees
from sapwood.trees.examples import Examples

__all__ = ["PairClassifier", "PairExplanation"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class PairExplanation(Explanation):
    """Why a pair was classified as it was: contributions of features that add up to the decision.

    ``label`` is the class that the model chose, ``value`` its decision, the log-odds of the second of its two classes,
    and ``bias`` the decision about an average training pair.

    Attributes
    ----------
    probability : float
        Of the second class.
    rows : tuple of (str, float, float)
        Feature, its value, and what it adds; largest contributions first.
    remainder : float
        What all other features add.
    """

    probability: float
    rows: tuple[tuple[str, float, float], ...]
    remainder: float

    @property
    def decision(self) -> float:
        """The log-odds: ``base`` plus all contributions, those not listed included."""
        return self.value

    @property
    def base(self) -> float:
        """The decision about an average training pair."""
        return self.bias

    def to_html(self) -> str:
        """Return a piece of HTML: a table of features."""
        rows = [(added, f"{name} = {value:.3f}", "") for name, value, added in self.rows]
        rest = [(self.remainder, "all other features"), (self.base, "an average pair")]
        return panel(f"{self.label}, log-odds {self.decision:+.3f}", [fragment_table(rows, rest)])

    def to_text(self, *, width: int = 80, max_lines: int | None = 60) -> str:
        """Write one line per feature, of at most ``width`` characters."""
        return "\n".join(cut(line, width) for line in str(self).splitlines())

    def __str__(self) -> str:
        width = max([len(name) for name, _, _ in self.rows] + [len("all other features")])
        lines = [f"{self.label!s}, log-odds {self.decision:.3f}", f"{'feature':<{width}}     value       adds"]
        lines += [f"{name:<{width}}  {value:8.3f}  {added:+9.3f}" for name, value, added in self.rows]
        lines.append(f"{'all other features':<{width}}  {'':8}  {self.remainder:+9.3f}")
        lines.append(f"{'an average pair':<{width}}  {'':8}  {self.base:+9.3f}")
        return "\n".join(lines)


class PairClassifier(ClassifierMixin, SequenceInput, BaseEstimator):
    """Classify pairs of sentences: same or not, or any other two labels.

    Parameters
    ----------
    features : PairFeatures, optional
        What is measured of a pair; by default everything.
    C : float
        Inverse of the strength of regularization.
    knots : int
        Most knots of a feature's curve, at quantiles of its training values; 1 makes all curves straight lines.
    class_weight : dict, "balanced" or None
        Factors of C per class.
    parser : parser, callable or path, optional
        Turns text into trees: a parser of ``sapwood.parse``, a function from a list of words to a tree, or the path of
        a model file. Text that is not parsed gets a flat tree, with a warning; ``unparsed`` says which. If no training
        text can be parsed, ``fit`` raises.

    Attributes
    ----------
    classes_ : array of two labels, sorted
    features_ : PairFeatures
        Fitted.
    model_ : AdditiveLogistic
        The model on the features.

    Examples
    --------
    >>> dog, dogs, cat = "(NP (DT a) (NN dog))", "(NP (DT the) (NN dog))", "(NP (NN cat))"
    >>> pairs = [(dog, dog), (dog, dogs), (dog, cat), (dogs, cat)]
    >>> model = PairClassifier(PairFeatures(groups=("lexical", "subset"))).fit(pairs, [1, 1, 0, 0])
    >>> model.predict([(cat, cat), (cat, "")])
    array([1, 0])
    """

    classes_: NDArray[Any]
    features_: PairFeatures
    model_: AdditiveLogistic

    def __init__(
        self,
        features: PairFeatures | None = None,
        *,
        C: float = 0.1,
        knots: int = 6,
        class_weight: dict[Any, float] | str | None = None,
        parser: Any = None,
    ) -> None:
        self.features = features
        self.C = C
        self.knots = knots
        self.class_weight = class_weight
        self.parser = parser

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Train on pairs and their labels.

        Parameters
        ----------
        X : Examples or sequence of pairs
            Of text, words or trees; see ``read_pair_trees``.
        y : array of labels
            One per pair, two different ones in all.
        """
        self._check()
        pairs = self._pairs(X, training=True)
        labels = check_labels(len(pairs), y)  # before the features are computed, which takes long
        features = PairFeatures() if self.features is None else clone(self.features)
        features.fit(pairs)
        model = AdditiveLogistic(C=self.C, knots=self.knots, class_weight=self.class_weight)
        model.fit(features.transform(pairs), labels)
        self.features_, self.model_, self.classes_ = features, model, model.classes_
        return self

    def decision_function(self, X: Any) -> Matrix:
        """Return the log-odds of the second class for every pair."""
        check_is_fitted(self)
        return self.model_.decision_function(self.features_.transform(self._pairs(X)))

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of both classes for every pair."""
        check_is_fitted(self)
        return self.model_.predict_proba(self.features_.transform(self._pairs(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable label of every pair."""
        check_is_fitted(self)
        likely = self.decision_function(X) > 0
        return np.asarray(self.classes_[likely.astype(np.intp)])

    def unparsed(self, X: Any) -> NDArray[np.bool_]:
        """Return which pairs hold a text that the parser has no whole tree for."""
        return read_pair_trees(X, self.parser).unparsed

    def _pairs(self, X: Any, *, training: bool = False) -> Examples:
        found = read_pair_trees(X, self.parser)
        found.report(training=training)
        return found.pairs

    def explain(self, pair: Any, *, top: int = 8) -> PairExplanation:
        """Say what each feature adds to the decision about one pair.

        Parameters
        ----------
        pair : (first, second), a sequence of one such pair, or Examples of one row
        top : int
            How many features to list; the others are summed up.
        """
        check_is_fitted(self)
        check_count(top, "top")
        # Two members are a pair; another number of them is a list of pairs, such as pairs[i:i+1].
        listed = isinstance(pair, (Examples, Sequence, np.ndarray)) or hasattr(pair, "to_numpy")
        several = isinstance(pair, Examples) or (listed and not isinstance(pair, str) and len(pair) != 2)
        if several and len(pair) != 1:
            raise DataError(f"explain takes one pair, got {len(pair)}; pass (first, second), or pairs[i:i+1].")
        pairs = self._pairs(pair if several else [pair])
        values = self.features_.transform(pairs)
        added = self.model_.contributions(values)[0]
        decision = float(self.model_.decision_function(values)[0])
        order = np.argsort(-np.abs(added), kind="stable")
        names = [str(name) for name in self.features_.get_feature_names_out()]
        base = float(self.model_.base_)
        told = tuple((f"{names[k]} = {values[0, k]:.3g}", float(added[k])) for k in order)
        return PairExplanation(
            label=self.classes_[int(decision > 0)],
            value=decision,
            bias=base,
            trees=(),
            fragments=(),
            others=(OtherPart("additive model", decision - base, (), told),),
            exact=True,
            probability=float(self.model_.predict_proba(values)[0, 1]),
            rows=tuple((names[k], float(values[0, k]), float(added[k])) for k in order[:top]),
            remainder=float(added[order[top:]].sum()),
        )

    def heaviest(self, top: int = 10) -> list[tuple[str, float]]:
        """Return the features that move decisions most, with their ``importances_``."""
        importances = self.importances_
        order = np.argsort(-importances, kind="stable")[:top]
        names = self.features_.get_feature_names_out()
        return [(str(names[k]), float(importances[k])) for k in order]

    @property
    def importances_(self) -> Matrix:
        """Per feature, the standard deviation of what it adds to the decisions about the training pairs."""
        check_is_fitted(self)
        return self.model_.importances_

    def _check(self) -> None:
        if self.features is not None and not isinstance(self.features, PairFeatures):
            raise ParameterError(f"features must be PairFeatures or None, got {self.features!r}.")
        AdditiveLogistic(C=self.C, knots=self.knots)._check()
        if self.parser is not None:
            as_parser(self.parser)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _write(model: PairClassifier, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model)
    return {
        "features": None if model.features is None else write_unfitted(model.features, model.features_._spec, writer),
        "fitted_features": writer.part(model.features_),
        "model": write_additive(model.model_, writer),
        "parser": PARSER.write(model.parser, writer),
    }


def _read(data: dict[str, Any], reader: Reader) -> PairClassifier:
    features = reader.part(data["fitted_features"], PairFeatures)
    inner = read_additive(data["model"], features.n_features_out_, reader)
    model = PairClassifier(
        None if data["features"] is None else read_unfitted(data["features"], reader),
        **inner.get_params(),
        # Files of the first version hold no parser.
        parser=PARSER.read(data.get("parser"), reader),
    )
    model.features_, model.model_, model.classes_ = features, inner, inner.classes_
    return model


register("PairClassifier", PairClassifier, _write, _read)
