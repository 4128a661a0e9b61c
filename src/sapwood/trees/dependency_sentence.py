"""Sentences with dependencies, and the ordered trees that kernels compare.

A dependency tree has its words inside, its relations on edges and its tags nowhere: kernels see labels of nodes only.
The shapes here differ in which of the three is put in the middle (Croce, Moschitti and Basili, 2011). Files are read by
``corpora``, what spaCy has parsed is taken over here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from sapwood.checks import check_choice
from sapwood.errors import DataError, TreeError
from sapwood.notebook import HtmlTable
from sapwood.trees.tree import Tree

__all__ = ["DependencySentence", "Labels", "Row", "Shape", "is_spacy"]

_WORD = re.compile(r"[1-9][0-9]*\Z")


class Row(NamedTuple):
    """One line of a sentence: a word, a range of words written as one, or an empty node."""

    id: str
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"

    @property
    def is_word(self) -> bool:
        """Whether the row is a word of the syntactic tree."""
        return _WORD.match(self.id) is not None


Labels = Callable[[Row], tuple[str, str, str]]
"""Gives the labels of a word's relation, tag and lemma nodes."""

Shape = Literal["relation", "lexical", "words"]


@dataclass(frozen=True)
class DependencySentence(HtmlTable):
    """A sentence with its dependency tree.

    Attributes
    ----------
    rows : tuple of Row
        Every row in order, ranges and empty nodes included.
    comments : tuple of str
        The comment lines, with their ``#``.

    Examples
    --------
    >>> s = DependencySentence((Row("1", "Rain", "rain", xpos="NN", head="2", deprel="nsubj"),
    ...                         Row("2", "fell", "fall", xpos="VBD", head="0", deprel="root")))
    >>> s.words, s.heads, s.root, s.tokens[1].lemma
    (('Rain', 'fell'), (2, 0), 2, 'fall')
    """

    rows: tuple[Row, ...]
    comments: tuple[str, ...] = ()

    @cached_property
    def tokens(self) -> tuple[Row, ...]:
        """The rows that are words; word n of the sentence is ``tokens[n - 1]``."""
        return tuple(row for row in self.rows if row.is_word)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The forms of the words."""
        return tuple(token.form for token in self.tokens)

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """The number of each word's head, 0 for the root's."""
        return tuple(int(token.head) for token in self.tokens)

    @property
    def root(self) -> int:
        """The number of the root."""
        return self.heads.index(0) + 1

    @property
    def metadata(self) -> dict[str, str]:
        """The comments of the form ``# name = value``."""
        pairs = (comment[1:].split("=", 1) for comment in self.comments if "=" in comment)
        return {name.strip(): value.strip() for name, value in pairs}

    @classmethod
    def from_spacy(cls, source: Any) -> DependencySentence:
        """Take over a sentence that a pipeline of spaCy has parsed.

        Parameters
        ----------
        source : spacy.tokens.Doc or spacy.tokens.Span
            One sentence: a document of one, or one of ``doc.sents``. Blanks are no words.

        Raises
        ------
        TreeError
            If it has several sentences, or has not been parsed.
        """
        if not is_spacy(source):
            raise TreeError(
                f"expected a document or a sentence of spaCy, got {type(source).__name__}; pass nlp(text), or one of "
                "its sents."
            )
        tokens = [token for token in source if not token.text.isspace()]
        if not tokens:
            raise TreeError("the text of spaCy has no words, so there is no tree.")
        if not source.doc.has_annotation("DEP"):
            raise TreeError(
                "the text of spaCy has not been parsed; use a pipeline with a parser, such as "
                "spacy.load('en_core_web_sm')."
            )
        numbers = {token.i: number for number, token in enumerate(tokens, 1)}
        rows = []
        for number, token in enumerate(tokens, 1):
            head = token.head
            while head.text.isspace() and head.head.i != head.i:
                head = head.head
            # A word whose head is itself, or is outside of the sentence, is a root.
            above = 0 if head.i == token.i else numbers.get(head.i, 0)
            relation = "root" if token.dep_ == "ROOT" else token.dep_ or "dep"
            feats = str(token.morph) or "_"
            lemma, upos, xpos = token.lemma_ or "_", token.pos_ or "_", token.tag_ or "_"
            misc = "_" if token.whitespace_ or _before_blank(token) else "SpaceAfter=No"
            rows.append(Row(str(number), token.text, lemma, upos, xpos, feats, str(above), relation, misc=misc))
        roots = sum(row.head == "0" for row in rows)
        if roots != 1:
            raise TreeError(
                f"the text of spaCy has {roots} sentences or parts without a common head; convert them one by one, as "
                "in [Tree.from_spacy(sentence) for sentence in doc.sents]."
            )
        return cls(tuple(rows))

    def to_spacy(self, vocab: Any = None) -> Any:
        """Make a document of spaCy with the words of the sentence, what is known of them, and their dependencies.

        Ranges and empty nodes are left out, and so are comments and enhanced dependencies, which it has no place for.

        Parameters
        ----------
        vocab : spacy.vocab.Vocab, optional
            The vocabulary of a pipeline, ``nlp.vocab``; by default a new one.
        """
        try:
            from spacy.tokens import Doc
            from spacy.vocab import Vocab
        except ImportError:
            raise TreeError("to_spacy needs spaCy, which is not installed: pip install spacy.") from None

        def column(name: str) -> list[str]:
            return ["" if value == "_" else value for value in (getattr(token, name) for token in self.tokens)]

        return Doc(
            Vocab() if vocab is None else vocab,
            words=list(self.words),
            spaces=["SpaceAfter=No" not in token.misc.split("|") for token in self.tokens],
            lemmas=column("lemma"),
            pos=column("upos"),
            tags=column("xpos"),
            morphs=column("feats"),
            heads=[number - 1 if head == 0 else head - 1 for number, head in enumerate(self.heads, 1)],
            deps=["ROOT" if token.head == "0" else token.deprel for token in self.tokens],
        )

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in (*self.comments, *map("\t".join, self.rows)))

    def to_tree(
        self,
        shape: Shape = "relation",
        *,
        labels: Literal["plain", "kelp"] | Labels = "plain",
        drop_relations: Collection[str] = ("punct",),
    ) -> Tree:
        """Make an ordered tree, dependents in the order of the sentence.

        Parameters
        ----------
        shape : {"relation", "lexical", "words"}
            ``relation`` (GRCT): each word is a node labeled with its relation; among its dependents, at its own place
            in the sentence, stand its tag and under that its lemma. ``lexical`` (LCT): lemmas over their dependents,
            each with its tag and relation as last leaves. ``words`` (LOCT): lemmas over their dependents, no more.
        labels : {"plain", "kelp"} or callable
            What the nodes are called. ``plain``: the relation, the tag (the language's own if there is one) and the
            lemma in lower case. ``kelp``: as KeLP does, with the kind first, and the lemma with the first letter of its
            tag. A callable takes a ``Row`` and gives the three labels.
        drop_relations : collection of str
            Words with these relations are left out, with all that depends on them.

        Examples
        --------
        >>> s = DependencySentence((Row("1", "Rain", "rain", xpos="NN", head="2", deprel="nsubj"),
        ...                         Row("2", "fell", "fall", xpos="VBD", head="0", deprel="root")))
        >>> for shape in ("relation", "lexical", "words"):
        ...     print(s.to_tree(shape))
        (root (nsubj (NN rain)) (VBD fall))
        (fall (rain NN nsubj) VBD root)
        (fall rain)
        >>> print(s.to_tree(labels="kelp"))
        (SYNT##root (SYNT##nsubj (POS##NN LEX##rain::n)) (POS##VBD LEX##fall::v))
        """
        check_choice(shape, "shape", tuple(_SHAPES))
        if not callable(labels):
            check_choice(labels, "labels", tuple(_LABELS))
            labels = _LABELS[labels]
        tokens = self.tokens
        children: list[list[int]] = [[] for _ in range(len(tokens) + 1)]
        for number, head in enumerate(self.heads, 1):
            # The root carries the sentence, whatever its relation is called.
            if head == 0 or tokens[number - 1].deprel not in drop_relations:
                children[head].append(number)
        # Heads first, so that reading the order backwards finds every dependent built.
        order = list(children[0])
        if len(order) != 1:
            raise DataError(f"a dependency tree needs exactly one root, this sentence has {len(order)}.")
        for number in order:
            order.extend(children[number])
        built: dict[int, Tree] = {}
        for number in reversed(order):
            before = [built.pop(child) for child in children[number] if child < number]
            after = [built.pop(child) for child in children[number] if child > number]
            built[number] = _SHAPES[shape](*labels(tokens[number - 1]), before, after)
        return built[order[0]]


