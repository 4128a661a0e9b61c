"""What PARSEVAL counts as a bracket: the rules of evalb's parameter files, ``COLLINS.prm`` as a rule."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sapwood.notebook import HtmlTable
from sapwood.text_files import lines

__all__ = ["COLLINS", "ParsevalRules"]


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
    labeled : bool
        Whether labels count at all. (LABELED)
    cutoff : int
        The length up to which sentences are summed up apart. (CUTOFF_LEN)
    max_errors : int
        How many sentences may have different words in the two trees before scoring stops. (MAX_ERROR)
    compare_words : bool
        Whether a pair with different words is an error. Other scorers let such pairs pass and pay for it in brackets.
    punctuation : {"gold", "own"}
        Whose tags say which words are deleted where the two trees disagree: those of the gold tree for both, or each
        tree's own, as in evalb, which finds different words then and leaves the sentence out.

    Notes
    -----
    As in evalb, labels of constituents are cut at the first ``-`` or ``=``; tags are not.

    A parser may tag a word as punctuation that the gold tree does not, or the other way round. Such sentences, whose
    words are the same before any is deleted, are ``retagged`` in the scores; without them the sums are evalb's.
    """

    delete_labels: frozenset[str] = frozenset()
    delete_for_length: frozenset[str] = frozenset()
    equal_labels: tuple[tuple[str, str], ...] = ()
    labeled: bool = True
    cutoff: int = 40
    max_errors: int = 10
    compare_words: bool = True
    punctuation: str = "gold"

    @cached_property
    def canonical(self) -> dict[str, str]:
        """Each label that has equals, and the one that stands for all of them."""
        names: dict[str, str] = {}
        for first, second in self.equal_labels:
            keep, drop = names.get(first, first), names.get(second, second)
            names = {label: keep if name == drop else name for label, name in names.items()}
            names |= {first: keep, second: keep, drop: keep}
        return names

    @cached_property
    def categories(self) -> Mapping[str, str | None]:
        """What a label of a constituent counts as; None for one that is not counted."""
        return _Categories(self)

    def is_trace(self, tag: str) -> bool:
        """Whether a tag stands for a trace, which only gold trees have."""
        return tag in self.delete_for_length or (tag == "-NONE-" and tag in self.delete_labels)

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
            match parts[0], parts[1:]:
                case "DELETE_LABEL", [label]:
                    delete.add(label)
                case "DELETE_LABEL_FOR_LENGTH", [label]:
                    lengths.add(label)
                case "EQ_LABEL", [first, second]:
                    equal.append((first, second))
                case "LABELED" | "CUTOFF_LEN" | "MAX_ERROR", [value]:
                    numbers[parts[0]] = line.count(value, line.text.index(value) + 1, what=parts[0])
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


class _Categories(dict[str, str | None]):
    """Categories of the labels seen so far; others are worked out when they are asked for."""

    def __init__(self, rules: ParsevalRules) -> None:
        super().__init__()
        names = rules.canonical
        self._names, self._labeled = names, rules.labeled
        self._deleted = {names.get(label, label) for label in rules.delete_labels}

    def __missing__(self, label: str) -> str | None:
        bare = label.partition("-")[0].partition("=")[0]
        bare = self._names.get(bare, bare)
        self[label] = found = None if bare in self._deleted else bare if self._labeled else ""
        return found


COLLINS = ParsevalRules(
    delete_labels=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
    delete_for_length=frozenset({"-NONE-"}),
    equal_labels=(("ADVP", "PRT"),),
)
"""The rules of evalb's COLLINS.prm, by which Penn Treebank parsers are compared."""
