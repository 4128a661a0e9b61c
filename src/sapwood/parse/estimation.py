"""From annotated trees to the weights of a grammar: children are generated outwards from the head, with back-off.

A constituent first chooses its head child, then its right siblings one by one until it stops, then its left ones. Each
choice knows the constituent, the head and the siblings just before; where that was seen rarely, vaguer knowledge takes
over (Witten-Bell weights). Unary chains are chosen whole. Which symbols there are is decided by ``annotation``.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.parse.annotation import JOIN, Constituent, bare_symbol

__all__ = ["Estimates", "GrammarTables", "Markov", "backed_off", "estimate"]

_STOP = ""
# Sides of the head. The first sibling on the left is another matter when there is none on the right, since a node with
# a single child is part of a chain.
_RIGHT, _LEFT, _LEFT_ONLY = "R", "L", "l"
_NOT_SHOWN = 0xFFFFFFFF
_LEAST = 1e-6


@dataclass(frozen=True)
class Markov:
    """What the choice of the next child remembers.

    Parameters
    ----------
    horizontal : int
        Siblings before it.
    min_history : int
        How often more than one sibling must have been seen together to be remembered.
    backoff : float
        Weight of vaguer contexts.
    widen : bool
        Whether children that were seen under the bare labels only are possible too.
    """

    horizontal: int = 2
    min_history: int = 5
    backoff: float = 1.0
    widen: bool = False


@dataclass
class GrammarTables:
    """A grammar as arrays, as the native core takes it.

    Attributes
    ----------
    names, labels : list of str
        Names of symbols, and the labels that trees show.
    arrays : dict
        What ``_core.parse.Rules`` is made of.
    root : int
        The symbol over whole sentences.
    cover : list of str
        Labels to put over constituents that do not make a sentence, outermost first.
    """

    names: list[str]
    labels: list[str]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    root: int = 0
    cover: list[str] = field(default_factory=list)


class Estimates:
    """Conditional probabilities with back-off: outcomes are counted under a row of contexts, from precise to vague.

    >>> estimates = Estimates(1.0)
    >>> for word in ("dog", "dog", "cat"):
    ...     estimates.add([("the", "big"), ("the",)], word)
    >>> estimates.add([("the", "old"), ("the",)], "cat")
    >>> estimates.distribution([("the", "big"), ("the",)])["dog"]  # (2 + 2 * 2/4) / (3 + 2)
    0.6...
    """

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.counts: dict[Hashable, Counter[str]] = defaultdict(Counter)

    def add(self, contexts: Iterable[Hashable], outcome: str) -> None:
        """Count an outcome under all its contexts."""
        for context in contexts:
            self.counts[context][outcome] += 1

    def distribution(self, contexts: Sequence[Hashable]) -> dict[str, float]:
        """Return the probabilities of all outcomes seen under these contexts."""
        return backed_off((self.counts.get(context) for context in reversed(contexts)), self.weight)


def backed_off(rows: Iterable[Mapping[str, int] | None], weight: float) -> dict[str, float]:
    """Return probabilities from counts under contexts from vague to precise, with Witten-Bell weights times ``weight``.

    >>> backed_off([{"dog": 2, "cat": 2}, {"dog": 2, "cat": 1}], 1.0)["dog"]
    0.6...
    """
    estimate: dict[str, float] = {}
    for counts in rows:
        if not counts:
            continue
        total = sum(counts.values())
        share = weight * len(counts) if estimate else 0.0
        estimate = {outcome: share * p / (total + share) for outcome, p in estimate.items()}
        for outcome, count in counts.items():
            estimate[outcome] = estimate.get(outcome, 0.0) + count / (total + share)
    return estimate


def estimate(roots: Sequence[Constituent], markov: Markov, wrapper: str | None) -> GrammarTables:
    """Learn the weights of a grammar from annotated trees; ``wrapper`` is a label to put over every sentence."""
    return _Builder(_Counts(roots, markov), markov).tables(wrapper)


class _Counts:
    """What the trees do, counted."""

    def __init__(self, roots: Sequence[Constituent], markov: Markov) -> None:
        self.choices = Estimates(markov.backoff)
        self.chains = Estimates(markov.backoff)
        self.frequency: Counter[str] = Counter()  # of symbols as children
        self.history: Counter[Hashable] = Counter()
        self.root_labels: Counter[str] = Counter()
        self.branching: set[str] = set()
        self.tags: set[str] = set()
        # What a chain stands for: the labels of its nodes, and the symbol below.
        self.chain_parts: dict[str, tuple[tuple[str, ...], str]] = {}
        self._horizontal = markov.horizontal
        for root in roots:
            self._tree(root)

    def _tree(self, root: Constituent) -> None:
        below = self._chain(root, [("root",)], root=True)
        self.root_labels[root.label] += 1
        stack = [below]
        while stack:
            node = stack.pop()
            if node.word is not None:
                self.tags.add(node.symbol)
                continue
            self._children(node)
            for child in node.children:
                self.frequency[child.symbol] += 1
                stack.append(child if child.word is not None else self._chain(child, chain_contexts(child.symbol)))

    def _chain(self, node: Constituent, contexts: list[Hashable], root: bool = False) -> Constituent:
        """Count the unary chain that begins here, perhaps an empty one, and return what is below it."""
        labels = []
        while len(node.children) == 1:
            labels.append(node.label)
            node = node.children[0]
        outcome = _STOP
        if labels or root:
            outcome = (JOIN + JOIN).join([*labels, node.symbol])
            self.chain_parts[outcome] = (tuple(labels), node.symbol)
        self.chains.add(contexts, outcome)
        return node

    def _children(self, node: Constituent) -> None:
        self.branching.add(node.symbol)
        symbols = [child.symbol for child in node.children]
        head = symbols[node.head]
        self.choices.add(head_contexts(node.symbol), head)
        right, left = symbols[node.head + 1 :], symbols[: node.head][::-1]
        for side, siblings in ((_RIGHT, right), (_LEFT if right else _LEFT_ONLY, left)):
            before: tuple[str, ...] = ()
            for symbol in [*siblings, _STOP]:
                self.choices.add(sibling_contexts(node.symbol, head, side, before), symbol)
                for size in range(2, len(before) + 1):
                    self.history[node.symbol, head, side, before[:size]] += 1
                before = (bare_symbol(symbol), *before)[: self._horizontal]


def chain_contexts(symbol: str) -> list[Hashable]:
    """Return what the choice of a chain knows, from precise to vague."""
    return [(symbol,), (bare_symbol(symbol), "chain")]


def head_contexts(symbol: str) -> list[Hashable]:
    """Return what the choice of a head knows."""
    return [(symbol, "head"), (bare_symbol(symbol), "bare head")]


def sibling_contexts(symbol: str, head: str, side: str, before: tuple[str, ...]) -> list[Hashable]:
    """Return what the choice of the next sibling knows; only the last two are without the marks of the constituent."""
    rows: list[Hashable] = [(symbol, head, side, *before[:size]) for size in range(len(before), 1, -1)]
    nearest = before[0] if before else None
    bare = bare_symbol(symbol)
    rows += [(symbol, head, side, nearest), (bare, bare_symbol(head), side, nearest), (bare, side, not before)]
    return rows


_State = tuple[str, str, str, tuple[str, ...]]


class _Builder:
    """Turns counts into binary rules.

    A state is what has been made so far of a constituent: the symbol, its head, the side that is growing and the last
    siblings there. Each rule adds one sibling to a state, and either leads to another state or completes the
    constituent; its weight has all choices made by then.
    """

    def __init__(self, counts: _Counts, markov: Markov) -> None:
        self._counts, self._markov = counts, markov
        self._numbers: dict[Hashable, int] = {}
        self._rules: dict[tuple[int, int, int], float] = {}
        self._known: dict[Hashable, dict[str, float]] = {}

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _chosen(self, estimates: Estimates, contexts: list[Hashable], precise: int) -> dict[str, float]:
        """Return probabilities of the outcomes that are possible: those seen under the more precise contexts."""
        everything = estimates.distribution(contexts)
        used = contexts[: precise + self._markov.widen]
        possible = set().union(*(estimates.counts.get(context, ()) for context in used))
        return {outcome: p for outcome, p in everything.items() if outcome in possible and p >= _LEAST}

    def _siblings(self, symbol: str, head: str, side: str, before: tuple[str, ...]) -> dict[str, float]:
        key = (symbol, head, side, before)
        if key not in self._known:
            contexts = sibling_contexts(symbol, head, side, before)
            self._known[key] = self._chosen(self._counts.choices, contexts, len(contexts) - 2)
        return self._known[key]

    def _constituent(self, symbol: str) -> None:
        for head, weight in self._chosen(self._counts.choices, head_contexts(symbol), 1).items():
            none_right = self._siblings(symbol, head, _RIGHT, ()).get(_STOP, 0.0)
            todo = [*self._grow(head, (symbol, head, _RIGHT, ()), weight)]
            todo += self._grow(head, (symbol, head, _LEFT_ONLY, ()), weight * none_right)
            reached = set(todo)
            while todo:
                state = todo.pop()
                found = self._grow(state, state, 1.0)
                if state[2] == _RIGHT:
                    stop = self._siblings(*state).get(_STOP, 0.0)
                    found += self._grow(state, (symbol, head, _LEFT, ()), stop)
                for other in found:
                    if other not in reached:
                        reached.add(other)
                        todo.append(other)

    def _grow(self, source: Hashable, state: _State, weight: float) -> list[_State]:
        """Add the rules that put one more sibling beside ``source``, which stands in ``state``; return where they lead.

        ``weight`` is that of choices that have been made without a rule of their own.
        """
        symbol, head, side, before = state
        reached: dict[_State, None] = {}
        if weight <= 0.0:
            return []
        for sibling, p in self._siblings(*state).items():
            if sibling == _STOP:
                continue
            after = (symbol, head, side, self._remembered(symbol, head, side, (bare_symbol(sibling), *before)))
            reached[after] = None
            children = (source, sibling) if side == _RIGHT else (sibling, source)
            self._put(after, children, weight * p)
            stop = self._siblings(*after).get(_STOP, 0.0)
            if side == _RIGHT:
                stop *= self._siblings(symbol, head, _LEFT, ()).get(_STOP, 0.0)
            self._put(symbol, children, weight * p * stop)
        return list(reached)

    def _remembered(self, symbol: str, head: str, side: str, before: tuple[str, ...]) -> tuple[str, ...]:
        before = before[: self._markov.horizontal]
        while len(before) > 1 and self._counts.history[symbol, head, side, before] < self._markov.min_history:
            before = before[:-1]
        return before

    def _put(self, parent: Hashable, children: tuple[Hashable, Hashable], weight: float) -> None:
        if weight > 0.0:
            key = (self._number(parent), self._number(children[0]), self._number(children[1]))
            self._rules[key] = self._rules.get(key, 0.0) + weight

    def tables(self, wrapper: str | None) -> GrammarTables:
        counts = self._counts
        root = self._number(("root",))
        for symbol in sorted(counts.branching):
            self._constituent(symbol)
        above = [] if wrapper is None else [wrapper]
        stay: dict[int, float] = {self._number(tag): 0.0 for tag in sorted(counts.tags)}
        chains: list[tuple[int, int, float, list[str]]] = []
        for symbol in sorted(set(counts.frequency) - counts.tags):
            for outcome, p in sorted(self._chosen(counts.chains, chain_contexts(symbol), 1).items()):
                if outcome == _STOP:
                    stay[self._number(symbol)] = math.log(p)
                else:
                    labels, below = counts.chain_parts[outcome]
                    chains.append((self._number(symbol), self._number(below), math.log(p), list(labels)))
        for outcome, p in sorted(counts.chains.distribution([("root",)]).items()):
            labels, below = counts.chain_parts[outcome]
            chains.append((root, self._number(below), math.log(p), [*above, *labels]))
        cover = [*above, max(sorted(counts.root_labels), key=counts.root_labels.__getitem__)]
        return self._arrays(root, stay, chains, cover)

    def _arrays(
        self, root: int, stay: dict[int, float], chains: list[tuple[int, int, float, list[str]]], cover: list[str]
    ) -> GrammarTables:
        frequency = self._counts.frequency
        total = sum(frequency.values()) or 1
        names: list[str] = []
        labels: dict[str, int] = {}
        shown, stays, prior = [], [], []
        for number, key in enumerate(self._numbers):
            if isinstance(key, str):
                names.append(key)
                shown.append(labels.setdefault(bare_symbol(key), len(labels)))
                stays.append(stay.get(number, -math.inf))
                prior.append(math.log(max(frequency[key], 0.5) / total))
            else:
                assert isinstance(key, tuple)
                names.append(" ".join(str(part) if part else "-" for part in key))
                shown.append(_NOT_SHOWN)
                stays.append(-math.inf if number == root else 0.0)
                prior.append(0.0 if number == root else math.log(max(frequency[key[0]], 0.5) / total))
        for label in cover:
            labels.setdefault(label, len(labels))
        ends, inner = [], []
        for *_, through in chains:
            inner += [labels.setdefault(label, len(labels)) for label in through]
            ends.append(len(inner))
        rules = sorted(self._rules)
        arrays: dict[str, NDArray[Any]] = {
            "parents": np.array([rule[0] for rule in rules], dtype=np.uint32),
            "lefts": np.array([rule[1] for rule in rules], dtype=np.uint32),
            "rights": np.array([rule[2] for rule in rules], dtype=np.uint32),
            "weights": np.log(np.array([self._rules[rule] for rule in rules], dtype=np.float64)),
            "uppers": np.array([chain[0] for chain in chains], dtype=np.uint32),
            "lowers": np.array([chain[1] for chain in chains], dtype=np.uint32),
            "chain_weights": np.array([chain[2] for chain in chains], dtype=np.float64),
            "chain_ends": np.array(ends, dtype=np.uint64),
            "chain_labels": np.array(inner, dtype=np.uint32),
            "stay": np.array(stays, dtype=np.float64),
            "prior": np.array(prior, dtype=np.float64),
            "labels": np.array(shown, dtype=np.uint32),
        }
        return GrammarTables(names, list(labels), arrays, root, cover)
