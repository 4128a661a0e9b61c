"""From examples as users have them to trees: text, lists of words, trees, trees in brackets, mixed as they come.

Every task reads its input here, so that they all take the same things, split text in the same way, and tell of what
could not be parsed in the same words.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import settings
from sapwood.callers import levels_to_user
from sapwood.errors import DataError, ParameterError, SapwoodError
from sapwood.notebook import HtmlTable
from sapwood.parse.base import BaseParser, Sentence, check_words
from sapwood.parse.flat import flat_tree
from sapwood.parse.languages import warn_of_language
from sapwood.parse.parameter import as_parser
from sapwood.parse.sentences import split_sentences
from sapwood.parse.tokenizing import check_text
from sapwood.trees.array import TreeArray
from sapwood.trees.arrow import unpacked
from sapwood.trees.convert import is_frame, is_missing, is_nltk
from sapwood.trees.tree import Tree

__all__ = ["NO_PARSER", "Reading", "check_listed", "is_text", "read_examples", "read_text", "split_example"]

# What trees begin with and are full of, and text hardly ever: (S (NP, and (NN rain).
_NESTED = re.compile(r"\s*\(\s*(?:[A-Z][A-Z0-9|=+^$@-]*)?\s*\(")
_TAGGED = re.compile(r"\([A-Z][A-Z$-]* [^\s()]+\)")

NO_PARSER = "no parser was given"
"""The problem of a sentence that has a flat tree because there is no parser."""


@dataclass(frozen=True)
class Reading(HtmlTable):
    """Examples with the trees of their sentences.

    Attributes
    ----------
    examples : list of tuples of Sentence
        One tuple per example; empty for a text without words.
    what : str
        What an example is called in messages.
    """

    examples: list[tuple[Sentence, ...]]
    what: str = "example"

    @property
    def unparsed(self) -> NDArray[np.bool_]:
        """Which examples have a sentence without a whole parse: a flat tree, or one put together from pieces."""
        return np.array([any(not one.is_whole for one in each) for each in self.examples], dtype=np.bool_)

    def array(self) -> TreeArray:
        """Return the trees: one per example, or bags where an example has several sentences or none."""
        return TreeArray(each[0].tree if len(each) == 1 else tuple(one.tree for one in each) for each in self.examples)

    def report(self, *, training: bool = False, kept: bool = True) -> None:
        """Warn once of examples whose trees are flat; raise if no sentence that had to be parsed has another tree.

        Parameters
        ----------
        training : bool
            Whether something is to be learnt from these trees: only then is it an error if none could be parsed.
        kept : bool
            Whether flat trees are used; otherwise the warning says that these examples are left out.
        """
        asked = [(at, one) for at, each in enumerate(self.examples) for one in each if one.how != "given"]
        flat = [(at, one) for at, one in asked if one.how == "flat"]
        if not flat:
            return
        count = len({at for at, _ in flat})
        first, sentence = flat[0]
        if sentence.problem == NO_PARSER:
            message = (
                f"{count:,} of {len(self.examples):,} {self.what}s are text, and there is no parser: they are used as "
                "flat trees of their words. Pass parser=, such as a PCFGParser that has learnt from a treebank, or "
                "parser=FlatParser() to do so on purpose."
            )
        else:
            cause = f"{self.what} {first}, {' '.join(sentence.words)[:60]!r}: {sentence.problem}"
            if training and len(flat) == len(asked):
                raise DataError(
                    f"the parser found no tree for any of the {count:,} {self.what}s it was given; {cause}."
                )
            used = "used as flat trees of their words" if kept else "left out"
            message = (
                f"the parser found no tree for {count:,} of {len(self.examples):,} {self.what}s, which are {used}; "
                f"{cause}."
            )
        warnings.warn(message, UserWarning, stacklevel=levels_to_user())

    def need_trees(self) -> None:
        """Raise if an example has flat trees because there is no parser, for tasks that cannot do with words alone."""
        if any(one.problem == NO_PARSER for each in self.examples for one in each):
            raise ParameterError(
                "words and text have no tree; pass parser=, such as a PCFGParser that has learnt from a treebank, or "
                "pass trees."
            )

    def single(self, whole_texts: str) -> list[Sentence]:
        """Return the sentence of each example, for tasks that take one at a time and need its tree.

        Parameters
        ----------
        whole_texts : str
            The method that takes text of several sentences, for the message.
        """
        for index, each in enumerate(self.examples):
            if not each:
                raise DataError(f"{self.what} {index} has no words; leave empty ones out.")
            if len(each) > 1:
                raise DataError(
                    f"{self.what} {index} has {len(each)} sentences where one is expected; {whole_texts}(text) takes "
                    "text of several."
                )
        self.need_trees()
        return [one for (one,) in self.examples]


def read_examples(X: Iterable[Any], parser: Any = None, *, what: str = "example") -> Reading:
    """Turn examples into sentences with trees, parsing each different sentence once.

    Parameters
    ----------
    X : iterable
        Each element is text of one or several sentences, a list of words, a ``Tree``, an NLTK tree, a tree in brackets,
        a ``Sentence``, or a list or tuple of trees.
    parser : optional
        See ``sapwood.parse.as_parser``. Without one, and where it finds no tree, trees are flat; ``Reading.report``
        tells of that.
    what : str
        What an example is called in messages.

    Examples
    --------
    >>> reading = read_examples(["Why me? Why?", ["Rain", "fell"], "(NP (NN rain))", ""])
    >>> [[str(one.tree) for one in each] for each in reading.examples]
    [['(X (WRB Why) (PRP me) (. ?))', '(X (WRB Why) (. ?))'], ['(X (NN Rain) (NN fell))'], ['(NP (NN rain))'], []]
    >>> reading.unparsed.tolist()
    [True, True, False, False]
    """
    checked = None if parser is None else as_parser(parser)
    X = unpacked(X)
    if isinstance(X, TreeArray):
        return Reading([tuple(map(_given, each if isinstance(each, tuple) else (each,))) for each in X], what)
    check_listed(X, what)
    parts = [split_example(element, index, what) for index, element in enumerate(X)]
    # Each different sentence once: question pairs and cross-validation ask for the same ones again and again.
    places: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for at, each in enumerate(parts):
        for number, one in enumerate(each):
            if not isinstance(one, Sentence):
                places.setdefault(tuple(one), []).append((at, number))
    with settings.progress_bar(len(places), "Parsing", "sentences") as progress:
        for done, (words, found) in enumerate(zip(places, _parsed(checked, list(places)), strict=True), 1):
            for at, number in places[words]:
                # The words of this place, which may know where they stand.
                own = tuple(parts[at][number])
                parts[at][number] = Sentence(own, found.tree, found.how, found.problem)
            if progress is not None:
                progress(done)
    return Reading([tuple(each) for each in parts], what)


def read_text(text: str, parser: Any, language: str | None = None) -> tuple[Sentence, ...]:
    """Return the sentences of a text with trees of the parser, for tasks that need them.

    Warns of flat ones, and of those that are not in the language that a model is for.
    """
    reading = read_examples([check_text(text)], parser, what="text")
    reading.need_trees()
    reading.report()
    warn_of_language(language, (one.words for one in reading.examples[0]))
    return reading.examples[0]


def check_listed(X: Any, what: str) -> None:
    """Raise unless something is many examples in an order: no single one, no table, no dict and no set."""
    single = isinstance(X, (str, bytes, Tree, Sentence)) or is_nltk(X) or not isinstance(X, Iterable)
    if single or (isinstance(X, np.ndarray) and X.ndim == 0):
        raise DataError(f"expected a list of {what}s, got one {type(X).__name__}; wrap it in a list.")
    if is_frame(X):
        raise DataError(f"expected a list of {what}s, got a table; pass one of its columns.")
    if isinstance(X, (Mapping, Set)):
        raise DataError(f"expected a list of {what}s, got a {type(X).__name__}; make a list of what it holds.")


def split_example(element: Any, index: int, what: str) -> list[Any]:
    """Return the sentences of an example: ``Sentence`` objects where trees are given, otherwise lists of words.

    >>> split_example("Why me? (NP (NN rain))", 0, "text")[0]
    ['Why', 'me', '?']
    >>> split_example("(NP (NN rain))", 0, "text")[0].words
    ('rain',)
    """
    kind = type(element).__name__
    if isinstance(element, Sentence):
        return [element]
    if isinstance(element, Tree):
        return [_given(element)]
    if is_nltk(element):
        return [_given(Tree.from_nltk(element))]
    if isinstance(element, str):
        try:
            tree = _bracketed(element)
        except SapwoodError as error:
            raise DataError(f"{what} {index} looks like a tree but is broken: {error}") from None
        return list(split_sentences(element)) if tree is None else [_given(tree)]
    if isinstance(element, (list, tuple, np.ndarray)):
        members = list(element)
        if all(isinstance(one, (Tree, Sentence)) or is_nltk(one) for one in members):
            return [part for one in members for part in split_example(one, index, what)]
        if any(isinstance(one, str) for one in members):
            return _of_strings(members, index, what)
        kind += f" of {type(members[0]).__name__} objects"
    elif is_missing(element):
        return []
    hint = " Decode bytes first." if isinstance(element, bytes) else ""
    raise DataError(f"{what} {index} is a {kind}; expected text, a list of words, a tree, or a tree in brackets.{hint}")


def _of_strings(members: list[Any], index: int, what: str) -> list[Any]:
    """Return the sentences of a list of strings: its words, or its trees in brackets."""
    words = check_words(members, index, what)
    trees = [_bracketed(one) for one in words]
    if None not in trees:
        return [_given(tree) for tree in trees if tree is not None]
    if all(len(one.split()) > 1 for one in words):
        raise DataError(
            f"{what} {index} is a list of text, {words[0][:60]!r}, where words are expected; pass the text itself, "
            "not in a list."
        )
    return [words]


def is_text(value: str) -> bool:
    """Whether a string is plain text rather than one tree in brackets.

    >>> is_text("Rain (or snow) fell."), is_text("(NP (NN rain))"), is_text("(or snow) fell")
    (True, False, True)
    """
    return _bracketed(value) is None


def _bracketed(value: str) -> Tree | None:
    """Return the tree that a string is in brackets; None for plain text, which may well begin with a bracket."""
    if not value.lstrip().startswith("("):
        return None
    try:
        tree = Tree.fromstring(value)
    except SapwoodError:
        if _NESTED.match(value) and _TAGGED.search(value):
            raise  # a tree that is broken, not a text
        return None
    return None if tree.is_leaf else tree


def _parsed(parser: BaseParser | None, sentences: list[Sequence[str]]) -> Iterable[Sentence]:
    if parser is not None:
        return parser.parse_sentences(sentences)
    return (Sentence(tuple(words), flat_tree([*map(str, words)]), "flat", NO_PARSER) for words in sentences)


def _given(tree: Tree) -> Sentence:
    return Sentence(tree.leaves(), tree, "given")
