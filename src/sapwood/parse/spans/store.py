"""Span parsers in model files: weights as arrays, words and labels as JSON; of an encoder its name and digest only."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.packing import Grid
from sapwood.parse.spans.features import WordFeatures
from sapwood.parse.spans.labels import SpanVocabulary
from sapwood.parse.spans.network import AveragedNetwork, Network
from sapwood.parse.spans.parser import SpanParser
from sapwood.registry import Reader, Writer, register
from sapwood.words.encoder.needed import ENCODER_SPEC

__all__: list[str] = []

_TABLES = ("words", "pieces", "shapes")
# Vectors of words and pieces are added up, so that their errors cancel out; layers want finer steps.
_TABLE_GRID, _LAYER_GRID = Grid(7, axis=1), Grid(31, axis=0)


def _write(parser: SpanParser, writer: Writer) -> dict[str, Any]:
    parser._check_fitted()
    network, vocabulary, spec = parser._network, parser.vocabulary_, parser._spec
    return {
        "params": writer.parameters(parser, without=["encoder", "checkpoint"]),
        "encoder": ENCODER_SPEC.write(spec, writer),
        "chains": [list(chain) for chain in vocabulary.chains],
        "tags": list(vocabulary.tags),
        "wrapper": vocabulary.wrapper,
        "words": list(network.features.words),
        "shapes": list(network.features.shapes),
        "buckets": network.features.buckets,
        "weights": _weights_of(network.members[0], writer),
        # Of an average of networks, all but the first.
        **({"more_weights": [_weights_of(one, writer) for one in network.members[1:]]} if network.members[1:] else {}),
    }


def _weights_of(network: Network, writer: Writer) -> dict[str, Any]:
    return {
        name: writer.weights(array, _TABLE_GRID if name in _TABLES else _LAYER_GRID)
        for name, array in network.weights.items()
    }


def _read(data: dict[str, Any], reader: Reader) -> SpanParser:
    parser: SpanParser = reader.make(SpanParser, data)
    chains = tuple(tuple(reader.texts(chain)) for chain in data["chains"])
    tags, words, shapes = (reader.texts(data[name]) for name in ("tags", "words", "shapes"))
    if not isinstance(data["wrapper"], str) or not chains or not all(chains) or not tags:
        raise reader.fail("its labels are not those of a parser")
    features = WordFeatures(_numbered(words, reader), _numbered(shapes, reader), reader.count(data["buckets"]))
    vocabulary = SpanVocabulary(chains, tuple(tags), data["wrapper"])
    more = data.get("more_weights", [])
    networks = [_read_network(one, features, vocabulary, reader) for one in [data["weights"], *more]]
    spec = ENCODER_SPEC.read(data["encoder"], reader)
    if len({network.dense_width for network in networks}) > 1 or (spec is None) != (networks[0].dense_width == 0):
        raise reader.fail("the network and its encoder do not fit together")
    parser._set(networks[0] if not more else AveragedNetwork(networks), vocabulary, spec)
    return parser


def _read_network(data: Any, features: WordFeatures, vocabulary: SpanVocabulary, reader: Reader) -> Network:
    weights = {}
    for name, array in data.items():
        flat = any(part in name for part in ("bias", "scale", "shift")) or name in ("first", "last")
        weights[name] = reader.finite(array, (None,) * (1 if flat else 2), np.float32)
    rows = {"words": len(features.words) + 1, "shapes": len(features.shapes) + 1, "pieces": features.buckets}
    if any(name not in weights or len(weights[name]) != count for name, count in rows.items()):
        raise reader.fail("the vectors of words do not fit the words")
    try:
        network = Network(features, weights)
    except (KeyError, ValueError, TypeError) as error:
        raise reader.fail(f"its network is not whole ({error})") from None
    if network.labels != len(vocabulary.chains) or weights["tag_output"].shape[1] != len(vocabulary.tags):
        raise reader.fail("the network and the labels differ in number")
    plain = sum(weights[name].shape[1] for name in _TABLES)
    if plain + weights["dense"].shape[1] != len(weights["first"]):
        raise reader.fail("the vectors of words do not fit the network")
    return network


def _numbered(texts: list[str], reader: Reader) -> dict[str, int]:
    found = {text: number for number, text in enumerate(texts, 1)}
    if len(found) != len(texts):
        raise reader.fail("a word occurs twice")
    return found


register("SpanParser", SpanParser, _write, _read)
