"""The constituency parser of Stanza."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sapwood.errors import DataError, ParameterError
from sapwood.layouts import register_estimator
from sapwood.parse.base import BaseParser
from sapwood.parse.external.words import as_text, check_text, trees_in, with_words
from sapwood.trees.tree import Tree, fold

__all__ = ["StanzaParser"]


class StanzaParser(BaseParser):
    """The constituency parser of the package ``stanza``.

    Parameters
    ----------
    lang : str
        The language, whose models ``stanza.download(lang)`` has fetched; nothing is fetched here.
    package : str
        Which models of the language.
    pipeline : stanza.Pipeline, optional
        A pipeline with the processor ``constituency``, made with ``tokenize_pretokenized=True``, to be used instead of
        a new one. A parser that holds one cannot be saved, and pickled only if the pipeline can.

    Examples
    --------
    >>> StanzaParser("it")
    StanzaParser(lang='it')
    """

    def __init__(self, lang: str = "en", *, package: str = "default", pipeline: Any = None) -> None:
        self.lang = lang
        self.package = package
        self.pipeline = pipeline

    @staticmethod
    def trees_of(document: Any) -> list[Tree]:
        """Return the trees of a ``stanza.Document`` made by a pipeline with ``constituency``."""
        return trees_in(
            document,
            "sentences",
            "a stanza.Document",
            lambda sentence: fold(
                sentence.constituency, lambda node: node.children, lambda node, below: Tree(str(node.label), below)
            ),
            "run stanza.Pipeline(processors='tokenize,pos,constituency')",
        )

    def _check(self) -> None:
        check_text(self, "lang", "package")

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        self._check()
        pipeline = _load(self.lang, self.package) if self.pipeline is None else self.pipeline
        if not getattr(pipeline, "config", {}).get("tokenize_pretokenized"):
            raise ParameterError("pipeline would split words anew; make it with tokenize_pretokenized=True.")
        sent = [[as_text(word) for word in words] for words in sentences]
        trees = self.trees_of(pipeline(sent))
        if len(trees) != len(sentences):
            raise DataError(f"Stanza gave {len(trees)} trees for {len(sentences)} sentences.")
        return [(with_words(*one), "parser") for one in zip(trees, sent, sentences, strict=True)]


# Kept beside the parsers: copies of them share it, and pickles do without.
@lru_cache(maxsize=2)
def _load(lang: str, package: str) -> Any:
    try:
        import stanza
    except ImportError as error:
        raise ParameterError(f"StanzaParser needs the package stanza ({error}): pip install stanza.") from None
    try:
        return stanza.Pipeline(
            lang,
            package=package,
            processors="tokenize,pos,constituency",
            tokenize_pretokenized=True,
            download_method=None,
            verbose=False,
        )
    except Exception as error:
        raise ParameterError(
            f"Stanza cannot load its constituency parser for {lang!r}, package {package!r} ({type(error).__name__}: "
            f"{str(error).strip()}); fetch the models with stanza.download({lang!r}). Not every language has one."
        ) from None


register_estimator(StanzaParser)
