"""Concepts under concepts: ancestors, depths and information content in a directed graph without cycles.

Concepts are numbers here. What they are called, and which words mean them, belongs to the taxonomies.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from sapwood.errors import DataError

__all__ = ["WEIGHTS", "Hierarchy", "superconcepts"]

# How much a superconcept counts for a concept.
WEIGHTS = ("full", "path", "wu-palmer", "lin", "resnik")


class Hierarchy(ABC):
    """Concepts with their parents."""

    def __init__(self) -> None:
        self._ancestors: dict[int, dict[int, int]] = {}

    @abstractmethod
    def parents(self, concept: int) -> tuple[int, ...]:
        """Return the direct superconcepts."""

    @abstractmethod
    def information(self, concept: int) -> float:
        """Return the information content -log P(concept), at least 0."""

    def ancestors(self, concept: int) -> dict[int, int]:
        """Return all superconcepts, the concept included, with the smallest number of steps to each."""
        known = self._ancestors.get(concept)
        return self._climb(concept) if known is None else known

    def _climb(self, concept: int) -> dict[int, int]:
        """Work out the ancestors of a concept from those of its parents, which are worked out first."""
        stack = [concept]
        waiting: set[int] = set()
        while stack:
            at = stack[-1]
            missing = [parent for parent in self.parents(at) if parent not in self._ancestors]
            if missing:
                if at in waiting:
                    raise DataError(f"concept {at} is its own superconcept; the hierarchy is damaged.")
                waiting.add(at)
                stack += missing
                continue
            stack.pop()
            found = {at: 0}
            for parent in self.parents(at):
                for ancestor, steps in self._ancestors[parent].items():
                    if found.get(ancestor, steps + 2) > steps + 1:
                        found[ancestor] = steps + 1
            self._ancestors[at] = found
        return self._ancestors[concept]

    def depth(self, concept: int) -> int:
        """Return the smallest number of steps to a concept without parents."""
        return min(steps for ancestor, steps in self.ancestors(concept).items() if not self.parents(ancestor))

    def common(self, first: int, second: int) -> set[int]:
        """Return the superconcepts that two concepts share."""
        return self.ancestors(first).keys() & self.ancestors(second).keys()


def superconcepts(hierarchy: Hierarchy, concept: int, weights: str) -> dict[int, float]:
    """Return the vector of a concept: one entry per superconcept, weighted as one of ``WEIGHTS`` says."""
    ancestors = hierarchy.ancestors(concept)
    if weights == "full":
        return dict.fromkeys(ancestors, 1.0)
    if weights == "path":
        return {ancestor: 1.0 / (1.0 + steps) for ancestor, steps in ancestors.items()}
    if weights == "wu-palmer":
        own = hierarchy.depth(concept)
        return {a: _share(hierarchy.depth(a), own, a == concept) for a in ancestors}
    if weights == "lin":
        content = hierarchy.information(concept)
        return {a: _share(hierarchy.information(a), content, a == concept) for a in ancestors}
    return {a: hierarchy.information(a) for a in ancestors}


def _share(ancestor: float, own: float, same: bool) -> float:
    """Return 2·ancestor / (ancestor + own); a concept has itself whole, even if both are 0."""
    if same:
        return 1.0
    return 2.0 * ancestor / (ancestor + own) if ancestor + own > 0 else 0.0


def information_content(count: float, total: float) -> float:
    """Return -log of a relative frequency, at least 0."""
    return max(0.0, -math.log(count / total))
