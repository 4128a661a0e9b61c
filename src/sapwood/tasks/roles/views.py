"""A tree seen from one of its predicates: what the features of all candidates have in common, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.tasks.roles.paths import Path
from sapwood.tasks.roles.predicates import voice
from sapwood.trees.heads import HeadTable, bare_label
from sapwood.trees.positions import Positions
from sapwood.trees.tree import Tree
from sapwood.words.encoder.encoding import EncoderSpec

if TYPE_CHECKING:
    from sapwood.tasks.roles.feature_sets import FeatureSet

__all__ = ["Candidate", "Parse", "View", "parses_of"]

_HEADS = HeadTable()


@lru_cache(maxsize=1 << 17)
def _head_child(label: str, children: tuple[str, ...]) -> int:
    # Productions repeat, and the cache is many times quicker than a search through the table.
    return _HEADS(label, children)


class Parse:
    """A parsed sentence with the head word of every node.

    Parameters
    ----------
    tree : Tree
        A parse with Penn labels, its leaves the words.

    Attributes
    ----------
    context : pair of EncoderSpec and array, optional
        The vectors of its words, and the encoder that they are from.
    described : dict
        By sets of features, what those of nodes alone are; empty text stands for the others.
    """

    def __init__(self, tree: Tree) -> None:
        self.context: tuple[EncoderSpec, NDArray[np.float16]] | None = None
        self.described: dict[FeatureSet, dict[int, list[str]]] = {}
        self.at = at = Positions(tree)
        if not tree.children:
            raise DataError(f"the tree is the single word {tree.label!r}; expected a parse with tags above the words.")
        self.words = [at.labels[leaf] for leaf in at.leaves]
        self.tags = [at.labels[at.parent[leaf]] for leaf in at.leaves]
        self.lower = [word.lower() for word in self.words]
        self.heads = heads = [0] * len(at)
        for node in range(len(at) - 1, -1, -1):
            below = at.children[node]
            if not below:
                heads[node] = at.first[node]
            elif len(below) == 1:
                heads[node] = heads[below[0]]
            else:
                labels = tuple([at.labels[child] for child in below])
                heads[node] = heads[below[_head_child(at.labels[node], labels)]]

    def view(self, predicate: int, lemma: str) -> View:
        """Look at the sentence from a predicate."""
        return View(self, predicate, lemma)


class View:
    """A parsed sentence seen from one predicate.

    Attributes
    ----------
    parse : Parse
        The sentence.
    predicate : int
        The predicate's word.
    tag : int
        The node of its tag.
    lemma : str
        Its base form.
    given : tuple of int
        The nodes of all arguments, in the order of the sentence, where they are given.
    described : dict
        By sets of features, those of the predicate alone with their numbers.
    """

    def __init__(self, parse: Parse, predicate: int, lemma: str) -> None:
        self.given: tuple[int, ...] = ()
        self.described: dict[FeatureSet, list[tuple[int, str]]] = {}
        self.parse, self.at = parse, parse.at
        self.predicate, self.lemma = predicate, lemma
        self.tag = parse.at.tag(predicate)
        self._paths: dict[int, Path] = {}

    @cached_property
    def voice(self) -> str:
        """Active or passive."""
        return voice(self.at, self.predicate)

    @cached_property
    def subcategorization(self) -> str:
        """The production of the predicate's parent."""
        above = self.at.parent[self.tag]
        if above < 0:
            return ""
        return f"{self.at.labels[above]}->{'-'.join(self.at.labels[child] for child in self.at.children[above])}"

    @cached_property
    def noun_phrases(self) -> list[int]:
        """The noun phrases that are siblings of the predicate's tag or of a node above it, in order."""
        at = self.at
        return sorted(
            child
            for node in at.up(self.tag)
            if at.parent[node] >= 0
            for child in at.children[at.parent[node]]
            if child != node and bare_label(at.labels[child]) == "NP"
        )

    @cached_property
    def frames(self) -> dict[int, str]:
        """The sequence of these and the predicate: for each of them, which is then in capitals, and for -1."""
        names = ["np"] * len(self.noun_phrases)
        names.insert(sum(phrase < self.tag for phrase in self.noun_phrases), "v")
        found = {-1: "_".join(names)}
        for number, phrase in enumerate(self.noun_phrases):
            at = number + (phrase > self.tag)
            found[phrase] = "_".join([*names[:at], "NP", *names[at + 1 :]])
        return found

    @cached_property
    def particle(self) -> str:
        """The particle of a phrasal verb, or nothing."""
        above = self.at.parent[self.tag]
        for child in self.at.children[above] if above >= 0 else ():
            if child > self.tag and self.at.labels[child] in ("PRT", "RP"):
                return self.parse.lower[self.at.first[child]]
        return ""

    @cached_property
    def _falling(self) -> dict[int, tuple[str, ...]]:
        """For the predicate's tag and every node above, the labels from below it down to the tag."""
        found: dict[int, tuple[str, ...]] = {}
        below: tuple[str, ...] = ()
        for node in self.at.up(self.tag):
            found[node] = below
            below = (self.at.labels[node], *below)
        return found

    def path(self, node: int) -> Path:
        """Return the path from a node to the predicate's tag."""
        found = self._paths.get(node)
        if found is None:
            rising, falling, above = [self.at.labels[node]], self._falling, node
            while above not in falling:
                above = self.at.parent[above]
                rising.append(self.at.labels[above])
            found = self._paths[node] = Path.of(tuple(rising), falling[above])
        return found


Candidate = tuple[View, int]
"""A constituent that may be an argument of a predicate: the view from the predicate, and the node."""


def parses_of(candidates: Sequence[Candidate]) -> list[Parse]:
    """Return the parses behind candidates, each once."""
    return list({id(view.parse): view.parse for view, _ in candidates}.values())
