"""The BLLIP (Charniak and Johnson) parser: trees and n-best lists of a lexicalised grammar, reranked on request."""

from __future__ import annotations

import locale
import os
import threading
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from sapwood import settings
from sapwood.checks import check_count, check_flag
from sapwood.errors import DataError, ParameterError
from sapwood.layouts import register_estimator
from sapwood.parse.base import BaseParser, check_words, refuse_text
from sapwood.parse.external.words import penn, with_words
from sapwood.trees.array import TreeArray
from sapwood.trees.nbest import NBest
from sapwood.trees.tree import Tree

__all__ = ["BllipParser"]

_LONGEST = 398
# How many parses the reranker chooses from, if not more are asked for; its weights are learnt with so many.
_CANDIDATES = 50
# Without one of these BLLIP ends the process when it loads a model.
_FILES = (
    *("terms.txt", "headInfo.txt", "unitRules.txt", "pSgT.txt", "pUgT.txt", "endings.txt", "nttCounts.txt"),
    *(f"featInfo.{part}" for part in ("r", "h", "u", "m", "l", "lm", "ru", "rm", "tt", "s", "t")),
    *(f"{part}.{kind}" for part in ("r", "h", "u", "m", "l", "lm", "ru", "rm", "tt") for kind in ("g", "lambdas")),
)

# BLLIP holds one model per process and serves one thread at a time.
_lock = threading.RLock()
_loaded: dict[str, Any] = {}


class BllipParser(BaseParser):
    """The BLLIP parser, of the package ``bllipparser``.

    Parameters
    ----------
    folder : str or path
        The model: a folder with ``terms.txt`` and the files beside it, or one with the folders ``parser`` and
        ``reranker``, as ``bllipparser`` downloads it. A process can load one model.
    rerank : bool
        Choose among the parses, and order and score them, by the reranker of the model.
    overparsing : int
        How much longer to search after the first parse; 5 takes about a quarter of the time that 21 takes.

    Notes
    -----
    Trees have the label S1 over each sentence. Scores of parses are logarithms to base 2 of the joint probability of
    tree and words, or what the reranker gives. Sentences of more than 398 words have no parse.

    Examples
    --------
    >>> BllipParser("/models/bllip", overparsing=5)
    BllipParser(folder='/models/bllip', overparsing=5)
    """

    def __init__(self, folder: str | os.PathLike[str], *, rerank: bool = False, overparsing: int = 21) -> None:
        self.folder = folder
        self.rerank = rerank
        self.overparsing = overparsing

    @staticmethod
    def nbest_of(parses: Any) -> NBest:
        """Return an n-best list of BLLIP: what ``RerankingParser.parse`` gives for one sentence.

        Scores are the parser's own log-probabilities.
        """
        if isinstance(parses, str) or not isinstance(parses, Iterable):
            raise DataError(f"expected the list that RerankingParser.parse returns, got {type(parses).__name__}.")
        found = list(parses)
        if not found:
            raise DataError("BLLIP found no parse for the sentence; there is nothing to convert.")
        for index, one in enumerate(found):
            if not hasattr(one, "ptb_parse") or not hasattr(one, "parser_score"):
                raise DataError(f"parse {index} is a {type(one).__name__} without ptb_parse and parser_score.")
        trees = TreeArray([str(one.ptb_parse) for one in found])
        return NBest(trees, np.array([float(one.parser_score) for one in found]), how="parser")

    def _check(self) -> None:
        if not isinstance(self.folder, (str, os.PathLike)) or not isinstance(os.fspath(self.folder), str):
            raise ParameterError(f"folder must be the folder of a BLLIP model, got {self.folder!r}.")
        check_flag(self.rerank, "rerank")
        check_count(self.overparsing, "overparsing", most=1000)

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        found = self._lists(sentences, 1)
        return [one if isinstance(one, Exception) else (one.parses[0], "parser") for one in found]

    def parse_nbest(self, sentence: Sequence[str], n: int = 30) -> NBest:
        """Return the best trees of a sentence with their scores, best first.

        Parameters
        ----------
        sentence : sequence of str
            The words.
        n : int
            How many trees; there may be fewer.

        Raises
        ------
        DataError
            If there is no parse.
        """
        return self.parse_nbest_batch([refuse_text(sentence)], n)[0]

    def parse_nbest_batch(self, sentences: Iterable[Sequence[str]], n: int = 30) -> list[NBest]:
        """Return the n best parses of each sentence; raises if one has none."""
        check_count(n, "n", most=100_000)
        given = [[*map(str, check_words(words, index))] for index, words in enumerate(sentences)]
        lists = []
        for index, found in enumerate(self._lists(given, int(n))):
            if isinstance(found, Exception):
                raise DataError(f"sentence {index}, {' '.join(given[index])[:60]!r}, has no parse: {found}")
            lists.append(found)
        return lists

    def _lists(self, sentences: list[list[str]], n: int) -> list[NBest | DataError]:
        self._check()
        found = []
        with _lock, settings.progress_bar(len(sentences), "Parsing", "sentences") as progress:
            tool = _tool(os.fspath(self.folder), bool(self.rerank))
            tool.set_parser_options(nbest=max(n, _CANDIDATES) if self.rerank else n, overparsing=int(self.overparsing))
            for done, words in enumerate(sentences, 1):
                found.append(self._list(tool, words, n))
                if progress is not None:
                    progress(done)
        return found

    def _list(self, tool: Any, words: list[str], n: int) -> NBest | DataError:
        if len(words) > _LONGEST:
            return DataError(f"BLLIP takes up to {_LONGEST} words, and there are {len(words)}.")
        sent = [penn(word) for word in words]
        parses = list(tool.parse(sent, rerank=bool(self.rerank)))[:n]
        if not parses:
            return DataError("BLLIP found none.")
        made = self.nbest_of(parses)
        scores = np.array([float(one.reranker_score) for one in parses]) if self.rerank else made.scores
        trees = TreeArray(with_words(cast(Tree, tree), sent, words) for tree in made.parses)
        if any(leaves != words for leaves in trees.leaves()):
            return DataError("BLLIP gave a tree of other words.")
        return NBest(trees, scores, how="parser")


