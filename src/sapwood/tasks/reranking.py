"""Reranking: choosing among the parses that a parser proposes for a sentence.

``ParseReranker`` learns from n-best lists with gold trees which parse is closest to the right one, from the trees and
the parser's own scores. Lists are made in ``parse`` and read in ``corpora``; rankers are in ``learn``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_amount, check_count
from sapwood.corpora.nbest import NBest
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.lazy import public_names
from sapwood.learn import Explanation, RecursiveRanker
from sapwood.metrics import COLLINS, ParsevalRules, ParsevalSummary, SentenceScore, mutual_f1, score_forest
from sapwood.parse.base import Sentence
from sapwood.parse.parameter import PARSER, as_parser
from sapwood.parse.reading import check_listed, split_example
from sapwood.registry import Reader, Writer, plain_value, register
from sapwood.trees import Examples, Tree, TreeArray
from sapwood.trees.array import concatenate

__all__ = ["RERANKING_RULES", "ParseReranker", "RerankingScores"]

__dir__ = public_names(__name__)

RERANKING_RULES = replace(COLLINS.deleting("S1", "ROOT"), compare_words=False)
"""evalb's rules for any parser's root, but a parse that takes a quotation mark for a word is not left out."""


@dataclass(frozen=True)
class RerankingScores:
    """How good the chosen parses are, beside the parser's first choices and the best ones there are.

    Attributes
    ----------
    chosen, first, oracle : sequence of SentenceScore
        Per sentence, the score of the chosen parse, of the parser's first choice, and of the best one.
    """

    chosen: Sequence[SentenceScore]
    first: Sequence[SentenceScore]
    oracle: Sequence[SentenceScore]

    @property
    def f1(self) -> float:
        """Bracket F1 of the chosen parses, over all brackets of all sentences."""
        return ParsevalSummary.of(self.chosen).f1

    @property
    def first_f1(self) -> float:
        """Bracket F1 of the parser's first choices."""
        return ParsevalSummary.of(self.first).f1

    @property
    def oracle_f1(self) -> float:
        """Bracket F1 of the best parses there are."""
        return ParsevalSummary.of(self.oracle).f1

    @property
    def gain(self) -> float:
        """F1 of the chosen parses minus that of the parser's first choices."""
        return self.f1 - self.first_f1

    def __add__(self, other: RerankingScores) -> RerankingScores:
        return RerankingScores(
            [*self.chosen, *other.chosen], [*self.first, *other.first], [*self.oracle, *other.oracle]
        )


def nbest_examples(lists: Sequence[NBest]) -> tuple[Examples, NDArray[np.int64]]:
    """Put the parses of n-best lists one after the other: examples for a ranker, and the number of the list of each.

    The views are ``tree`` and ``prior``: the parser's score minus that of its first choice, since only differences
    within a list mean anything.
    """
    if not len(lists):
        raise DataError("there are no n-best lists; pass at least one.")
    for number, one in enumerate(lists):
        if not isinstance(one, NBest):
            raise DataError(f"element {number} is a {type(one).__name__}; expected an NBest, the parses of a sentence.")
        if not len(one):
            raise DataError(f"n-best list {number} is empty; every sentence needs at least one parse.")
        if not np.isfinite(one.scores).all():
            worst = int(np.flatnonzero(~np.isfinite(one.scores))[0])
            raise DataError(f"n-best list {number}: the score of parse {worst} is NaN or infinite.")
    trees = concatenate([one.parses for one in lists])
    prior = np.concatenate([one.scores - one.scores.max() for one in lists])[:, None]
    groups = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    return Examples(tree=trees, prior=prior), groups


def score_parses(one: NBest, rules: ParsevalRules = RERANKING_RULES) -> list[SentenceScore]:
    """Score each parse of a list against its gold tree."""
    if not isinstance(one, NBest):
        raise DataError(f"expected an NBest, the parses of a sentence, got a {type(one).__name__}.")
    if one.gold is None:
        raise DataError(f"the n-best list {one.name or ''!r} has no gold tree, so its parses cannot be scored.")
    return score_forest(one.gold, one.parses, rules=rules)


def mean_spread(utilities: Sequence[NDArray[np.float64]]) -> float:
    """Return how far utilities differ within lists: the mean standard deviation, 1 if there is none."""
    spreads = [one.std() for one in utilities if one.size]
    return (float(np.mean(spreads)) if spreads else 0.0) or 1.0


