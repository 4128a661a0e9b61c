"""What every parser does: words in, a tree out; batches; text in, sentences with their places out.

``Parser`` is the protocol, and ``BaseParser`` does all of it by one method, which a parser has to write. What else may
be given as ``parser=`` is in ``parameter``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, Self, runtime_checkable

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from sapwood import settings
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.fitting import SequenceInput
from sapwood.notebook import HtmlTable
from sapwood.parse.flat import flat_tree
from sapwood.parse.languages import other_script, warn_of_language
from sapwood.parse.sentences import split_sentences
from sapwood.parse.tokenizing import Token
from sapwood.penn import BRACKETS
from sapwood.trees.array import TreeArray
from sapwood.trees.convert import is_nltk
from sapwood.trees.tree import Tree, fold

__all__ = ["BaseParser", "Parser", "Sentence", "as_tree", "check_words", "refuse_text", "with_leaves"]

# Sentences parsed before the next ones are read: enough for all threads, few enough to show progress.
_BATCH = 256
# How other parsers spell what the tokenizer spells as the Penn Treebank does.
_SPELLINGS = {
    **BRACKETS,
    '"': "''", "``": "''", "“": "''", "”": "''", "`": "'", "‘": "'", "’": "'", "…": "...", "–": "--", "—": "--",
}  # fmt: skip


@dataclass(frozen=True)
class Sentence(HtmlTable):
    """A sentence with its tree, and how the tree came about.

    Attributes
    ----------
    words : tuple of str
        The leaves of the tree. Words of a text are ``Token`` objects, which know where they stand in it.
    tree : Tree
        Its tree.
    how : {"given", "parser", "fallback", "pieces", "flat"}
        The tree was given; made by the parser; by a simpler grammar behind it; put together from parts of the sentence;
        or it is ``flat_tree(words)``, because there was no parser or it found nothing.
    problem : str
        Why there is no parse, where ``how`` is ``"flat"``.

    Examples
    --------
    >>> from sapwood.parse import FlatParser
    >>> (sentence,) = FlatParser().parse_text("Rain fell.")
    >>> sentence.words, sentence.offsets
    (('Rain', 'fell', '.'), ((0, 4), (5, 9), (9, 10)))
    """

    words: tuple[str, ...]
    tree: Tree
    how: str = "parser"
    problem: str = field(default="", compare=False)

    @property
    def is_whole(self) -> bool:
        """Whether one tree was found for all words together."""
        return self.how not in ("pieces", "flat")

    @property
    def offsets(self) -> tuple[tuple[int, int], ...] | None:
        """Begin and end of each word in the text it is from; None if it is from no text."""
        if not all(isinstance(word, Token) for word in self.words):
            return None
        return tuple((word.begin, word.end) for word in self.words if isinstance(word, Token))


@runtime_checkable
class Parser(Protocol):
    """What every parser can do; derive from ``BaseParser`` to get all of it from one method."""

    def parse(self, sentence: Sequence[str]) -> Tree:
        """Return the tree of a sentence, given as its words."""
        ...

    def parse_batch(self, sentences: Iterable[Sequence[str]]) -> TreeArray:
        """Return the trees of many sentences."""
        ...

    def parse_sentences(self, sentences: Iterable[Sequence[str]]) -> Iterator[Sentence]:
        """Yield a tree for every sentence, flat where there is no parse, with how it was made."""
        ...

    def parse_text(self, text: str) -> list[Sentence]:
        """Split text into sentences and words, and parse them."""
        ...

    def transform(self, X: Iterable[Any]) -> TreeArray:
        """Return one element per text: a tree, or a bag of trees where it has several sentences."""
        ...


class BaseParser(SequenceInput, BaseEstimator):
    """Base class of parsers: subclasses write ``_parse_words``, and ``fit`` if they learn.

    As a parameter of another estimator a parser keeps what it has learnt: scikit-learn's ``clone`` copies it together
    with the parser. In a ``Pipeline`` it is used as it is; train it beforehand.

    Attributes
    ----------
    language : str or None
        The language it is for; with ``"en"``, which models of an English package have, ``parse_text`` warns of
        sentences that do not look English, and those in another script have no parse. None where that is not known.
    """

    language: str | None = None

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        """Return per sentence a tree (or anything ``as_tree`` takes) and how it was made, or what went wrong.

        Sentences have at least one word. What is raised counts for all of them; they are then tried one by one.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how to parse.")

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Do nothing: this parser does not learn."""
        return self

    def parse(self, sentence: Sequence[str]) -> Tree:
        """Return the tree of a sentence.

        Parameters
        ----------
        sentence : sequence of str
            The words; ``sapwood.parse.tokenize`` makes them from text.

        Raises
        ------
        DataError
            If the parser finds no tree, or one of other words.
        """
        (found,) = self.parse_sentences([refuse_text(sentence)])
        return _parsed_tree(found, 0)

    def parse_batch(self, sentences: Iterable[Sequence[str]]) -> TreeArray:
        """Return the tree of each sentence; raises if one has none."""
        found = enumerate(self.parse_sentences(sentences))
        return TreeArray(_parsed_tree(one, index) for index, one in found)

    def parse_sentences(self, sentences: Iterable[Sequence[str]]) -> Iterator[Sentence]:
        """Yield every sentence with a tree: a flat one where there is no parse, with the reason.

        Parameters
        ----------
        sentences : iterable of sequences of str
            Words, such as those of ``split_sentences``; read batch by batch as the answers are taken.

        Examples
        --------
        >>> from sapwood.parse import as_parser
        >>> (sentence,) = as_parser(lambda words: None).parse_sentences([["Rain", "fell"]])
        >>> print(sentence.tree, sentence.how, "-", sentence.problem)
        (X (NN Rain) (NN fell)) flat - the parser gave no tree
        """
        source = enumerate(sentences)
        while batch := list(islice(source, _BATCH)):
            given = [check_words(words, index) for index, words in batch]
            # The progress of whoever asks is shown, not that of every batch.
            with settings.options(progress=False):
                answers = self._answers([[str(word) for word in words] for words in given])
            for words, answer in zip(given, answers, strict=True):
                yield _sentence(tuple(words), answer)

    def parse_text(self, text: str) -> list[Sentence]:
        """Split text into sentences and words, and parse them.

        Returns
        -------
        list of Sentence
            Their words are ``Token`` objects: ``text[word.begin:word.end]`` is what stands in the text.
        """
        sentences = split_sentences(text)
        warn_of_language(self.language, sentences)
        return list(self.parse_sentences(sentences))

    def transform(self, X: Iterable[Any]) -> TreeArray:
        """Parse texts into an array that kernels and learners take.

        Parameters
        ----------
        X : iterable of str
            Texts; lists of words, trees and trees in brackets are taken as well.

        Returns
        -------
        TreeArray
            One element per text: a tree, or a bag of trees where a text has several sentences or none. What the parser
            finds no tree for gets a flat one, with a warning.
        """
        return self._transformed(X, training=False)

    def fit_transform(self, X: Iterable[Any], y: Any = None) -> TreeArray:
        """Parse texts to learn from; an error if the parser finds no tree for any of them.

        In a ``Pipeline`` a parser learns nothing from texts, and must have been trained before.
        """
        return self._transformed(X, training=True)

    def _transformed(self, X: Iterable[Any], *, training: bool) -> TreeArray:
        from sapwood.parse.reading import read_examples

        reading = read_examples(X, self, what="text")
        reading.report(training=training)
        return reading.array()

    def _answers(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        if self.language != "en":
            return self._tried(sentences)
        scripts = [other_script(words) for words in sentences]
        some = [words for words, script in zip(sentences, scripts, strict=True) if script is None]
        parsed = iter(self._tried(some) if some else ())
        return [next(parsed) if one is None else DataError(f"{one}, and the parser is for English") for one in scripts]

    def _tried(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        try:
            answers = list(self._parse_words(sentences))
        except (MemoryError, ModelFileError, NotFittedError, NotImplementedError, ParameterError):
            raise  # of the parser, not of a sentence
        except Exception as error:
            if len(sentences) == 1:
                return [error]
            return [answer for words in sentences for answer in self._tried([words])]
        if len(answers) != len(sentences):
            raise ParameterError(
                f"{type(self).__name__}._parse_words gave {len(answers)} answers for {len(sentences)} sentences; "
                "expected a pair of a tree and how it was made, or an exception, for each."
            )
        return answers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = type(self).fit is not BaseParser.fit
        return tags

    def __sklearn_clone__(self) -> Self:
        # What was learnt is never changed in place, so that two parsers can share it.
        return copy(self)


def as_tree(found: Any) -> Tree | None:
    """Return what a parser gave as a Tree; None if it gave none."""
    if found is None or isinstance(found, Tree):
        return found
    if isinstance(found, str):
        return Tree.fromstring(found)
    if is_nltk(found):
        return Tree.from_nltk(found)
    if isinstance(found, Iterable):
        return as_tree(next(iter(found), None))
    raise DataError(f"the parser gave a {type(found).__name__}; expected a Tree.")


def check_words(words: Any, index: int, what: str = "sentence") -> list[str]:
    """Return the words of a sentence as a list, or say what is wrong with them."""
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise DataError(
            f"{what} {index} is a {type(words).__name__}; expected a list of words, as sapwood.parse.tokenize gives."
        )
    found = list(words)
    if not found:
        raise DataError(f"{what} {index} has no words; leave empty ones out.")
    for position, word in enumerate(found):
        where = f"word {position} of {what} {index}"
        if not isinstance(word, str):
            raise DataError(f"{where} is {word!r} ({type(word).__name__}); expected a str.")
        if not word:
            raise DataError(f"{where} is empty; leave empty words out.")
        try:
            word.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{where}, {word!r}, holds half a character (a lone surrogate); decode the text with errors='replace'."
            ) from None
        if "\0" in word:
            raise DataError(f"{where}, {word!r}, holds a NUL character; remove it.")
    return found


def refuse_text(sentence: Any) -> Any:
    """Return a sentence of words, or say that text must be split first."""
    if isinstance(sentence, str):
        raise DataError("expected a list of words, got a str; parse_text(text) splits and parses text.")
    return sentence


def _sentence(words: tuple[str, ...], answer: tuple[Any, str] | Exception) -> Sentence:
    """Check what a parser gave for a sentence; where that is no tree of its words, make a flat one."""
    problem = ""
    if isinstance(answer, Exception):
        problem = _reason(answer)
    else:
        try:
            found, how = answer
            tree = as_tree(found)
        except Exception as error:
            tree, problem = None, _reason(error)
        if tree is not None:
            tree, problem = _with_words(tree, words)
        if tree is not None:
            return Sentence(words, tree, how)
    return Sentence(
        words, flat_tree([str(word) for word in words]), "flat", problem.rstrip(".") or "the parser gave no tree"
    )


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"


def _with_words(tree: Tree, words: tuple[str, ...]) -> tuple[Tree | None, str]:
    """Return the tree over exactly these words, whatever spelling of brackets and quotes the parser prefers."""
    leaves = tree.leaves()
    if tree.is_leaf:
        return None, "the parser gave a single leaf"
    if leaves == words:
        return tree, ""
    for at, (leaf, word) in enumerate(zip(leaves, words, strict=False)):
        if leaf != word and _SPELLINGS.get(leaf, leaf) != _SPELLINGS.get(word, word):
            return None, f"the leaves of the parser's tree are not the words: word {at} is {word!r}, the leaf {leaf!r}"
    if len(leaves) != len(words):
        return None, f"the parser's tree has {len(leaves)} leaves for {len(words)} words"
    return with_leaves(tree, words), ""


def with_leaves(tree: Tree, words: Sequence[str]) -> Tree:
    """Put words in the place of the leaves."""
    following = iter(words)
    return fold(
        tree,
        lambda node: node.children,
        lambda node, below: Tree(node.label, below) if below else Tree(next(following)),
    )


def _parsed_tree(found: Sentence, index: int) -> Tree:
    if found.how == "flat":
        raise DataError(f"sentence {index}, {' '.join(found.words)[:60]!r}, has no parse: {found.problem}.")
    return found.tree
