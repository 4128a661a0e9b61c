"""Candidate spans: which stretches of a sentence may fill a role.

``dependency_spans`` is the heuristic of SEMAFOR (Das et al. 2010); ``extended_spans`` adds constituents, their parts
on either side of the head and of the target, and leaves punctuation out at the edges. Spans are first and last token,
both included. Candidates in several pieces belong to ``pieces``.
"""

from __future__ import annotations

from collections.abc import Iterable

from sapwood.checks import check_choice
from sapwood.penn import PUNCTUATION_TAGS
from sapwood.tasks.frames.sentences import ParsedSentence

__all__ = ["SPAN_SETS", "Span", "candidate_spans", "dependency_spans", "extended_spans", "trimmed"]

Span = tuple[int, int]
SPAN_SETS = ("dependency", "extended")

_PUNCTUATION = frozenset([*PUNCTUATION_TAGS, "PUNCT"])


def candidate_spans(sentence: ParsedSentence, target: tuple[int, ...], kind: str = "extended") -> list[Span]:
    """Return the candidate spans for the roles of a target, shortest and leftmost first.

    Parameters
    ----------
    sentence : ParsedSentence
        Where to look.
    target : tuple of int
        The tokens that evoke the frame.
    kind : {"dependency", "extended"}
        Which heuristic.
    """
    check_choice(kind, "spans", SPAN_SETS)
    found = dependency_spans(sentence) if kind == "dependency" else extended_spans(sentence, target)
    return sorted(found, key=lambda span: (span[1] - span[0], span[0]))


def dependency_spans(sentence: ParsedSentence) -> set[Span]:
    """Return single tokens, the reach of every token, and parts of the reach on one side of it.

    Examples
    --------
    >>> from sapwood import Tree
    >>> sentence = ParsedSentence.from_tree(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP me))))"))
    >>> sorted(dependency_spans(sentence))
    [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (2, 2), (2, 3), (3, 3)]
    """
    found = {(token, token) for token in range(len(sentence))} | set(sentence.reach)
    for token, (low, high) in enumerate(sentence.reach):
        if not low < token < high:
            continue
        plain = low == token - 1 and sentence.tags[token - 1] in ("DT", "JJ")
        if (low, token - 1) in found and not plain:
            found.add((token, high))
        if (token + 1, high) in found:
            found.add((low, token))
    return found


def extended_spans(sentence: ParsedSentence, target: tuple[int, ...]) -> set[Span]:
    """Return those of ``dependency_spans``, constituents, and parts of both, without punctuation at the edges.

    A part is what stands before or after the target in a constituent that contains it, or the children of a
    constituent up to its head and from its head on.
    """
    found = set(dependency_spans(sentence))
    nodes = sentence.constituents
    low, high = (min(target), max(target)) if target else (0, -1)
    if nodes is not None:
        for number, kids in enumerate(sentence.phrase_children):
            first, last = nodes.first[number], nodes.last[number]
            found.add((first, last))
            if len(kids) > 2:
                # Prefixes that end with the head and suffixes that begin with it.
                head = next(at for at, kid in enumerate(kids) if nodes.heads[kid] == nodes.heads[number])
                for at in range(head, len(kids) - 1):
                    found.add((first, nodes.last[kids[at]]))
                for at in range(1, head + 1):
                    found.add((nodes.first[kids[at]], last))
            if first <= low and high <= last:
                found.update(span for span in ((first, low - 1), (high + 1, last)) if span[0] <= span[1])
                for kid in kids:
                    if nodes.first[kid] > high:
                        found.add((high + 1, nodes.last[kid]))
                    elif nodes.last[kid] < low:
                        found.add((nodes.first[kid], low - 1))
    else:
        for first, last in sentence.reach:
            if first <= low and high <= last:
                found.update(span for span in ((first, low - 1), (high + 1, last)) if span[0] <= span[1])
    return trimmed(sentence, found)


def trimmed(sentence: ParsedSentence, spans: Iterable[Span]) -> set[Span]:
    """Return spans without punctuation at their edges; those that hold nothing else, or nothing, are left out."""
    found = set()
    tags = sentence.tags
    for first, last in spans:
        while first <= last and tags[first] in _PUNCTUATION:
            first += 1
        while first <= last and tags[last] in _PUNCTUATION:
            last -= 1
        if first <= last:
            found.add((first, last))
    return found