def expected_f1(utility: NDArray[np.float64], agreement: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the F1 to be expected of each parse of a list if one of them is right.

    ``utility`` are log probabilities of the parses, up to a constant, ``agreement`` is F1 of each parse with each
    (``sapwood.metrics.mutual_f1``). Ties between parses with the same brackets are broken by probability.

    >>> agreement = np.array([[1.0, 0.2, 0.2], [0.2, 1.0, 0.8], [0.2, 0.8, 1.0]])
    >>> expected_f1(np.log([0.4, 0.35, 0.25]), agreement).round(2)
    array([0.52, 0.63, 0.61])
    """
    chances = np.exp(utility - utility.max())
    chances /= chances.sum()
    expected: NDArray[np.float64] = agreement @ chances + 1e-9 * chances
    return expected


def _split(utility: NDArray[np.float64], lists: Sequence[NBest]) -> list[NDArray[np.float64]]:
    return np.split(utility, np.cumsum([len(one) for one in lists])[:-1])


class ParseReranker(SequenceInput, BaseEstimator):
    """Choose the best parse of each n-best list.

    Parameters
    ----------
    ranker : estimator, optional
        Any ranker with ``fit(X, y, groups)`` and ``decision_function`` that takes examples with the views ``tree`` and
        ``prior``; ``RecursiveRanker`` by default. For a kernel, eq. 17 of Menchetti et al. is
        ``KernelRanker(SubsetTree(decay).on("tree") + beta * Linear().on("prior"))``.
    rules : ParsevalRules
        How parses are judged.
    consensus : float, optional
        Choose the parse with the highest F1 to be expected, rather than the one of highest utility: the mean of its F1
        with every parse of the list, each weighted by the probability that the ranker gives it, softmax(consensus ·
        utility / spread). What many good parses have in common is more often right than the best of them alone. The
        larger the number, the more the best count; 1 or 2 are good choices. None chooses by utility.
    parser : parser or path, optional
        Makes the lists, so that sentences may be given as text, words or trees instead: a parser with n-best lists,
        such as ``PCFGParser`` or ``BllipParser``, or the path of a model file that holds one. A tree is the gold tree
        of its words.
    n_parses : int
        Parses that the parser is asked for.

    Attributes
    ----------
    ranker_ : estimator
        What has been learnt.
    spread_ : float
        How far utilities differ within the training lists.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> from sapwood.learn import Explanation, RecursiveRanker
    >>> lists = nursery.generate(size=300).forests()
    >>> model = ParseReranker(RecursiveRanker(epochs=3, random_state=0)).fit(lists[:200])
    >>> model.evaluate(lists[200:]).gain > 0
    True
    """

    ranker_: Any
    spread_: float

    def __init__(
        self,
        ranker: Any = None,
        *,
        rules: ParsevalRules = RERANKING_RULES,
        consensus: float | None = None,
        parser: Any = None,
        n_parses: int = 30,
    ) -> None:
        self.ranker = ranker
        self.rules = rules
        self.consensus = consensus
        self.parser = parser
        self.n_parses = n_parses

    @all_or_nothing
    def fit(self, X: Sequence[Any], y: Any = None, *, validation: Sequence[Any] | None = None) -> Self:
        """Learn from lists with gold trees.

        Parameters
        ----------
        X : sequence of NBest or trees
            Lists made by a parser that has not been trained on these sentences; its mistakes would not be the usual
            ones. Gold trees, if there is a ``parser`` to make the lists.
        y : ignored
            The gold trees say which parse is best.
        validation : sequence of NBest, optional
            Held-out lists for rankers that stop early on them.
        """
        if self.consensus is not None:
            check_amount(self.consensus, "consensus", zero=False)
        lists = self.lists(X)
        examples, groups = nbest_examples(lists)
        extra = {}
        if validation is not None:
            validation = self.lists(validation)
            other, other_groups = nbest_examples(validation)
            extra["validation"] = (other, self._relevance(validation), other_groups)
        ranker = clone(self.ranker) if self.ranker is not None else RecursiveRanker()
        self.ranker_ = ranker.fit(examples, self._relevance(lists), groups, **extra)
        self.spread_ = 1.0
        if self.consensus is not None:
            self.spread_ = mean_spread(_split(np.asarray(self.ranker_.decision_function(examples)), lists))
        return self

    def lists(self, X: Iterable[Any]) -> list[NBest]:
        """Return the n-best lists of sentences, made by ``parser`` where they are not given.

        Parameters
        ----------
        X : iterable
            Each an ``NBest``, text of one sentence, a list of words, or the gold tree of a sentence.
        """
        if isinstance(X, NBest):
            raise DataError("expected a list of n-best lists or sentences, got one NBest; wrap it in a list.")
        check_listed(X, "sentence")
        found: list[Any] = []
        for index, one in enumerate(X):
            parts = [one] if isinstance(one, NBest) else split_example(one, index, "sentence")
            if len(parts) != 1:
                raise DataError(
                    f"sentence {index} has {len(parts)} sentences where one is expected; pass one at a time."
                )
            found += parts
        missing = [index for index, one in enumerate(found) if not isinstance(one, NBest)]
        if missing:
            if self.parser is None:
                raise ParameterError(
                    f"sentence {missing[0]} is no n-best list; pass NBest objects, or give ParseReranker a parser= "
                    "that makes them."
                )
            words = [one.words if isinstance(one, Sentence) else one for one in map(found.__getitem__, missing)]
            for index, made in zip(missing, self._parser().parse_nbest_batch(words, self.n_parses), strict=True):
                found[index] = replace(made, gold=found[index].tree if isinstance(found[index], Sentence) else None)
        return found

    def _parser(self) -> Any:
        parser = as_parser(self.parser)
        if not hasattr(parser, "parse_nbest_batch"):
            raise ParameterError(
                f"a {type(parser).__name__} makes no n-best lists; take a PCFGParser or a BllipParser."
            )
        return parser

    def decision_function(self, X: Sequence[Any]) -> list[NDArray[np.float64]]:
        """Return the utility of each parse, list by list; with ``consensus``, the F1 to be expected of it."""
        check_is_fitted(self, "ranker_")
        lists = self.lists(X)
        if not len(lists):
            return []
        examples, _ = nbest_examples(lists)
        utilities = _split(np.asarray(self.ranker_.decision_function(examples)), lists)
        if self.consensus is None:
            return utilities
        sharpness = self.consensus / self.spread_
        return [
            expected_f1(sharpness * utility, mutual_f1(one.parses, rules=self.rules))
            for one, utility in zip(lists, utilities, strict=True)
        ]

    def predict(self, X: Sequence[Any]) -> NDArray[np.int64]:
        """Return which parse of each list is chosen; of equal ones, the first."""
        return np.array([int(np.argmax(utility)) for utility in self.decision_function(X)], dtype=np.int64)

    def rerank(self, X: Sequence[Any]) -> TreeArray:
        """Return the chosen parse of each list."""
        lists = self.lists(X)
        chosen: list[Tree] = []
        for one, index in zip(lists, self.predict(lists).tolist(), strict=True):
            tree = one.parses[index]
            assert isinstance(tree, Tree)
            chosen.append(tree)
        return TreeArray(chosen)

    def explain(self, sentence: Any, *, parse: int | None = None, top: int = 10) -> Explanation:
        """Say which nodes and fragments of a parse its utility comes from; for rankers with kernels.

        Parameters
        ----------
        sentence : NBest, or with a ``parser`` text of one sentence, words or a tree
        parse : int, optional
            Which parse of the list; by default the chosen one.
        top : int
            How many of the heaviest fragments to find.
        """
        check_is_fitted(self, "ranker_")
        if not hasattr(self.ranker_, "explain"):
            raise ParameterError(
                f"a {type(self.ranker_).__name__} does not say why; train ParseReranker with a KernelRanker to have "
                "explanations."
            )
        lists = self.lists([sentence])
        chosen = int(self.predict(lists)[0]) if parse is None else check_count(parse, "parse", 0)
        if chosen >= len(lists[0]):
            raise DataError(f"parse must be below {len(lists[0])}, the number of parses in the list; got {chosen}.")
        found: Explanation = self.ranker_.explain(nbest_examples(lists)[0][chosen : chosen + 1], top=top)
        return replace(found, label=f"parse {chosen}")

    def evaluate(self, X: Sequence[Any]) -> RerankingScores:
        """Score the chosen parses of lists with gold trees."""
        lists = self.lists(X)
        chosen, first, oracle = [], [], []
        for one, index in zip(lists, self.predict(lists).tolist(), strict=True):
            scores = score_parses(one, self.rules)
            chosen.append(scores[index])
            first.append(scores[int(np.argmax(one.scores))])
            oracle.append(max(scores, key=lambda score: score.f1))
        return RerankingScores(chosen, first, oracle)

    def score(self, X: Sequence[Any], y: Any = None) -> float:
        """Return bracket F1 of the chosen parses."""
        return self.evaluate(X).f1

    def _relevance(self, lists: Sequence[NBest]) -> NDArray[np.float64]:
        return np.array([score.f1 for one in lists for score in score_parses(one, self.rules)])


def _write(model: ParseReranker, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model, "ranker_")
    return {
        "rules": plain_value(asdict(model.rules)),
        "ranker": writer.part(model.ranker_),
        "consensus": None if model.consensus is None else [float(model.consensus), float(model.spread_)],
        "parser": PARSER.write(model.parser, writer),
        "n_parses": int(model.n_parses),
    }


def _read(data: dict[str, Any], reader: Reader) -> ParseReranker:
    ranker = reader.part(data["ranker"])
    if not hasattr(ranker, "decision_function"):
        raise reader.fail("it holds no ranker")
    rules = dict(reader.arguments(ParsevalRules, data["rules"]))
    for name in ("delete_labels", "delete_for_length"):
        rules[name] = frozenset(reader.texts(rules[name]))
    rules["equal_labels"] = tuple((str(first), str(second)) for first, second in rules["equal_labels"])
    consensus, spread = (None, 1.0) if data.get("consensus") is None else map(reader.number, data["consensus"])
    if consensus is not None and not (consensus > 0 and spread > 0):
        raise reader.fail("the consensus must be above 0")
    # Files of the first version hold no parser.
    model = ParseReranker(
        clone(ranker),
        rules=ParsevalRules(**rules),
        consensus=consensus,
        parser=PARSER.read(data.get("parser"), reader),
        n_parses=reader.count(data.get("n_parses", 30)),
    )
    model.ranker_, model.spread_ = ranker, spread
    return model


register("ParseReranker", ParseReranker, _write, _read)
