"""Feature templates: which columns of a row make a feature, and with what of the role it is paired.

``semafor`` holds those of SEMAFOR (Das et al. 2010); ``extended`` adds phrases, supersenses, borders and words between
span and target. A candidate in several pieces has the features of each piece, and a few of how they go together. Every
template has a level: ``PLAIN`` features are the same for all roles; ``ROLE`` ones come again for every name of a role;
``FRAME`` ones also for every role of every frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.tasks.frames.hashing import Codes, Numbers, known_texts, mixed
from sapwood.tasks.frames.rows import Rows, TargetInstance

__all__ = ["FRAME", "GROUPS", "PLAIN", "ROLE", "TEMPLATES", "collect", "feature_names"]

PLAIN, ROLE, FRAME = 0, 1, 2
GROUPS = 3

Mask = NDArray[np.bool_]


class _Collector:
    """Gathers the features of candidates; one that comes twice in a candidate counts once."""

    def __init__(self, candidate: Numbers) -> None:
        self._candidate = candidate
        self._parts: list[NDArray[np.uint64]] = []

    def add(
        self,
        name: str,
        level: int,
        *columns: Codes | Numbers,
        where: Mask | None = None,
        rows: Numbers | None = None,
    ) -> None:
        """Add a feature to rows: to all, to those of a mask, or to each of a list of row numbers.

        With ``rows``, the columns and the mask run along that list.
        """
        place = np.arange(len(self._candidate)) if rows is None else rows
        if where is not None:
            place = place[where]
            columns = tuple(column[where] for column in columns)
        values = mixed(name, columns) if columns else np.full(len(place), mixed(name, [_ONE])[0], np.uint32)
        slot = self._candidate[place].astype(np.uint64) * np.uint64(GROUPS) + np.uint64(level)
        self._parts.append((slot << np.uint64(32)) | values)

    def finish(self) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
        joined = np.concatenate(self._parts)
        joined.sort()  # several times quicker than NumPy's own way to unique values
        joined = joined[np.concatenate([[True], joined[1:] != joined[:-1]])]
        slots = (joined >> np.uint64(32)).astype(np.int64)
        counts = np.bincount(slots, minlength=(self._candidate[-1] + 1) * GROUPS)
        ends = np.cumsum(counts).astype(np.uint64).reshape(-1, GROUPS)
        return (joined & np.uint64(0xFFFFFFFF)).astype(np.uint32), ends


class _Names(_Collector):
    """Remembers what features are made of."""

    def __init__(self, candidate: Numbers) -> None:
        super().__init__(candidate)
        self.added: list[tuple[str, int, tuple[Codes | Numbers, ...], NDArray[np.uint64]]] = []

    def add(
        self,
        name: str,
        level: int,
        *columns: Codes | Numbers,
        where: Mask | None = None,
        rows: Numbers | None = None,
    ) -> None:
        super().add(name, level, *columns, where=where, rows=rows)
        kept = columns if where is None else tuple(column[where] for column in columns)
        self.added.append((name, level, kept, self._parts[-1] & np.uint64(0xFFFFFFFF)))


_ONE = np.ones(1, np.uint64)
Template = Callable[[Rows, _Collector], None]


def collect(rows: Rows, kind: str) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return the features of all candidates, one after the other, and where those of each level of each end."""
    found = _Collector(rows.candidate)
    for template in TEMPLATES[kind]:
        template(rows, found)
    return found.finish()


def feature_names(instance: TargetInstance, kind: str) -> dict[tuple[int, int], str]:
    """Return the names of the features of a target's candidates, by level and number."""
    rows = Rows([instance])
    found = _Names(rows.candidate)
    for template in TEMPLATES[kind]:
        template(rows, found)
    texts = known_texts()
    names = {}
    for name, level, columns, numbers in found.added:
        for row, number in enumerate(numbers.tolist()):
            # Columns of texts are unsigned, those of counts and sides are not.
            values = [column[row] for column in columns]
            said = [texts.get(int(one), "?") if one.dtype == np.uint64 else str(one) for one in values]
            names[level, number] = ", ".join([name, *(text.strip() for text in said)])
    return names


def _binned(numbers: Numbers) -> Numbers:
    """Keep small numbers and join large ones: 5 to 9, 10 to 19, 20 and more, likewise below zero."""
    size = np.abs(numbers)
    size = np.where(size < 5, size, np.where(size < 10, 5, np.where(size < 20, 10, 20)))
    return np.sign(numbers) * size


def _sides(rows: Rows) -> tuple[Mask, Mask, Mask]:
    overt = ~rows.null
    before = overt & (rows.last < rows.target_first)
    after = overt & (rows.first > rows.target_last)
    return before, after, overt & ~before & ~after


