"""How word similarities are written to model files and read back."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.registry import Reader, Writer, register
from sapwood.words.base import WordProduct, WordScaled, WordSimilarity, WordSum
from sapwood.words.forms import Folded, Inflected, Tagged
from sapwood.words.latent import Latent
from sapwood.words.table import Table
from sapwood.words.taxonomy import Taxonomy
from sapwood.words.vectors import Vectors
from sapwood.words.wordnet import WordNet

_WORDNET = ("weights", "senses", "information", "inflected", "normalized", "path")


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
        case Taxonomy():
            return {
                "edges": [list(edge) for edge in similarity.edges],
                "counts": similarity.counts,
                "meanings": None
                if similarity.senses is None
                else {word: list(meant) for word, meant in similarity.senses.items()},
                "weights": similarity.weights,
                "normalized": bool(similarity.normalized),
            }
        case WordNet():
            params = {name: getattr(similarity, name) for name in _WORDNET}
            # The files themselves stay where they are; a count tells other versions of WordNet apart.
            return {"params": params, "bytes": similarity._width()}
        case Latent():
            documents = similarity.documents
            return {
                "documents": None if documents is None else [list(document) for document in documents],
                "dimensions": int(similarity.dimensions),
                "normalized": bool(similarity.normalized),
                "random_state": similarity.random_state,
            }
        case WordSum() | WordProduct():
            return {"parts": [writer.part(similarity.first), writer.part(similarity.second)]}
        case WordScaled():
            return {"weight": float(similarity.weight), "parts": [writer.part(similarity.similarity)]}
        case Folded():
            return {"parts": [writer.part(similarity.similarity)]}
        case Inflected():
            return {"strength": float(similarity.strength)}
        case Tagged():
            parts = [writer.part(similarity.similarity)]
            return {"parts": parts, "separator": similarity.separator, "prefix": similarity.prefix}
    raise TypeError(f"{type(similarity).__name__} objects cannot be saved")


def _read(data: dict[str, Any], reader: Reader) -> WordSimilarity:
    kind = data["kind"]
    match kind:
        case "Table":
            pairs, values = data["pairs"], reader.array(data["values"], np.float64, 1).tolist()
            return Table({(first, second): value for (first, second), value in zip(pairs, values, strict=True)})
        case "Vectors":
            vectors = reader.array(data["vectors"], np.float64, 2)
            return Vectors(data["words"], vectors, measure=data["measure"])
        case "Taxonomy":
            edges = [(child, parent) for child, parent in data["edges"]]
            return Taxonomy(
                edges,
                data["counts"],
                senses=data["meanings"],
                weights=data["weights"],
                normalized=data["normalized"],
            )
        case "WordNet":
            similarity = WordNet(**{name: data["params"][name] for name in _WORDNET})
            if similarity._width() != data["bytes"]:
                raise reader.fail("it was made with another version of WordNet than the one found here")
            return similarity
        case "Inflected":
            return Inflected(data["strength"])
        case "Latent":
            return Latent(
                data["documents"],
                dimensions=data["dimensions"],
                normalized=data["normalized"],
                random_state=data["random_state"],
            )
    parts = [reader.part(part) for part in data.get("parts", [])]
    match kind:
        case "WordSum":
            return WordSum(*parts)
        case "WordProduct":
            return WordProduct(*parts)
        case "WordScaled":
            return WordScaled(data["weight"], *parts)
        case "Folded":
            return Folded(*parts)
        case "Tagged":
            return Tagged(*parts, separator=data["separator"], prefix=data["prefix"])
    raise reader.fail(f"there is no word similarity called {kind!r}")


register("WordSimilarity", WordSimilarity, _write, _read)
