"""What a nursery holds: sentences with their trees and events, pairs of them, and further layers made when asked for.

How sentences are made is in ``generator``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np

from sapwood.checks import check_count
from sapwood.corpora.nbest import NBest
from sapwood.corpora.nursery.alternatives import alternatives
from sapwood.corpora.nursery.grammar import Event
from sapwood.corpora.nursery.lexicon import Lexicon
from sapwood.corpora.nursery.roles import with_roles
from sapwood.corpora.questions import Question
from sapwood.errors import ParameterError
from sapwood.notebook import HtmlTable
from sapwood.trees.array import TreeArray
from sapwood.trees.propositions import RoleSentence
from sapwood.trees.tree import Tree

__all__ = ["Nursery", "NurseryPair", "NurserySentence"]


@dataclass(frozen=True)
class NurserySentence(HtmlTable):
    """A sentence of the nursery with everything that is known about it.

    Attributes
    ----------
    tree : Tree
        Its gold tree.
    event : Event
        What it tells or asks about; the ground on which further layers, such as roles and frames, can be laid.
    construction : str
        How it does so.
    predicate : int
        The position of the main verb among the words.
    spans : mapping of str to (int, int)
        First and last position of the words that fill each slot of the event.
    group : int
        Sentences about the same event have the same number; keep a group on one side of a split.
    label : (str, str), optional
        Coarse and fine type, for questions.
    """

    tree: Tree
    event: Event
    construction: str
    predicate: int
    spans: Mapping[str, tuple[int, int]]
    group: int
    label: tuple[str, str] | None = None

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words."""
        return self.tree.leaves()


@dataclass(frozen=True)
class NurseryPair:
    """Two sentences, by their numbers in the nursery, whether they mean the same, and how the second was made."""

    first: int
    second: int
    same: bool
    how: str


@dataclass(frozen=True)
class Nursery(HtmlTable):
    """A generated corpus, for trying things out: scores on it say that code works, nothing about language.

    Attributes
    ----------
    sentences : tuple of NurserySentence
        Statements, questions and their partners.
    pairs : tuple of NurseryPair
        Half of them paraphrases.
    lexicon : Lexicon
        Words, synonyms and taxonomy behind them.
    seed : int
        What they were generated from.
    """

    sentences: tuple[NurserySentence, ...]
    pairs: tuple[NurseryPair, ...]
    lexicon: Lexicon
    seed: int

    def __repr__(self) -> str:
        questions = sum(sentence.label is not None for sentence in self.sentences)
        return (
            f"Nursery({len(self.sentences):,} sentences, {questions:,} of them questions; {len(self.pairs):,} pairs; "
            f"seed {self.seed})"
        )

    @cached_property
    def trees(self) -> TreeArray:
        """The gold trees of all sentences."""
        return TreeArray([sentence.tree for sentence in self.sentences])

    def questions(self) -> list[Question]:
        """Return the questions with their types; ``tree`` is the best-scored parse, ``gold`` the gold tree."""
        made = []
        for number, sentence in enumerate(self.sentences):
            if sentence.label is not None:
                best = self._alternatives(number, 12)[0][1]
                made.append(Question(*sentence.label, sentence.words, best, sentence.tree))
        return made

    def forest(self, number: int, *, limit: int = 12) -> NBest:
        """Return the alternative parses of one sentence with scores, best first; the gold tree is among them."""
        pairs = self._alternatives(number, limit)
        return NBest(
            TreeArray([tree for _, tree in pairs]),
            np.array([score for score, _ in pairs]),
            self.sentences[number].tree,
            f"nursery-{self.seed}-{number}",
        )

    def forests(self, *, limit: int = 12) -> list[NBest]:
        """Return the alternative parses of every sentence; see ``forest``."""
        return [self.forest(number, limit=limit) for number in range(len(self.sentences))]

    def role_sentences(self) -> list[RoleSentence]:
        """Return every sentence with its propositions, as PropBank writes them.

        >>> from sapwood.corpora import nursery
        >>> sentence = nursery.generate(size=30).role_sentences()[1]
        >>> " ".join(sentence.words)
        'Which object is built by the lawyer in a yard ?'
        >>> [(a.role, a.span) for a in sentence.propositions[0].arguments]
        [('A1', (0, 1)), ('V', (3, 3)), ('A0', (4, 6)), ('AM-LOC', (7, 9))]
        """
        return [with_roles(sentence, f"nursery-{self.seed}-{at}") for at, sentence in enumerate(self.sentences)]

    def _alternatives(self, number: int, limit: int) -> list[tuple[float, Tree]]:
        check_count(limit, "limit")
        if not -len(self.sentences) <= number < len(self.sentences):
            raise ParameterError(f"there are {len(self.sentences):,} sentences, and none has the number {number!r}.")
        # Every sentence has a generator of its own, so that its forest does not depend on what was asked before.
        uniform = Random(f"nursery {self.seed} {number}").random
        return alternatives(self.sentences[number].tree, limit=limit, uniform=uniform)
