"""Grammars of parsers and connection paths in model files: numbers as arrays, names as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.parse.charts import ChartParser
from sapwood.parse.estimation import GrammarTables
from sapwood.parse.incremental import ConnectionPath, ConnectionPaths
from sapwood.parse.lexicon import Lexicon
from sapwood.parse.pcfg import PCFGParser
from sapwood.registry import Reader, Writer, register

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


def _write(parser: PCFGParser, writer: Writer) -> dict[str, Any]:
    parser._check_fitted()
    return {
        "params": writer.parameters(parser),
        "wrapper": parser.wrapper_,
        "models": [_write_model(model, writer) for model in (parser._model, parser._fallback)],
    }


def _read(data: dict[str, Any], reader: Reader) -> PCFGParser:
    parser: PCFGParser = reader.make(PCFGParser, data)
    parser.wrapper_ = data["wrapper"]
    if parser.wrapper_ is not None and not isinstance(parser.wrapper_, str):
        raise reader.fail("the label over sentences is no text")
    model, fallback = (_read_model(part, reader) for part in data["models"])
    parser._set(model, fallback)
    return parser


def _write_model(model: ChartParser, writer: Writer) -> dict[str, Any]:
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


def _read_model(data: dict[str, Any], reader: Reader) -> ChartParser:
    names, labels, cover = (reader.texts(data[key]) for key in ("names", "labels", "cover"))
    arrays = {name: reader.array(data["arrays"][name], kind, 1) for name, kind in _ARRAYS.items()}
    reader.indices(data["arrays"]["chain_labels"], len(labels))
    for name in ("weights", "chain_weights", "prior"):
        reader.finite(data["arrays"][name], (None,))
    root = reader.count(data["root"])
    shown = arrays["labels"][arrays["labels"] != 0xFFFFFFFF]
    if root >= len(names) or not set(cover) <= set(labels) or not cover:
        raise reader.fail("the root of the grammar is not one of its symbols")
    if len(arrays["stay"]) != len(names) or (shown >= len(labels)).any():
        raise reader.fail("the symbols of the grammar and their names differ in number")
    part = data["lexicon"]
    lexicon = Lexicon(**reader.arguments(Lexicon, part["parameters"]))
    if min(lexicon.known, lexicon.spelling, lexicon.split) <= 0:
        raise reader.fail("a vaguer estimate of the lexicon counts for nothing or less")
    symbols = reader.texts(part["symbols"])
    counts = reader.array(part["symbol_counts"], np.int64, 1)
    if len(counts) != len(symbols) or (counts < 1).any():
        raise reader.fail("the counts of tags do not fit them")
    lexicon.symbols = dict(zip(symbols, counts.tolist(), strict=True))
    lexicon.words = _read_counts(part["words"], symbols, reader)
    lexicon.classes = _read_counts(part["classes"], reader.texts(part["tags"]), reader)
    lexicon.prepare()
    return ChartParser(GrammarTables(names, labels, arrays, root, cover), lexicon)


def _write_counts(table: Counts, numbers: dict[str, int], writer: Writer) -> dict[str, Any]:
    flat = [(numbers[name], count) for row in table.values() for name, count in row.items()]
    return {
        "keys": list(table),
        "ends": writer.array(np.cumsum([len(row) for row in table.values()], dtype=np.int64)),
        "numbers": writer.array(np.array([number for number, _ in flat], dtype=np.int64)),
        "counts": writer.array(np.array([count for _, count in flat], dtype=np.int64)),
    }


def _read_counts(data: dict[str, Any], names: list[str], reader: Reader) -> Counts:
    keys = reader.texts(data["keys"])
    counts = reader.array(data["counts"], np.int64, 1)
    numbers = reader.indices(data["numbers"], len(names), np.int64, count=len(counts))
    ends = reader.offsets(data["ends"], len(counts), np.int64, count=len(keys)).tolist()
    if (counts < 1).any():
        raise reader.fail("a table of counts has a count below 1")
    pairs = [(names[number], count) for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)]
    return {key: dict(pairs[a:b]) for key, a, b in zip(keys, [0, *ends], ends, strict=False)}


def _write_paths(paths: ConnectionPaths, writer: Writer) -> dict[str, Any]:
    labels: dict[str, int] = {}
    numbers: list[int] = []
    ends: list[int] = []
    for path in paths:
        # Per path its anchor, what is above and what is below; the two ends say which is which.
        for part in ((path.anchor, *path.up), path.down):
            numbers.extend(labels.setdefault(label, len(labels)) for label in part)
            ends.append(len(numbers))
    return {
        "root": paths.root,
        "labels": list(labels),
        "numbers": writer.array(np.array(numbers, dtype=np.uint32)),
        "ends": writer.array(np.array(ends, dtype=np.uint64)),
        "counts": writer.array(paths.counts),
    }


def _read_paths(data: dict[str, Any], reader: Reader) -> ConnectionPaths:
    labels = reader.texts(data["labels"])
    counts = reader.finite(data["counts"], (None,))
    names = [labels[number] for number in reader.indices(data["numbers"], len(labels)).tolist()]
    ends = reader.offsets(data["ends"], len(names), count=2 * len(counts), empty=False)
    if not (counts > 0).all():
        raise reader.fail("a connection path has a count that is not above 0")
    bounds = [0, *ends.tolist()]
    found: dict[ConnectionPath, float] = {}
    for k, count in enumerate(counts.tolist()):
        begin, middle, end = bounds[2 * k : 2 * k + 3]
        anchor, *up = names[begin:middle]
        found[ConnectionPath(tuple(up), anchor, tuple(names[middle:end]))] = count
    return ConnectionPaths(found, root=data["root"])


register("PCFGParser", PCFGParser, _write, _read)
register("ConnectionPaths", ConnectionPaths, _write_paths, _read_paths)
