"""Roles of candidates by exact kernels, with calibrated scores: what ``LinearRoles`` does, by a ``RoleClassifier``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import clone

from sapwood.learn.explain import Explanation
from sapwood.registry import Reader, Writer
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.tasks.roles.classifier import RoleClassifier
from sapwood.tasks.roles.linear import Values, best_slope
from sapwood.tasks.roles.views import Candidate

__all__ = ["KernelRoles"]


class KernelRoles:
    """A ``RoleClassifier`` whose margins become probabilities.

    Parameters
    ----------
    classifier : RoleClassifier
        How to classify; a copy of it is trained.
    """

    def __init__(self, classifier: RoleClassifier) -> None:
        self.classifier = classifier
        self.slope = 1.0

    @property
    def classes(self) -> list[str]:
        """The roles."""
        return [str(name) for name in self.classifier.classes_]

    def fit(
        self, candidates: Sequence[Candidate], labels: Sequence[str], values: Values | None = None, start: object = None
    ) -> Self:
        """Train on candidates and their roles; there is no going on from another stage."""
        self.classifier = clone(self.classifier).fit(RoleArguments(candidates, labels))
        return self

    def calibrate(self, candidates: Sequence[Candidate], labels: Sequence[str]) -> None:
        """Choose the slope that fits held-out data best."""
        self.slope = best_slope(self._margins(candidates), labels, self.classes)

    def log_probabilities(self, candidates: Sequence[Candidate], values: Values | None = None) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each role, one column per role."""
        return np.asarray(log_softmax(self.slope * self._margins(candidates), axis=1))

    def _margins(self, candidates: Sequence[Candidate]) -> NDArray[np.float64]:
        margins = self.classifier.decision_function(RoleArguments(candidates, [""] * len(candidates)))
        return np.column_stack([-margins, margins]) if margins.ndim == 1 else margins

    def explain(self, candidate: Candidate, label: str | None = None) -> Explanation:
        """Say where the margin of a role comes from, by default of the likeliest."""
        return self.classifier.explain(RoleArguments([candidate], [""]), label=label)

    def write(self, writer: Writer) -> dict[str, Any]:
        """Describe the stage for a model file."""
        return {"classifier": writer.part(self.classifier), "slope": self.slope}

    @classmethod
    def read(cls, data: dict[str, Any], reader: Reader) -> KernelRoles:
        """Rebuild what ``write`` described."""
        stage = cls(reader.part(data["classifier"], RoleClassifier))
        stage.slope = reader.number(data["slope"])
        return stage
