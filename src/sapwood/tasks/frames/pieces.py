"""Candidates in several pieces: which spans of a sentence may fill a role together.

Three kinds make up most of what FrameNet has of them:

- an antecedent and its relative pronoun: "*the people who* came";
- what stands on both sides of the target: "*he will* probably *be late*", "*Iran* is believed *to have some*";
- the first and the last word of a target, as where targets are coordinated: "*chemical* or biological *weapons*".

All come from the constituents of the sentence. Candidates that are one span belong to ``spans``.
"""

from __future__ import annotations

from collections.abc import Iterator

from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.tasks.frames.spans import Span, trimmed

__all__ = ["Pieces", "candidate_pieces"]

Pieces = tuple[Span, ...]
"""The spans of one candidate, from left to right; they do not overlap."""

_RELATIVE_TAGS = ("WDT", "WP", "WP$", "WRB")
_CLAUSES = ("S", "SINV", "SQ", "SBAR", "NP")
_SUBJECTS = ("NP", "EX", "S", "SBAR")


def candidate_pieces(sentence: ParsedSentence, target: tuple[int, ...]) -> list[Pieces]:
    """Return the candidates in two pieces for the roles of a target; none without constituents.

    Examples
    --------
    >>> from sapwood import Tree
    >>> tree = "(NP (NP (DT the) (NNS dogs)) (SBAR (WHNP (WDT that)) (S (VP (VBD barked)))))"
    >>> candidate_pieces(ParsedSentence.from_tree(Tree.fromstring(tree)), (3,))
    [((0, 1), (2, 2))]
    >>> tree = "(S (NP (PRP they)) (VP (MD will) (ADVP (RB probably)) (VP (VB run))))"
    >>> candidate_pieces(ParsedSentence.from_tree(Tree.fromstring(tree)), (2,))
    [((0, 0), (3, 3)), ((0, 1), (3, 3)), ((1, 1), (3, 3))]
    """
    if sentence.constituents is None or not target:
        return []
    low, high = min(target), max(target)
    found = {*_relatives(sentence, low, high), *_around(sentence, low, high)}
    if high > low + 1:
        found.add(((low, low), (high, high)))
    return sorted(found)


def _relatives(sentence: ParsedSentence, low: int, high: int) -> Iterator[Pieces]:
    """Yield what may be the antecedent of a relative clause around the target, with the pronoun that opens it."""
    nodes, below = sentence.constituents, sentence.phrase_children
    assert nodes is not None
    for clause in _phrases_around(sentence, low, high):
        first, mother = nodes.first[clause], nodes.parents[clause]
        if nodes.labels[clause] != "SBAR" or mother < 0:
            continue
        opening = (first, nodes.last[below[clause][0]])
        if not any(sentence.tags[token] in _RELATIVE_TAGS for token in range(first, opening[1] + 1)):
            continue
        start = nodes.first[mother]
        spans = {(start, first - 1)}
        for node, (begin, end) in enumerate(zip(nodes.first, nodes.last, strict=True)):
            if below[node] and start <= begin <= end < first:
                if trimmed(sentence, [(end + 1, first - 1)]):
                    # Something else stands between the antecedent and its clause.
                    spans.update([(begin, end)] if begin == start and nodes.labels[node] == "NP" else [])
                else:
                    spans.add((begin, end))
        # "on which" is annotated with and without the preposition.
        for pronoun in {opening, (opening[1], opening[1])}:
            yield from ((span, pronoun) for span in trimmed(sentence, spans))


def _around(sentence: ParsedSentence, low: int, high: int) -> Iterator[Pieces]:
    """Yield a subject with what follows the target, and the two sides of phrases that contain the target."""
    nodes = sentence.constituents
    assert nodes is not None
    before: set[Span] = set()
    after: set[Span] = set()
    subjects: set[Span] = set()
    around = _phrases_around(sentence, low, high)
    for node in around:
        clause = nodes.labels[node] in _CLAUSES
        own = set()
        for kid in sentence.phrase_children[node]:
            first, last = nodes.first[kid], nodes.last[kid]
            if last < low:
                before.add((first, low - 1))
                if clause and nodes.labels[kid] in _SUBJECTS:
                    own.add((first, last))
            elif first > high:
                after.update([(first, last), (high + 1, last)])
        # Phrases come from the outside in, and the subject of the innermost clause counts.
        subjects = own or subjects
    wholes = trimmed(sentence, ((nodes.first[node], nodes.last[node]) for node in around))
    left_sides, subjects = trimmed(sentence, before), trimmed(sentence, subjects)
    for right in trimmed(sentence, after):
        yield from ((left, right) for left in subjects)
        yield from ((left, right) for left in left_sides if (left[0], right[1]) in wholes)


def _phrases_around(sentence: ParsedSentence, low: int, high: int) -> list[int]:
    nodes = sentence.constituents
    assert nodes is not None
    borders = enumerate(zip(nodes.first, nodes.last, strict=True))
    return [node for node, (first, last) in borders if first <= low and high <= last]
