"""How word similarities are written to model files and read back."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sapwood.registry import Reader, Writer, plain_value, register
from sapwood.words.base import WordProduct, WordScaled, WordSimilarity, WordSum
from sapwood.words.contextual import Contextual
from sapwood.words.forms import Folded, Inflected, Tagged
from sapwood.words.latent import Latent
from sapwood.words.table import Table
from sapwood.words.taxonomy import Taxonomy
from sapwood.words.vectors import Vectors
from sapwood.words.wordnet import WordNet

# The arguments of each kind: other similarities, and plain values.
_ARGUMENTS: dict[type[WordSimilarity], tuple[tuple[str, ...], tuple[str, ...]]] = {
    Contextual: ((), ("sharpness",)),
    Folded: (("similarity",), ()),
    Inflected: ((), ("strength",)),
    Latent: ((), ("documents", "dimensions", "normalized", "random_state")),
    Tagged: (("similarity",), ("separator", "prefix")),
    Taxonomy: ((), ("edges", "counts", "senses", "weights", "normalized")),
    WordProduct: (("first", "second"), ()),
    WordScaled: (("similarity",), ("weight",)),
    WordSum: (("first", "second"), ()),
}
_KINDS = {kind.__name__: kind for kind in _ARGUMENTS}
_WORDNET = ("weights", "senses", "information", "inflected", "normalized")
# "senses" of a taxonomy are those of another argument in files.
_KEYS = {"senses": "meanings"}


def _write(similarity: WordSimilarity, writer: Writer) -> dict[str, Any]:
    return {"kind": type(similarity).__name__, **_content(similarity, writer)}


def _content(similarity: WordSimilarity, writer: Writer) -> dict[str, Any]:
    match similarity:
        case Table():
            values = np.fromiter(similarity.entries.values(), dtype=np.float64, count=len(similarity.entries))
            return {"pairs": [list(pair) for pair in similarity.entries], "values": writer.array(values)}
        case Vectors():
            vectors = writer.array(similarity.vectors)
            return {"words": list(similarity.words), "vectors": vectors, "measure": similarity.measure}
        case WordNet():
            # The files themselves stay where they are; a count tells other versions of WordNet apart. Where they lie on
            # this machine is nobody's business on another.
            params = {name: plain_value(getattr(similarity, name)) for name in _WORDNET}
            params["information"] = os.path.basename(params["information"])
            return {"params": params, "bytes": similarity._width()}
    if type(similarity) not in _ARGUMENTS:
        raise TypeError(f"{type(similarity).__name__} objects cannot be saved")
    others, plain = _ARGUMENTS[type(similarity)]
    data = {_KEYS.get(name, name): plain_value(getattr(similarity, name)) for name in plain}
    return {"parts": [writer.part(getattr(similarity, name)) for name in others], **data}


def _read(data: dict[str, Any], reader: Reader) -> WordSimilarity:
    match data["kind"]:
        case "Table":
            pairs = [(first, second) for first, second in data["pairs"]]
            values = reader.finite(data["values"], (len(pairs),)).tolist()
            return Table(dict(zip(pairs, values, strict=True)))
        case "Vectors":
            words = reader.texts(data["words"])
            return Vectors(words, reader.finite(data["vectors"], (len(words), None)), measure=data["measure"])
        case "WordNet":
            # Looked for in the usual places: no file decides which other files are opened.
            params = {name: data["params"][name] for name in _WORDNET}
            params["information"] = os.path.basename(params["information"])
            similarity = WordNet(**params)
            if similarity._width() != data["bytes"]:
                raise reader.fail("it was made with another version of WordNet than the one found here")
            return similarity
    kind = _KINDS.get(data["kind"])
    if kind is None:
        raise reader.fail(f"there is no word similarity called {data['kind']!r}")
    others, plain = _ARGUMENTS[kind]
    parts = [reader.part(part, WordSimilarity) for part in data.get("parts", [])]
    values = {name: data[_KEYS.get(name, name)] for name in plain}
    return kind(**dict(zip(others, parts, strict=True)), **values)


register("WordSimilarity", WordSimilarity, _write, _read)
