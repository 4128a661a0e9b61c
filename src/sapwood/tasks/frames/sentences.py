"""Sentences as argument identification sees them: words, base forms, supersenses, dependencies, constituents.

Made from a constituency tree, whose head rules give the dependencies, or from CoNLL-U, which has dependencies and no
constituents. Which spans may fill a role belongs to ``spans``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sapwood.corpora.conllu import DependencySentence
from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.penn import BE, BRACKETS, FINITE_TAGS, HAVE
from sapwood.trees.dependencies import Constituents, dependencies, head_constituents, joined_constituents
from sapwood.trees.tree import Tree
from sapwood.words.lemmas import lemma
from sapwood.words.senses import WordSenses

__all__ = ["ParsedSentence"]

_ESCAPES = {name: sign for sign, name in BRACKETS.items()}


@dataclass(frozen=True)
class ParsedSentence(HtmlTable):
    """A sentence that has been parsed.

    Attributes
    ----------
    words, tags, lemmas : tuple of str
        Tokens, Penn parts of speech, base forms.
    heads : tuple of int
        Number of each token's head, counted from 0; -1 for the root's.
    relations : tuple of str
        What each token is to its head.
    offsets : tuple of (int, int)
        First and last character of each token in the text.
    supersenses : tuple of str
        WordNet's class of each token; empty text where it has none or WordNet is missing.
    constituents : Constituents, optional
        The phrases, if there was a tree.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    supersenses: tuple[str, ...]
    constituents: Constituents | None = field(default=None, repr=False)

    @classmethod
    def from_tree(
        cls, tree: Tree, *, offsets: Sequence[tuple[int, int]] | None = None, senses: WordSenses | None = None
    ) -> ParsedSentence:
        """Make a sentence from its constituency tree; the dependencies follow from head rules.

        Parameters
        ----------
        tree : Tree
            With a part of speech above every word.
        offsets : sequence of (int, int), optional
            First and last character of each word in the text; by default words are taken to be separated by one space.
        senses : WordSenses, optional
            Where supersenses come from; without it, there are none.

        Examples
        --------
        >>> sentence = ParsedSentence.from_tree(Tree.fromstring("(S (NP (DT the) (NNS dogs)) (VP (VBD barked)))"))
        >>> sentence.lemmas, sentence.heads, sentence.offsets
        (('the', 'dog', 'bark'), (1, 2, -1), ((0, 2), (4, 7), (9, 14)))
        """
        nodes = head_constituents(tree)
        links = dependencies(nodes)
        # Brackets are spelled out in trees and must not be in texts.
        words = tuple(_ESCAPES.get(word, word) for word in nodes.words)
        return _sentence(words, nodes.tags, None, links.heads, links.relations, offsets, senses, nodes)

    @classmethod
    def from_conllu(
        cls,
        sentence: DependencySentence,
        *,
        offsets: Sequence[tuple[int, int]] | None = None,
        senses: WordSenses | None = None,
    ) -> ParsedSentence:
        """Make a sentence from CoNLL-U rows; fine-grained tags (XPOS) are used where there are any.

        Parameters are those of ``from_tree``. Candidate spans and features that need constituents are left out.
        """
        rows = sentence.tokens
        relations = tuple(row.deprel for row in rows)
        tags = tuple(row.xpos if row.xpos != "_" else _PENN.get(row.upos, row.upos) for row in rows)
        lemmas = None if any(row.lemma == "_" for row in rows) else tuple(row.lemma.lower() for row in rows)
        heads = tuple(head - 1 for head in sentence.heads)
        return _sentence(sentence.words, tags, lemmas, heads, relations, offsets, senses, None)

    @classmethod
    def from_tags(
        cls,
        words: Sequence[str],
        tags: Sequence[str],
        *,
        offsets: Sequence[tuple[int, int]] | None = None,
        senses: WordSenses | None = None,
    ) -> ParsedSentence:
        """Make a sentence that no parser has handled: a flat tree over its tagged words.

        FrameNet's own tags (``VVD``, ``nn``, ``NP``) are turned into those of the Penn Treebank. Single words and
        stretches beside the target are then the only candidates, so it is a last resort.

        Examples
        --------
        >>> ParsedSentence.from_tags(["Rain", "fell"], ["nn", "VVD"]).tags
        ('NN', 'VBD')
        """
        if len(words) != len(tags):
            raise DataError(f"there are {len(words)} words but {len(tags)} tags; give one tag per word.")
        pairs = zip(words, tags, strict=True)
        leaves = [Tree(_penn_tag(tag), [BRACKETS.get(word, word)]) for word, tag in pairs]
        return cls.from_tree(Tree("S", leaves), offsets=offsets, senses=senses)

    @classmethod
    def joined(cls, sentences: Sequence[ParsedSentence]) -> ParsedSentence:
        """Make one out of sentences that follow each other, with a space between their texts.

        Nothing connects their trees, so that no constituent and no path leads from one to another. If one of them has
        no constituents, neither has the whole.

        Examples
        --------
        >>> rain = ParsedSentence.from_tree(Tree.fromstring("(S (NP (NN Rain)) (VP (VBD fell)))"))
        >>> both = ParsedSentence.joined([rain, rain])
        >>> both.heads, both.offsets
        ((1, -1, 3, -1), ((0, 3), (5, 8), (10, 13), (15, 18)))
        """
        heads: list[int] = []
        offsets: list[tuple[int, int]] = []
        for one in sentences:
            by, start = len(heads), offsets[-1][1] + 2 if offsets else 0
            heads += [head + by if head >= 0 else -1 for head in one.heads]
            offsets += [(first + start, last + start) for first, last in one.offsets]
        nodes = [one.constituents for one in sentences if one.constituents is not None]
        return cls(
            tuple(word for one in sentences for word in one.words),
            tuple(tag for one in sentences for tag in one.tags),
            tuple(lemma for one in sentences for lemma in one.lemmas),
            tuple(heads),
            tuple(relation for one in sentences for relation in one.relations),
            tuple(offsets),
            tuple(sense for one in sentences for sense in one.supersenses),
            joined_constituents(nodes) if len(nodes) == len(sentences) else None,
        )

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The dependents of each token, in the order of the sentence."""
        return _children(self.heads)

    @cached_property
    def phrase_children(self) -> tuple[tuple[int, ...], ...]:
        """The constituents right below each constituent, in the order of the sentence."""
        return _children(self.constituents.parents) if self.constituents is not None else ()

    @cached_property
    def reach(self) -> tuple[tuple[int, int], ...]:
        """The first and last token among each token and everything below it."""
        low, high = list(range(len(self))), list(range(len(self)))
        for token in self.bottom_up:
            head = self.heads[token]
            if head >= 0:
                low[head], high[head] = min(low[head], low[token]), max(high[head], high[token])
        return tuple(zip(low, high, strict=True))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """How far each token lies below the root."""
        found = [0] * len(self)
        for token in reversed(self.bottom_up):
            if self.heads[token] >= 0:
                found[token] = found[self.heads[token]] + 1
        return tuple(found)

    @cached_property
    def bottom_up(self) -> tuple[int, ...]:
        """The tokens in an order in which dependents come before their heads."""
        order = [token for token, head in enumerate(self.heads) if head < 0]
        for token in order:
            order.extend(self.children[token])
        if len(order) != len(self):
            raise DataError("the dependencies of a sentence form a circle; expected a tree.")
        return tuple(reversed(order))

    @cached_property
    def voices(self) -> tuple[str, ...]:
        """``PAS`` or ``ACT`` for verbs, nothing for others."""
        return tuple(self._voice(token) for token in range(len(self)))

    def _voice(self, token: int) -> str:
        if not self.tags[token].startswith("V"):
            return ""
        if self.words[token].lower() == "been" or self.tags[token] != "VBN":
            return "ACT"
        at = self.heads[token]
        while at >= 0:
            word, tag = self.words[at].lower(), self.tags[at]
            if tag.startswith("NN") or word in BE:
                return "PAS"
            if word in HAVE:
                return "ACT"
            if tag in FINITE_TAGS:
                return "PAS"
            at = self.heads[at]
        return "PAS"

    def head_of(self, first: int, last: int) -> int:
        """Return the head of a span: of the tokens whose own head lies outside, the one that its kind of phrase wants.

        >>> sentence = ParsedSentence.from_tree(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD barked)))"))
        >>> sentence.words[sentence.head_of(0, 1)]
        'dog'
        """
        tops = [token for token in range(first, last + 1) if not first <= self.heads[token] <= last]
        if len(tops) == 1:
            return tops[0]
        tag = self.tags[tops[0]]
        if tag.startswith("V"):
            return tops[0]
        if tag.startswith("J"):
            return tops[-1]
        if tag.startswith("N") and any(word.lower() == "of" for word in self.words[first : last + 1]):
            return tops[0]
        return tops[-1]

    def tokens_in(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the first and last token of a span of characters; None if it does not fall on token boundaries."""
        first, last = self._starts.get(start), self._ends.get(end)
        return (first, last) if first is not None and last is not None and first <= last else None

    def tokens_touching(self, start: int, end: int) -> list[int]:
        """Return the tokens that share a character with a span."""
        return [token for token, (low, high) in enumerate(self.offsets) if low <= end and start <= high]

    @cached_property
    def _starts(self) -> dict[int, int]:
        return {start: token for token, (start, _) in enumerate(self.offsets)}

    @cached_property
    def _ends(self) -> dict[int, int]:
        return {end: token for token, (_, end) in enumerate(self.offsets)}


