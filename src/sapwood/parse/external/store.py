"""Writing parsers of others to model files: their parameters, nothing of what they load."""

from __future__ import annotations

import os
from typing import Any

from sapwood.errors import ParameterError
from sapwood.parse.external.benepar import BeneparParser
from sapwood.parse.external.bllip import BllipParser
from sapwood.parse.external.corenlp import CoreNLPParser
from sapwood.parse.external.stanza import StanzaParser
from sapwood.registry import Reader, Writer, plain_value, register

__all__: list[str] = []


def _write(parser: Any, writer: Writer) -> dict[str, Any]:
    parser._check()
    parameters = parser.get_params(deep=False)
    for name in ("nlp", "pipeline"):
        if parameters.pop(name, None) is not None:
            raise ParameterError(
                f"{type(parser).__name__} holds a pipeline object ({name}), which a file cannot; make the parser from "
                "the name of its model."
            )
    return {
        "parameters": {
            name: os.fspath(value) if isinstance(value, os.PathLike) else plain_value(value)
            for name, value in parameters.items()
        }
    }


def _register(kind: type[Any]) -> None:
    def read(data: dict[str, Any], reader: Reader) -> Any:
        parser = kind(**data["parameters"])
        parser._check()
        return parser

    register(kind.__name__, kind, _write, read)


for _kind in (BeneparParser, BllipParser, CoreNLPParser, StanzaParser):
    _register(_kind)
