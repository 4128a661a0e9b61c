"""What the parameter ``parser`` accepts everywhere: a parser, a function from words to a tree, or a path."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import lru_cache
from typing import Any

from sklearn.frozen import FrozenEstimator

from sapwood.callers import levels_to_user
from sapwood.errors import ModelFileError, ParameterError
from sapwood.files import load
from sapwood.layouts import Field
from sapwood.packages import find_package, model_file, model_language, package_model
from sapwood.parse.base import BaseParser
from sapwood.parse.flat import flat_tree
from sapwood.registry import Reader, Writer, register
from sapwood.trees.nbest import NBest

__all__ = ["PARSER", "FlatParser", "FunctionParser", "MissingParser", "as_parser"]


class FlatParser(BaseParser):
    """A parser that finds no phrases: every word under a tag guessed from a short list and its spelling.

    For estimators that should work from the words alone, on purpose and without a warning.

    Examples
    --------
    >>> print(FlatParser().parse(["What", "is", "rain", "?"]))
    (X (WP What) (VBZ is) (NN rain) (. ?))
    """

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        return [(flat_tree(words), "parser") for words in sentences]


class FunctionParser(BaseParser):
    """A function from words to a tree, as a parser.

    Parameters
    ----------
    function : callable
        Takes a list of words; returns a ``Tree``, text in brackets, an NLTK tree, an iterable whose first element is
        one of these (as NLTK's parsers do), or None where it finds none.

    Examples
    --------
    >>> parser = FunctionParser(lambda words: f"(S {' '.join(f'(X {word})' for word in words)})")
    >>> print(parser.transform(["Rain fell"])[0])
    (S (X Rain) (X fell))
    """

    def __init__(self, function: Callable[[list[str]], Any]) -> None:
        self.function = function

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        return [(self.function(words), "parser") for words in sentences]


class MissingParser(BaseParser):
    """Stands for the parser of a saved model that a file cannot hold; says so when it is needed.

    Parameters
    ----------
    name : str
        What the parser was.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        raise ParameterError(
            f"the model was saved without its parser, {self.name}, which a file cannot hold; give it one with "
            "model.set_params(parser=...), or pass trees."
        )

    def parse_nbest_batch(self, sentences: Iterable[Sequence[str]], n: int = 30) -> list[NBest]:
        """Raise: there is no parser."""
        self._parse_words([])
        return []


def as_parser(value: Any) -> BaseParser:
    """Return a parser for whatever the parameter ``parser`` may be.

    Parameters
    ----------
    value : BaseParser, callable, object with ``parse``, or path
        A parser as it is; a function, or the method ``parse`` of another object, that takes a list of words and returns
        a tree (see ``FunctionParser``); the path of a model file that holds a parser; or a language whose package of
        models is installed, such as ``"en"`` for ``"en/parser"``.

    Raises
    ------
    ParameterError
        If it is none of these.
    ModelFileError
        If the file is missing or holds something else.
    """
    if isinstance(value, FrozenEstimator):
        value = value.estimator
    if isinstance(value, BaseParser):
        return value
    if isinstance(value, (str, os.PathLike)):
        if not os.fspath(value):
            raise ParameterError("parser is an empty path; name a model file that holds a parser.")
        name = os.path.abspath(model_file(os.fspath(value)))
        found = os.stat(name) if os.path.exists(name) else None
        version = (0, 0, 0) if found is None else (found.st_ino, found.st_mtime_ns, found.st_size)
        # A copy, which shares what was learnt: whoever sets its parameters does so for nobody else.
        parser = copy(_loaded(name, version))
        parser.language = model_language(value) or parser.language
        return parser
    if isinstance(value, type):
        raise ParameterError(f"parser must be an object, got the class {value.__name__}; write {value.__name__}().")
    if hasattr(value, "parse"):
        return FunctionParser(value.parse)
    if callable(value):
        return FunctionParser(value)
    raise ParameterError(
        f"parser must be a parser of sapwood.parse, a function from a list of words to a tree, the path of a model "
        f"file, or a language such as 'en'; got {value!r}."
    )


# A model asked a thousand times for a tree should not read its parser a thousand times; a changed file is read again.
@lru_cache(maxsize=4)
def _loaded(name: str, version: tuple[int, int, int]) -> BaseParser:
    parser = load(name)
    if not isinstance(parser, BaseParser):
        raise ModelFileError(
            f"{name}: holds a {type(parser).__name__}, not a parser; train one with sapwood train parser."
        )
    return parser


def _write(parser: Any, writer: Writer) -> dict[str, Any] | None:
    if parser is None:
        return None
    if name := package_model(parser):
        return {"package": name, "sha256": _digest(name)}
    found = as_parser(parser)
    if isinstance(found, MissingParser):
        return {"missing": found.name}
    if type(found).__module__.split(".")[0] == "sapwood" and not isinstance(found, FunctionParser):
        return writer.part(found)
    function = found.function if isinstance(found, FunctionParser) else found
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    warnings.warn(
        f"the parser {name} is code, which a file cannot hold: the model is saved without it. After loading, give it "
        "one with model.set_params(parser=...).",
        UserWarning,
        stacklevel=levels_to_user(),
    )
    return {"missing": name}


def _digest(name: str) -> str | None:
    """Return the digest of the model of a package, if it is installed."""
    language, _, model = name.partition("/")
    package = find_package(language)
    return None if package is None else package.models.get(model, {}).get("sha256")


def _read(data: Any, reader: Reader) -> BaseParser | str | None:
    if data is None:
        return None
    if isinstance(data, dict) and "package" in data:
        name, digest = reader.text(data["package"]), data.get("sha256")
        if package_model(name) != name:
            raise reader.fail(f"{name!r} is not the name of a parser in a package")
        if digest and (now := _digest(name)) and now != digest:
            warnings.warn(
                f"the model was made with another version of {name} than the one that is installed; its answers may "
                "be a little worse.",
                UserWarning,
                stacklevel=levels_to_user(),
            )
        return name
    if isinstance(data, dict) and isinstance(data.get("missing"), str):
        return MissingParser(data["missing"])
    parser: BaseParser = reader.part(data, BaseParser)
    return parser


PARSER = Field(_write, _read, absent=None)
"""The parameter ``parser`` in model files.

A parser of this library is stored with the model, also where it was given as the path of a file, so that the model can
be moved. One of an installed package is stored by its name. A function or a class of one's own cannot be stored; a
warning says so, and the loaded model says it again when it needs a parser. Files of the first version hold no parser.
"""

register("FlatParser", FlatParser, lambda parser, writer: {}, lambda data, reader: FlatParser())
