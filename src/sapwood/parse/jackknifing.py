"""n-best lists for the very trees a parser learns from, made by parsers that have not seen them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sapwood.checks import check_count
from sapwood.errors import DataError
from sapwood.parse.annotation import bare_tree
from sapwood.parse.pcfg import PCFGParser
from sapwood.parse.spans.parser import SpanParser
from sapwood.trees.array import TreeArray
from sapwood.trees.nbest import NBest

__all__ = ["jackknife"]


def jackknife(
    treebank: Any, folds: int = 5, *, n: int = 30, parser: PCFGParser | SpanParser | None = None
) -> list[NBest]:
    """Parse every tree of a treebank with a parser learnt from the other folds.

    A parser does too well on the trees that it was trained on, so n-best lists for training a reranker must come from
    sentences that it has not seen.

    Parameters
    ----------
    treebank : TreeArray or iterable of trees
        Gold trees, as for the parser's ``fit``.
    folds : int
        Folds of neighbouring trees, so that an article is not torn between learning and parsing more often than needed.
    n : int
        Parses per sentence; there may be fewer.
    parser : PCFGParser or SpanParser, optional
        Whose parameters to use; it is cloned, never fitted. A grammar by default.

    Returns
    -------
    list of NBest
        In the order of the treebank, each with its gold tree (without traces and function tags) and its fold.

    Examples
    --------
    >>> trees = ["(S (NP (NN rain)) (VP (VBZ falls)))", "(S (NP (NN snow)) (VP (VBZ falls)))"]
    >>> [(str(one.parses[0]), one.fold) for one in jackknife(trees, 2, n=1)]
    [('(S (NP (NN rain)) (VP (VBZ falls)))', 0), ('(S (NP (NN snow)) (VP (VBZ falls)))', 1)]
    """
    array = treebank if isinstance(treebank, TreeArray) else TreeArray(treebank)
    check_count(folds, "folds", 2)
    if len(array) < folds:
        raise DataError(f"a treebank of {len(array)} trees cannot be split into {folds} folds; use fewer folds.")
    bounds = [len(array) * fold // folds for fold in range(folds + 1)]
    lists: list[NBest] = []
    for fold in range(folds):
        begin, end = bounds[fold], bounds[fold + 1]
        learnt = clone(PCFGParser() if parser is None else parser)
        learnt.fit(array[np.r_[0:begin, end : len(array)]])
        gold = [bare_tree(tree, begin + index) for index, tree in enumerate(array[begin:end])]
        found = learnt.parse_nbest_batch([tree.leaves() for tree in gold], n)
        lists += [replace(one, gold=tree, fold=fold) for one, tree in zip(found, gold, strict=True)]
    return lists