def _children(parents: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    below: list[list[int]] = [[] for _ in parents]
    for number, parent in enumerate(parents):
        if parent >= 0:
            below[parent].append(number)
    return tuple(map(tuple, below))


def _penn_tag(tag: str) -> str:
    tag = tag.upper()
    if tag[:2] in ("VV", "VH", "VD"):
        return f"VB{tag[2:]}"
    return {"NP": "NNP", "NPS": "NNPS", "PP": "PRP", "PP$": "PRP$", "SENT": ".", **BRACKETS}.get(tag, tag or "NN")


_PENN = {"NOUN": "NN", "PROPN": "NNP", "VERB": "VB", "AUX": "VB", "ADJ": "JJ", "ADV": "RB", "ADP": "IN", "DET": "DT",
         "PRON": "PRP", "NUM": "CD", "CCONJ": "CC", "SCONJ": "IN", "PUNCT": ".", "PART": "RB"}  # fmt: skip


def _sentence(
    words: tuple[str, ...],
    tags: tuple[str, ...],
    lemmas: tuple[str, ...] | None,
    heads: tuple[int, ...],
    relations: tuple[str, ...],
    offsets: Sequence[tuple[int, int]] | None,
    senses: WordSenses | None,
    constituents: Constituents | None,
) -> ParsedSentence:
    if offsets is None:
        placed, start = [], 0
        for word in words:
            placed.append((start, start + len(word) - 1))
            start += len(word) + 1
        offsets = placed
    elif len(offsets) != len(words):
        raise DataError(f"there are {len(offsets)} offsets for {len(words)} words; give one pair per word.")
    pairs = list(zip(words, tags, strict=True))
    if lemmas is None:
        lemmas = tuple(lemma(word, tag) for word, tag in pairs)
    kinds = [senses.supersense(word, tag) if senses else "" for word, tag in pairs]
    return ParsedSentence(
        words, tags, lemmas, heads, relations, tuple((int(a), int(b)) for a, b in offsets), tuple(kinds), constituents
    )
