"""Why a word evokes its frame, and why a span fills a role: what features add to the odds against none.

Both models are log-linear with hashed features, so that names are made anew for the features of the one sentence that
is explained. A network over words in context, where there is one, is a part by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.learn.candidates import CandidateSets
from sapwood.learn.explain import Explanation, OtherPart
from sapwood.learn.loglinear import LogLinear
from sapwood.tasks.frames.rows import TargetInstance
from sapwood.tasks.frames.templates import feature_names

__all__ = ["against_none", "explained_role"]

# A feature of leaving a role unfilled, which speaks against whatever would fill it.
_UNFILLED = "unfilled: "


def explained_role(
    model: LogLinear,
    sets: CandidateSets,
    instance: TargetInstance,
    templates: str,
    *,
    role: int,
    candidate: int,
    table: NDArray[np.float64],
    label: str,
    offset: float,
    share: float,
) -> Explanation:
    """Explain the odds of a candidate against leaving the role unfilled.

    Parameters
    ----------
    sets : CandidateSets
        The candidates of this target alone.
    role, candidate : int
        Their numbers.
    table : array of roles × candidates
        The scores that decide.
    offset : float
        What is added to leaving a role unfilled.
    share : float
        What the log-linear model counts.
    """
    names = feature_names(instance, templates)
    null = len(instance.candidates)
    added: dict[str, float] = {}
    for row, sign, prefix in ((candidate, 1.0, ""), (null, -1.0, _UNFILLED)):
        features, groups = sets.features_of(0, row)
        weights = model.contributions(sets, 0, role, row)
        for feature, group, weight in zip(features.tolist(), groups.tolist(), weights.tolist(), strict=True):
            name = prefix + names[group, feature]
            added[name] = added.get(name, 0.0) + sign * weight
    value = float(table[role, candidate] - table[role, null]) - offset
    return against_none(label, value, 0.0 - offset, added, share)


def against_none(label: str, value: float, bias: float, added: Mapping[str, float], share: float) -> Explanation:
    """Explain log-odds against none by what features add in a log-linear model that counts this share of them."""
    rows = [(name, share * weight) for name, weight in added.items()]
    features = tuple(sorted(rows, key=lambda row: -abs(row[1])))
    linear = sum(weight for _, weight in features)
    parts: Sequence[OtherPart] = [OtherPart("log-linear model", linear, (), features)]
    if share < 1.0:
        parts = [*parts, OtherPart("network over words in context", value - bias - linear, ())]
    return Explanation(label, value, bias, (), (), tuple(parts), True)
