"""A parser learnt from a treebank: words in, trees or n-best lists with log-probabilities out.

Symbols are made in ``annotation``, weights in ``estimation`` and ``lexicon``; charts are filled and trees taken from
them natively. Here they meet, with what happens when a sentence is too long or no parse is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sapwood import _core, settings
from sapwood.checks import check_count, is_finite
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.notebook import HtmlTable
from sapwood.parse.annotation import SPLITS, Annotation, Constituent, bare_symbol, clean
from sapwood.parse.base import BaseParser, check_words, refuse_text
from sapwood.parse.estimation import GrammarTables, Markov, estimate
from sapwood.parse.lexicon import Lexicon
from sapwood.parse.splitting import split_long
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.heads import HeadTable
from sapwood.trees.nbest import NBest
from sapwood.trees.tree import Tree

__all__ = ["Model", "PCFGParser", "Parsed"]

_PARSED, _COVERED, _NOTHING, _TOO_LARGE = range(4)
# The weight of each piece where a sentence has to be covered by several: large pieces win over likely ones.
_PIECE_WEIGHT = -20.0
# How much wider the beam is when it has cut off all parses, and up to how many words that is tried.
_WIDER, _LONG = 1.5, 60
# Several derivations may give one tree, so some more are looked at than trees are asked for.
_SPARE = 3


@dataclass(frozen=True)
class Parsed(HtmlTable):
    """The parses of one sentence and how they were found.

    Attributes
    ----------
    parses : NBest
        Best first.
    how : {"parser", "fallback", "pieces"}
        By the grammar, by the plain grammar behind it, or put together from pieces; as in ``Sentence``.
    """

    parses: NBest
    how: str


class Model:
    """A grammar with its lexicon, ready for the native core."""

    def __init__(self, tables: GrammarTables, lexicon: Lexicon) -> None:
        self.tables, self.lexicon = tables, lexicon
        self.rules = _core.parse.Rules(**tables.arrays, root=tables.root)
        self._numbers = {name: number for number, name in enumerate(tables.names)}

    def __reduce__(self) -> tuple[Any, ...]:
        # The native rules are made anew from the tables.
        return Model, (self.tables, self.lexicon)

    def tags(self, word: str, first: bool, tag: str | None) -> list[tuple[int, float]]:
        """Return the symbols of a word with their weights."""
        numbers = self._numbers
        found = [(numbers[name], weight) for name, weight in self.lexicon.tags(word, first) if name in numbers]
        if tag is None:
            return found
        names = self.tables.names
        chosen = [(number, weight) for number, weight in found if bare_symbol(names[number]) == tag]
        if not chosen:
            # The tag is right because it was given, however unlikely the word made it.
            chosen = [
                (numbers[name], -10.0) for name in self.lexicon.symbols if bare_symbol(name) == tag and name in numbers
            ]
        return chosen


class PCFGParser(BaseParser):
    """A probabilistic context-free grammar read off a treebank, with the best parses found by CKY.

    Parameters
    ----------
    vertical : int
        Labels that a symbol holds from its node upwards; 2 adds the parent to labels and tags.
    horizontal : int
        Siblings that the choice of the next child remembers, besides the head.
    splits : "penn" or iterable of str
        Further marks on symbols, of ``sapwood.parse.SPLITS``; they name Penn labels and do nothing elsewhere.
    backoff : float
        How much weight vaguer contexts have in the estimate of a choice.
    beam : float or None
        Symbols of a span whose log-probability is this much below that of the best are left out; None leaves out none.
    max_length : int
        Longer sentences are cut at punctuation, parsed in pieces and put together again.
    memory_limit : float
        Megabytes that the chart of one sentence may take; beyond that it is cut as well.

    Attributes
    ----------
    tags_ : tuple of str
        The tags of the treebank.
    wrapper_ : str or None
        The label over every sentence, such as TOP, if most trees of the treebank have one.

    Notes
    -----
    Children are generated outwards from the head (Collins' table), as in Klein and Manning (2003); the probabilities of
    choices back off to vaguer contexts with Witten-Bell weights. Scores are natural logarithms of the joint probability
    of tree and words.

    Traces and function tags are taken off by ``fit``. Every sentence gets a tree: if the grammar has none, a plain
    grammar (no parents, one sibling) is asked, and after that the best row of constituents is put under one node.

    Examples
    --------
    >>> from sapwood.parse import PCFGParser
    >>> parser = PCFGParser().fit(["(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))))",
    ...                            "(S (NP (DT a) (NN cat)) (VP (VBZ sleeps)))"])
    >>> print(parser.parse(["the", "cat", "sees", "the", "dog"]))
    (S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))))
    """

    def __init__(
        self,
        *,
        vertical: int = 2,
        horizontal: int = 2,
        splits: Any = "penn",
        backoff: float = 1.0,
        beam: float | None = 10.0,
        max_length: int = 200,
        memory_limit: float = 1000.0,
    ) -> None:
        self.vertical = vertical
        self.horizontal = horizontal
        self.splits = splits
        self.backoff = backoff
        self.beam = beam
        self.max_length = max_length
        self.memory_limit = memory_limit

    @all_or_nothing
    def fit(self, trees: Any, y: object = None) -> PCFGParser:  # type: ignore[override]  # learning needs trees
        """Learn from trees.

        Parameters
        ----------
        trees : TreeArray or iterable of trees
            With or without traces, function tags and a TOP over each sentence.
        y : ignored
            There for pipelines.
        """
        splits = self._check()
        array = trees if isinstance(trees, TreeArray) else TreeArray(trees)
        if len(array) == 0:
            raise DataError("there are no trees to learn a parser from; pass at least one.")
        if array.has_bags:
            raise DataError("the parser learns from single trees; pass the trees of the bags one by one.")
        wrappers: dict[str | None, int] = {}
        roots: list[Constituent] = []
        for index, tree in enumerate(array):
            assert isinstance(tree, Tree)
            wrapper, root = clean(tree, index)
            wrappers[wrapper] = wrappers.get(wrapper, 0) + 1
            roots.append(root)
        self.wrapper_ = max(wrappers, key=lambda name: (wrappers[name], name is None))
        heads = HeadTable()
        models = []
        for annotation, markov in (
            (Annotation(self.vertical, splits), Markov(horizontal=self.horizontal, backoff=float(self.backoff))),
            (Annotation(1, frozenset()), Markov(horizontal=1, backoff=float(self.backoff), widen=True)),
        ):
            for root in roots:
                annotation.annotate(root, heads)
            tables = estimate(roots, markov, self.wrapper_)
            words = [[(node.word, node.symbol) for node in root.postorder() if node.word is not None] for root in roots]
            models.append(Model(tables, Lexicon().fit(words)))
        self._set(models[0], models[1])
        return self

    def _set(self, model: Model, fallback: Model) -> None:
        self._model, self._fallback = model, fallback
        self._learnt_with = self._settings()
        self.tags_ = tuple(sorted({bare_symbol(symbol) for symbol in model.lexicon.symbols}))

    def _settings(self) -> tuple[Any, ...]:
        """Return the parameters that the grammar was made with."""
        return self.vertical, self.horizontal, self._check(), self.backoff

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _check_fitted(self) -> None:
        """Raise unless there is a grammar, made with the parameters as they are."""
        check_is_fitted(
            self,
            msg="this %(name)s has not learnt a grammar; train it with fit(trees) before it is used, also as a step of "
            "a Pipeline or as the parser of another estimator.",
        )
        if self._settings() != self._learnt_with:
            raise ParameterError(
                "vertical, horizontal, splits or backoff were changed after training, but the grammar was made with "
                "the old values; fit the parser again."
            )

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        found = self.analyse(sentences, 1)
        trees = concatenate([one.parses.parses for one in found])
        return list(zip(trees, (one.how for one in found), strict=True))

    def parse(self, sentence: Sequence[str], *, tags: Sequence[str] | None = None) -> Tree:
        """Return the most probable tree of a sentence.

        Parameters
        ----------
        sentence : sequence of str
            The words; ``sapwood.parse.tokenize`` makes them from text.
        tags : sequence of str, optional
            A tag for each word, where known; predicted otherwise.
        """
        tree = self.parse_batch([refuse_text(sentence)], tags=None if tags is None else [tags])[0]
        assert isinstance(tree, Tree)
        return tree

    def parse_batch(
        self, sentences: Iterable[Sequence[str]], *, tags: Iterable[Sequence[str] | None] | None = None
    ) -> TreeArray:
        """Return the most probable tree of each sentence; parameters as in ``parse``, one of each per sentence."""
        found = self.parse_nbest_batch(sentences, 1, tags=tags)
        return concatenate([one.parses for one in found]) if found else TreeArray([])

    def parse_nbest(self, sentence: Sequence[str], n: int = 30, *, tags: Sequence[str] | None = None) -> NBest:
        """Return the most probable trees of a sentence with their log-probabilities, best first.

        Parameters
        ----------
        sentence, tags
            As in ``parse``.
        n : int
            How many trees; there may be fewer.

        Examples
        --------
        >>> trees = ["(S (V see) (NP (N men)) (PP (P with) (N telescopes)))",
        ...          "(S (V see) (NP (NP (N men)) (PP (P with) (N hats))))"]
        >>> for tree in PCFGParser().fit(trees).parse_nbest(["see", "men", "with", "hats"], 2).parses:
        ...     print(tree)
        (S (V see) (NP (N men)) (PP (P with) (N hats)))
        (S (V see) (NP (NP (N men)) (PP (P with) (N hats))))
        """
        return self.parse_nbest_batch([refuse_text(sentence)], n, tags=None if tags is None else [tags])[0]

    def parse_nbest_batch(
        self, sentences: Iterable[Sequence[str]], n: int = 30, *, tags: Iterable[Sequence[str] | None] | None = None
    ) -> list[NBest]:
        """Return the n best parses of each sentence; parameters as in ``parse_nbest``, one of each per sentence."""
        return [one.parses for one in self.analyse(sentences, n, tags=tags)]

    def analyse(
        self, sentences: Iterable[Sequence[str]], n: int = 30, *, tags: Iterable[Sequence[str] | None] | None = None
    ) -> list[Parsed]:
        """Return the n best parses of each sentence, and how they were found; parameters as in ``parse_nbest``."""
        self._check_fitted()
        check_count(n, "n", most=100_000)
        texts = [check_words(sentence, index) for index, sentence in enumerate(sentences)]
        given = self._given_tags(texts, tags)
        answers: list[Parsed | None] = [None] * len(texts)
        whole = [index for index, words in enumerate(texts) if len(words) <= self.max_length]
        with settings.progress_bar(len(texts), "parsing") as progress:
            left = self._attempt(self._model, "parser", whole, texts, given, int(n), self._beam, answers, progress)
            wider = _WIDER * self._beam
            if self.beam is not None:
                # In long sentences a wider beam costs more than it is worth: the plain grammar is asked at once.
                again = [index for index in left if len(texts[index]) <= _LONG]
                failed = set(self._attempt(self._model, "parser", again, texts, given, int(n), wider, answers, None))
                left = [index for index in left if index in failed or len(texts[index]) > _LONG]
            if left:
                self._attempt(self._fallback, "fallback", left, texts, given, int(n), wider, answers, None)
        for index, words in enumerate(texts):
            if answers[index] is None:
                answers[index] = self._in_pieces(words, given[index])
        return [answer for answer in answers if answer is not None]

    def log_probability(self, sentences: Iterable[Sequence[str]]) -> NDArray[np.float64]:
        """Return the log-probability of each sentence: that of all its trees together, without pruning.

        Sentences that the grammar has no tree for get ``-inf``. Takes far longer than parsing with a beam.

        Examples
        --------
        >>> parser = PCFGParser().fit(["(NP (DT the) (NN dog))"])
        >>> bool(parser.log_probability([["the", "dog"]])[0] >= parser.parse_nbest(["the", "dog"], 1).scores[0])
        True
        """
        self._check_fitted()
        texts = [check_words(sentence, index) for index, sentence in enumerate(sentences)]
        packed = _pack(self._model, texts, [None] * len(texts))
        with settings.progress_bar(len(texts), "adding up") as progress:
            totals = _core.parse.inside(
                self._model.rules, *packed, int(self.memory_limit * 1e6), settings.threads(), progress
            )
        for index, total in enumerate(totals):
            if np.isnan(total):
                raise DataError(
                    f"sentence {index} has {len(texts[index])} words, too many to add up all its parses in "
                    f"{self.memory_limit:,.0f} MB; raise memory_limit or leave it out."
                )
        return totals

    def chart_bytes(self, sentences: Iterable[Sequence[str]]) -> list[int]:
        """Return how many bytes the chart of each sentence takes; 0 for those that exceed ``memory_limit``.

        Examples
        --------
        >>> PCFGParser().fit(["(NP (DT the) (NN dog))"]).chart_bytes([["the", "dog"]])[0] < 2000
        True
        """
        self._check_fitted()
        texts = [check_words(sentence, index) for index, sentence in enumerate(sentences)]
        with settings.progress_bar(len(texts), "parsing") as progress:
            sizes = self._run(self._model, texts, [None] * len(texts), 1, self._beam, [], progress)[-1]
        return [int(size) for size in sizes]

    def size(self) -> dict[str, int]:
        """Return how many words, symbols and rules the parser knows."""
        self._check_fitted()
        tables = self._model.tables
        rules = len(tables.arrays["parents"]) + len(tables.arrays["uppers"])
        return {"words": len(self._model.lexicon.words), "symbols": len(tables.names), "rules": rules}

    @property
    def _beam(self) -> float:
        return float("inf") if self.beam is None else float(self.beam)

    def _attempt(
        self,
        model: Model,
        how: str,
        wanted: list[int],
        texts: list[list[str]],
        given: list[Sequence[str] | None],
        n: int,
        beam: float,
        answers: list[Parsed | None],
        progress: Any,
    ) -> list[int]:
        """Parse these sentences, write down those that worked, and return the others."""
        labels = model.tables.labels
        last = how == "fallback"
        joined = [labels.index(label) for label in model.tables.cover] if last else []
        some, tags = [texts[index] for index in wanted], [given[index] for index in wanted]
        arena, roots, ends, weights, outcomes, _ = self._run(model, some, tags, n, beam, joined, progress)
        trees = TreeArray._from_arena(arena, roots)
        missing, begin = [], 0
        for index, end, outcome in zip(wanted, ends.tolist(), outcomes.tolist(), strict=True):
            if outcome in (_PARSED, _COVERED):
                parses = NBest(trees[begin:end], weights[begin:end].copy())
                answers[index] = Parsed(parses, "pieces" if outcome == _COVERED else how)
            elif outcome == _NOTHING:
                missing.append(index)
            begin = end
        return missing

    def _run(
        self,
        model: Model,
        texts: list[list[str]],
        tags: Sequence[Sequence[str] | None],
        n: int,
        beam: float,
        joined: list[int],
        progress: Any,
    ) -> tuple[Any, ...]:
        return _core.parse.parse_batch(
            model.rules,
            model.tables.labels,
            *_pack(model, texts, tags),
            [word for words in texts for word in words],
            n,
            1 if n == 1 else _SPARE * n + 10,
            beam,
            int(self.memory_limit * 1e6),
            joined,
            _PIECE_WEIGHT,
            settings.threads(),
            progress,
        )

    def _in_pieces(self, words: list[str], tags: Sequence[str] | None) -> Parsed:
        """Parse a sentence that is too long as a row of shorter ones."""
        limit = min(self.max_length, max(1, (len(words) + 1) // 2))
        bounds = split_long(words, limit)
        parts = [words[begin:end] for begin, end in bounds]
        given = None if tags is None else [tags[begin:end] for begin, end in bounds]
        found = self.analyse(parts, 1, tags=given)
        children: list[Tree] = []
        for one in found:
            tree = one.parses.parses[0]
            assert isinstance(tree, Tree)
            children.extend(tree.children if tree.label == self.wrapper_ else [tree])
        tree = Tree(self._model.tables.cover[-1], children)
        if self.wrapper_ is not None:
            tree = Tree(self.wrapper_, [tree])
        score = sum(float(one.parses.scores[0]) for one in found) + _PIECE_WEIGHT * len(found)
        return Parsed(NBest(TreeArray([tree]), np.array([score])), "pieces")

    def _given_tags(
        self, texts: list[list[str]], tags: Iterable[Sequence[str] | None] | None
    ) -> list[Sequence[str] | None]:
        if tags is None:
            return [None] * len(texts)
        given = list(tags)
        if len(given) != len(texts):
            raise DataError(f"there are {len(texts)} sentences but tags for {len(given)}; pass one list per sentence.")
        known = set(self.tags_)
        for index, (words, row) in enumerate(zip(texts, given, strict=True)):
            if row is None:
                continue
            if isinstance(row, str) or len(row) != len(words):
                raise DataError(f"sentence {index} has {len(words)} words but its tags are {row!r}; pass one per word.")
            for tag in row:
                if tag not in known:
                    raise DataError(
                        f"sentence {index} has the tag {tag!r}, which the parser has not learnt; it knows "
                        f"{', '.join(self.tags_)}."
                    )
        return given

    def _check(self) -> frozenset[str]:
        check_count(self.vertical, "vertical", most=3)
        check_count(self.horizontal, "horizontal", most=3)
        check_count(self.max_length, "max_length", 2, None)
        if not is_finite(self.memory_limit) or not 1 <= self.memory_limit < 1e9:
            raise ParameterError(f"memory_limit must be megabytes, from 1 to 1e9, got {self.memory_limit!r}.")
        if isinstance(self.backoff, bool) or not isinstance(self.backoff, (int, float)) or not 0 <= self.backoff < 1e6:
            raise ParameterError(f"backoff must be a number of at least 0, got {self.backoff!r}.")
        if self.beam is not None and (
            isinstance(self.beam, bool) or not isinstance(self.beam, (int, float)) or not self.beam > 0
        ):
            raise ParameterError(f"beam must be None or a number above 0, got {self.beam!r}.")
        if self.splits == "penn":
            return SPLITS
        if isinstance(self.splits, str) or not set(self.splits) <= SPLITS:
            raise ParameterError(f"splits must be 'penn' or some of {', '.join(sorted(SPLITS))}; got {self.splits!r}.")
        return frozenset(self.splits)


def _pack(
    model: Model, texts: list[list[str]], tags: Sequence[Sequence[str] | None]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]:
    sentence_ends, tag_ends, symbols, weights = [], [], [], []
    for words, given in zip(texts, tags, strict=True):
        for position, word in enumerate(words):
            for number, weight in model.tags(word, position == 0, None if given is None else given[position]):
                symbols.append(number)
                weights.append(weight)
            tag_ends.append(len(symbols))
        sentence_ends.append(len(tag_ends))
    return (
        np.array(sentence_ends, dtype=np.uint64),
        np.array(tag_ends, dtype=np.uint64),
        np.array(symbols, dtype=np.uint32),
        np.array(weights, dtype=np.float64),
    )
