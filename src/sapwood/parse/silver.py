"""Silver trees: what a good parser makes of raw text, for a smaller one to learn from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sapwood.checks import check_share
from sapwood.errors import ParameterError
from sapwood.parse.base import BaseParser
from sapwood.parse.learned import LearnedParser
from sapwood.parse.sentences import split_sentences
from sapwood.trees.tree import Tree

__all__ = ["judged_trees", "silver_trees"]

# Sentences parsed before the next ones are read.
_BATCH = 256


def silver_trees(
    teacher: BaseParser, text: str | Iterable[Sequence[str]], *, min_probability: float = 0.0
) -> Iterator[Tree]:
    """Yield the trees that a trained parser makes of raw text, without those that it is not sure of.

    A small parser that learns from gold trees together with many silver ones, made by a better parser that is too large
    or too slow to be used everywhere, does much of what the better one can do.

    Parameters
    ----------
    teacher : parser
        A trained one.
    text : str or iterable of sequences of str
        Text, or the words of sentences, which are read little by little.
    min_probability : float
        From 0 to 1. Sentences are left out where the probability of the best tree is lower, as the geometric mean over
        words: 0.9 means that on average a word costs a tenth. Needs a ``SpanParser`` or a ``PCFGParser``.

    Yields
    ------
    Tree
        Of sentences that have a parse as a whole; others are left out.

    Examples
    --------
    >>> from sapwood.parse import PCFGParser
    >>> teacher = PCFGParser().fit(["(S (NP (NN rain)) (VP (VBZ falls)))", "(S (NP (NN snow)) (VP (VBZ melts)))"])
    >>> for tree in silver_trees(teacher, [["rain", "melts"], ["of"]], min_probability=0.5):
    ...     print(tree)
    (S (NP (NN rain)) (VP (VBZ melts)))
    """
    sentences = split_sentences(text) if isinstance(text, str) else text
    return (tree for tree in judged_trees(teacher, sentences, min_probability) if tree is not None)


def judged_trees(
    teacher: BaseParser, sentences: Iterable[Sequence[str]], min_probability: float
) -> Iterator[Tree | None]:
    """Yield one answer per sentence: a tree, or None where there is none that is good enough; see ``silver_trees``."""
    check_share(min_probability, "min_probability")
    if min_probability and not isinstance(teacher, LearnedParser):
        raise ParameterError(
            f"min_probability: a {type(teacher).__name__} does not say how sure it is; leave it out, or use a "
            "SpanParser or a PCFGParser."
        )
    return _judged(teacher, sentences, min_probability)


def _judged(teacher: BaseParser, sentences: Iterable[Sequence[str]], min_probability: float) -> Iterator[Tree | None]:
    source = iter(sentences)
    while batch := list(islice(source, _BATCH)):
        parsed = list(teacher.parse_sentences(batch))
        whole = [one.how == "parser" for one in parsed]
        if not min_probability:
            yield from (one.tree if kept else None for one, kept in zip(parsed, whole, strict=True))
            continue
        assert isinstance(teacher, LearnedParser)
        charts = teacher.charts(one.words for one, kept in zip(parsed, whole, strict=True) if kept)
        for one, kept in zip(parsed, whole, strict=True):
            if not kept:
                yield None
                continue
            score = next(charts).log_probability(one.tree)
            yield one.tree if score >= len(one.words) * math.log(min_probability) else None
