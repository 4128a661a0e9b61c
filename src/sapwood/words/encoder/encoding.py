"""An encoder: sentences in, one vector per word out."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sapwood import settings
from sapwood.checks import check_choice
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.notebook import HtmlTable
from sapwood.words.encoder.graph import build_graph, read_shape
from sapwood.words.encoder.packages import require
from sapwood.words.encoder.pieces import PieceTokenizer
from sapwood.words.encoder.places import KNOWN, digest, find_encoder, weights_file
from sapwood.writing import atomic_write

__all__ = ["Encoder", "EncoderSpec"]

Vectors = NDArray[np.float16]
# Sentences that are encoded, and kept in the cache, together.
_BLOCK = 256
# Changes when the vectors of an encoder would: what is cached was made by one version only.
_VERSION = 1


@dataclass(frozen=True)
class EncoderSpec(HtmlTable):
    """Which encoder a model needs: its name, the digest of its weights, and how it is used."""

    name: str
    sha256: str
    layers: tuple[int, ...]
    pieces: str
    precision: str


class Encoder(HtmlTable):
    """A pretrained encoder that gives every word of a sentence a vector, run by onnxruntime.

    Parameters
    ----------
    source : path or str
        A folder as the Hugging Face hub lays it out (``config.json``, ``tokenizer.json``, ``model.safetensors``) with
        a BERT, DistilBERT, RoBERTa or MiniLM; an ``.onnx`` file that gives hidden states, beside a ``tokenizer.json``;
        or a name, such as ``"minilm"`` or one on the hub, whose folder is in ``SAPWOOD_DATA`` or in the hub's cache.
    layers : sequence of int, optional
        Hidden layers whose states are put side by side; 0 is below the first layer, -1 the last. By default about one
        in two, the last one left out, which is about the task that the encoder was trained for. Not for ONNX files.
    pieces : {"ends", "first", "last", "mean"}
        Which pieces of a word count: the first and the last side by side, one of them, or the mean of all.
    precision : {"int8", "float32"}
        Whether weights and activations are rounded to 8 bits, which is about three times as fast.
    cache : path, optional
        A folder in which vectors are kept by content, for what is read again and again, as in training.

    Attributes
    ----------
    width : int
        The length of a vector.
    sha256 : str
        The digest of the weights.

    Notes
    -----
    Sentences are encoded one by one, in several threads, and never padded; so a sentence gets the same vectors
    whatever stands beside it. Sentences with more pieces than the encoder takes are read in windows that overlap.
    """

    def __init__(
        self,
        source: str | Path,
        *,
        layers: Sequence[int] | None = None,
        pieces: str = "ends",
        precision: str = "int8",
        cache: str | Path | None = None,
    ) -> None:
        check_choice(pieces, "pieces", ("ends", "first", "last", "mean"))
        check_choice(precision, "precision", ("int8", "float32"))
        self.source, self.pieces, self.precision = str(source), pieces, precision
        self.cache = None if cache is None else Path(cache)
        self._path = find_encoder(source)
        self._weights = weights_file(self._path)
        if self._weights.suffix == ".onnx":
            if layers is not None:
                raise ParameterError("layers must be None for an ONNX file: its output is what it is.")
            self.layers: tuple[int, ...] = ()
        else:
            self._shape = read_shape(self._path)
            self.layers = _check_layers(layers, self._shape.layers)
        self.sha256 = digest(self._weights)
        self._session: Any = None

    def __repr__(self) -> str:
        layers = f", layers={self.layers!r}" if self.layers else ""
        return f"Encoder({self.source!r}{layers}, pieces={self.pieces!r}, precision={self.precision!r})"

    def _summary(self) -> dict[str, Any]:
        return {**asdict(self.spec), "source": self.source}

    def __getstate__(self) -> dict[str, Any]:
        # Sessions are made anew in every process.
        return {**self.__dict__, "_session": None}

    def __sklearn_clone__(self) -> Self:
        return self

    @property
    def spec(self) -> EncoderSpec:
        """What a model that was trained with this encoder has to remember."""
        known = next((name for name, one in KNOWN.items() if one.sha256 == self.sha256), None)
        name = known or (self._path.stem if self._path.suffix else self._path.name)
        return EncoderSpec(name, self.sha256, self.layers, self.pieces, self.precision)

    def checked(self, spec: EncoderSpec) -> Self:
        """Return the encoder, or say that it is another one than a model was trained with."""
        own = replace(self.spec, name=spec.name)
        if own.sha256 != spec.sha256:
            raise ModelFileError(
                f"the model was trained with the encoder {spec.name!r}, whose weights have the SHA-256 "
                f"{spec.sha256[:16]}…; those of {self.source} have {own.sha256[:16]}…. Pass the encoder it was "
                "trained with."
            )
        if own != spec:
            raise ModelFileError(
                f"the model was trained with layers={spec.layers}, pieces={spec.pieces!r} and "
                f"precision={spec.precision!r} of its encoder; got {self!r}. Pass an Encoder with the same settings, "
                "or its folder or name."
            )
        return self

    @property
    def width(self) -> int:
        """The length of the vector of a word."""
        self._open()
        return self._state_width * (2 if self.pieces == "ends" else 1)

    def encode(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of the words of one sentence, one row each."""
        if isinstance(words, str):
            raise DataError("expected a list of words, got a str; sapwood.parse.tokenize splits text.")
        (found,) = self.encode_batch([words])
        return found.astype(np.float32)

    def encode_batch(self, sentences: Iterable[Sequence[str]]) -> Iterator[NDArray[np.float16]]:
        """Yield the vectors of sentence after sentence in half precision, as they are kept.

        Sentences are read block by block as the answers are taken; what is in the cache is mapped, not read.
        """
        self._open()
        source = iter(sentences)
        while block := [[str(word) for word in words] for words in islice(source, _BLOCK)]:
            stored = self._from_cache(block)
            if stored is None:
                with ThreadPoolExecutor(settings.threads()) as pool:
                    stored = list(pool.map(self._vectors, block))
                self._to_cache(block, stored)
            yield from stored

    def _vectors(self, words: list[str]) -> Vectors:
        parts = [np.zeros((0, self.width), np.float16)]
        for window in self._tokenizer.windows(words):
            states = self._run(window.ids)
            first, last = (np.array([ends[side] for ends in window.ends], dtype=np.intp) for side in (0, 1))
            if self.pieces == "ends":
                found = np.concatenate([states[first], states[last]], axis=1)
            elif self.pieces == "mean":
                sums = np.concatenate([np.zeros((1, states.shape[1]), states.dtype), np.cumsum(states, axis=0)])
                found = (sums[last + 1] - sums[first]) / (last + 1 - first)[:, None]
            else:
                found = states[first if self.pieces == "first" else last]
            # Half precision is more than the vectors are worth, and half of the memory.
            with np.errstate(over="ignore"):
                rounded = found.astype(np.float16)
            if not np.isfinite(rounded).all():
                raise ModelFileError(f"{self.source}: its states are not finite; the weights are damaged.")
            parts.append(rounded)
        return np.concatenate(parts)

    def _run(self, ids: list[int]) -> NDArray[np.float32]:
        given = {"input_ids": np.array([ids], dtype=np.int64)}
        for name in self._more_inputs:
            given[name] = (np.ones if name == "attention_mask" else np.zeros)((1, len(ids)), dtype=np.int64)
        try:
            states: NDArray[np.float32] = self._session.run([self._output], given)[0][0]
        except Exception as error:
            if isinstance(error, MemoryError):
                raise
            raise ModelFileError(
                f"{self.source}: the encoder cannot be run ({error}); its tokenizer, its configuration and its weights "
                "may be of different models."
            ) from None
        return states

    def _open(self) -> None:
        if self._session is not None:
            return
        runtime = require("onnxruntime")
        folder = self._path.parent if self._path.suffix == ".onnx" else self._path
        options = runtime.SessionOptions()
        # Threads go over sentences, not into them.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Errors are raised, not printed.
        options.log_severity_level = 4
        graph = self._weights if self._weights.suffix == ".onnx" else self._graph()
        try:
            session = runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ModelFileError(f"{graph}: onnxruntime cannot open it ({error}).") from None
        inputs = {one.name for one in session.get_inputs()}
        if "input_ids" not in inputs or not inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise ModelFileError(
                f"{graph}: its inputs are {', '.join(sorted(inputs))}; expected input_ids, and perhaps attention_mask "
                "and token_type_ids."
            )
        outputs = [one for one in session.get_outputs() if len(one.shape) == 3 and isinstance(one.shape[2], int)]
        if not outputs:
            raise ModelFileError(f"{graph}: no output has the shape (sentences, pieces, width) of hidden states.")
        self._output, self._state_width = outputs[0].name, int(outputs[0].shape[2])
        self._more_inputs = sorted(inputs - {"input_ids"})
        limit = self._shape.limit if self.layers else 512
        self._tokenizer = PieceTokenizer(folder / "tokenizer.json", limit)
        self._session = session

    def _graph(self) -> Path:
        """Return the graph of a folder; it is made once and kept in the user's cache."""
        name = hashlib.sha256(repr((_VERSION, self.sha256, self.layers, self.precision)).encode()).hexdigest()[:24]
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sapwood" / "encoders"
        path = base / f"{name}.onnx"
        if path.is_file():
            return path
        onnx = require("onnx")
        model = build_graph(self._path, self._shape, self.layers)
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=base) as folder:
            made = Path(folder) / "plain.onnx"
            onnx.save(model, str(made))
            if self.precision == "int8":
                quantization = require("onnxruntime.quantization")
                rounded = Path(folder) / "int8.onnx"
                # It advises to prepare graphs that others have made, through the root logger.
                logging.disable(logging.WARNING)
                try:
                    # Seven bits of weight leave room for sums on processors that add in 16 bits.
                    quantization.quantize_dynamic(str(made), str(rounded), per_channel=True, reduce_range=True)
                finally:
                    logging.disable(logging.NOTSET)
                made = rounded
            made.replace(path)
        return path

    def _cache_path(self, block: list[list[str]]) -> Path | None:
        if self.cache is None:
            return None
        what = repr((_VERSION, self.sha256, self.layers, self.pieces, self.precision, block))
        return self.cache / f"{hashlib.sha256(what.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.npy"

    def _from_cache(self, block: list[list[str]]) -> list[Vectors] | None:
        path = self._cache_path(block)
        if path is None or not os.path.isfile(path):
            return None
        try:
            rows = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError):
            return None  # cut off or damaged: made anew
        ends = np.cumsum([len(words) for words in block])
        if rows.dtype != np.float16 or rows.shape != (int(ends[-1]), self.width):
            return None
        return np.split(rows, ends[:-1])

    def _to_cache(self, block: list[list[str]], vectors: list[Vectors]) -> None:
        path = self._cache_path(block)
        if path is None:
            return
        draft = BytesIO()
        np.save(draft, np.concatenate(vectors))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise DataError(f"cache={str(self.cache)!r} is no folder that vectors can be kept in ({error}).") from None
        atomic_write(path, draft.getvalue())


def _check_layers(layers: Sequence[int] | None, count: int) -> tuple[int, ...]:
    if layers is None:
        return tuple(range(1, max(2, count), 2))
    found = tuple(layers)
    if not found or any(isinstance(one, bool) or not isinstance(one, (int, np.integer)) for one in found):
        raise ParameterError(f"layers must be a list of whole numbers, got {layers!r}.")
    if min(found) < -count - 1 or max(found) > count:
        raise ParameterError(f"layers must be between 0 and {count} for this encoder, got {layers!r}.")
    return tuple(int(one) % (count + 1) for one in found)
