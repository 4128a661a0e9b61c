"""A parser learnt from a treebank: words in, trees or n-best lists with log-probabilities out.

Symbols are made in ``annotation``, weights in ``estimation`` and ``lexicon``, and ``charts`` finds the best trees. Here
they meet, with what happens when a sentence is too long or no parse is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import settings
from sapwood.checks import check_amount, check_count, is_finite, is_number
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.parse.annotation import SPLITS, Annotation, bare_symbol
from sapwood.parse.base import check_words, refuse_text
from sapwood.parse.charts import COVERED, NOTHING, PARSED, PIECE_WEIGHT, ChartParser
from sapwood.parse.estimation import Markov, estimate
from sapwood.parse.grammar_chart import GrammarChart
from sapwood.parse.learned import LearnedParser, training_trees
from sapwood.parse.lexicon import Lexicon
from sapwood.parse.splitting import split_long
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.heads import HeadTable
from sapwood.trees.nbest import NBest
from sapwood.trees.tree import Tree

__all__ = ["PCFGParser"]

# How much wider the beam is when it has cut off all parses, and up to how many words that is tried.
_WIDER, _LONG = 1.5, 60


class PCFGParser(LearnedParser):
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
        roots, self.wrapper_ = training_trees(trees)
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
            models.append(ChartParser(tables, Lexicon().fit(words)))
        self._set(*models)
        return self

    def _set(self, model: ChartParser, fallback: ChartParser) -> None:
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
        super()._check_fitted()
        if self._settings() != self._learnt_with:
            raise ParameterError(
                "vertical, horizontal, splits or backoff were changed after training, but the grammar was made with "
                "the old values; fit the parser again."
            )

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        found = self.parse_nbest_batch(sentences, 1)
        return list(zip(concatenate([one.parses for one in found]), (one.how for one in found), strict=True))

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
        self._check_fitted()
        check_count(n, "n", most=100_000)
        texts = [check_words(sentence, index) for index, sentence in enumerate(sentences)]
        given = self._given_tags(texts, tags)
        answers: dict[int, NBest] = {}
        attempts = self._attempts()
        left = {index for index, words in enumerate(texts) if len(words) <= self.max_length}
        with settings.progress_bar(len(texts), "Parsing", "sentences") as progress:
            for model, how, width, longest in attempts:
                tried = sorted(index for index in left if len(texts[index]) <= longest)
                some, row = [texts[index] for index in tried], [given[index] for index in tried]
                cover = how == "fallback"
                found = model.parse(some, row, int(n), beam=width, memory=self._memory, cover=cover, progress=progress)
                for index, (outcome, parses, _) in zip(tried, found, strict=True):
                    if outcome in (PARSED, COVERED):
                        answers[index] = replace(parses, how=how if outcome == PARSED else "pieces")
                left -= {index for index, (outcome, *_) in zip(tried, found, strict=True) if outcome != NOTHING}
                progress = None  # it shows the first attempt, in which most sentences are parsed
        pieces = (index for index in range(len(texts)) if index not in answers)
        answers |= {index: self._in_pieces(texts[index], given[index]) for index in pieces}
        return [answers[index] for index in range(len(texts))]

    def _attempts(self) -> list[tuple[ChartParser, str, float, int]]:
        """Return grammars to be tried one after the other: how to call it, width of the beam, up to how many words.

        In long sentences a wider beam costs more than it is worth: the plain grammar is asked at once.
        """
        beam = self._beam
        return [
            (self._model, "parser", beam, self.max_length),
            (self._model, "parser", _WIDER * beam, 0 if self.beam is None else _LONG),
            (self._fallback, "fallback", _WIDER * beam, self.max_length),
        ]

    def _charts(self, sentences: list[list[str]]) -> Iterator[GrammarChart]:
        return map(self._chart, sentences)

    def _chart(self, words: list[str]) -> GrammarChart:
        for model, how, beam, longest in self._attempts():
            if len(words) > longest:
                continue
            forest = model.forest([str(word) for word in words], beam=beam, memory=self._memory)
            if forest is None:
                raise DataError(
                    f"a sentence has {len(words):,} words, too many for a chart in {self.memory_limit:,.0f} MB; raise "
                    "memory_limit, or use parse, which parses it in parts."
                )
            if not forest.empty:
                return GrammarChart(tuple(words), model, self.wrapper_, how, beam, self._memory, forest)
        raise DataError(
            f"the grammar has no tree for {' '.join(words)[:60]!r}; parse puts constituents under one node instead."
        )

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
        with settings.progress_bar(len(texts), "Adding up parses", "sentences") as progress:
            totals = self._model.inside(texts, memory=self._memory, progress=progress)
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
        with settings.progress_bar(len(texts), "Parsing", "sentences") as progress:
            found = self._model.parse(
                texts, [None] * len(texts), 1, beam=self._beam, memory=self._memory, cover=False, progress=progress
            )
        return [size for *_, size in found]

    def size(self) -> dict[str, int]:
        """Return how many words, symbols and rules the parser knows."""
        self._check_fitted()
        tables = self._model.tables
        rules = len(tables.arrays["parents"]) + len(tables.arrays["uppers"])
        return {"words": len(self._model.lexicon.words), "symbols": len(tables.names), "rules": rules}

    @property
    def _beam(self) -> float:
        return float("inf") if self.beam is None else float(self.beam)

    @property
    def _memory(self) -> int:
        return int(self.memory_limit * 1e6)

    def _in_pieces(self, words: list[str], tags: Sequence[str] | None) -> NBest:
        """Parse a sentence that is too long as a row of shorter ones."""
        limit = min(self.max_length, max(1, (len(words) + 1) // 2))
        bounds = split_long(words, limit)
        given = None if tags is None else [tags[begin:end] for begin, end in bounds]
        found = self.parse_nbest_batch([words[begin:end] for begin, end in bounds], 1, tags=given)
        children: list[Tree] = []
        for one in found:
            tree = one.parses[0]
            assert isinstance(tree, Tree)
            children.extend(tree.children if tree.label == self.wrapper_ else [tree])
        tree = Tree(self._model.tables.cover[-1], children)
        if self.wrapper_ is not None:
            tree = Tree(self.wrapper_, [tree])
        score = sum(float(one.scores[0]) for one in found) + PIECE_WEIGHT * len(found)
        return NBest(TreeArray([tree]), np.array([score]), how="pieces")

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
        check_amount(self.backoff, "backoff", below=1e6)
        if self.beam is not None and (not is_number(self.beam) or not self.beam > 0):
            raise ParameterError(f"beam must be None or a number above 0, got {self.beam!r}.")
        if self.splits == "penn":
            return SPLITS
        if isinstance(self.splits, str) or not set(self.splits) <= SPLITS:
            raise ParameterError(f"splits must be 'penn' or some of {', '.join(sorted(SPLITS))}; got {self.splits!r}.")
        return frozenset(self.splits)
