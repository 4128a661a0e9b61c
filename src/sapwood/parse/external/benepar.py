"""The Berkeley neural parser, benepar, as a component of a spaCy pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sapwood.errors import DataError, ParameterError
from sapwood.layouts import register_estimator
from sapwood.parse.base import BaseParser
from sapwood.parse.external.words import as_text, check_text, trees_in, with_words
from sapwood.trees.tree import Tree

__all__ = ["BeneparParser"]


class BeneparParser(BaseParser):
    """The parser benepar, of the package ``benepar``, which runs in spaCy.

    Parameters
    ----------
    model : str
        The name of a model that ``benepar.download`` has fetched, or its path.
    language : str
        The language of the words, as ``spacy.blank`` takes it.
    nlp : spacy.Language, optional
        A pipeline with the component ``benepar``, to be used instead of a new one. A parser that holds one cannot be
        saved, and pickled only if the pipeline can.

    Examples
    --------
    >>> BeneparParser("benepar_de2", language="de")
    BeneparParser(language='de', model='benepar_de2')
    """

    def __init__(self, model: str = "benepar_en3", *, language: str = "en", nlp: Any = None) -> None:
        self.model = model
        self.language = language
        self.nlp = nlp

    @staticmethod
    def trees_of(document: Any) -> list[Tree]:
        """Return the trees of a ``spacy.tokens.Doc`` that benepar has parsed, one per sentence."""
        return trees_in(
            document,
            "sents",
            "a spaCy Doc",
            lambda sentence: Tree.fromstring(sentence._.parse_string),
            "add the component with nlp.add_pipe('benepar', config={'model': 'benepar_en3'})",
        )

    def _check(self) -> None:
        check_text(self, "model", "language")

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        self._check()
        nlp = _load(self.model, self.language) if self.nlp is None else self.nlp
        if not hasattr(nlp, "vocab"):
            raise ParameterError(f"nlp must be a spaCy pipeline, got {nlp!r}.")
        from spacy.tokens import Doc, Span

        if not Span.has_extension("parse_string"):
            raise ParameterError(
                f"nlp has no benepar; add it with nlp.add_pipe('benepar', config={{'model': {self.model!r}}})."
            )
        sent = [[as_text(word) for word in words] for words in sentences]
        # One document per sentence, and told so: nothing is left for a component to split.
        documents = [Doc(nlp.vocab, words=words, sent_starts=[at == 0 for at in range(len(words))]) for words in sent]
        answers: list[tuple[Any, str] | Exception] = []
        for document, asked, words in zip(nlp.pipe(documents), sent, sentences, strict=True):
            trees = self.trees_of(document)
            if len(trees) != 1:
                raise DataError(f"the pipeline made {len(trees)} sentences of one.")
            answers.append((with_words(trees[0], asked, words), "parser"))
        return answers


# Kept beside the parsers: copies of them share it, and pickles do without.
@lru_cache(maxsize=2)
def _load(model: str, language: str) -> Any:
    try:
        import benepar  # noqa: F401 - importing it is what tells spaCy of the component
        import spacy
    except ImportError as error:
        raise ParameterError(
            f"BeneparParser needs the packages benepar and spacy ({error}): pip install benepar spacy."
        ) from None
    try:
        nlp = spacy.blank(language)
        nlp.add_pipe("benepar", config={"model": model})
    except Exception as error:
        raise ParameterError(
            f"benepar cannot load the model {model!r} for {language!r} ({type(error).__name__}: {str(error).strip()}); "
            f"fetch it with benepar.download({model!r})."
        ) from None
    return nlp


register_estimator(BeneparParser)
