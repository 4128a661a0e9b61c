"""How features and classifiers of pairs are written to model files and read back."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sapwood.errors import ParameterError
from sapwood.learn.additive import AdditiveLogistic
from sapwood.parse.parameter_store import read_parser, write_parser
from sapwood.registry import Reader, Writer, plain_value, register
from sapwood.tasks.pairs.classifier import PairClassifier
from sapwood.tasks.pairs.features import PairFeatures
from sapwood.tasks.pairs.lexical import Rarity

_LEARNT = ("similarity_", "grammar_", "loosened_grammar_")
_ARRAYS = ("centre_", "spread_", "coef_", "means_", "importances_")


def _write_features(features: PairFeatures, writer: Writer) -> dict[str, Any]:
    check_is_fitted(features)
    counts = features.rarity_.counts
    learnt = {name: getattr(features, name) for name in _LEARNT}
    return {
        "params": _params(features, writer),
        "words": list(counts),
        "counts": writer.array(np.fromiter(counts.values(), dtype=np.int64, count=len(counts))),
        "sentences": features.rarity_.sentences,
        "learnt": {name: None if part is None else writer.part(part) for name, part in learnt.items()},
    }


def _params(features: PairFeatures, writer: Writer) -> dict[str, Any]:
    similarity = features.similarity
    return {
        "groups": [str(group) for group in features.groups],
        "decays": [float(decay) for decay in features.decays],
        "coarse_decays": [float(decay) for decay in features.coarse_decays],
        "similarity": None if similarity is None else writer.part(similarity),
        "lowercase": bool(features.lowercase),
    }


def _unfitted(params: dict[str, Any], reader: Reader) -> PairFeatures:
    similarity = params["similarity"]
    features = PairFeatures(
        tuple(params["groups"]),
        decays=tuple(params["decays"]),
        coarse_decays=tuple(params["coarse_decays"]),
        similarity=None if similarity is None else reader.part(similarity),
        lowercase=params["lowercase"],
    )
    features._check()
    return features


def _read_features(data: dict[str, Any], reader: Reader) -> PairFeatures:
    features = _unfitted(data["params"], reader)
    counts = reader.array(data["counts"], np.int64, 1).tolist()
    words = data["words"]
    if len(words) != len(counts) or not all(isinstance(word, str) for word in words):
        raise reader.fail("words and their counts do not match")
    if not isinstance(data["sentences"], int) or any(not 0 < count <= data["sentences"] for count in counts):
        raise reader.fail("a word is counted more often than there are sentences")
    features.rarity_ = Rarity(dict(zip(words, counts, strict=True)), data["sentences"])
    for name, group in zip(_LEARNT, ("semantic", "grammar", "loosened"), strict=True):
        part = data["learnt"][name]
        if (part is None) == (group in features.groups):
            raise reader.fail(f"what was learnt for the group {group!r} does not fit the parameters")
        setattr(features, name, None if part is None else reader.part(part))
    features.n_features_out_ = len(features.get_feature_names_out())
    return features


def _write_classifier(model: PairClassifier, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model)
    return {
        "features": None if model.features is None else _params(model.features, writer),
        "fitted_features": writer.part(model.features_),
        "model": _write_additive(model.model_, writer),
        "parser": write_parser(model.parser, writer),
    }


def _write_additive(model: AdditiveLogistic, writer: Writer) -> dict[str, Any]:
    if model.classes_.dtype.kind not in "OUbiuf":
        raise ParameterError(f"labels of type {model.classes_.dtype} cannot be saved; use text or numbers.")
    weights: Any = model.class_weight
    if isinstance(weights, dict):
        # JSON would turn every key into text, so the pairs are listed.
        weights = [[plain_value(label), float(factor)] for label, factor in weights.items()]
    spread = np.where(np.isfinite(model.spread_), model.spread_, 0.0)
    arrays = {name: getattr(model, name) for name in _ARRAYS} | {"spread_": spread}
    return {
        "params": {"C": float(model.C), "knots": int(model.knots), "class_weight": weights},
        "classes": [plain_value(label) for label in model.classes_.tolist()],
        "classes_kind": model.classes_.dtype.str if model.classes_.dtype.kind != "O" else "O",
        "arrays": {name: writer.array(values) for name, values in arrays.items()},
        "knots": writer.array(np.concatenate([np.zeros(0), *model.knots_])),
        "knot_ends": writer.array(np.cumsum([len(knots) for knots in model.knots_], dtype=np.int64)),
        "intercept": model.intercept_,
    }


def _read_classifier(data: dict[str, Any], reader: Reader) -> PairClassifier:
    features = reader.part(data["fitted_features"])
    if not isinstance(features, PairFeatures):
        raise reader.fail("its features are something else")
    inner = _read_additive(data["model"], features.n_features_out_, reader)
    model = PairClassifier(
        None if data["features"] is None else _unfitted(data["features"], reader),
        C=inner.C,
        knots=inner.knots,
        class_weight=inner.class_weight,
        # Files of older versions do not speak of parsers.
        parser=read_parser(data.get("parser"), reader),
    )
    model.features_, model.model_, model.classes_ = features, inner, inner.classes_
    return model


def _read_additive(data: dict[str, Any], count: int, reader: Reader) -> AdditiveLogistic:
    weights = data["params"]["class_weight"]
    model = AdditiveLogistic(
        C=data["params"]["C"],
        knots=data["params"]["knots"],
        class_weight=dict(weights) if isinstance(weights, list) else weights,
    )
    model.classes_ = np.array(data["classes"], dtype=np.dtype(data["classes_kind"]))
    if len(model.classes_) != 2:
        raise reader.fail("it does not have two classes")
    arrays = {name: reader.array(data["arrays"][name], np.float64, 1) for name in _ARRAYS}
    knots, ends = reader.array(data["knots"], np.float64, 1), reader.array(data["knot_ends"], np.int64, 1)
    starts = np.concatenate([[0], ends])
    if len(ends) != count or (np.diff(starts) < 0).any() or starts[-1] != len(knots):
        raise reader.fail("the knots do not fit the features")
    model.knots_ = [knots[begin:end] for begin, end in pairwise(starts)]
    model.intercept_ = float(data["intercept"])
    numbers = [*arrays.values(), knots, np.array([model.intercept_])]
    if not all(np.isfinite(values).all() for values in numbers):
        raise reader.fail("a weight is not finite")
    for name, values in arrays.items():
        if name != "coef_" and len(values) != count:
            raise reader.fail(f"{name} does not fit the features")
        setattr(model, name, values)
    model.spread_ = np.where(model.spread_ > 0, model.spread_, np.inf)
    if len(model.coef_) != count + sum(len(each) for each in model.knots_ if len(each) > 2):
        raise reader.fail("the weights do not fit the features")
    return model


register("PairFeatures", PairFeatures, _write_features, _read_features)
register("PairClassifier", PairClassifier, _write_classifier, _read_classifier)
