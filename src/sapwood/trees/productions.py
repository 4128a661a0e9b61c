"""The productions of trees: a node's label over those of its children, counted.

Which of them are grammatical, and what may be left out of them, belongs to ``grammar``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sapwood.trees.array import TreeArray

__all__ = ["PORTION_MARKS", "Production", "ReductionStatistics", "count_productions", "without_marks"]

Production = tuple[str, tuple[str, ...]]
"""Left-hand side and right-hand side."""

PORTION_MARKS = ("-ARG", "-PRED", "-PATH")
"""Suffixes of labels in portions of trees: the argument, the predicate, and nodes on the way between them."""


@dataclass(frozen=True)
class ReductionStatistics:
    """How many productions can be reduced.

    Attributes
    ----------
    types, tokens : int
        Different productions, and their occurrences.
    reducible_types, reducible_tokens : int
        Those that reduce to at least one rule.
    most_reductions : int
        The largest number of rules that one production reduces to.
    longest : int
        The largest number of children of a production.
    """

    types: int
    tokens: int
    reducible_types: int
    reducible_tokens: int
    most_reductions: int
    longest: int

    @classmethod
    def of(cls, counted: Mapping[Production, int], reductions: Mapping[Production, int]) -> ReductionStatistics:
        """Sum up how often productions occur and to how many rules each of some reduces."""
        reducible = [production for production, rules in reductions.items() if rules]
        return cls(
            types=len(counted),
            tokens=sum(counted.values()),
            reducible_types=len(reducible),
            reducible_tokens=sum(counted[production] for production in reducible),
            most_reductions=max(reductions.values(), default=0),
            longest=max((len(rhs) for _, rhs in counted), default=0),
        )

    def __str__(self) -> str:
        types, tokens = max(1, self.types), max(1, self.tokens)
        return (
            f"{self.reducible_types:,} of {self.types:,} production types ({self.reducible_types / types:.1%}) and "
            f"{self.reducible_tokens:,} of {self.tokens:,} tokens ({self.reducible_tokens / tokens:.1%}) are "
            f"reducible, to at most {self.most_reductions:,} rules each; the longest has {self.longest:,} children"
        )


def count_productions(trees: TreeArray, marks: tuple[str, ...]) -> tuple[dict[Production, int], set[str]]:
    """Count the productions of all phrasal nodes, without marks; also return their left-hand sides."""
    texts, node_labels, child_ends, children, roots = trees._arena.dump(trees._roots)
    names = [without_marks(text, marks) for text in texts]
    labels, kids = node_labels.tolist(), children.tolist()
    begins, ends = [0, *child_ends.tolist()[:-1]], child_ends.tolist()
    occurrences = [0] * len(labels)
    for root in roots.tolist():
        occurrences[root] += 1
    # Parents come after their children, so backwards every count is final before it is passed on.
    for node in range(len(labels) - 1, -1, -1):
        for child in kids[begins[node] : ends[node]]:
            occurrences[child] += occurrences[node]
    over_leaf = [
        ends[node] - begins[node] == 1 and ends[kids[begins[node]]] == begins[kids[begins[node]]]
        for node in range(len(labels))
    ]
    phrasal = {names[labels[node]] for node in range(len(labels)) if ends[node] > begins[node] and not over_leaf[node]}
    counted: dict[Production, int] = {}
    for node, label in enumerate(labels):
        if ends[node] > begins[node] and (not over_leaf[node] or names[label] in phrasal):
            key = names[label], tuple([names[labels[child]] for child in kids[begins[node] : ends[node]]])
            counted[key] = counted.get(key, 0) + occurrences[node]
    return counted, phrasal


def without_marks(label: str, marks: tuple[str, ...]) -> str:
    """Take all marks off the end of a label.

    >>> without_marks("NP-ARG-PATH", PORTION_MARKS), without_marks("-ARG", PORTION_MARKS)
    ('NP', '-ARG')
    """
    again = True
    while again:
        again = False
        for mark in marks:
            if label.endswith(mark) and len(label) > len(mark):
                label, again = label[: -len(mark)], True
    return label
