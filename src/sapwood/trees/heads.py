"""Which child of a production is its head: the Collins table, and tables of one's own.

Labels are seen without function tags, indices and marks (``NP-SBJ=2``, ``NP-ARG``), so that the table need not know
them. Which productions are grammatical belongs to ``sapwood.trees.grammar``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sapwood.checks import check_choice
from sapwood.errors import ParameterError
from sapwood.notebook import HtmlTable
from sapwood.penn import NOUN_TAGS, PUNCTUATION_TAGS

__all__ = ["COLLINS_HEADS", "HeadTable", "bare_label"]

Search = tuple[str, tuple[tuple[str, ...], ...]]
"""How to look for a head: the side to start from, then sets of labels in order of preference."""

_CONJUNCTIONS = frozenset(["CC", "CONJP"])

# After Collins (1999), appendix A. A set of several labels takes whichever stands first from that side.
_PRIORITIES = {
    "ADJP": "left NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",
    "ADVP": "right RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",
    "CONJP": "right CC RB IN",
    "FRAG": "right",
    "INTJ": "left",
    "LST": "right LS :",
    "NAC": "left NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",
    "NX": "left",
    "PP": "right IN TO VBG VBN RP FW",
    "PRN": "left",
    "PRT": "right RP",
    "QP": "left $ IN NNS NN JJ RB DT CD NCD QP JJR JJS",
    "RRC": "right VP NP ADVP ADJP PP",
    "S": "left TO IN VP S SBAR ADJP UCP NP",
    "SBAR": "left WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",
    "SBARQ": "left SQ S SINV SBARQ FRAG",
    "SINV": "left VBZ VBD VBP VB MD VP S SINV ADJP NP",
    "SQ": "left VBZ VBD VBP VB MD VP SQ",
    "UCP": "right",
    "VP": "left TO VBD VBN MD VBZ VB VBG VBP AUX AUXG VP ADJP NN NNS NP",
    "WHADJP": "left CC WRB JJ ADJP",
    "WHADVP": "right CC WRB",
    "WHNP": "left WDT WP WP$ WHADJP WHPP WHNP",
    "WHPP": "right IN TO FW",
    "X": "right",
}

# Noun phrases: the direction changes from set to set, so each set says its own.
_NOUN_PHRASE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("right", (*NOUN_TAGS, "NX", "POS", "JJR")),
    ("left", ("NP", "NML")),
    ("right", ("$", "ADJP", "PRN")),
    ("right", ("CD",)),
    ("right", ("JJ", "JJS", "RB", "QP")),
)


def _collins() -> dict[str, Search]:
    table: dict[str, Search] = {}
    for label, line in _PRIORITIES.items():
        side, *labels = line.split()
        table[label] = (side, tuple((each,) for each in labels))
    return table


COLLINS_HEADS: Mapping[str, Search] = _collins()
"""The Collins table without noun phrases, which have a rule of their own."""


class HeadTable(HtmlTable):
    """Finds the head child of a production by a table of preferred labels.

    Parameters
    ----------
    table : mapping, optional
        For each label the side to search from ("left" or "right") and sets of child labels in order of preference:
        the first set with a member among the children decides, and of several members the one nearest to that side;
        without any, the outermost child of that side is the head. Default: Collins' table, with its own rule for noun
        phrases (``NP``, and ``NML`` of later treebanks) unless the table has an entry for them.
    default : {"left", "right"}
        Which outermost child is the head under labels that the table does not know.
    coordination : bool
        Whether a head right after a conjunction gives way to the conjunct before it.
    skip_punctuation : bool
        Whether that conjunct is looked for beyond punctuation ("a dog , and a cat").

    Examples
    --------
    >>> heads = HeadTable()
    >>> heads("NP", ["DT", "JJ", "NN"]), heads("VP", ["MD", "RB", "VP"]), heads("NP-SBJ", ["NP", "PP"])
    (2, 0, 0)
    >>> heads("NP", ["NNS", ",", "CC", "NNS"])
    0
    >>> heads("XYZ", ["A", "B"])
    0
    """

    def __init__(
        self,
        table: Mapping[str, tuple[str, Sequence[Sequence[str]]]] | None = None,
        *,
        default: str = "left",
        coordination: bool = True,
        skip_punctuation: bool = True,
    ) -> None:
        self.table: Mapping[str, Search] | None = None if table is None else _checked(table)
        check_choice(default, "default", ("left", "right"))
        self.default = default
        self.coordination = bool(coordination)
        self.skip_punctuation = bool(skip_punctuation)

    def __call__(self, lhs: str, rhs: Sequence[str]) -> int:
        """Return the position of the head among the children.

        Parameters
        ----------
        lhs : str
            Label of the node.
        rhs : sequence of str
            Labels of its children, at least one.
        """
        if isinstance(rhs, str) or not rhs:
            raise ParameterError(f"the production of {lhs!r} needs a list of at least one child label, got {rhs!r}.")
        children = [bare_label(label) for label in rhs]
        head = self._find(bare_label(lhs), children)
        if self.coordination and head >= 2 and children[head - 1] in _CONJUNCTIONS:
            before = head - 2
            while self.skip_punctuation and before >= 0 and children[before] in PUNCTUATION_TAGS:
                before -= 1
            head = before if before >= 0 else head
        return head

    def _find(self, label: str, children: list[str]) -> int:
        table = COLLINS_HEADS if self.table is None else self.table
        if label in ("NP", "NML") and label not in table:
            for side, wanted in _NOUN_PHRASE:
                found = _first(children, side, wanted)
                if found is not None:
                    return found
            return len(children) - 1
        side, preferences = table.get(label, (self.default, ()))
        for wanted in preferences:
            found = _first(children, side, wanted)
            if found is not None:
                return found
        return 0 if side == "left" else len(children) - 1

    def _key(self) -> tuple[Any, ...]:
        table = None if self.table is None else tuple(sorted(self.table.items()))
        return table, self.default, self.coordination, self.skip_punctuation

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, HeadTable) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        shown = [] if self.table is None else [f"table={dict(self.table)!r}"]
        if self.default != "left":
            shown.append(f"default={self.default!r}")
        if not self.coordination:
            shown.append("coordination=False")
        if not self.skip_punctuation:
            shown.append("skip_punctuation=False")
        return f"HeadTable({', '.join(shown)})"


@lru_cache(maxsize=1 << 14)
@lru_cache(maxsize=1 << 12)
def bare_label(label: str) -> str:
    """Return a label without function tags, indices and marks.

    >>> [bare_label(label) for label in ("NP-SBJ-1", "ADVP|PRT", "S=2", "-LRB-", "VBD-PRED")]
    ['NP', 'ADVP', 'S', '-LRB-', 'VBD']
    """
    if label.startswith("-"):
        return label
    for position, character in enumerate(label):
        if position and character in "-=|":
            return label[:position]
    return label


def _first(children: list[str], side: str, wanted: tuple[str, ...]) -> int | None:
    order = range(len(children)) if side == "left" else range(len(children) - 1, -1, -1)
    return next((position for position in order if children[position] in wanted), None)


def _checked(table: Mapping[str, tuple[str, Sequence[Sequence[str]]]]) -> dict[str, Search]:
    result: dict[str, Search] = {}
    for label, entry in table.items():
        try:
            side, preferences = entry
            sets = tuple(tuple(each) for each in preferences)
        except (TypeError, ValueError):
            raise ParameterError(
                f"the entry of {label!r} must be a side and a list of label sets, such as ('left', [['VBD', 'VBZ']]); "
                f"got {entry!r}."
            ) from None
        if side not in ("left", "right") or any(isinstance(each, str) for each in preferences):
            raise ParameterError(
                f"the entry of {label!r} must be 'left' or 'right' and a list of label sets; got {entry!r}."
            )
        result[label] = (side, sets)
    return result
