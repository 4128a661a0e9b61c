"""A tree seen from one of its predicates: what every feature of every candidate looks at, worked out once."""

from __future__ import annotations

from functools import cached_property

from sapwood.errors import DataError
from sapwood.tasks.roles.predicates import voice
from sapwood.trees.heads import HeadTable, bare_label
from sapwood.trees.positions import Positions
from sapwood.trees.tree import Tree

__all__ = ["Parse", "View"]

_HEADS = HeadTable()
# Productions repeat, and a look in a dictionary is many times quicker than a search through the table.
_KNOWN: dict[tuple[str, ...], int] = {}


class Parse:
    """A parsed sentence with the head word of every place.

    Parameters
    ----------
    tree : Tree
        A parse with Penn labels, its leaves the words.
    """

    def __init__(self, tree: Tree) -> None:
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
                key = (at.labels[node], *[at.labels[child] for child in below])
                if key not in _KNOWN:
                    if len(_KNOWN) > 200_000:
                        _KNOWN.clear()
                    _KNOWN[key] = _HEADS(key[0], key[1:])
                heads[node] = heads[below[_KNOWN[key]]]

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
        The place of its tag.
    lemma : str
        Its base form.
    given : tuple of int
        The places of all arguments, in the order of the sentence, where they are given.
    """

    def __init__(self, parse: Parse, predicate: int, lemma: str) -> None:
        self.given: tuple[int, ...] = ()
        self.parse, self.at = parse, parse.at
        self.predicate, self.lemma = predicate, lemma
        self.tag = parse.at.tag(predicate)
        self._above = {node: step for step, node in enumerate(parse.at.up(self.tag))}
        self._ways: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    @cached_property
    def voice(self) -> str:
        """Active or passive."""
        return voice(self.at, self.predicate)

    @cached_property
    def subcategorisation(self) -> str:
        """The production of the predicate's parent."""
        above = self.at.parent[self.tag]
        if above < 0:
            return ""
        return f"{self.at.labels[above]}->{'-'.join(self.at.labels[child] for child in self.at.children[above])}"

    @cached_property
    def noun_phrases(self) -> list[int]:
        """The noun phrases around the predicate: sisters on the way from its tag to the root, in order."""
        found = []
        node = self.tag
        while self.at.parent[node] >= 0:
            above = self.at.parent[node]
            found += [c for c in self.at.children[above] if c != node and bare_label(self.at.labels[c]) == "NP"]
            node = above
        return sorted(found)

    @cached_property
    def particle(self) -> str:
        """The particle of a phrasal verb, or nothing."""
        above = self.at.parent[self.tag]
        for child in self.at.children[above] if above >= 0 else ():
            if child > self.tag and self.at.labels[child] in ("PRT", "RP"):
                return self.parse.lower[self.at.first[child]]
        return ""

    def way(self, node: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the labels on the way from a place up to the common one, and from there down to the tag."""
        if node not in self._ways:
            rising, top = [], node
            while top not in self._above:
                rising.append(self.at.labels[top])
                top = self.at.parent[top]
            rising.append(self.at.labels[top])
            falling, below = [], self.tag
            while below != top:
                falling.append(self.at.labels[below])
                below = self.at.parent[below]
            self._ways[node] = (tuple(rising), tuple(reversed(falling)))
        return self._ways[node]
