"""What parsers that learn from treebanks share: the trees they learn from, and charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sapwood.errors import DataError
from sapwood.parse.annotation import Constituent, clean
from sapwood.parse.base import BaseParser, check_words, refuse_text
from sapwood.parse.chart import ParseChart
from sapwood.trees.array import TreeArray
from sapwood.trees.tree import Tree

__all__ = ["LearnedParser", "training_trees"]

# Sentences that are scored together: charts are large.
_BATCH = 16


class LearnedParser(BaseParser):
    """Base class of parsers that learn from treebanks and have charts; they have a parameter ``max_length``."""

    max_length: int

    def _charts(self, sentences: list[list[str]]) -> Iterator[ParseChart]:
        """Yield the charts of a few sentences, none of which is too long."""
        raise NotImplementedError(f"{type(self).__name__} does not say how charts are made.")

    def chart(self, sentence: Sequence[str]) -> ParseChart:
        """Return all that the parser knows about a sentence, given as its words.

        Raises
        ------
        DataError
            If it has more words than ``max_length``, or the parser has no tree for all of it.
        """
        (chart,) = self.charts([refuse_text(sentence)])
        return chart

    def charts(self, sentences: Iterable[Sequence[str]]) -> Iterator[ParseChart]:
        """Yield the chart of sentence after sentence; charts are large, so take them one by one."""
        self._check_fitted()
        source = enumerate(sentences)
        while batch := [(index, check_words(words, index)) for index, words in islice(source, _BATCH)]:
            for index, words in batch:
                if len(words) > self.max_length:
                    raise DataError(
                        f"sentence {index} has {len(words):,} words, but charts go up to max_length={self.max_length}; "
                        "cut it, or use parse, which parses it in parts."
                    )
            yield from self._charts([words for _, words in batch])

    def _check_fitted(self) -> None:
        """Raise unless the parser has been trained."""
        check_is_fitted(
            self,
            msg="this %(name)s has not been trained; train it with fit(trees) before it is used, also as a step of a "
            "Pipeline or as the parser of another estimator.",
        )


def training_trees(trees: Any, name: str = "trees") -> tuple[list[Constituent], str | None]:
    """Return trees as they are learnt, and the label over most of them, such as TOP; None for none.

    Parameters
    ----------
    trees : TreeArray or iterable of trees
        With or without traces, function tags and a wrapper.
    name : str
        What errors call them.
    """
    array = trees if isinstance(trees, TreeArray) else TreeArray(trees)
    if len(array) == 0:
        raise DataError(f"{name}: there are no trees to learn a parser from; pass at least one.")
    if array.has_bags:
        raise DataError(f"{name}: the parser learns from single trees; pass the trees of the bags one by one.")
    wrappers: dict[str | None, int] = {}
    roots: list[Constituent] = []
    for index, tree in enumerate(array):
        assert isinstance(tree, Tree)
        wrapper, root = clean(tree, index)
        wrappers[wrapper] = wrappers.get(wrapper, 0) + 1
        roots.append(root)
    return roots, max(wrappers, key=lambda label: (wrappers[label], label is None))
