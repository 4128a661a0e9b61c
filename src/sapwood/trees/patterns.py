"""Patterns of trees: the notation of TGrep2 and Tregex, read into a tree of relations and compiled into steps.

Reading and compiling only; ``finding`` looks patterns up in trees. A pattern is a node, then relations that it must
have: ``NP < DT << /^NN/`` is an NP with a child DT and with something below it whose label begins with NN. The page
``docs/patterns.md`` describes them all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import ParameterError
from sapwood.trees.heads import bare_label

__all__ = ["All", "Either", "Label", "NodePattern", "Not", "Program", "Relation", "Relations", "compiled", "parse"]

ONLY: int = _core.places.ONLY_CHILD
"""What ``Relation.which`` is where a child must be an only one."""

# The order is that of PatternOp in native/trees/pattern_search.hpp.
_LABEL, _BOTH, _EITHER, _NONE = range(4)
_MOVES = (
    *("child", "parent", "below", "above"),
    *("sister", "next_sister", "previous_sister", "later_sister", "earlier_sister"),
    *("next", "previous", "later", "earlier"),
)

_DEEPEST = 100
_LONGEST = 10_000
_MOST_CHILDREN = 1 << 30
_BLANK = re.compile(r"\s*")
_LITERAL = re.compile(r"""[^\s<>.,$!&|()\[\]"'/@=*;:%^]+""")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)
_REGEX = re.compile(r"/((?:[^/\\]|\\.)*)/(i?)", re.S)
_RELATION = re.compile(r"([<>])\1([,':])?|([<>])(-?[0-9]+|[-,':])?|\$(\.\.|,,|[.,])?|\.\.|,,|[.,]")
# Of Tregex, not read here: <# NN. A # that nothing follows is the label of a pound sign.
_HEADS = re.compile(r"[<>]{1,2}#(?=\s+[^\s<>.,$!&|)\]])")
_BY_WORDS = {".": "next", ",": "previous", "..": "later", ",,": "earlier"}


@dataclass(frozen=True)
class Label:
    """One of the labels that a node may have.

    Attributes
    ----------
    text : str or None
        The label itself; None for any.
    regex : compiled pattern or None
        Found anywhere in the label, in place of a text.
    bare : bool
        Whether function tags are left out first: ``NP-SBJ`` is ``NP``.
    """

    text: str | None
    regex: re.Pattern[str] | None = None
    bare: bool = False

    def matches(self, label: str) -> bool:
        """Tell whether a node with this label is meant."""
        label = bare_label(label) if self.bare else label
        if self.regex is not None:
            return self.regex.search(label) is not None
        return self.text is None or label == self.text


@dataclass(frozen=True)
class NodePattern:
    """A node: one of some labels, or none of them, and what it is related to."""

    labels: tuple[Label, ...]
    negated: bool = False
    relations: Relations | None = None

    def matches(self, label: str) -> bool:
        """Tell whether a node with this label is meant, whatever its relations."""
        return any(one.matches(label) for one in self.labels) != self.negated


@dataclass(frozen=True)
class Relation:
    """A node somewhere else: ``move`` says where, ``which`` of a parent's children is meant (0: any)."""

    move: str
    which: int
    node: NodePattern


@dataclass(frozen=True)
class Not:
    """What must not be."""

    part: Relations


@dataclass(frozen=True)
class All:
    """Relations that must all be there."""

    parts: tuple[Relations, ...]


@dataclass(frozen=True)
class Either:
    """Relations of which one must be there."""

    parts: tuple[Relations, ...]


Relations = Relation | Not | All | Either


def parse(text: str) -> NodePattern:
    """Read a pattern.

    Raises
    ------
    ParameterError
        With a caret under the fault.

    Examples
    --------
    >>> parse("NP|WHNP !< DT").labels[1].text
    'WHNP'
    >>> parse("NP < (")
    Traceback (most recent call last):
      ...
    sapwood.errors.ParameterError: pattern, column 7: a node is missing here; expected a label, "text", /regex/, * or (
        NP < (
              ^
    """
    if not isinstance(text, str):
        raise ParameterError(f"a pattern must be text such as 'NP < DT', got {text!r} of type {type(text).__name__}.")
    if len(text) > _LONGEST:
        raise ParameterError(f"the pattern has {len(text):,} characters, at most {_LONGEST:,} are read; cut it in two.")
    reader = _Reader(text)
    pattern = reader.pattern(0)
    if not reader.at_end():
        raise reader.fault("expected a relation such as < or <<, or the end of the pattern")
    return pattern


