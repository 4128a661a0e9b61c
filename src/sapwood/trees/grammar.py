"""Which productions are grammatical, and what may be left out of them.

A ``Grammar`` is a set of rules with heads. A production *reduces* to a rule if deleting some of its children, never
the head, leaves that rule. Kernels that compare trees up to such deletions belong to ``sapwood.kernels``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.checks import check_count, check_limit, is_whole
from sapwood.errors import DataError, ParameterError
from sapwood.notebook import HtmlTable
from sapwood.trees.array import TreeArray
from sapwood.trees.heads import HeadTable
from sapwood.trees.productions import PORTION_MARKS, Production, ReductionStatistics, count_productions, without_marks

__all__ = ["Grammar", "Heads", "Rule", "flat_rules"]

Rule = tuple[str, tuple[str, ...], int]
"""Left-hand side, right-hand side, position of the head."""

Heads = HeadTable | Mapping[Any, int]
"""Where heads of productions come from: a table, or a mapping from (left-hand side, right-hand side) to a position."""

_NO_HEAD = np.uint32(0xFFFFFFFF)
# No production has as many children; the native core holds no number far beyond.
_MOST_CHILDREN = 1 << 31


class Grammar(HtmlTable):
    """Rules with heads, and the reductions between them; immutable.

    Parameters
    ----------
    rules : iterable of (str, sequence of str, int)
        Left-hand side, right-hand side and position of the head, from 0. Pre-terminals (tags over words) are no rules.
    heads : HeadTable or mapping, optional
        Heads of productions that are not among the rules: a table, or a mapping {(lhs, rhs): position}, in which a
        production that is missing cannot be reduced. Default: Collins' table.
    max_deletions : int, optional
        Most children that a reduction may delete; None sets no limit.
    min_children : int
        Fewest children that a reduction leaves. With 1, ``NP -> DT NN`` reduces to ``NP -> NN`` if that is a rule.
    deletable : iterable of str, optional
        The only labels that may be deleted; None allows all.
    strict_head : bool
        Whether the child that stays as head must also be the head of the reduced rule.
    counts : sequence of int, optional
        How often each rule was seen; 1 by default.
    phrasal_labels : iterable of str
        Labels that are left-hand sides although no rule has them.
    marks : sequence of str
        Suffixes of labels that are taken off before rules and heads are looked up. A node with a mark is never
        deleted.

    Notes
    -----
    A reduction keeps the head and at least ``min_children``, and what is left must itself be a rule. Reductions are
    found by matching rules as subsequences on both sides of the head, never by trying subsets of children.

    Examples
    --------
    >>> grammar = Grammar([("NP", ["DT", "NN"], 1), ("NP", ["DT", "JJ", "NN"], 2), ("NP", ["JJ", "NN"], 1)])
    >>> grammar.reductions("NP", ["DT", "JJ", "NN"])
    [('DT', 'NN'), ('JJ', 'NN')]
    >>> grammar.reductions("NP", ["DT", "JJ", "JJ", "NN"])  # not a rule itself; its head comes from the table
    [('DT', 'JJ', 'NN'), ('DT', 'NN'), ('JJ', 'NN')]
    """

    def __init__(
        self,
        rules: Iterable[tuple[str, Sequence[str], int]],
        heads: Heads | None = None,
        *,
        max_deletions: int | None = None,
        min_children: int = 2,
        deletable: Iterable[str] | None = None,
        strict_head: bool = False,
        counts: Sequence[int] | None = None,
        phrasal_labels: Iterable[str] = (),
        marks: Sequence[str] = PORTION_MARKS,
    ) -> None:
        self._marks = _check_marks(marks)
        listed = [self._check_rule(number, rule) for number, rule in enumerate(rules)]
        seen = [1] * len(listed) if counts is None else _check_counts(counts, len(listed))
        merged: dict[Production, tuple[int, int]] = {}
        for (lhs, rhs, head), count in zip(listed, seen, strict=True):
            before = merged.setdefault((lhs, rhs), (head, 0))
            if before[0] != head:
                raise ParameterError(
                    f"the rule {_show(lhs, rhs)} is listed with the heads {before[0]} and {head}; keep one of them."
                )
            merged[lhs, rhs] = (head, before[1] + count)
        self._rules = merged
        self._heads = self._check_heads(heads)
        self._max_deletions = check_limit(max_deletions, "max_deletions", 0)
        self._min_children = check_count(min_children, "min_children", most=None)
        self._deletable = None if deletable is None else frozenset(_check_labels(deletable, "deletable"))
        self._strict_head = bool(strict_head)
        self._phrasal = frozenset(lhs for lhs, _ in merged) | frozenset(_check_labels(phrasal_labels, "phrasal_labels"))
        self._known: dict[Production, int | None] = {}

    @classmethod
    def from_trees(
        cls,
        trees: TreeArray | Iterable[Any],
        *,
        min_count: int = 1,
        max_deletions: int | None = None,
        min_children: int = 2,
        deletable: Iterable[str] | None = None,
        strict_head: bool = False,
        heads: Heads | None = None,
        marks: Sequence[str] = PORTION_MARKS,
    ) -> Grammar:
        """Read the rules off trees.

        Parameters
        ----------
        trees : TreeArray or iterable of trees
            Best without traces and function tags: ``read_trees(..., drop_traces=True, drop_function_tags=True)``.
        min_count : int
            How often a production must occur to become a rule.
        max_deletions, min_children, deletable, strict_head, marks
            As for ``Grammar``.
        heads : HeadTable or mapping, optional
            Heads of all productions. Default: Collins' table.

        Notes
        -----
        A node over a single leaf is a pre-terminal, unless its label also stands over several or over internal
        children somewhere: then ``(VP NP)`` is a production with a bare frontier label.

        Examples
        --------
        >>> grammar = Grammar.from_trees(["(NP (DT a) (JJ red) (NN car))", "(NP (DT a) (NN car))"])
        >>> grammar.rules
        (('NP', ('DT', 'JJ', 'NN'), 2), ('NP', ('DT', 'NN'), 1))
        >>> print(grammar.statistics())
        1 of 2 production types (50.0%) and 1 of 2 tokens (50.0%) are reducible, to at most 1 rules each; the longest
        has 3 children
        """
        check_count(min_count, "min_count", most=None)
        array = trees if isinstance(trees, TreeArray) else TreeArray(trees)
        if len(array) == 0:
            raise DataError("a grammar cannot be read off no trees; pass at least one.")
        productions, phrasal = count_productions(array, _check_marks(marks))
        if not productions:
            raise DataError(
                f"the {len(array)} trees hold tags and words only, so there is no rule to read off; pass whole parses."
            )
        # A grammar without rules, which only says where heads are.
        headed = cls([], heads, marks=marks)
        rules = []
        for (lhs, rhs), count in productions.items():
            if count < min_count:
                continue
            head = headed.head(lhs, rhs)
            if head is None:
                raise ParameterError(
                    f"heads has no entry for the production {_show(lhs, rhs)}; add one or use a HeadTable."
                )
            rules.append((lhs, rhs, head))
        return cls(
            rules,
            heads,
            max_deletions=max_deletions,
            min_children=min_children,
            deletable=deletable,
            strict_head=strict_head,
            counts=[productions[lhs, rhs] for lhs, rhs, _ in rules],
            phrasal_labels=phrasal,
            marks=marks,
        )

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, in the order in which they were given or first seen."""
        return tuple((lhs, rhs, head) for (lhs, rhs), (head, _) in self._rules.items())

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each rule was seen, in the order of ``rules``."""
        return tuple(count for _, count in self._rules.values())

    @property
    def heads(self) -> Heads:
        """Where heads of productions outside the rules come from."""
        return self._heads

    @property
    def max_deletions(self) -> int | None:
        """Most children that a reduction may delete."""
        return self._max_deletions

    @property
    def min_children(self) -> int:
        """Fewest children that a reduction leaves."""
        return self._min_children

    @property
    def deletable(self) -> frozenset[str] | None:
        """The only labels that may be deleted; None means all."""
        return self._deletable

    @property
    def strict_head(self) -> bool:
        """Whether the head that stays must be the head of the reduced rule."""
        return self._strict_head

    @property
    def phrasal_labels(self) -> frozenset[str]:
        """The left-hand sides: a node with such a label is never a pre-terminal."""
        return self._phrasal

    @property
    def marks(self) -> tuple[str, ...]:
        """Suffixes that labels of portions carry."""
        return self._marks

    def __len__(self) -> int:
        return len(self._rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __contains__(self, production: object) -> bool:
        match production:
            case (str() as lhs, [*rhs]) if all(isinstance(label, str) for label in rhs):
                return (self._bare(lhs), tuple(self._bare(str(label)) for label in rhs)) in self._rules
        return False

    def head(self, lhs: str, rhs: Sequence[str]) -> int | None:
        """Return the position of the head of a production, or None where ``heads`` is a mapping without it.

        >>> Grammar([("NP", ["DT", "NN"], 1)], heads={("NP", ("A", "B", "C")): 0}).head("NP-ARG", ["A", "B", "C"])
        0
        """
        key = self._bare(lhs), tuple(self._bare(label) for label in rhs)
        rule = self._rules.get(key)
        if rule is not None:
            return rule[0]
        if key not in self._known:
            found = self._heads(*key) if isinstance(self._heads, HeadTable) else self._heads.get(key)
            self._known[key] = found
        return self._known[key]

    def reductions(self, lhs: str, rhs: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the right-hand sides that a production reduces to, itself not included.

        Parameters
        ----------
        lhs : str
            Label of the node.
        rhs : sequence of str
            Labels of its children; the production need not be a rule.
        """
        return [form for form, _ in self._reductions(lhs, rhs)]

    def _reductions(self, lhs: str, rhs: Sequence[str]) -> list[tuple[tuple[str, ...], float]]:
        if isinstance(rhs, str) or not rhs:
            raise ParameterError(f"the production of {lhs!r} needs a list of at least one child label, got {rhs!r}.")
        head = self.head(lhs, rhs)
        return [] if head is None else self._native.reductions(lhs, list(rhs), head)

    def statistics(self, trees: TreeArray | Iterable[Any] | None = None) -> ReductionStatistics:
        """Count reducible productions.

        Parameters
        ----------
        trees : TreeArray or iterable of trees, optional
            Whose productions to count; by default the rules themselves with their counts.
        """
        if trees is None:
            counted = {production: count for production, (_, count) in self._rules.items()}
        else:
            counted, _ = count_productions(trees if isinstance(trees, TreeArray) else TreeArray(trees), self._marks)
        candidates = [(lhs, rhs) for lhs, rhs in counted if len(rhs) > self._min_children]
        reductions = {(lhs, rhs): len(self._reductions(lhs, rhs)) for lhs, rhs in candidates}
        return ReductionStatistics.of(counted, reductions)

    @cached_property
    def _native(self) -> _core.grammar.Rules:
        return _core.grammar.Rules(
            *flat_rules(self.rules),
            sorted(self._phrasal),
            list(self._marks),
            None if self._deletable is None else sorted(self._deletable),
            None if self._max_deletions is None else min(self._max_deletions, _MOST_CHILDREN),
            min(self._min_children, _MOST_CHILDREN),
            self._strict_head,
        )

    def _side(self, trees: TreeArray) -> _core.grammar.Side:
        """Look up the heads that the native core will need for productions outside the rules."""
        numbers, productions = self._native.outside(trees._arena, trees._as_bags())
        heads: NDArray[np.uint32] = np.full(len(productions), _NO_HEAD, dtype=np.uint32)
        for position, (lhs, rhs) in enumerate(productions):
            head = self.head(lhs, rhs)
            if head is not None:
                heads[position] = head
        return _core.grammar.Side(numbers, heads)

    def _bare(self, label: str) -> str:
        return without_marks(label, self._marks)

    def _check_rule(self, number: int, rule: Any) -> Rule:
        try:
            lhs, rhs, head = rule
        except (TypeError, ValueError):
            raise ParameterError(
                f"rule {number} is {rule!r}; expected (left-hand side, right-hand side, head), such as "
                "('NP', ('DT', 'NN'), 1)."
            ) from None
        if isinstance(rhs, str) or not isinstance(rhs, Sequence) or not rhs:
            raise ParameterError(f"rule {number}: the right-hand side must list at least one label, got {rhs!r}.")
        for label in (lhs, *rhs):
            if not isinstance(label, str) or not label:
                raise ParameterError(f"rule {number}: a label must be text that is not empty, got {label!r}.")
        if not is_whole(head) or not 0 <= head < len(rhs):
            raise ParameterError(
                f"rule {number}, {_show(lhs, rhs)}: the head must be a position from 0 to {len(rhs) - 1}, got {head!r}."
            )
        return self._bare(lhs), tuple(self._bare(label) for label in rhs), int(head)

    def _check_heads(self, heads: Any) -> Heads:
        if heads is None:
            return HeadTable()
        if isinstance(heads, HeadTable):
            return heads
        if not isinstance(heads, Mapping):
            raise ParameterError(
                f"heads must be a HeadTable or a mapping from productions to positions, got {heads!r}."
            )
        result: dict[Production, int] = {}
        for production, head in heads.items():
            try:
                lhs, rhs = production
            except (TypeError, ValueError):
                raise ParameterError(f"a key of heads must be (lhs, rhs), got {production!r}.") from None
            lhs, rhs, head = self._check_rule(len(result), (lhs, rhs, head))
            rule = self._rules.get((lhs, rhs))
            if rule is not None and rule[0] != head:
                raise ParameterError(
                    f"heads says {head} for {_show(lhs, rhs)}, but the rules say {rule[0]}; keep one of them."
                )
            result[lhs, rhs] = head
        return result

    def _state(self) -> dict[str, Any]:
        return {
            "rules": list(self.rules),
            "heads": self._heads,
            "max_deletions": self._max_deletions,
            "min_children": self._min_children,
            "deletable": None if self._deletable is None else sorted(self._deletable),
            "strict_head": self._strict_head,
            "counts": list(self.counts),
            "phrasal_labels": sorted(self._phrasal - {lhs for lhs, _ in self._rules}),
            "marks": self._marks,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grammar):
            return NotImplemented
        mine, theirs = self._state(), other._state()
        # The order of rules means nothing.
        for state, grammar in ((mine, self), (theirs, other)):
            state["rules"], state["counts"] = grammar._rules, None
        return mine == theirs

    def __hash__(self) -> int:
        return hash((frozenset(self._rules), self._max_deletions, self._deletable, self._strict_head))

    # A grammar never changes, so a copy is the grammar itself.
    def __copy__(self) -> Grammar:
        return self

    def __deepcopy__(self, memo: object) -> Grammar:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._state(),)

    def __repr__(self) -> str:
        if len(self._rules) > 20:
            return f"Grammar(<{len(self._rules):,} rules>)"
        state, plain = self._state(), Grammar(self.rules)._state()
        changed = [f"{name}={value!r}" for name, value in state.items() if value != plain[name]]
        return f"Grammar({', '.join([repr(state['rules']), *changed])})"