def _target(rows: Rows, found: _Collector) -> None:
    """Add what speaks for or against leaving a role unfilled.

    SEMAFOR pairs each of these with overt spans too. A weight there would always be minus the one here, since only the
    difference changes any probability.
    """
    null, tokens = rows.null, rows.tokens
    found.add("null", FRAME, where=null)
    place, token = rows.tokens_of_targets()
    found.add("target lemma", FRAME, tokens.lemma[token], rows=place)
    found.add("target voice", ROLE, tokens.lemma[token], tokens.voice[token], rows=place)
    found.add("target tag", FRAME, tokens.tag[token], rows=place)
    place, token, sequence, count = rows.dependents_of_targets()
    found.add("dependents", FRAME, count, where=null)
    found.add("dependent", ROLE, tokens.relation[token], rows=place)
    found.add("dependent sequence", ROLE, sequence, where=null & (count > 0))


def _words(rows: Rows, found: _Collector) -> None:
    """Add the words of the span and the tags around it."""
    tokens = rows.tokens
    place, token = rows.inside
    found.add("word", ROLE, tokens.lemma[token], rows=place)
    found.add("tag", PLAIN, tokens.tag[token], rows=place)
    verb = tokens.verb[token]
    side = np.where(token < rows.target_first[place], 0, np.where(token > rows.target_last[place], 1, 2))
    found.add("voice", ROLE, tokens.lemma[token], tokens.voice[token], where=verb, rows=place)
    found.add("voice side", ROLE, tokens.lemma[token], tokens.voice[token], side, where=verb, rows=place)
    for by in (1, 2, 3):
        for name, at in (("tag before", rows.shifted(rows.first, -by)), ("tag after", rows.shifted(rows.last, by))):
            found.add(name, PLAIN, tokens.tag[at], where=at != rows.pad)


def _place(rows: Rows, found: _Collector) -> None:
    """Add where the span lies, seen from the target."""
    before, after, over = _sides(rows)
    found.add("over target", FRAME, where=over)
    crossing = over & ((rows.first > rows.target_first) | (rows.last < rows.target_last))
    found.add("crosses target", PLAIN, where=crossing & (rows.target_first < rows.target_last))
    distance = np.where(before, rows.target_first - rows.last, rows.target_last - rows.first)
    middle = (rows.target_first + rows.target_last) // 2 - (rows.first + rows.last) // 2
    beside = before | after
    found.add("distance", PLAIN, _binned(distance), where=beside)
    found.add("middle distance", PLAIN, _binned(middle), where=beside)
    found.add("before target", FRAME, where=before)
    found.add("after target", FRAME, where=after)
    path, size = rows.paths
    found.add("path", PLAIN, path, where=~rows.null)
    found.add("path length", PLAIN, _binned(size), where=~rows.null)


def _shape(rows: Rows, found: _Collector) -> None:
    """Add the span's head, its dependents, first and last words, and length."""
    tokens, overt = rows.tokens, ~rows.null
    found.add("head lemma", PLAIN, tokens.lemma[rows.head], where=overt)
    found.add("head tag", PLAIN, tokens.tag[rows.head], where=overt)
    found.add("head relation", PLAIN, tokens.relation[rows.head], where=overt)
    for name, at in (("left", rows.left), ("right", rows.right)):
        found.add(f"{name} lemma", PLAIN, tokens.lemma[at], where=at != rows.pad)
        found.add(f"{name} tag", PLAIN, tokens.tag[at], where=at != rows.pad)
    second = np.where(rows.length > 1, rows.first + 1, rows.pad)
    last = np.where(rows.length > 2, rows.last, rows.pad)
    for name, at in (("first", rows.first), ("second", second), ("last", last)):
        found.add(f"{name} word", FRAME, tokens.word[at], tokens.tag[at], where=tokens.closed[at])
        found.add(f"{name} relation", FRAME, tokens.relation[at], where=at != rows.pad)
    found.add("length", FRAME, _binned(rows.length), where=overt)


def _phrase(rows: Rows, found: _Collector) -> None:
    """Add phrases, the paths between them, and what the target takes."""
    tokens, overt = rows.tokens, ~rows.null
    label, above, path, whole = rows.phrases
    dependency_path, size = rows.paths
    before, after, _ = _sides(rows)
    side = np.where(before, 0, np.where(after, 1, 2))
    tag, lemma, voice = tokens.tag[rows.target], tokens.lemma[rows.target], tokens.voice[rows.target]
    found.add("phrase", FRAME, label, whole, where=overt)
    found.add("phrase above", ROLE, label, above, whole, where=overt)
    found.add("phrase side", FRAME, label, whole, side, where=overt)
    found.add("phrase side tag", ROLE, label, whole, side, tag, voice, where=overt)
    found.add("phrase path", FRAME, path, whole, where=overt)
    found.add("phrase path lemma", ROLE, path, whole, lemma, where=overt)
    found.add("phrase path voice", ROLE, path, whole, voice, where=overt)
    found.add("dependency path", FRAME, dependency_path, where=overt)
    found.add("dependency path lemma", ROLE, dependency_path, lemma, where=overt)
    found.add("dependency path voice", ROLE, dependency_path, voice, where=overt)
    found.add("path size", ROLE, _binned(size), whole, where=overt)
    found.add("production", ROLE, rows.productions, side, label, where=overt)
    found.add("production null", ROLE, rows.productions, where=rows.null)
    found.add("relation", FRAME, tokens.relation[rows.head], side, where=overt)
    found.add("relation voice", ROLE, tokens.relation[rows.head], tag, voice, side, where=overt)