class _Reader:
    """Goes through the text of a pattern from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0

    def pattern(self, depth: int) -> NodePattern:
        """Read a node and its relations."""
        node = self.operand(depth)
        if not self.begins_relation():
            return node
        outer = self.relations(depth)
        both = outer if node.relations is None else All((node.relations, outer))
        return NodePattern(node.labels, node.negated, both)

    def operand(self, depth: int) -> NodePattern:
        """Read a node without relations, or with relations in brackets."""
        if not self.take("("):
            return self.node()
        if depth >= _DEEPEST:
            raise self.fault(f"brackets are nested more than {_DEEPEST} levels deep")
        inner = self.pattern(depth + 1)
        self.close(")")
        return inner

    def node(self) -> NodePattern:
        """Read labels with | between them."""
        negated = self.take("!")
        labels = [self.label()]
        while self.peek("|") and not self.begins_relation(after="|"):
            self.take("|")
            labels.append(self.label())
        if self.peek("="):
            raise self.fault(
                "names of nodes (=name) are not supported; a pattern's nodes are related by < << $ . and so on"
            )
        return NodePattern(tuple(labels), negated)

    def label(self) -> Label:
        bare = self.take("@")
        start = self.place
        if found := self.match(_QUOTED):
            text = re.sub(r"\\(.)", r"\1", found[1], flags=re.S)
            if not text:
                raise self.fault("an empty label, which no node has", start)
            return Label(text, bare=bare)
        if found := self.match(_REGEX):
            return Label(None, self.regex(found, start), bare)
        if not bare and self.take("*"):
            return Label(None)
        if found := self.match(_LITERAL):
            return Label(None if found[0] == "__" and not bare else found[0], bare=bare)
        if self.peek('"') or self.peek("/"):
            raise self.fault(f"this {self.text[self.place]} is never closed")
        hint = ""
        if self.text[: self.place].rstrip().endswith("$"):
            hint = '; if the $ before it is part of a label, quote that: "PRP$"'
        elif self.place < len(self.text) and self.text[self.place] in "':;%^":
            hint = '; labels with such characters are quoted: "\'s"'
        raise self.fault(f'a node is missing here; expected a label, "text", /regex/, * or ({hint}')

    def regex(self, found: re.Match[str], start: int) -> re.Pattern[str]:
        try:
            return re.compile(found[1].replace(r"\/", "/"), re.I if found[2] else 0)
        except re.error as error:
            raise self.fault(f"not a regular expression: {error.msg}", start + 1 + (error.pos or 0)) from None
        except (RecursionError, OverflowError):
            raise self.fault("a regular expression that is too large", start) from None

    def relations(self, depth: int) -> Relations:
        """Read relations: side by side or with & all must hold, with | one of them."""
        choices = [self.conjunction(depth)]
        while self.take("|"):
            choices.append(self.conjunction(depth))
        return choices[0] if len(choices) == 1 else Either(tuple(choices))

    def conjunction(self, depth: int) -> Relations:
        parts = [self.relation(depth)]
        while self.take("&") or self.begins_relation():
            parts.append(self.relation(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def relation(self, depth: int) -> Relations:
        negated = self.take("!")
        if self.take("["):
            if depth >= _DEEPEST:
                raise self.fault(f"brackets are nested more than {_DEEPEST} levels deep")
            inside = self.relations(depth + 1)
            self.close("]")
            return Not(inside) if negated else inside
        start = self.place
        if self.match(_HEADS):
            raise self.fault(
                "relations of heads (<#, >#) are not supported; name the child by its label or place", start
            )
        found = self.match(_RELATION)
        if found is None:
            raise self.fault("expected a relation such as <, <<, >, >>, $, . or ..")
        move, which = _meaning(found)
        if which != ONLY and not -_MOST_CHILDREN < which < _MOST_CHILDREN:
            raise self.fault("a number of a child that no node has", start + 1)
        if which == 0 and found[4]:
            raise self.fault("children are counted from 1, or from -1 backwards", start + 1)
        relation = Relation(move, which, self.operand(depth))
        return Not(relation) if negated else relation

    def begins_relation(self, after: str = "") -> bool:
        """Tell whether a relation comes next."""
        at = _BLANK.match(self.text, self.place).end()  # type: ignore[union-attr]
        if after:
            at = _BLANK.match(self.text, at + len(after)).end()  # type: ignore[union-attr]
        if self.text[at : at + 1] == "!":
            at = _BLANK.match(self.text, at + 1).end()  # type: ignore[union-attr]
        return self.text[at : at + 1] in ("<", ">", "$", ".", ",", "[")

    def skip(self) -> None:
        self.place = _BLANK.match(self.text, self.place).end()  # type: ignore[union-attr]

    def at_end(self) -> bool:
        self.skip()
        return self.place == len(self.text)

    def peek(self, character: str) -> bool:
        self.skip()
        return self.text.startswith(character, self.place)

    def take(self, character: str) -> bool:
        if not self.peek(character):
            return False
        self.place += len(character)
        self.skip()
        return True

    def match(self, expected: re.Pattern[str]) -> re.Match[str] | None:
        self.skip()
        found = expected.match(self.text, self.place)
        if found:
            self.place = found.end()
        return found

    def close(self, bracket: str) -> None:
        if not self.take(bracket):
            raise self.fault(f"expected a relation or {bracket}")

    def fault(self, reason: str, place: int | None = None) -> ParameterError:
        at = self.place if place is None else place
        # One line around the fault, cut so that the caret stays on the screen.
        begin = max(self.text.rfind("\n", 0, at) + 1, at - 60)
        line = self.text[begin : at + 30].split("\n")[0].replace("\t", " ")
        return ParameterError(f"pattern, column {at + 1}: {reason}\n    {line}\n    {' ' * (at - begin)}^")


def _meaning(found: re.Match[str]) -> tuple[str, int]:
    """Return the move of a relation, and which child is meant."""
    which = {None: 0, ",": 1, "'": -1, "-": -1, ":": ONLY}
    if found[1]:
        return ("below" if found[1] == "<" else "above"), which[found[2]]
    if found[3]:
        number = which[found[4]] if found[4] in which else int(found[4][:20])
        return ("child" if found[3] == "<" else "parent"), number
    if found[0][0] == "$":
        return ("sister" if not found[5] else f"{_BY_WORDS[found[5]]}_sister"), 0
    return _BY_WORDS[found[0]], 0


@dataclass
class Program:
    """A pattern as the native search takes it.

    Attributes
    ----------
    nodes : list of NodePattern
        The tests of labels, one per row of the table.
    steps : list of (int, int)
        Operations with arguments, in postfix order.
    required : list of int
        Tests that some node of a tree with a match must pass.
    """

    nodes: list[NodePattern] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)
    required: list[int] = field(default_factory=list)

    def table(self, labels: Sequence[str]) -> NDArray[np.uint8]:
        """Return which labels pass which tests, row after row."""
        rows = np.zeros((len(self.nodes), len(labels)), dtype=np.uint8)
        for row, node in zip(rows, self.nodes, strict=True):
            texts = {one.text for one in node.labels if one.regex is None and not one.bare}
            if None in texts:
                row[:] = 1
            elif all(one.regex is None and not one.bare for one in node.labels):
                row[[number for number, label in enumerate(labels) if label in texts]] = 1
            else:
                row[:] = [any(one.matches(label) for one in node.labels) for label in labels]
            if node.negated:
                row ^= 1
        return rows.ravel()

    def _add_node(self, node: NodePattern, certain: bool) -> None:
        test = NodePattern(node.labels, node.negated)
        if test not in self.nodes:
            self.nodes.append(test)
        number = self.nodes.index(test)
        if certain and number not in self.required:
            self.required.append(number)
        self.steps.append((_LABEL, number))
        if node.relations is not None:
            self._add_relations(node.relations, certain)
            self.steps.append((_BOTH, 0))

    def _add_relations(self, relations: Relations, certain: bool) -> None:
        if isinstance(relations, Relation):
            self._add_node(relations.node, certain)
            self.steps.append((_NONE + 1 + _MOVES.index(relations.move), relations.which))
        elif isinstance(relations, Not):
            self._add_relations(relations.part, False)
            self.steps.append((_NONE, 0))
        else:
            every = isinstance(relations, All)
            for number, part in enumerate(relations.parts):
                self._add_relations(part, certain and every)
                if number:
                    self.steps.append((_BOTH if every else _EITHER, 0))


@lru_cache(maxsize=64)
def compiled(text: str) -> Program:
    """Read a pattern and compile it; patterns that have just been in use are kept."""
    program = Program()
    program._add_node(parse(text), True)
    return program
