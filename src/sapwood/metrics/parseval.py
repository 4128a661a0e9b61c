"""PARSEVAL: labelled precision, recall and crossing brackets, counted as evalb counts them.

The rules of evalb's parameter file ``COLLINS.prm`` are the default, and other parameter files can be read. Scores of
single brackets only; comparing two parsers is the business of ``significance``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError, ParameterError
from sapwood.notebook import HtmlTable
from sapwood.sources import lines
from sapwood.trees.array import TreeArray
from sapwood.trees.tree import Tree

__all__ = [
    "COLLINS",
    "ParsevalRules",
    "ParsevalScores",
    "ParsevalSummary",
    "SentenceScore",
    "mutual_f1",
    "parseval",
    "score_forest",
    "score_pair",
]

Bracket = tuple[str, int, int]
_NOT_COUNTED = "\0"  # no label holds this character
_LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, None))


@dataclass(frozen=True)
class ParsevalRules(HtmlTable):
    """What counts as a bracket; the settings of an evalb parameter file.

    Parameters
    ----------
    delete_labels : collection of str
        A word with such a tag is removed; a constituent with such a label is not counted, but what it holds is.
        Constituents that lose all their words are not counted either. (DELETE_LABEL)
    delete_for_length : collection of str
        Tags of words that do not count for the length of a sentence. (DELETE_LABEL_FOR_LENGTH)
    equal_labels : collection of pairs of str
        Labels to be taken as the same, for brackets and for tags. (EQ_LABEL)
    labelled : bool
        Whether labels count at all. (LABELED)
    cutoff : int
        The length up to which sentences are summed up apart. (CUTOFF_LEN)
    max_errors : int
        How many sentences may have different words in the two trees before scoring stops. (MAX_ERROR)
    compare_words : bool
        Whether a pair with different words is an error. Other scorers let such pairs pass and pay for it in brackets.

    Notes
    -----
    As in evalb, labels of constituents are cut at the first ``-`` or ``=``; tags are not.

    A parser may tag a word as punctuation that the gold tree does not, or the other way round. evalb then finds
    different words and leaves the sentence out. Here, if the words are the same before any is deleted, the tags of the
    gold tree say for both trees which are deleted, and the sentence is ``retagged``; without those sentences the sums
    are evalb's.
    """

    delete_labels: frozenset[str] = frozenset()
    delete_for_length: frozenset[str] = frozenset()
    equal_labels: tuple[tuple[str, str], ...] = ()
    labelled: bool = True
    cutoff: int = 40
    max_errors: int = 10
    compare_words: bool = True

    @cached_property
    def _canonical(self) -> dict[str, str]:
        """Each label that has equals, and the one that stands for all of them."""
        names: dict[str, str] = {}
        for first, second in self.equal_labels:
            keep, drop = names.get(first, first), names.get(second, second)
            names = {label: keep if name == drop else name for label, name in names.items()}
            names |= {first: keep, second: keep, drop: keep}
        return names

    @cached_property
    def _categories(self) -> dict[str, str]:
        """What labels seen so far count as; filled while trees are read."""
        return {}

    def _category(self, label: str) -> str:
        label = label.partition("-")[0].partition("=")[0]
        label = self._canonical.get(label, label)
        if label in {self._canonical.get(deleted, deleted) for deleted in self.delete_labels}:
            return _NOT_COUNTED
        return label if self.labelled else ""

    def deleting(self, *labels: str) -> ParsevalRules:
        """Return the same rules with more labels to delete, such as the root label of a parser.

        >>> "S1" in COLLINS.deleting("S1").delete_labels
        True
        """
        return replace(self, delete_labels=self.delete_labels | frozenset(labels))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> ParsevalRules:
        """Read an evalb parameter file (``.prm``).

        Raises
        ------
        DataError
            With file and line, if a line has an unknown setting or an unusable value.
        """
        delete, lengths, equal, numbers = set(), set(), [], {"LABELED": 1, "CUTOFF_LEN": 40, "MAX_ERROR": 10}
        for line in lines(path):
            parts = line.text.split()
            if not parts or line.text.startswith("#"):
                continue
            values = parts[1:]
            match parts[0], values:
                case "DELETE_LABEL", [label]:
                    delete.add(label)
                case "DELETE_LABEL_FOR_LENGTH", [label]:
                    lengths.add(label)
                case "EQ_LABEL", [first, second]:
                    equal.append((first, second))
                case "LABELED" | "CUTOFF_LEN" | "MAX_ERROR", [value] if value.isascii() and value.isdigit():
                    numbers[parts[0]] = int(value)
                case "DEBUG", [_]:
                    pass
                case _:
                    raise line.fault(f"evalb's setting {line.text.strip()!r} is unknown or not supported")
        return cls(
            frozenset(delete),
            frozenset(lengths),
            tuple(equal),
            numbers["LABELED"] != 0,
            numbers["CUTOFF_LEN"],
            numbers["MAX_ERROR"],
        )


COLLINS = ParsevalRules(
    delete_labels=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
    delete_for_length=frozenset({"-NONE-"}),
    equal_labels=(("ADVP", "PRT"),),
)
"""The rules of evalb's COLLINS.prm, by which Penn Treebank parsers are compared."""