def _tool(folder: str, rerank: bool) -> Any:
    """Return BLLIP with the model of a folder."""
    name = os.path.realpath(folder)
    unified = os.path.join(name, "parser")
    tool = _loaded.get(name) or _load(folder, unified if os.path.isdir(unified) else name)
    _loaded[name] = tool
    if rerank and tool.reranker_model is None:
        files = [_either(os.path.join(name, "reranker", kind)) for kind in ("features", "weights")]
        tool.load_reranker_model(*files)
    return tool


def _load(given: str, folder: str) -> Any:
    missing = next((name for name in _FILES if not os.path.isfile(os.path.join(folder, name))), None)
    if missing is not None:
        raise ParameterError(
            f"{given!r} is no folder of a BLLIP model (looked from {os.getcwd()}): there is no {missing} in it; unpack "
            "a model and name the folder that has terms.txt in it, or the one with the folder parser."
        )
    try:
        from bllipparser import RerankingParser
    except ImportError as error:
        raise ParameterError(
            f"BllipParser needs the package bllipparser ({error}): pip install bllipparser, which compiles it with g++."
        ) from None
    if RerankingParser._parser_model_loaded:
        other = next(iter(_loaded), "loaded by other code")
        raise ParameterError(
            f"BLLIP holds one model per process, and that is {other} here; use {given!r} in another process."
        )
    tool = RerankingParser()
    # Loading a model sets the locale of the process, which is not BLLIP's to choose.
    before = locale.setlocale(locale.LC_ALL)
    try:
        tool.load_parser_model(folder)
    except (RuntimeError, ValueError) as error:
        raise ParameterError(f"BLLIP cannot load the model in {given!r}: {error}") from None
    finally:
        locale.setlocale(locale.LC_ALL, before)
    return tool


def _either(stem: str) -> str:
    for name in (f"{stem}.gz", f"{stem}.bz2"):
        if os.path.isfile(name):
            return name
    raise ParameterError(f"rerank=True needs a reranker in the folder of the model, and there is no {stem}.gz.")


register_estimator(BllipParser)