def flat_rules(
    rules: Iterable[Rule],
) -> tuple[list[str], NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return rules as labels and arrays: left-hand sides, where right-hand sides end, these sides, and heads."""
    labels: dict[str, int] = {}
    left: list[int] = []
    ends: list[int] = []
    right: list[int] = []
    heads: list[int] = []
    for lhs, rhs, head in rules:
        left.append(labels.setdefault(lhs, len(labels)))
        right.extend(labels.setdefault(label, len(labels)) for label in rhs)
        ends.append(len(right))
        heads.append(head)
    return (
        list(labels),
        np.array(left, dtype=np.uint32),
        np.array(ends, dtype=np.uint64),
        np.array(right, dtype=np.uint32),
        np.array(heads, dtype=np.uint32),
    )


def _restore(state: dict[str, Any]) -> Grammar:
    return Grammar(state.pop("rules"), state.pop("heads"), **state)


def _check_labels(labels: Iterable[str], name: str) -> list[str]:
    result = [labels] if isinstance(labels, str) else list(labels)
    if isinstance(labels, str) or not all(isinstance(label, str) and label for label in result):
        raise ParameterError(f"{name} must list labels, got {labels!r}.")
    return result


def _check_marks(marks: Sequence[str]) -> tuple[str, ...]:
    if isinstance(marks, str) or not all(isinstance(mark, str) and mark for mark in marks):
        raise ParameterError(f"marks must list suffixes such as '-ARG', got {marks!r}.")
    return tuple(marks)


def _check_counts(counts: Sequence[int], length: int) -> list[int]:
    if len(counts) != length or not all(is_whole(count) and count >= 1 for count in counts):
        raise ParameterError(f"counts must give one integer of at least 1 for each of the {length} rules.")
    return [int(count) for count in counts]


def _show(lhs: str, rhs: Sequence[str]) -> str:
    return f"{lhs} -> {' '.join(rhs)}"