def _before_blank(token: Any) -> bool:
    """Tell whether the next token of spaCy's is nothing but a blank."""
    return bool(token.i + 1 < len(token.doc) and token.nbor().text.isspace())


def is_spacy(value: object) -> bool:
    """Tell whether a value is a document or a sentence of spaCy, without importing it."""
    return type(value).__name__ in ("Doc", "Span") and type(value).__module__.startswith("spacy.tokens")


def _plain_labels(word: Row) -> tuple[str, str, str]:
    tag = word.xpos if word.xpos != "_" else word.upos
    lemma = word.lemma if word.lemma != "_" else word.form
    return word.deprel, tag, lemma.lower()


def _kelp_labels(word: Row) -> tuple[str, str, str]:
    relation, tag, lemma = _plain_labels(word)
    return f"SYNT##{relation}", f"POS##{tag}", f"LEX##{lemma}::{tag[0].lower()}"


_LABELS: Mapping[str, Labels] = {"plain": _plain_labels, "kelp": _kelp_labels}

_SHAPES: Mapping[str, Callable[[str, str, str, list[Tree], list[Tree]], Tree]] = {
    "relation": lambda relation, tag, lemma, before, after: Tree(relation, [*before, Tree(tag, [lemma]), *after]),
    "lexical": lambda relation, tag, lemma, before, after: Tree(lemma, [*before, *after, tag, relation]),
    "words": lambda _relation, _tag, lemma, before, after: Tree(lemma, [*before, *after]),
}