@dataclass(frozen=True, slots=True)
class SentenceScore(HtmlTable):
    """What evalb counts for one sentence.

    Attributes
    ----------
    status : str
        ``"ok"``, ``"skip"`` (no parse) or ``"error"`` (the two trees have different words).
    length : int
        Words of the gold tree, punctuation included.
    words : int
        Words that were compared.
    matched, gold, predicted : int
        Brackets in both trees, in the gold tree, in the parse.
    crossing : int
        Brackets of the parse that cross one of the gold tree.
    tags : int
        Words with the right tag.
    retagged : bool
        Whether the two trees tag different words as punctuation, so that those of the gold tree were deleted in both.
    """

    status: str
    length: int
    words: int = 0
    matched: int = 0
    gold: int = 0
    predicted: int = 0
    crossing: int = 0
    tags: int = 0
    retagged: bool = False

    @property
    def f1(self) -> float:
        """The harmonic mean of this sentence's precision and recall; 0 where there is nothing to match."""
        total = self.gold + self.predicted
        return 2 * self.matched / total if total else 0.0


@dataclass(frozen=True)
class ParsevalSummary(HtmlTable):
    """Scores summed over sentences. Ratios are fractions of 1; those without a denominator are 0.

    Attributes
    ----------
    sentences, errors, skipped : int
        All sentences, and among them those left out: different words, no parse.
    recall, precision, f1 : float
        Labelled recall (LR), precision (LP) and their harmonic mean.
    complete_match : float
        Sentences with no bracket wrong or missing.
    crossing : float
        Crossing brackets per sentence (CB).
    no_crossing, two_or_less_crossing : float
        Sentences with none (0 CB), with at most two (≤2 CB).
    tagging : float
        Words with the right tag.
    matched, gold, predicted : int
        Brackets.
    retagged : int
        Sentences whose trees tag different words as punctuation; evalb leaves them out. See ``ParsevalRules``.
    """

    sentences: int
    errors: int
    skipped: int
    recall: float
    precision: float
    f1: float
    complete_match: float
    crossing: float
    no_crossing: float
    two_or_less_crossing: float
    tagging: float
    matched: int
    gold: int
    predicted: int
    retagged: int

    @classmethod
    def of(cls, scores: Iterable[SentenceScore]) -> ParsevalSummary:
        """Sum up sentences."""
        scores = list(scores)
        valid = [score for score in scores if score.status == "ok"]
        matched = sum(score.matched for score in valid)
        gold = sum(score.gold for score in valid)
        predicted = sum(score.predicted for score in valid)
        recall, precision = _ratio(matched, gold), _ratio(matched, predicted)
        return cls(
            sentences=len(scores),
            errors=sum(score.status == "error" for score in scores),
            skipped=sum(score.status == "skip" for score in scores),
            recall=recall,
            precision=precision,
            f1=_ratio(2 * precision * recall, precision + recall),
            complete_match=_ratio(sum(score.matched == score.gold == score.predicted for score in valid), len(valid)),
            crossing=_ratio(sum(score.crossing for score in valid), len(valid)),
            no_crossing=_ratio(sum(score.crossing == 0 for score in valid), len(valid)),
            two_or_less_crossing=_ratio(sum(score.crossing <= 2 for score in valid), len(valid)),
            tagging=_ratio(sum(score.tags for score in valid), sum(score.words for score in valid)),
            matched=matched,
            gold=gold,
            predicted=predicted,
            retagged=sum(score.retagged for score in scores),
        )


