"""Targets and their candidates as columns of numbers, from which feature templates make features.

One row per span of a candidate (most have one) and one row, the last of each target, for leaving a role unfilled. Which
columns make a feature is defined in ``templates``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sapwood.tasks.frames.hashing import Codes, Numbers, code
from sapwood.tasks.frames.pieces import Pieces
from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.tasks.frames.spans import Span
from sapwood.tasks.frames.views import SpanView

__all__ = ["Columns", "Rows", "TargetInstance"]


@dataclass(frozen=True)
class TargetInstance:
    """What there is to decide: a sentence, the tokens of a target in it, its frame, and the candidates."""

    sentence: ParsedSentence
    target: tuple[int, ...]
    frame: str
    candidates: tuple[Pieces, ...]


class Columns:
    """The attributes of tokens, one array each; the last entry stands for a place outside the sentence."""

    word: Codes
    lemma: Codes
    tag: Codes
    relation: Codes
    sense: Codes
    voice: Codes
    verb: NDArray[np.bool_]
    closed: NDArray[np.bool_]

    def __init__(self, sentences: Sequence[ParsedSentence]) -> None:
        def joined(lists: Sequence[Sequence[str]]) -> Codes:
            return np.array([code(text) for part in lists for text in part] + [code("<none>")], np.uint64)

        self.word = joined([[word.lower() for word in one.words] for one in sentences])
        self.lemma = joined([one.lemmas for one in sentences])
        self.tag = joined([one.tags for one in sentences])
        self.relation = joined([one.relations for one in sentences])
        self.sense = joined([_senses(one) for one in sentences])
        self.voice = joined([one.voices for one in sentences])
        tags = [tag for one in sentences for tag in one.tags] + [""]
        self.verb = np.array([tag.startswith("V") for tag in tags])
        self.closed = np.array([bool(tag) and tag[0] not in "NVAR" and tag != "CD" for tag in tags])


def _senses(sentence: ParsedSentence) -> list[str]:
    # Names and pronouns have no sense in WordNet, yet their tag says much the same.
    return [
        sense or (tag if tag in ("NNP", "NNPS", "PRP", "PRP$", "CD", "WP", "WDT", "EX") else "")
        for sense, tag in zip(sentence.supersenses, sentence.tags, strict=True)
    ]


class Rows:
    """The rows of some targets.

    Parameters
    ----------
    instances : sequence of TargetInstance
        At least one.

    Attributes
    ----------
    tokens : Columns
        Of all their sentences, each once.
    pad : int
        The token number that stands for none.
    first, last : arrays of int
        Token numbers of each row's span; ``pad`` for the null row.
    low, high : arrays of int
        Token numbers of the first and last token of its sentence.
    null : array of bool
        Which rows leave the role unfilled.
    candidate : array of int
        The number of each row's candidate, over all targets; null rows are candidates, too.
    ends : array of int
        Where the candidates of each target end.
    """

    def __init__(self, instances: Sequence[TargetInstance]) -> None:
        sentences: dict[int, ParsedSentence] = {}
        for instance in instances:
            sentences.setdefault(id(instance.sentence), instance.sentence)
        starts, total = {}, 0
        for key, sentence in sentences.items():
            starts[key] = total
            total += len(sentence)
        self.tokens = Columns(list(sentences.values()))
        self.pad = total
        views = {key: SpanView(sentence) for key, sentence in sentences.items()}
        self._instances = instances
        self._starts = [starts[id(instance.sentence)] for instance in instances]
        self._views = [views[id(instance.sentence)] for instance in instances]
        self._spans = [[span for pieces in one.candidates for span in pieces] for one in instances]
        counts = [len(pieces) for one in instances for pieces in (*one.candidates, ((-1, -1),))]
        self.candidate = np.repeat(np.arange(len(counts)), counts)
        self.ends = np.cumsum([len(instance.candidates) + 1 for instance in instances])
        sizes = np.array([len(spans) + 1 for spans in self._spans], np.int64)
        self._null_rows = np.cumsum(sizes) - 1
        self.owner = np.repeat(np.arange(len(instances)), sizes)
        offset = np.repeat(np.array(self._starts, np.int64), sizes)
        spans = np.array([pair for one in self._spans for pair in (*one, (-1, -1))], np.int64).reshape(-1, 2)
        self.null = spans[:, 0] < 0
        self.first = np.where(self.null, total, spans[:, 0] + offset)
        self.last = np.where(self.null, total, spans[:, 1] + offset)
        self.low = offset
        lengths = np.array([len(instance.sentence) for instance in instances], np.int64)
        self.high = offset + np.repeat(lengths, sizes) - 1
        self.length = np.where(self.null, 0, self.last - self.first + 1)

    def __len__(self) -> int:
        return len(self.owner)

    def shifted(self, places: Numbers, by: int) -> Numbers:
        """Return the tokens so many places after these; ``pad`` beyond the ends of the sentence."""
        moved = places + by
        return np.where(self.null | (moved < self.low) | (moved > self.high), self.pad, moved)

    def _columns(self, ask: Callable[[SpanView, int, Span], tuple[int, ...]], null: tuple[int, ...]) -> Codes:
        """Ask the view of each row's sentence about its target's head and its span; ``null`` for null rows.

        Returns one column per number of the answers.
        """
        # One flat list: a tuple per row would keep the garbage collector busy.
        flat: list[int] = []
        for spans, view, head in zip(self._spans, self._views, self.target_heads, strict=True):
            for span in spans:
                flat += ask(view, head, span)
            flat += null
        return np.ascontiguousarray(np.array(flat, np.uint64).reshape(-1, len(null)).T)

    def _token(self, ask: Callable[[SpanView, Span], int]) -> Numbers:
        found: list[int] = []
        for spans, view in zip(self._spans, self._views, strict=True):
            found += [ask(view, span) for span in spans]
            found.append(-1)
        tokens = np.array(found, np.int64)
        return np.where(tokens >= 0, tokens + self.low, self.pad)

    @cached_property
    def head(self) -> Numbers:
        """The head of each span."""
        return self._token(lambda view, span: view.head(span))

    @cached_property
    def content(self) -> Numbers:
        """The content word of each span."""
        return self._token(SpanView.content)

    @cached_property
    def left(self) -> Numbers:
        """The first dependent of each span's head."""
        return self._token(SpanView.left)

    @cached_property
    def right(self) -> Numbers:
        """The last dependent of each span's head."""
        return self._token(SpanView.right)

    @cached_property
    def target_heads(self) -> list[int]:
        """The head of each target, by its number in its own sentence."""
        return [
            view.head((min(one.target), max(one.target)))
            for one, view in zip(self._instances, self._views, strict=True)
        ]

    @cached_property
    def target(self) -> Numbers:
        """The head of each row's target."""
        return np.array(self.target_heads, np.int64)[self.owner] + self.low

    @cached_property
    def target_first(self) -> Numbers:
        """The first token of each row's target."""
        return np.array([min(one.target) for one in self._instances], np.int64)[self.owner] + self.low

    @cached_property
    def target_last(self) -> Numbers:
        """The last token of each row's target."""
        return np.array([max(one.target) for one in self._instances], np.int64)[self.owner] + self.low

    @cached_property
    def paths(self) -> tuple[Codes, Numbers]:
        """The path through the dependencies from target to span head, and the number of tokens on it."""
        none = (code("<none>"), 0)
        texts, sizes = self._columns(lambda view, head, span: view.path(head, view.head(span)), none)
        return texts, sizes.astype(np.int64)

    @cached_property
    def phrases(self) -> tuple[Codes, Codes, Codes, Numbers]:
        """Label, label of the phrase above, path of phrases from the target, and 1 if the span is one whole phrase."""
        label, above, path, whole = self._columns(SpanView.phrase, (*[code("<none>")] * 3, 0))
        return label, above, path, whole.astype(np.int64)

    @cached_property
    def productions(self) -> Codes:
        """The production of the phrase right above each row's target."""
        values = [view.production(head) for view, head in zip(self._views, self.target_heads, strict=True)]
        return np.array(values, np.uint64)[self.owner]

    def tokens_of_targets(self) -> tuple[Numbers, Numbers]:
        """Return (row, token) pairs: the tokens of its target for every null row."""
        return self._of_null_rows([one.target for one in self._instances])

    def dependents_of_targets(self) -> tuple[Numbers, Numbers, Codes, Numbers]:
        """Return, for every null row, the dependents of its target's head, the sequence of their relations, and
        their number."""
        heads = zip(self._instances, self.target_heads, strict=True)
        kids = [one.sentence.children[head] for one, head in heads]
        sequences = [
            code("_".join(one.sentence.relations[kid] for kid in each))
            for one, each in zip(self._instances, kids, strict=True)
        ]
        counts = np.array([len(each) for each in kids], np.int64)
        return *self._of_null_rows(kids), np.array(sequences, np.uint64)[self.owner], counts[self.owner]

    def _of_null_rows(self, tokens: Sequence[Sequence[int]]) -> tuple[Numbers, Numbers]:
        """Pair the null row of each target with some tokens of its sentence."""
        rows = np.repeat(self._null_rows, [len(each) for each in tokens])
        flat = [start + token for start, each in zip(self._starts, tokens, strict=True) for token in each]
        return rows, np.array(flat, np.int64)

    @cached_property
    def further(self) -> Numbers:
        """The rows of all spans of candidates but their first ones; the span before each stands in the row before."""
        return np.flatnonzero(self.candidate[1:] == self.candidate[:-1]) + 1

    @cached_property
    def inside(self) -> tuple[Numbers, Numbers]:
        """The (row, token) pairs of all tokens inside spans."""
        return _expanded(self.first, self.length)

    @cached_property
    def between(self) -> tuple[Numbers, Numbers]:
        """The (row, token) pairs of the tokens between span and target."""
        before = ~self.null & (self.last < self.target_first)
        after = ~self.null & (self.first > self.target_last)
        begin = np.where(before, self.last + 1, np.where(after, self.target_last + 1, 0))
        end = np.where(before, self.target_first, np.where(after, self.first, 0))
        return _expanded(begin, end - begin)


def _expanded(begin: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Return (row, token) pairs for so many tokens of each row, from its first on."""
    rows = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rows, np.repeat(begin, sizes) + np.arange(len(rows)) - starts
