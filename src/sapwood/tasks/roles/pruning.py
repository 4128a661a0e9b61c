"""Which constituents may be arguments: Xue and Palmer's walk up from the predicate.

Everything else in a tree is never looked at again, so what is lost here cannot be found later; ``coverage`` counts it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sapwood.penn import PUNCTUATION_TAGS
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Argument, RoleSentence

__all__ = ["candidates", "constituent_of", "coverage"]


def candidates(at: Positions, predicate: int) -> list[int]:
    """Return the places that may be arguments of a predicate, in the order of the words.

    From the predicate's tag upwards, sisters of the current place are candidates, and the children of those that are
    prepositional phrases. Beside a conjunction nothing is taken: what stands there is coordinated, not an argument.

    Examples
    --------
    >>> from sapwood.trees import Tree
    >>> at = Positions(Tree.fromstring(
    ...     "(S (NP (NN tea)) (VP (VBD was) (VP (VBN brought) (PP (IN by) (NP (PRP him))))) (. .))"))
    >>> [at.labels[node] for node in candidates(at, 2)]
    ['NP', 'VBD', 'PP', 'IN', 'NP']
    """
    found = []
    node = at.tag(predicate)
    while at.parent[node] >= 0:
        above = at.parent[node]
        sisters = [child for child in at.children[above] if child != node]
        if not any(at.labels[sister] in ("CC", "CONJP") for sister in sisters):
            for sister in sisters:
                if at.labels[sister] not in PUNCTUATION_TAGS and at.children[sister]:
                    found.append(sister)
                    if at.labels[sister] == "PP":
                        found += [child for child in at.children[sister] if at.children[child]]
        node = above
    # A tree may have several places with the same words; the highest comes first.
    return sorted(found)


def constituent_of(at: Positions, argument: Argument) -> int | None:
    """Return the highest place that covers exactly the words of an argument, or None where there is none."""
    found = at.spanning(argument.first, argument.last)
    return found[0] if found else None


def coverage(sentences: Iterable[RoleSentence]) -> dict[str, int]:
    """Count arguments, those that are constituents, those that survive pruning, and candidates.

    An argument that is no constituent cannot be predicted, and is left out of training: rule ``constituent``.

    Returns
    -------
    dict
        ``arguments``, ``constituents``, ``candidates of arguments`` and ``candidates``.
    """
    counts = {"arguments": 0, "constituents": 0, "survive pruning": 0, "candidates": 0, "predicates": 0}
    for sentence in sentences:
        if sentence.tree is None:
            continue
        at = Positions(sentence.tree)
        for proposition in sentence.propositions:
            nodes = candidates(at, proposition.predicate)
            spans = {(at.first[node], at.last[node]) for node in nodes}
            counts["predicates"] += 1
            counts["candidates"] += len(nodes)
            for argument in proposition.roles:
                counts["arguments"] += 1
                counts["constituents"] += constituent_of(at, argument) is not None
                counts["survive pruning"] += argument.span in spans
    return counts