@dataclass(frozen=True)
class ParsevalScores(HtmlTable):
    """The scores of a parsed corpus: sentence by sentence, overall, and by length.

    Attributes
    ----------
    sentences : tuple of SentenceScore
        In the order of the corpus.
    rules : ParsevalRules
        How they were counted.
    """

    sentences: tuple[SentenceScore, ...]
    rules: ParsevalRules = field(default=COLLINS)

    @cached_property
    def overall(self) -> ParsevalSummary:
        """All sentences."""
        return ParsevalSummary.of(self.sentences)

    def up_to(self, length: int | None = None) -> ParsevalSummary:
        """Sum up the sentences of at most this many words; the rules' own cut-off if none is given."""
        limit = self.rules.cutoff if length is None else length
        return ParsevalSummary.of(score for score in self.sentences if score.length <= limit)

    def by_length(
        self, ranges: Sequence[tuple[int, int | None]] = _LENGTHS
    ) -> dict[tuple[int, int | None], ParsevalSummary]:
        """Sum up sentences by their length.

        Parameters
        ----------
        ranges : sequence of (first, last)
            Lengths, both ends included; None is no limit. Ranges without a sentence are left out.
        """
        groups = {
            (first, last): [s for s in self.sentences if first <= s.length and (last is None or s.length <= last)]
            for first, last in ranges
        }
        return {bounds: ParsevalSummary.of(group) for bounds, group in groups.items() if group}


def parseval(gold: Any, predicted: Any, *, rules: ParsevalRules = COLLINS) -> ParsevalScores:
    """Score parses against gold trees.

    Parameters
    ----------
    gold : TreeArray or iterable of trees
        The correct trees.
    predicted : TreeArray or iterable of trees or None
        The parses, in the same order; None where there is none.
    rules : ParsevalRules
        What counts; COLLINS.prm by default.

    Raises
    ------
    DataError
        If the two differ in length, a tree has words beside constituents, or more than ``rules.max_errors`` pairs
        have different words. Pairs up to that number are left out of the sums and counted as errors, as evalb does.

    Examples
    --------
    >>> gold = ["(TOP (S (NP (NN rain)) (VP (VBZ falls) (ADVP (RB down)))))"]
    >>> parse = ["(TOP (S (NP (NN rain)) (VP (VBZ falls) (PRT (RB down)))))"]
    >>> parseval(gold, parse).overall.f1
    1.0
    """
    golds, parses = _trees(gold, "gold"), _trees(predicted, "predicted")
    if len(golds) != len(parses):
        raise DataError(f"there are {len(golds)} gold trees but {len(parses)} parses; expected one parse per tree.")
    scores, faults = [], []
    for index, (correct, parse) in enumerate(zip(golds, parses, strict=True)):
        if correct is None:
            raise DataError(f"gold tree {index} is None; only parses may be missing.")
        score = score_pair(correct, parse, rules=rules)
        scores.append(score)
        if score.status == "error":
            faults.append(index)
            if len(faults) > rules.max_errors:
                raise DataError(
                    f"{len(faults)} of the first {index + 1} pairs have different words, the first at index "
                    f"{faults[0]} ({_difference(golds[faults[0]], parses[faults[0]], rules)}); are both files of the "
                    "same sentences, in the same order?"
                )
    return ParsevalScores(tuple(scores), rules)


