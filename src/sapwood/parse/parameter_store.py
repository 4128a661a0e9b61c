"""How the parameter ``parser`` of an estimator is written to its model file and read back.

A parser of this library is stored with the model, also where it was given as the path of a file, so that the model can
be moved. A function or a class of one's own cannot be stored; a warning says so, and the loaded model says it again
when it needs a parser.
"""

from __future__ import annotations

import warnings
from typing import Any

from sapwood.callers import levels_to_user
from sapwood.parse.base import BaseParser
from sapwood.parse.parameter import FunctionParser, MissingParser, as_parser
from sapwood.registry import Reader, Writer

__all__ = ["read_parser", "write_parser"]


def write_parser(parser: Any, writer: Writer) -> dict[str, Any] | None:
    """Describe the parser of an estimator; None for no parser."""
    if parser is None:
        return None
    found = as_parser(parser)
    if isinstance(found, MissingParser):
        return {"missing": found.name}
    own = type(found).__module__.split(".")[0] == "sapwood" and not isinstance(found, FunctionParser)
    if not own:
        function = found.function if isinstance(found, FunctionParser) else found
        name = getattr(function, "__qualname__", None) or type(function).__qualname__
        warnings.warn(
            f"the parser {name} is code, which a file cannot hold: the model is saved without it. After loading, give "
            "it one with model.set_params(parser=...).",
            UserWarning,
            stacklevel=levels_to_user(),
        )
        return {"missing": name}
    return writer.part(found)


def read_parser(data: Any, reader: Reader) -> BaseParser | None:
    """Rebuild what ``write_parser`` has described."""
    if data is None:
        return None
    if isinstance(data, dict) and isinstance(data.get("missing"), str):
        return MissingParser(data["missing"])
    parser = reader.part(data)
    if not isinstance(parser, BaseParser):
        raise reader.fail("its parser is something else")
    return parser
