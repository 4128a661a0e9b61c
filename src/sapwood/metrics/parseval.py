"""PARSEVAL: labeled precision, recall and crossing brackets, counted as evalb counts them.

What counts is in ``parseval_rules``, sums over sentences are in ``parseval_scores``; whether two parsers differ by more
than chance is the business of ``significance``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.checks import check_choice
from sapwood.errors import DataError, ParameterError
from sapwood.metrics.labels import LabelScores, score_labels
from sapwood.metrics.parseval_rules import COLLINS, ParsevalRules
from sapwood.metrics.parseval_scores import ParsevalScores, SentenceScore
from sapwood.trees.array import TreeArray
from sapwood.trees.tree import Tree

__all__ = ["mutual_f1", "parseval", "score_forest", "score_tags"]

Bracket = tuple[str, int, int]


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
        have different words. Pairs up to that number are left out of the sums and counted as errors, as evalb does;
        ``ParsevalScores.left_out`` says which.

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
        (score,) = score_forest(correct, [parse], rules=rules)
        scores.append(score)
        # Where only tags differ, the two are of the same sentence.
        if score.status == "error" and not score.retagged:
            faults.append(index)
            if len(faults) > rules.max_errors:
                raise DataError(
                    f"{len(faults)} of the first {index + 1} pairs have different words, the first at index "
                    f"{faults[0]} ({_difference(golds[faults[0]], parses[faults[0]], rules)}); are both files of the "
                    "same sentences, in the same order?"
                )
    return ParsevalScores(tuple(scores), rules)


def score_tags(gold: Any, predicted: Any) -> LabelScores:
    """Score the tags of all words, punctuation included; traces, which only gold trees have, are left out.

    Parameters
    ----------
    gold, predicted : TreeArray or iterable of trees
        The correct trees and the parses, in the same order and of the same words.

    Examples
    --------
    >>> score_tags(["(S (NN rain) (VBZ falls) (. .))"], ["(S (NN rain) (NNS falls) (. .))"]).accuracy
    0.6666666666666666
    """
    golds, parses = _trees(gold, "gold"), _trees(predicted, "predicted")
    if len(golds) != len(parses):
        raise DataError(f"there are {len(golds)} gold trees but {len(parses)} parses; expected one parse per tree.")
    right: list[str] = []
    found: list[str] = []
    for index, pair in enumerate(zip(golds, parses, strict=True)):
        rows = [_tokens(tree, COLLINS) if tree is not None else [] for tree in pair]
        if [word for _, word in rows[0]] != [word for _, word in rows[1]]:
            raise DataError(
                f"tree {index} and its parse have different words ({_difference(*pair, COLLINS)}); tags are compared "
                "word by word."
            )
        right += [tag for tag, _ in rows[0]]
        found += [tag for tag, _ in rows[1]]
    return score_labels(right, found)


def score_forest(gold: Tree, parses: Iterable[Any], *, rules: ParsevalRules = COLLINS) -> list[SentenceScore]:
    """Score the alternative parses of one sentence against its gold tree, which is read only once.

    >>> gold = Tree.fromstring("(S (NP (NN rain)))")
    >>> [score.f1 for score in score_forest(gold, [gold, Tree.fromstring("(S (VP (NN rain)))")])]
    [1.0, 0.5]
    """
    check_choice(rules.punctuation, "rules.punctuation", ("gold", "own"))
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
                    f1[row, column] = score_forest(trees[row], [trees[column]], rules=rules)[0].f1
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
        if retagged and rules.punctuation == "gold":
            found = _read(parse, rules, kept=[tag not in rules.delete_labels for tag, _ in tokens])
    if not found.words:
        return SentenceScore("skip", gold.length)
    if rules.compare_words and found.words != gold.words:
        return SentenceScore("error", gold.length, retagged=retagged)
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
    names = rules.canonical
    right = sum(a == b or names.get(a, a) == names.get(b, b) for a, b in zip(gold.tags, found.tags, strict=False))
    sizes = len(gold.brackets), len(found.brackets)
    return SentenceScore("ok", gold.length, len(found.words), matched, *sizes, crossing, right, retagged)


def _tokens(tree: Tree, rules: ParsevalRules) -> list[tuple[str, str]]:
    """Return the tags and words of a tree, traces left out, which only gold trees have."""
    nodes = (node for node in tree.preorder() if len(node.children) == 1 and not node.children[0].children)
    return [(node.label, node.children[0].label) for node in nodes if not rules.is_trace(node.label)]


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
    categories = rules.categories
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
            if tag not in rules.delete_labels if decided is None else not rules.is_trace(tag) and next(decided):
                words.append(children[0].label)
                tags.append(tag)
        elif children:
            name = categories[node.label]
            if name is not None:
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