def score_pair(gold: Tree, predicted: Tree | None, *, rules: ParsevalRules = COLLINS) -> SentenceScore:
    """Score one parse against its gold tree; parameters as in ``parseval``.

    >>> score_pair(Tree.fromstring("(S (NP (NN rain)))"), Tree.fromstring("(S (VP (NN rain)))")).matched
    1
    """
    return score_forest(gold, [predicted], rules=rules)[0]


def score_forest(gold: Tree, parses: Iterable[Any], *, rules: ParsevalRules = COLLINS) -> list[SentenceScore]:
    """Score the alternative parses of one sentence against its gold tree, which is read only once.

    >>> gold = Tree.fromstring("(S (NP (NN rain)))")
    >>> [score.f1 for score in score_forest(gold, [gold, Tree.fromstring("(S (VP (NN rain)))")])]
    [1.0, 0.5]
    """
    correct = _read(gold, rules)
    counts = Counter(correct.brackets)
    spans = {(start, end) for _, start, end in correct.brackets}
    return [_compare(gold, correct, counts, spans, parse, rules) for parse in parses]


def mutual_f1(parses: Iterable[Any], *, rules: ParsevalRules = COLLINS) -> NDArray[np.float64]:
    """Score the alternative parses of one sentence against each other.

    Parameters
    ----------
    parses : TreeArray or iterable of trees
        The alternatives.
    rules : ParsevalRules
        What counts.

    Returns
    -------
    array of float, shape (n, n)
        F1 of each parse with each taken as the gold tree, which is that of the row; the same both ways, unless the two
        tag different words as punctuation.

    Examples
    --------
    >>> mutual_f1(["(S (NP (NN rain)))", "(S (VP (NN rain)))"])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    trees = [tree for tree in _trees(parses, "parses") if tree is not None]
    readings = [_read(tree, rules) for tree in trees]
    numbers: dict[tuple[Bracket, int], int] = {}
    cells: list[tuple[int, int]] = []
    for row, reading in enumerate(readings):
        seen: Counter[Bracket] = Counter()
        for bracket in reading.brackets:
            # A bracket that is there twice matches one that is there twice.
            seen[bracket] += 1
            cells.append((row, numbers.setdefault((bracket, seen[bracket]), len(numbers))))
    holds = np.zeros((len(readings), len(numbers)))
    if cells:
        holds[tuple(np.array(cells).T)] = 1.0
    sizes = holds.sum(axis=1)
    f1: NDArray[np.float64] = 2 * (holds @ holds.T) / np.maximum(1.0, sizes[:, None] + sizes[None])
    if rules.compare_words:
        for row, correct in enumerate(readings):
            for column, found in enumerate(readings):
                if correct.words != found.words:
                    f1[row, column] = score_pair(trees[row], trees[column], rules=rules).f1
    return f1


class _Reading(NamedTuple):
    """The words, tags and brackets of a tree that count, and the length of the sentence."""

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]
    length: int


def _compare(
    tree: Tree,
    gold: _Reading,
    counts: Counter[Bracket],
    spans: set[tuple[int, int]],
    parse: Tree | None,
    rules: ParsevalRules,
) -> SentenceScore:
    if parse is None:
        return SentenceScore("skip", gold.length)
    found, retagged = _read(parse, rules), False
    if rules.compare_words and found.words != gold.words:
        tokens = _tokens(tree, rules)
        retagged = [word for _, word in tokens] == [word for _, word in _tokens(parse, rules)]
        if retagged:
            found = _read(parse, rules, kept=[tag not in rules.delete_labels for tag, _ in tokens])
    if not found.words:
        return SentenceScore("skip", gold.length)
    if rules.compare_words and found.words != gold.words:
        return SentenceScore("error", gold.length)
    matched = crossing = 0
    left = counts.copy()
    for bracket in found.brackets:
        if left.get(bracket, 0):
            left[bracket] -= 1
            matched += 1
        elif bracket[1:] not in spans:
            _, start, end = bracket
            for s, e in spans:
                if s < start < e < end or start < s < end < e:
                    crossing += 1
                    break
    names = rules._canonical
    right = sum(a == b or names.get(a, a) == names.get(b, b) for a, b in zip(gold.tags, found.tags, strict=False))
    sizes = len(gold.brackets), len(found.brackets)
    return SentenceScore("ok", gold.length, len(found.words), matched, *sizes, crossing, right, retagged)


def _tokens(tree: Tree, rules: ParsevalRules) -> list[tuple[str, str]]:
    """Return the tags and words of a tree, traces left out, which only gold trees have."""
    nodes = (node for node in tree.preorder() if len(node.children) == 1 and not node.children[0].children)
    return [(node.label, node.children[0].label) for node in nodes if not _is_trace(node.label, rules)]


def _is_trace(tag: str, rules: ParsevalRules) -> bool:
    return tag in rules.delete_for_length or (tag == "-NONE-" and tag in rules.delete_labels)


def _difference(gold: Tree | None, parse: Tree | None, rules: ParsevalRules) -> str:
    """Say where the words of two trees begin to differ."""
    words = [[] if tree is None else [word for _, word in _tokens(tree, rules)] for tree in (gold, parse)]
    for number, (one, other) in enumerate(zip(*words, strict=False)):
        if one != other:
            return f"word {number + 1} is {one!r} in the gold tree and {other!r} in the parse"
    return f"{len(words[0])} words in the gold tree and {len(words[1])} in the parse"


def _read(tree: Tree, rules: ParsevalRules, kept: Sequence[bool] | None = None) -> _Reading:
    """Read a tree; ``kept`` says of each word but traces whether it counts, which otherwise its tag says."""
    decided = None if kept is None else iter(kept)
    words: list[str] = []
    tags: list[str] = []
    brackets: list[Bracket] = []
    length = 0
    categories = rules._categories
    # Nodes wait for their turn; a label with the number of words before it waits for the end of its constituent.
    stack: list[Tree | tuple[str, int]] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            label, start = node
            if len(words) > start:
                brackets.append((label, start, len(words)))
            continue
        children = node.children
        if len(children) == 1 and not children[0].children:
            tag = node.label
            length += tag not in rules.delete_for_length
            if tag not in rules.delete_labels if decided is None else not _is_trace(tag, rules) and next(decided):
                words.append(children[0].label)
                tags.append(tag)
        elif children:
            name = categories.get(node.label)
            if name is None:
                name = categories[node.label] = rules._category(node.label)
            if name != _NOT_COUNTED:
                stack.append((name, len(words)))
            stack.extend(children[::-1])
        else:
            raise DataError(
                f"the word {node.label!r} stands beside constituents or other words, without a tag of its own; "
                "PARSEVAL needs trees in which every word has its own pre-terminal."
            )
    return _Reading(words, tags, brackets, length)


def _trees(trees: Any, name: str) -> list[Tree | None]:
    if not isinstance(trees, Iterable) or isinstance(trees, (str, Tree)):
        raise ParameterError(f"{name} must be a TreeArray or a list of trees, got {type(trees).__name__}.")
    given = [] if isinstance(trees, TreeArray) else list(trees)
    array = trees if isinstance(trees, TreeArray) else TreeArray([tree for tree in given if tree is not None])
    if array.has_bags:
        raise DataError(f"{name} holds bags of trees; PARSEVAL compares single trees.")
    built = (tree for tree in array if isinstance(tree, Tree))
    if isinstance(trees, TreeArray):
        return list(built)
    return [None if tree is None else next(built) for tree in given]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
