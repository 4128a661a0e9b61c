"""Writing parsers to model files and reading them back: numbers as arrays, names as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sapwood import registry as files
from sapwood.parse.estimation import GrammarTables
from sapwood.parse.lexicon import Lexicon
from sapwood.parse.parameter import FlatParser
from sapwood.parse.pcfg import Model, PCFGParser

__all__: list[str] = []

_ARRAYS = {
    "parents": np.uint32,
    "lefts": np.uint32,
    "rights": np.uint32,
    "weights": np.float64,
    "uppers": np.uint32,
    "lowers": np.uint32,
    "chain_weights": np.float64,
    "chain_ends": np.uint64,
    "chain_labels": np.uint32,
    "stay": np.float64,
    "prior": np.float64,
    "labels": np.uint32,
}

Counts = dict[str, dict[str, int]]


def _write(parser: PCFGParser, writer: files.Writer) -> dict[str, Any]:
    check_is_fitted(parser)
    parameters = parser.get_params()
    if not isinstance(parameters["splits"], str):
        parameters["splits"] = sorted(parameters["splits"])
    return {
        "parameters": parameters,
        "wrapper": parser.wrapper_,
        "models": [_write_model(model, writer) for model in (parser._model, parser._fallback)],
    }


def _read(data: dict[str, Any], reader: files.Reader) -> PCFGParser:
    parser = PCFGParser(**data["parameters"])
    parser._check()
    wrapper = data["wrapper"]
    if wrapper is not None and not isinstance(wrapper, str):
        raise reader.fail("the label over sentences is no text")
    parser.wrapper_ = wrapper
    model, fallback = (_read_model(part, reader) for part in data["models"])
    parser._set(model, fallback)
    return parser


def _write_model(model: Model, writer: files.Writer) -> dict[str, Any]:
    tables, lexicon = model.tables, model.lexicon
    symbols = {symbol: number for number, symbol in enumerate(lexicon.symbols)}
    tags = {tag: number for number, tag in enumerate({tag: None for row in lexicon.classes.values() for tag in row})}
    return {
        "names": tables.names,
        "labels": tables.labels,
        "root": tables.root,
        "cover": tables.cover,
        "arrays": {name: writer.array(tables.arrays[name]) for name in _ARRAYS},
        "lexicon": {
            "parameters": lexicon.parameters(),
            "symbols": list(symbols),
            "symbol_counts": writer.array(np.array(list(lexicon.symbols.values()), dtype=np.int64)),
            "tags": list(tags),
            "words": _write_counts(lexicon.words, symbols, writer),
            "classes": _write_counts(lexicon.classes, tags, writer),
        },
    }


def _read_model(data: dict[str, Any], reader: files.Reader) -> Model:
    arrays = {name: reader.array(data["arrays"][name], kind, 1) for name, kind in _ARRAYS.items()}
    names, labels, cover = (_texts(data[key], reader) for key in ("names", "labels", "cover"))
    root = data["root"]
    shown = arrays["labels"][arrays["labels"] != 0xFFFFFFFF]
    if not isinstance(root, int) or not 0 <= root < len(names) or not set(cover) <= set(labels) or not cover:
        raise reader.fail("the root of the grammar is not one of its symbols")
    if len(arrays["stay"]) != len(names) or any((a >= len(labels)).any() for a in (shown, arrays["chain_labels"])):
        raise reader.fail("the symbols of the grammar and their names differ in number")
    for name in ("weights", "chain_weights", "prior"):
        if not np.isfinite(arrays[name]).all():
            raise reader.fail(f"{name} holds a number that is not finite")
    part = data["lexicon"]
    lexicon = Lexicon(**part["parameters"])
    symbols = _texts(part["symbols"], reader)
    counts = reader.array(part["symbol_counts"], np.int64, 1)
    if len(counts) != len(symbols) or (counts < 1).any():
        raise reader.fail("the counts of tags do not fit them")
    lexicon.symbols = dict(zip(symbols, counts.tolist(), strict=True))
    lexicon.words = _read_counts(part["words"], symbols, reader)
    lexicon.classes = _read_counts(part["classes"], _texts(part["tags"], reader), reader)
    lexicon.prepare()
    return Model(GrammarTables(names, labels, arrays, root, cover), lexicon)


def _write_counts(table: Counts, numbers: dict[str, int], writer: files.Writer) -> dict[str, Any]:
    flat = [(numbers[name], count) for row in table.values() for name, count in row.items()]
    return {
        "keys": list(table),
        "ends": writer.array(np.cumsum([len(row) for row in table.values()], dtype=np.int64)),
        "numbers": writer.array(np.array([number for number, _ in flat], dtype=np.int64)),
        "counts": writer.array(np.array([count for _, count in flat], dtype=np.int64)),
    }


def _read_counts(data: dict[str, Any], names: list[str], reader: files.Reader) -> Counts:
    keys = _texts(data["keys"], reader)
    ends = reader.array(data["ends"], np.int64, 1)
    numbers = reader.array(data["numbers"], np.int64, 1)
    counts = reader.array(data["counts"], np.int64, 1)
    if len(ends) != len(keys) or len(numbers) != len(counts) or (np.diff(ends, prepend=0) < 0).any():
        raise reader.fail("a table of counts is out of order")
    if len(ends) and ends[-1] != len(numbers):
        raise reader.fail("a table of counts is cut off")
    if ((numbers < 0) | (numbers >= len(names))).any() or (counts < 1).any():
        raise reader.fail("a table of counts has an unknown tag")
    pairs = [(names[number], count) for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)]
    begins = [0, *ends.tolist()[:-1]]
    return {key: dict(pairs[a:b]) for key, a, b in zip(keys, begins, ends.tolist(), strict=True)}


def _texts(values: Any, reader: files.Reader) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise reader.fail("a list of names holds something else")
    return values


files.register("PCFGParser", PCFGParser, _write, _read)
files.register("FlatParser", FlatParser, lambda parser, writer: {}, lambda data, reader: FlatParser())
