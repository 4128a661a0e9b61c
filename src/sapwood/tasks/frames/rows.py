"""Targets and their candidate spans as columns of numbers, from which feature templates make features.

One row per candidate span and one, the last of each target, for leaving a role unfilled. Text becomes numbers by a hash
that is the same everywhere, so that a model needs no dictionary. Which columns make a feature belongs to ``templates``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from sapwood.tasks.frames.sentences import ParsedSentence

__all__ = ["Columns", "Rows", "TargetInstance", "code", "mixed"]

Codes = NDArray[np.uint64]
Numbers = NDArray[np.int64]
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_AUXILIARIES = frozenset(["MD", "TO"])


@dataclass(frozen=True)
class TargetInstance:
    """What there is to decide: a sentence, the tokens of a target in it, its frame, and the candidate spans."""

    sentence: ParsedSentence
    target: tuple[int, ...]
    frame: str
    spans: tuple[tuple[int, int], ...]


@lru_cache(maxsize=1 << 16)
def code(text: str) -> int:
    """Return a number for a text, the same on every machine.

    >>> code("Donor") == code("Donor"), code("Donor") == code("Theme")
    (True, False)
    """
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def mixed(name: str, columns: Sequence[Codes | Numbers]) -> NDArray[np.uint32]:
    """Hash columns together, row by row, under a name."""
    state: Codes = np.full(len(columns[0]), code(name), np.uint64)
    for column in columns:
        state = (state ^ column.astype(np.uint64)) * _PRIME
        state ^= state >> _SHIFT
    state *= _PRIME
    return (state >> np.uint64(32)).astype(np.uint32)


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
    ends : array of int
        Where the rows of each target end.
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
        self.count = len(instances)
        self._instances = instances
        self._starts = [starts[id(instance.sentence)] for instance in instances]
        views = {key: _View(sentence) for key, sentence in sentences.items()}
        self._views = [views[id(instance.sentence)] for instance in instances]
        sizes = np.array([len(instance.spans) + 1 for instance in instances], np.int64)
        self.ends = np.cumsum(sizes)
        self.owner = np.repeat(np.arange(len(instances)), sizes)
        offset = np.repeat(np.array(self._starts, np.int64), sizes)
        spans = np.array([pair for one in instances for pair in (*one.spans, (-1, -1))], np.int64).reshape(-1, 2)
        self.null = spans[:, 0] < 0
        self.first = np.where(self.null, total, spans[:, 0] + offset)
        self.last = np.where(self.null, total, spans[:, 1] + offset)
        self.low = offset
        lengths = np.array([len(instance.sentence) for instance in instances], np.int64)
        self.high = offset + np.repeat(lengths, sizes) - 1
        self.length = np.where(self.null, 0, self.last - self.first + 1)

    def __len__(self) -> int:
        return len(self.owner)

    def per_target(self, values: Sequence[int]) -> Codes:
        """Give every row the value of its target."""
        return np.array(values, np.uint64)[self.owner]

    def shifted(self, places: Numbers, by: int) -> Numbers:
        """Return the tokens so many places after these; ``pad`` beyond the ends of the sentence."""
        moved = places + by
        return np.where(self.null | (moved < self.low) | (moved > self.high), self.pad, moved)

    def _each(self, pick: str) -> Numbers:
        """Ask every row's sentence for a token that depends on the span alone."""
        found: list[int] = []
        for instance, view, start in zip(self._instances, self._views, self._starts, strict=True):
            ask = getattr(view, pick)
            found += [start + at if (at := ask(span)) >= 0 else self.pad for span in instance.spans]
            found.append(self.pad)
        return np.array(found, np.int64)

    @cached_property
    def head(self) -> Numbers:
        """The head of each span."""
        return self._each("head")

    @cached_property
    def content(self) -> Numbers:
        """The word that says what a span is about: the object of a preposition, the verb after auxiliaries."""
        return self._each("content")

    @cached_property
    def left(self) -> Numbers:
        """The first dependent of each span's head."""
        return self._each("left")

    @cached_property
    def right(self) -> Numbers:
        """The last dependent of each span's head."""
        return self._each("right")

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
        heads = [start + head for start, head in zip(self._starts, self.target_heads, strict=True)]
        return np.array(heads, np.int64)[self.owner]

    @cached_property
    def target_first(self) -> Numbers:
        """The first token of each row's target."""
        return self._target_edge(min)

    @cached_property
    def target_last(self) -> Numbers:
        """The last token of each row's target."""
        return self._target_edge(max)

    def _target_edge(self, choose: Callable[[tuple[int, ...]], int]) -> Numbers:
        edges = [start + choose(one.target) for start, one in zip(self._starts, self._instances, strict=True)]
        return np.array(edges, np.int64)[self.owner]

    @cached_property
    def paths(self) -> tuple[Codes, Numbers]:
        """The path through the dependencies from target to span head, and the number of tokens on it."""
        texts: list[int] = []
        sizes: list[int] = []
        nothing = code("<none>")
        for instance, view, head in zip(self._instances, self._views, self.target_heads, strict=True):
            for span in instance.spans:
                text, size = view.path(head, view.head(span))
                texts.append(text)
                sizes.append(size)
            texts.append(nothing)
            sizes.append(0)
        return np.array(texts, np.uint64), np.array(sizes, np.int64)

    @cached_property
    def phrases(self) -> tuple[Codes, Codes, Codes, Numbers]:
        """Label, label of the phrase above, path of phrases from the target, and 1 if the span is one whole phrase."""
        labels: list[int] = []
        above: list[int] = []
        paths: list[int] = []
        whole: list[int] = []
        nothing = code("<none>")
        for instance, view, head in zip(self._instances, self._views, self.target_heads, strict=True):
            for span in instance.spans:
                node, exact = view.node(span)
                label, parent = view.labels_at(node)
                labels.append(label)
                above.append(parent)
                paths.append(view.phrase_path(head, node))
                whole.append(int(exact))
            labels.append(nothing)
            above.append(nothing)
            paths.append(nothing)
            whole.append(0)
        return (
            np.array(labels, np.uint64),
            np.array(above, np.uint64),
            np.array(paths, np.uint64),
            np.array(whole, np.int64),
        )

    @cached_property
    def productions(self) -> Codes:
        """The production of the phrase right above each row's target."""
        values = [view.production(head) for view, head in zip(self._views, self.target_heads, strict=True)]
        return self.per_target(values)

    def tokens_of_targets(self) -> tuple[Numbers, Numbers]:
        """Return (row, token) pairs: the tokens of its target for every null row."""
        rows: list[int] = []
        tokens: list[int] = []
        for one, start, end in zip(self._instances, self._starts, self.ends.tolist(), strict=True):
            rows += [end - 1] * len(one.target)
            tokens += [start + token for token in one.target]
        return np.array(rows, np.int64), np.array(tokens, np.int64)

    def dependents_of_targets(self) -> tuple[Numbers, Numbers, Codes, Numbers]:
        """Return, for every null row, the dependents of its target's head, the sequence of their relations, and
        their number."""
        rows: list[int] = []
        tokens: list[int] = []
        sequences: list[int] = []
        counts: list[int] = []
        for one, start, end, head in zip(
            self._instances, self._starts, self.ends.tolist(), self.target_heads, strict=True
        ):
            kids = one.sentence.children[head]
            rows += [end - 1] * len(kids)
            tokens += [start + kid for kid in kids]
            sequences.append(code("_".join(one.sentence.relations[kid] for kid in kids)))
            counts.append(len(kids))
        return (
            np.array(rows, np.int64),
            np.array(tokens, np.int64),
            np.array(sequences, np.uint64)[self.owner],
            np.array(counts, np.int64)[self.owner],
        )

    @cached_property
    def inside(self) -> tuple[Numbers, Numbers]:
        """The (row, token) pairs of all tokens inside spans."""
        rows = np.repeat(np.arange(len(self)), self.length)
        starts = np.repeat(np.cumsum(self.length) - self.length, self.length)
        return rows, np.repeat(self.first, self.length) + np.arange(len(rows)) - starts

    @cached_property
    def between(self) -> tuple[Numbers, Numbers]:
        """The (row, token) pairs of the tokens between span and target."""
        before = ~self.null & (self.last < self.target_first)
        after = ~self.null & (self.first > self.target_last)
        begin = np.where(before, self.last + 1, np.where(after, self.target_last + 1, 0))
        end = np.where(before, self.target_first, np.where(after, self.first, 0))
        sizes = end - begin
        rows = np.repeat(np.arange(len(self)), sizes)
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        return rows, np.repeat(begin, sizes) + np.arange(len(rows)) - starts


