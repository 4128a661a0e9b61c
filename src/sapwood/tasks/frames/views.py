"""What one sentence says about its spans: heads, content words, paths and phrases, as tokens and hashes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import groupby

from sapwood.tasks.frames.hashing import code
from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.tasks.frames.spans import Span
from sapwood.trees.dependencies import Constituents

__all__ = ["SpanView"]

_NONE, _TOP = code("<none>"), code("<top>")
# What follows a preposition, a conjunction or an auxiliary.
_COMPLEMENTS = frozenset(["PMOD", "SUB", "VC", "pobj", "obj"])


class SpanView:
    """Answers about the spans of a sentence; they are kept, since the targets of a sentence share most spans.

    Tokens and nodes are given by their numbers; -1 stands for none. Everything textual is hashed.
    """

    def __init__(self, sentence: ParsedSentence) -> None:
        self.sentence = sentence
        # What is kept must not refer to the view itself: cycles are freed late, and there is a view per sentence.
        self.head = cache(lambda span: sentence.head_of(*span))
        self.path = cache(lambda start, end: _path(sentence, start, end))
        self._main_word = cache(lambda head: _main_word(sentence, head))
        nodes = sentence.constituents
        self._nodes: dict[Span, tuple[int, int]] = {}
        if nodes is not None:
            self._labels = [code(label) for label in nodes.labels]
            self._preterminals = preterminals = [0] * len(sentence)
            for number, (first, last) in enumerate(zip(nodes.first, nodes.last, strict=True)):
                # The topmost of several nodes over the same words stands for them.
                self._nodes.setdefault((first, last), (number, 1))
                if first == last:
                    preterminals[first] = number
            depths = [0] * len(nodes.labels)
            for number, parent in enumerate(nodes.parents):
                depths[number] = depths[parent] + 1 if parent >= 0 else 0
            self._phrase_path = cache(lambda token, node: _phrase_path(nodes, depths, preterminals[token], node))

    def content(self, span: Span) -> int:
        """Return the word that says what a span is about: the object of a preposition, the verb after auxiliaries."""
        head = self.head(span)
        found = self._main_word(head)
        return found if span[0] <= found <= span[1] else head

    def left(self, span: Span) -> int:
        """Return the first dependent of a span's head."""
        kids = self.sentence.children[self.head(span)]
        return kids[0] if kids else -1

    def right(self, span: Span) -> int:
        """Return the last dependent of a span's head."""
        kids = self.sentence.children[self.head(span)]
        return kids[-1] if kids else -1

    def phrase(self, token: int, span: Span) -> tuple[int, int, int, int]:
        """Return a span's phrase: its label, the label above, the path from a token to it, and 1 if it is the span.

        The phrase is the constituent with this span, or the smallest around it.
        """
        nodes = self.sentence.constituents
        if nodes is None:
            return _NONE, _NONE, _NONE, 0
        if span not in self._nodes:
            node = self._preterminals[span[0]]
            while nodes.last[node] < span[1] or nodes.first[node] > span[0]:
                node = nodes.parents[node]
            self._nodes[span] = node, 0
        node, whole = self._nodes[span]
        parent = nodes.parents[node]
        above = self._labels[parent] if parent >= 0 else _TOP
        return self._labels[node], above, self._phrase_path(token, node), whole

    def production(self, token: int) -> int:
        """Return the production right above the part of speech of a token."""
        nodes = self.sentence.constituents
        if nodes is None:
            return _NONE
        above = nodes.parents[self._preterminals[token]]
        if above < 0:
            return _TOP
        below = " ".join(nodes.labels[kid] for kid in self.sentence.phrase_children[above])
        return code(f"{nodes.labels[above]}:{below}")


def _main_word(sentence: ParsedSentence, head: int) -> int:
    tags, relations = sentence.tags, sentence.relations
    for _ in range(len(sentence)):
        verb = tags[head].startswith("V")
        if not verb and tags[head] not in ("IN", "MD", "TO"):
            break
        below = [kid for kid in sentence.children[head] if kid > head and relations[kid] in _COMPLEMENTS]
        if not below or (verb and relations[below[0]] != "VC"):
            break
        head = below[0]
    return head


def _path(sentence: ParsedSentence, start: int, end: int) -> tuple[int, int]:
    """Return the path between two tokens through the dependencies, and the number of tokens on it."""
    up, top, down = _climb(start, end, sentence.heads, sentence.depths)
    size = len(up) + len(down) + 1
    relations = sentence.relations
    # Long paths are rare, so that only their shape says something.
    if top < 0:
        text = " ||"
    elif size > 7:
        text = " ..."
    elif size > 5:
        text = " ^" * len(up) + " !" * len(down)
    else:
        text = "".join(f" ^{relations[token]}" for token in up) + "".join(f" !{relations[token]}" for token in down)
    return code(f"={sentence.tags[start]}{text}"), size


def _phrase_path(nodes: Constituents, depths: Sequence[int], start: int, end: int) -> int:
    up, top, down = _climb(start, end, nodes.parents, depths)
    if top < 0:
        return code(f"||{nodes.labels[end]}")
    # A chain of equal labels says no more than one of them.
    rising = [label for label, _ in groupby(nodes.labels[one] for one in (*up, top))]
    return code("^".join(rising) + "!" + "!".join(nodes.labels[one] for one in down))


def _climb(start: int, end: int, parents: Sequence[int], depths: Sequence[int]) -> tuple[list[int], int, list[int]]:
    """Return the nodes below the lowest common ancestor on the way up from ``start``, it, and those down to ``end``.

    The ancestor is -1 if they have none in common.
    """
    up, down = [], []
    while start != end and start >= 0 and end >= 0:
        if depths[start] >= depths[end]:
            up.append(start)
            start = parents[start]
        else:
            down.append(end)
            end = parents[end]
    return up, start if start == end else -1, down[::-1]
