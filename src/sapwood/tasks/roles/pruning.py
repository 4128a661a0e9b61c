"""Which constituents may be arguments: Xue and Palmer's walk up from the predicate.

Everything else in a tree is never looked at again, so what is lost here cannot be found later; ``coverage`` counts it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sapwood.penn import PUNCTUATION_TAGS
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Argument, RoleSentence

__all__ = ["PRUNINGS", "candidates", "constituent_of", "coverage"]


PRUNINGS = ("narrow", "wide")
# What a parser may have hung one step too low.
_MISPLACED = frozenset(["NP", "PP", "SBAR", "S", "ADVP", "VP", "ADJP"])
_HOLDERS = frozenset(["NP", "ADJP", "ADVP"])


def candidates(at: Positions, predicate: int, pruning: str = "narrow") -> list[int]:
    """Return the places that may be arguments of a predicate, in the order of the words.

    From the predicate's tag upwards, sisters of the current place are candidates, and the children of those that are
    prepositional phrases. Beside a conjunction, sisters of the same kind are coordinated, and no arguments.

    Parameters
    ----------
    at : Positions
        The tree.
    predicate : int
        The word.
    pruning : {"narrow", "wide"}
        Wide takes phrases inside of noun, adjective and adverb phrases, too: a parser may have attached there what
        belongs to the predicate. On trees without such errors it finds nothing more.

    Examples
    --------
    >>> from sapwood.trees import Tree
    >>> at = Positions(Tree.fromstring(
    ...     "(S (NP (NN tea)) (VP (VBD was) (VP (VBN brought) (PP (IN by) (NP (PRP him))))) (. .))"))
    >>> [at.labels[node] for node in candidates(at, 2)]
    ['NP', 'VBD', 'PP', 'IN', 'NP']
    """
    found: set[int] = set()
    node = at.tag(predicate)
    while at.parent[node] >= 0:
        above = at.parent[node]
        sisters = [child for child in at.children[above] if child != node]
        coordinated = any(at.labels[sister] in ("CC", "CONJP") for sister in sisters)
        for sister in sisters:
            label = at.labels[sister]
            if label in PUNCTUATION_TAGS or not at.children[sister]:
                continue
            if coordinated and label in ("CC", "CONJP", at.labels[node]):
                continue
            found.add(sister)
            if label == "PP":
                found.update(child for child in at.children[sister] if at.children[child])
            if pruning == "wide":
                holders = [child for child in at.children[sister] if label == "PP" and at.labels[child] == "NP"]
                for holder in [sister, *holders] if label in _HOLDERS else holders:
                    found.update(child for child in at.children[holder] if at.labels[child] in _MISPLACED)
        node = above
    # A tree may have several places with the same words; the highest comes first.
    return sorted(found)


def constituent_of(at: Positions, argument: Argument) -> int | None:
    """Return the highest place that covers exactly the words of an argument, or None where there is none."""
    found = at.spanning(argument.first, argument.last)
    return found[0] if found else None


def coverage(sentences: Iterable[RoleSentence], pruning: str = "narrow") -> dict[str, int]:
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
            nodes = candidates(at, proposition.predicate, pruning)
            spans = {(at.first[node], at.last[node]) for node in nodes}
            counts["predicates"] += 1
            counts["candidates"] += len(nodes)
            for argument in proposition.roles:
                counts["arguments"] += 1
                counts["constituents"] += constituent_of(at, argument) is not None
                counts["survive pruning"] += argument.span in spans
    return counts