class _View:
    """What one sentence answers about spans; answers are kept, since targets of a sentence share most spans."""

    def __init__(self, sentence: ParsedSentence) -> None:
        self.sentence = sentence
        self._heads: dict[tuple[int, int], int] = {}
        self._contents: dict[int, int] = {}
        self._paths: dict[tuple[int, int], tuple[int, int]] = {}
        self._nodes: dict[tuple[int, int], tuple[int, bool]] = {}
        self._phrase_paths: dict[tuple[int, int], int] = {}
        nodes = sentence.constituents
        if nodes is not None:
            self._preterminals = [0] * len(sentence)
            for number, (first, last) in enumerate(zip(nodes.first, nodes.last, strict=True)):
                # The topmost of several nodes over the same words stands for them.
                self._nodes.setdefault((first, last), (number, True))
                if first == last:
                    self._preterminals[first] = number
            depths = [0] * len(nodes.labels)
            for number, parent in enumerate(nodes.parents):
                if parent >= 0:
                    depths[number] = depths[parent] + 1
            self._depths = depths

    def head(self, span: tuple[int, int]) -> int:
        found = self._heads.get(span)
        if found is None:
            found = self._heads[span] = self.sentence.head_of(*span)
        return found

    def content(self, span: tuple[int, int]) -> int:
        head = self.head(span)
        found = self._contents.get(head)
        if found is None:
            found = self._contents[head] = self._content(head)
        return found if span[0] <= found <= span[1] else head

    def _content(self, head: int) -> int:
        sentence = self.sentence
        for _ in range(len(sentence)):
            tag = sentence.tags[head]
            if tag == "IN" or tag in _AUXILIARIES or tag.startswith("V"):
                wanted = ("PMOD", "SUB", "VC", "pobj", "obj")
                below = [kid for kid in sentence.children[head] if kid > head and sentence.relations[kid] in wanted]
                if below and not (tag.startswith("V") and sentence.relations[below[0]] != "VC"):
                    head = below[0]
                    continue
            break
        return head

    def left(self, span: tuple[int, int]) -> int:
        kids = self.sentence.children[self.head(span)]
        return kids[0] if kids else -1

    def right(self, span: tuple[int, int]) -> int:
        kids = self.sentence.children[self.head(span)]
        return kids[-1] if kids else -1

    def path(self, start: int, end: int) -> tuple[int, int]:
        found = self._paths.get((start, end))
        if found is None:
            found = self._paths[start, end] = self._path(start, end)
        return found

    def _path(self, start: int, end: int) -> tuple[int, int]:
        heads, depths, relations = self.sentence.heads, self.sentence.depths, self.sentence.relations
        up, down, one, other = [], [], start, end
        while one != other and one >= 0 and other >= 0:
            if depths[one] >= depths[other]:
                up.append(relations[one])
                one = heads[one]
            else:
                down.append(relations[other])
                other = heads[other]
        size = len(up) + len(down) + 1
        tag = self.sentence.tags[start]
        if size > 7:
            return code(f"={tag} ..."), size
        if size > 5:
            return code(f"={tag}" + " ^" * len(up) + " !" * len(down)), size
        text = "".join(f" ^{label}" for label in up) + "".join(f" !{label}" for label in reversed(down))
        return code(f"={tag}{text}"), size

    def node(self, span: tuple[int, int]) -> tuple[int, bool]:
        """Return the constituent with this span, or the smallest around it; -1 without constituents."""
        found = self._nodes.get(span)
        if found is None:
            nodes, at = self.sentence.constituents, -1
            if nodes is not None:
                at = self._preterminals[span[0]]
                while nodes.last[at] < span[1] or nodes.first[at] > span[0]:
                    at = nodes.parents[at]
            found = self._nodes[span] = at, False
        return found

    def labels_at(self, node: int) -> tuple[int, int]:
        nodes = self.sentence.constituents
        if nodes is None or node < 0:
            return code("<none>"), code("<none>")
        parent = nodes.parents[node]
        return code(nodes.labels[node]), code(nodes.labels[parent] if parent >= 0 else "<top>")

    def phrase_path(self, token: int, node: int) -> int:
        found = self._phrase_paths.get((token, node))
        if found is None:
            found = self._phrase_paths[token, node] = self._phrase_path(token, node)
        return found

    def _phrase_path(self, token: int, node: int) -> int:
        nodes = self.sentence.constituents
        if nodes is None or node < 0:
            return code("<none>")
        one, other = self._preterminals[token], node
        up, down = [nodes.labels[one]], []
        while one != other:
            if self._depths[one] >= self._depths[other]:
                one = nodes.parents[one]
                # A chain of equal labels says no more than one of them.
                if nodes.labels[one] != up[-1]:
                    up.append(nodes.labels[one])
            else:
                down.append(nodes.labels[other])
                other = nodes.parents[other]
        return code("^".join(up) + "!" + "!".join(reversed(down)))

    def production(self, token: int) -> int:
        nodes = self.sentence.constituents
        if nodes is None:
            return code("<none>")
        at = nodes.parents[self._preterminals[token]]
        if at < 0:
            return code("<top>")
        below = [nodes.labels[kid] for kid in range(at + 1, len(nodes.parents)) if nodes.parents[kid] == at]
        return code(f"{nodes.labels[at]}:{' '.join(below)}")