def _meaning(rows: Rows, found: _Collector) -> None:
    """Add supersenses and words of the span's head and of what it is about."""
    tokens, overt = rows.tokens, ~rows.null
    head, content = rows.head, rows.content
    label = rows.phrases[0]
    other = overt & (content != head)
    found.add("head word", FRAME, tokens.lemma[head], where=overt)
    found.add("head sense", FRAME, tokens.sense[head], where=overt)
    found.add("content lemma", FRAME, tokens.lemma[content], where=overt)
    found.add("content sense", FRAME, tokens.sense[content], where=overt)
    found.add("content sense phrase", ROLE, tokens.sense[content], label, where=overt)
    found.add("content sense lemma", ROLE, tokens.sense[content], tokens.lemma[rows.target], where=overt)
    found.add("preposition sense", FRAME, tokens.lemma[head], tokens.sense[content], where=other)
    found.add("preposition lemma", FRAME, tokens.lemma[head], tokens.lemma[content], where=other)
    found.add("head tag", FRAME, tokens.tag[head], where=overt)
    found.add("content tag", ROLE, tokens.tag[content], label, where=overt)


def _borders(rows: Rows, found: _Collector) -> None:
    """Add the words at and around the edges, and those between span and target."""
    tokens, overt = rows.tokens, ~rows.null
    before, after, _ = _sides(rows)
    side = np.where(before, 0, np.where(after, 1, 2))
    ahead, behind = rows.shifted(rows.first, -1), rows.shifted(rows.last, 1)
    found.add("first word", FRAME, tokens.word[rows.first], where=overt)
    found.add("last word", ROLE, tokens.word[rows.last], where=overt)
    found.add("edge tags", ROLE, tokens.tag[rows.first], tokens.tag[rows.last], where=overt)
    found.add("word ahead", ROLE, tokens.word[ahead], side, where=overt)
    found.add("word behind", ROLE, tokens.word[behind], side, where=overt)
    found.add("tag ahead", ROLE, tokens.tag[ahead], tokens.tag[rows.first], side, where=overt)
    found.add("tag behind", ROLE, tokens.tag[rows.last], tokens.tag[behind], side, where=overt)
    found.add("length role", ROLE, _binned(rows.length), rows.phrases[0], where=overt)
    distance = np.where(before, rows.target_first - rows.last, rows.first - rows.target_last)
    beside = before | after
    found.add("gap", FRAME, _binned(distance), side, where=beside)
    place, token = rows.between
    near = distance[place] <= 6
    found.add("between", ROLE, tokens.word[token], side[place], where=near, rows=place)
    found.add("between tag", ROLE, tokens.tag[token], side[place], rows=place)
    verbs = np.bincount(place, weights=tokens.verb[token], minlength=len(rows)).astype(np.int64)
    found.add("verbs between", ROLE, np.minimum(verbs, 3), side, where=beside)


def _pieces(rows: Rows, found: _Collector) -> None:
    """Add what two neighboring pieces of a candidate are to each other and to the target."""
    tokens, second = rows.tokens, rows.further
    if not len(second):
        return
    first = second - 1
    left, right = rows.last[first], rows.first[second]
    over = (left < rows.target_first[second]) & (rows.target_last[second] < right)
    side = np.where(over, 0, np.where(right <= rows.target_first[second], 1, 2))
    gap = _binned(right - left - 1)
    label, _, path, whole = rows.phrases
    target = rows.target[second]
    found.add("pieces", FRAME, side, rows=second)
    found.add("pieces gap", ROLE, side, gap, rows=second)
    found.add("pieces phrases", FRAME, side, label[first], label[second], rows=second)
    found.add("pieces whole", ROLE, side, whole[first], whole[second], gap, rows=second)
    found.add("pieces tags", ROLE, side, tokens.tag[rows.head[first]], tokens.tag[right], rows=second)
    found.add("pieces word", ROLE, side, tokens.word[right], rows=second)
    found.add("pieces target", ROLE, side, tokens.lemma[target], rows=second)
    found.add("pieces target tag", FRAME, side, tokens.tag[target], label[second], rows=second)
    found.add("pieces paths", PLAIN, path[first], path[second], rows=second)


TEMPLATES: dict[str, Sequence[Template]] = {
    "semafor": (_target, _words, _place, _shape, _pieces),
    "extended": (_target, _words, _place, _shape, _phrase, _meaning, _borders, _pieces),
    "context": (_target, _place, _phrase, _meaning, _pieces),
}
"""The sets of templates by name; ``context`` is for networks over an encoder alone."""
