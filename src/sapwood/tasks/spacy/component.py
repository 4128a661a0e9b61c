"""What all steps share: sentences and words of documents, batches, models that are found, saved and loaded."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, Self

from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.files import load, save
from sapwood.packages import package_model
from sapwood.parse.base import Sentence
from sapwood.parse.parameter import as_parser
from sapwood.parse.sentences import split_sentences
from sapwood.parse.tokenizing import tokenize
from sapwood.penn import BRACKETS
from sapwood.tasks.inputs import in_batches
from sapwood.trees.tree import Tree

__all__ = ["Component", "Stretch", "stretches"]

_FILE = "model.sap"


@dataclass(frozen=True)
class Stretch:
    """One sentence of a document.

    Attributes
    ----------
    span : spacy.tokens.Span
        The sentence.
    places : tuple of int
        The tokens in it that are no blanks, by their places in the document.
    words : tuple of str
        Their text, brackets and quotes spelled as the Penn Treebank spells them, and so as models have learnt them.
    """

    span: Any
    places: tuple[int, ...]
    words: tuple[str, ...]

    def given(self) -> Sentence | None:
        """Return the sentence with the tree that an earlier step has put into ``span._.parse_string``."""
        text = self.span._.parse_string if self.span.has_extension("parse_string") else None
        if not text:
            return None
        tree = Tree.fromstring(text)
        if len(tree.leaves()) != len(self.words):
            raise DataError(
                f"parse_string has {len(tree.leaves())} leaves for {len(self.words)} tokens: {self.span.text!r}."
            )
        return Sentence(tree.leaves(), tree, "given")


def stretches(doc: Any) -> list[Stretch]:
    """Return the sentences of a document: those of the pipeline, or where it has found none, those Sapwood finds."""
    spelled = {(word.begin, word.end): str(word) for word in tokenize(doc.text)}
    found = []
    for span in _sentences(doc):
        tokens = [token for token in span if not token.text.isspace()]
        words = [
            spelled.get((token.idx, token.idx + len(token)), BRACKETS.get(token.text, token.text)) for token in tokens
        ]
        if tokens:
            found.append(Stretch(span, tuple(token.i for token in tokens), tuple(words)))
    return found


def _sentences(doc: Any) -> Iterable[Any]:
    if doc.has_annotation("SENT_START"):
        return doc.sents  # type: ignore[no-any-return]
    starts = {sentence[0].begin for sentence in split_sentences(doc.text)}
    first = [token.i for token in doc if token.idx in starts]
    bounds = [0, *first[1:], len(doc)]
    return [doc[begin:end] for begin, end in pairwise(bounds)]


class Component:
    """A step of a spaCy pipeline around a model.

    Parameters
    ----------
    model : estimator, path or str
        A trained model, its file, or the name of one in an installed package, such as ``"en/roles"``.
    name : str
        What the step is called in its pipeline.
    """

    kind: type[Any]
    default_name: str

    def __init__(self, model: Any, *, name: str = "") -> None:
        self.name = name or self.default_name
        self.source = os.fspath(model) if isinstance(model, (str, os.PathLike)) else None
        self._model: Any = None
        self._missing: Exception | None = None
        self._handler: Callable[..., Any] = _raise
        self._extend()
        if self.source is None:
            self._model = self._checked(model)
            return
        try:
            self._model = self._checked(load(self.source))
        except ModelFileError as error:
            # A pipeline that is being loaded names a file that may be gone, and from_disk brings the model itself.
            self._missing = error

    @property
    def model(self) -> Any:
        """The trained model."""
        if self._missing is not None:
            raise ModelFileError(f"the component {self.name!r} has no model: {self._missing}")
        return self._model

    def _checked(self, model: Any) -> Any:
        if not isinstance(model, self.kind):
            said = "the model" if self.source is None else f"{self.source}: holds a {type(model).__name__}, which"
            raise ParameterError(f"{self.default_name}: {said} is no {self._wanted()}.")
        return model

    def _wanted(self) -> str:
        return self.kind.__name__

    # --- documents

    def __call__(self, doc: Any) -> Any:
        """Annotate one document."""
        self._annotate_all([doc])
        return doc

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 64) -> Iterator[Any]:
        """Annotate documents as they come, so many at a time."""
        for docs in in_batches(stream, batch_size):
            try:
                self._annotate_all(docs)
            except Exception:
                # One by one, so that what is wrong with one document is not held against the others.
                for doc in docs:
                    try:
                        yield self(doc)
                    except Exception as error:
                        self._handler(self.name, self, [doc], error)
            else:
                yield from docs

    def set_error_handler(self, handler: Callable[..., Any]) -> None:
        """Say what is called with name, component, documents and error when a document cannot be annotated."""
        self._handler = handler

    def get_error_handler(self) -> Callable[..., Any]:
        """Return what is called when a document cannot be annotated."""
        return self._handler

    def _annotate_all(self, docs: Sequence[Any]) -> None:
        per_doc = [stretches(doc) for doc in docs]
        answers = iter(self._answer([one for each in per_doc for one in each]))
        for doc, each in zip(docs, per_doc, strict=True):
            self._annotate(doc, each, [next(answers) for _ in each])

    def _parsed(self, found: Sequence[Stretch], parser: Any) -> list[Sentence]:
        """Return sentences with trees: those that an earlier step has made, the others by a parser."""
        trees = [one.given() for one in found]
        bare = [one.words for one, tree in zip(found, trees, strict=True) if tree is None]
        if bare and parser is None:
            raise ParameterError(
                f"{self.default_name}: the model has no parser of its own, and no earlier step has parsed "
                f"{' '.join(bare[0])[:60]!r}; add the component sapwood_parser before it."
            )
        made = iter(as_parser(parser).parse_sentences(bare) if bare else ())
        return [next(made) if tree is None else tree for tree in trees]

    def _answer(self, found: list[Stretch]) -> Sequence[Any]:
        """Ask the model about sentences of all documents together."""
        raise NotImplementedError

    def _annotate(self, doc: Any, found: list[Stretch], answers: list[Any]) -> None:
        """Write what the model has said into a document."""
        raise NotImplementedError

    def _extend(self) -> None:
        """Declare the attributes that it writes."""
        raise NotImplementedError

    # --- files

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Save the model in a folder; one of an installed package stays in its package, which the config names."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        if not self._is_packaged():
            save(self.model, folder / _FILE)

    def from_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> Self:
        """Load the model from a folder that ``to_disk`` has written."""
        file = Path(path) / _FILE
        if file.exists():
            self._model, self._missing = self._checked(load(file)), None
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model as bytes; nothing for one of an installed package."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            file = Path(folder) / _FILE
            return file.read_bytes() if file.exists() else b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load the model from what ``to_bytes`` has returned."""
        with tempfile.TemporaryDirectory() as folder:
            if data:
                (Path(folder) / _FILE).write_bytes(data)
            return self.from_disk(folder)

    def _is_packaged(self) -> bool:
        return package_model(self.source) is not None


def _raise(name: str, component: Component, docs: Sequence[Any], error: Exception) -> NoReturn:
    raise error
