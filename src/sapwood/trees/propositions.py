"""What a predicate says and of what: propositions over the words of a sentence.

Only the values live here, because readers, scorers, drawings and tasks all speak of them. Reading and writing them
belongs to ``corpora``, scoring to ``metrics``, finding them to ``tasks``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.trees.tree import Tree

__all__ = ["Argument", "Proposition", "RoleSentence", "long_role", "pieces", "short_role"]


@dataclass(frozen=True)
class Argument:
    """A stretch of words that plays a role.

    Attributes
    ----------
    role : str
        Such as ``A0``, ``AM-TMP``, ``R-A0`` (a relative pronoun that refers to the A0) or ``C-A1`` (the continuation
        of an A1 that began earlier). ``V`` is the predicate itself.
    first, last : int
        Its first and last word, both included, counted from 0.
    node : int, optional
        The constituent it is, as its number in pre-order among the nodes of the tree; None where it is none.
    score : float, optional
        How sure whoever predicted it was.
    meaning : str
        What the role means with this predicate, such as "thing followed"; empty where that is not known.
    """

    role: str
    first: int
    last: int
    node: int | None = field(default=None, compare=False)
    score: float | None = field(default=None, compare=False)
    meaning: str = field(default="", compare=False)

    @property
    def span(self) -> tuple[int, int]:
        """First and last word."""
        return self.first, self.last


@dataclass(frozen=True)
class Proposition(HtmlTable):
    """A predicate and its arguments.

    Attributes
    ----------
    predicate : int
        The position of the predicate among the words.
    lemma : str
        Its base form.
    arguments : tuple of Argument
        In the order of the words, the predicate itself (``V``) among them.
    roleset : str
        Which sense of the predicate, such as ``give.01``; empty where unknown.
    guessed : bool
        Whether a model has learnt no roleset for this base form, and knows of several or none: it took the first.
    meaning : str
        What the roleset means, such as "follow, pursue"; empty where that is not known.

    Examples
    --------
    >>> p = Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1)), "bark.01")
    >>> [(a.role, a.span) for a in p.roles]
    [('A0', (0, 0))]
    """

    predicate: int
    lemma: str
    arguments: tuple[Argument, ...]
    roleset: str = ""
    guessed: bool = field(default=False, compare=False)
    meaning: str = field(default="", compare=False)

    @property
    def title(self) -> str:
        """The roleset, or the base form where there is none; with ``?`` where it is guessed.

        >>> Proposition(1, "fling", (), "fling.01", guessed=True).title
        'fling.01?'
        """
        return f"{self.roleset or self.lemma}{'?' if self.guessed else ''}"

    @property
    def roles(self) -> tuple[Argument, ...]:
        """The arguments without the predicate itself (``V`` and ``C-V``)."""
        return tuple(argument for argument in self.arguments if argument.role not in ("V", "C-V"))

    def tags(self, length: int) -> list[str]:
        """Return one tag per word: ``B-A0`` where an argument begins, ``I-A0`` inside it, ``O`` elsewhere.

        Raises
        ------
        DataError
            If an argument lies outside the sentence, or two cover one word, for which there is one tag only.

        Examples
        --------
        >>> Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1))).tags(3)
        ['B-A0', 'B-V', 'O']
        """
        tags = ["O"] * length
        for argument in self.arguments:
            if not 0 <= argument.first <= argument.last < length:
                raise DataError(
                    f"{argument.role} of {self.lemma!r} covers words {argument.first} to {argument.last}; the sentence "
                    f"has {length} words."
                )
            for word in range(argument.first, argument.last + 1):
                if tags[word] != "O":
                    raise DataError(
                        f"{tags[word][2:]} and {argument.role} of {self.lemma!r} both cover word {word}; tags need "
                        "arguments that do not overlap."
                    )
                tags[word] = f"{'B' if word == argument.first else 'I'}-{argument.role}"
        return tags


@dataclass(frozen=True)
class RoleSentence(HtmlTable):
    """A sentence with its tree and its propositions.

    Attributes
    ----------
    words : tuple of str
        ``_`` stands for each word that a corpus may not show.
    propositions : tuple of Proposition
        In the order of their predicates.
    tree : Tree, optional
        Its leaves are the words.
    name : str
        Where it comes from.
    how : str
        How its tree was made, as in ``sapwood.parse.Sentence``; empty where that is not known.
    """

    words: tuple[str, ...]
    propositions: tuple[Proposition, ...] = ()
    tree: Tree | None = field(default=None, repr=False)
    name: str = ""
    how: str = field(default="", compare=False)

    _drawn_by: ClassVar[str] = "sapwood.draw.roles:roles_html"

    def __len__(self) -> int:
        return len(self.words)


def pieces(arguments: tuple[Argument, ...]) -> Iterator[tuple[str, tuple[tuple[int, int], ...]]]:
    """Join continuations with what they continue: yield each role with the spans of all its pieces.

    ``C-X`` joins the last X before it. Without any it is an X of its own.

    >>> list(pieces((Argument("A1", 0, 1), Argument("V", 2, 2), Argument("C-A1", 3, 5))))
    [('A1', ((0, 1), (3, 5))), ('V', ((2, 2),))]
    """
    whole: list[tuple[str, list[tuple[int, int]]]] = []
    latest: dict[str, int] = {}
    for argument in sorted(arguments, key=lambda one: one.first):
        role = argument.role.removeprefix("C-")
        if role != argument.role and role in latest:
            whole[latest[role]][1].append(argument.span)
        else:
            latest[role] = len(whole)
            whole.append((role, [argument.span]))
    for role, spans in whole:
        yield role, tuple(spans)


def short_role(role: str) -> str:
    """Write a role as CoNLL-2005 does.

    >>> [short_role(role) for role in ("ARG0", "ARGM-TMP", "R-ARG1", "C-ARGM-LOC", "ARGA", "V")]
    ['A0', 'AM-TMP', 'R-A1', 'C-AM-LOC', 'AA', 'V']
    """
    lead = role[:2] if role[:2] in ("R-", "C-") else ""
    return lead + role[len(lead) :].replace("ARG", "A", 1) if "ARG" in role else role


def long_role(role: str) -> str:
    """Write a role as PropBank does.

    >>> [long_role(role) for role in ("A0", "AM-TMP", "R-A1", "AA", "V", "C-V")]
    ['ARG0', 'ARGM-TMP', 'R-ARG1', 'ARGA', 'V', 'C-V']
    """
    lead = role[:2] if role[:2] in ("R-", "C-") else ""
    rest = role[len(lead) :]
    return f"{lead}ARG{rest[1:]}" if rest.startswith("A") and not rest.startswith("ARG") else role
