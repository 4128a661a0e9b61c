"""BERT and its relatives as ONNX graphs, made from their configuration and weights.

The graph takes the pieces of sentences of one length, so it needs no mask, and gives the hidden states of the layers
that were asked for, side by side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.checks import is_finite, is_whole
from sapwood.errors import ModelFileError
from sapwood.words.encoder.packages import require

__all__ = ["Shape", "build_graph", "read_shape"]

_OPSET = 17
_MOST = 1 << 20
Array = NDArray[np.float32]

# Where each kind of model keeps what; "{}" is the number of a layer.
_BERT = {
    "words": "embeddings.word_embeddings.weight",
    "positions": "embeddings.position_embeddings.weight",
    "types": "embeddings.token_type_embeddings.weight",
    "embedded": "embeddings.LayerNorm",
    "query": "encoder.layer.{}.attention.self.query",
    "key": "encoder.layer.{}.attention.self.key",
    "value": "encoder.layer.{}.attention.self.value",
    "attended": "encoder.layer.{}.attention.output.dense",
    "attended_norm": "encoder.layer.{}.attention.output.LayerNorm",
    "inner": "encoder.layer.{}.intermediate.dense",
    "outer": "encoder.layer.{}.output.dense",
    "outer_norm": "encoder.layer.{}.output.LayerNorm",
}
_DISTILBERT = {
    "words": "embeddings.word_embeddings.weight",
    "positions": "embeddings.position_embeddings.weight",
    "embedded": "embeddings.LayerNorm",
    "query": "transformer.layer.{}.attention.q_lin",
    "key": "transformer.layer.{}.attention.k_lin",
    "value": "transformer.layer.{}.attention.v_lin",
    "attended": "transformer.layer.{}.attention.out_lin",
    "attended_norm": "transformer.layer.{}.sa_layer_norm",
    "inner": "transformer.layer.{}.ffn.lin1",
    "outer": "transformer.layer.{}.ffn.lin2",
    "outer_norm": "transformer.layer.{}.output_layer_norm",
}
_NAMES = {"bert": _BERT, "roberta": _BERT, "xlm-roberta": _BERT, "camembert": _BERT, "distilbert": _DISTILBERT}
_PREFIXES = ("", "bert.", "roberta.", "distilbert.", "model.")


class Shape:
    """What ``config.json`` says of an encoder.

    Attributes
    ----------
    kind : str
        The kind of model.
    layers, heads, width : int
        How many layers and heads of attention, and the length of states.
    limit : int
        Pieces that fit into a sentence.
    first_position : int
        The number of the first position; RoBERTa leaves the first ones out.
    epsilon : float
        Added to variances.
    activation : str
        Between the two parts of a layer.
    """

    def __init__(self, config: Mapping[str, Any], path: Path) -> None:
        def number(*names: str, least: int = 1, default: int | None = None) -> int:
            value = next((config[name] for name in names if name in config), default)
            if not is_whole(value) or not least <= value <= _MOST:
                raise ModelFileError(f"{path}: {names[0]} is {value!r}; expected an integer from {least} to {_MOST:,}.")
            return int(value)

        self.kind = config.get("model_type")
        if not isinstance(self.kind, str) or self.kind not in _NAMES:
            raise ModelFileError(
                f"{path}: this is a model of type {self.kind!r}; expected one of {', '.join(sorted(_NAMES))}, or an "
                "ONNX graph that gives hidden states."
            )
        self.layers = number("num_hidden_layers", "n_layers")
        self.heads = number("num_attention_heads", "n_heads")
        self.width = number("hidden_size", "dim")
        positions = number("max_position_embeddings")
        padded = self.kind not in ("bert", "distilbert")
        self.first_position = number("pad_token_id", least=0, default=1) + 1 if padded else 0
        self.limit = positions - self.first_position
        self.epsilon = config.get("layer_norm_eps", 1e-12)
        if not is_finite(self.epsilon) or not 0 <= self.epsilon < 1:
            raise ModelFileError(f"{path}: layer_norm_eps is {self.epsilon!r}; expected a number from 0 to 1.")
        self.activation = str(config.get("hidden_act", config.get("activation", "gelu")))
        if self.activation not in ("gelu", "relu"):
            raise ModelFileError(f"{path}: the activation is {self.activation!r}; expected gelu or relu.")
        if self.width % self.heads != 0:
            raise ModelFileError(f"{path}: {self.heads} heads do not divide states of {self.width} numbers.")
        if self.limit < 1:
            raise ModelFileError(f"{path}: of {positions} positions, none is left behind pad_token_id.")
        if config.get("position_embedding_type", "absolute") != "absolute":
            raise ModelFileError(f"{path}: positions are {config['position_embedding_type']!r}; expected absolute.")


def read_shape(folder: Path) -> Shape:
    """Read ``config.json`` of a folder."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path}: this is no JSON ({error}).") from None
    if not isinstance(config, dict):
        raise ModelFileError(f"{path}: expected an object with the shape of the model.")
    return Shape(config, path)


class _Weights:
    """The tensors of a safetensors file by their part in the model, as float32."""

    def __init__(self, path: Path, shape: Shape) -> None:
        from safetensors.numpy import load_file

        try:
            self._tensors: dict[str, Any] = load_file(path)
        except Exception as error:
            raise ModelFileError(f"{path}: the weights cannot be read ({error}).") from None
        self._names = _NAMES[str(shape.kind)]
        self._path = path
        first = self._names["words"]
        found = next((prefix for prefix in _PREFIXES if prefix + first in self._tensors), None)
        if found is None:
            raise ModelFileError(f"{path}: there is no tensor {first}; the weights are not those of a {shape.kind}.")
        self._prefix = found

    def has(self, part: str) -> bool:
        return part in self._names

    def get(self, part: str, shape: tuple[int | None, ...], layer: int = 0, end: str = "") -> Array:
        name = self._prefix + self._names[part].format(layer) + end
        for other in (name, name.replace("norm.weight", "norm.gamma").replace("Norm.weight", "Norm.gamma"),
                      name.replace("Norm.bias", "Norm.beta")):  # fmt: skip
            if other in self._tensors:
                name = other
                break
        else:
            raise ModelFileError(f"{self._path}: there is no tensor {name}.")
        found = np.asarray(self._tensors[name], dtype=np.float32)
        if found.ndim != len(shape) or any(
            want not in (None, have) for want, have in zip(shape, found.shape, strict=True)
        ):
            raise ModelFileError(f"{self._path}: {name} has shape {found.shape}; expected {shape}.")
        if not np.isfinite(found).all():
            raise ModelFileError(f"{self._path}: {name} holds numbers that are not finite; the weights are damaged.")
        return found


def build_graph(folder: Path, shape: Shape, layers: Sequence[int]) -> Any:
    """Return an ONNX model: ``input_ids`` (sentences, pieces) to ``states`` (sentences, pieces, layers × width).

    Layer 0 is what goes into the first layer, layer k what comes out of the k-th.
    """
    onnx = require("onnx")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    weights = _Weights(folder / "model.safetensors", shape)
    nodes: list[Any] = []
    constants: list[Any] = []

    def constant(value: NDArray[Any]) -> str:
        name = f"c{len(constants)}"
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def apply(op: str, *inputs: str, **attributes: Any) -> str:
        name = f"n{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def linear(x: str, part: str, layer: int, inner: int, outer: int, scale: float = 1.0) -> str:
        matrix = weights.get(part, (outer, inner), layer, ".weight").T * np.float32(scale)
        bias = weights.get(part, (outer,), layer, ".bias") * np.float32(scale)
        return apply("Add", apply("MatMul", x, constant(matrix)), constant(bias))

    def normalized(x: str, part: str, layer: int = 0) -> str:
        scale, shift = (weights.get(part, (width,), layer, end) for end in (".weight", ".bias"))
        return apply("LayerNormalization", x, constant(scale), constant(shift), axis=-1, epsilon=shape.epsilon)

    def activated(x: str) -> str:
        if shape.activation == "relu":
            return apply("Relu", x)
        erf = apply("Erf", apply("Div", x, constant(np.array(np.sqrt(2.0), np.float32))))
        both = apply("Mul", x, apply("Add", erf, constant(np.array(1.0, np.float32))))
        return apply("Mul", both, constant(np.array(0.5, np.float32)))

    width, heads = shape.width, shape.heads
    split = constant(np.array([0, 0, heads, width // heads], np.int64))
    join = constant(np.array([0, 0, width], np.int64))

    def by_heads(x: str, order: Sequence[int]) -> str:
        return apply("Transpose", apply("Reshape", x, split), perm=list(order))

    zero, one = constant(np.array([0], np.int64)), constant(np.array([1], np.int64))
    pieces = apply("Gather", apply("Shape", "input_ids"), one)
    table = weights.get("positions", (None, width))[shape.first_position :]
    if weights.has("types"):
        # Every piece is of the first type, so its vector can be added beforehand.
        table = table + weights.get("types", (None, width))[0]
    positions = apply("Slice", constant(table), zero, pieces, zero, one)
    embedded = apply("Gather", constant(weights.get("words", (None, width))), "input_ids")
    state = normalized(apply("Add", embedded, positions), "embedded")
    states = [state]
    inner = weights.get("inner", (None, width), 0, ".weight").shape[0]
    for layer in range(max(layers)):
        # The scores of attention are divided by the root of the width of a head; the query is, beforehand.
        query = by_heads(linear(state, "query", layer, width, width, (width // heads) ** -0.5), (0, 2, 1, 3))
        key = by_heads(linear(state, "key", layer, width, width), (0, 2, 3, 1))
        value = by_heads(linear(state, "value", layer, width, width), (0, 2, 1, 3))
        attention = apply("Softmax", apply("MatMul", query, key), axis=-1)
        mixed = apply("Reshape", apply("Transpose", apply("MatMul", attention, value), perm=[0, 2, 1, 3]), join)
        state = normalized(apply("Add", linear(mixed, "attended", layer, width, width), state), "attended_norm", layer)
        wide = activated(linear(state, "inner", layer, width, inner))
        state = normalized(apply("Add", linear(wide, "outer", layer, inner, width), state), "outer_norm", layer)
        states.append(state)
    chosen = [states[layer] for layer in layers]
    nodes.append(helper.make_node("Concat", chosen, ["states"], axis=-1))
    graph = helper.make_graph(
        nodes,
        "encoder",
        [helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["sentences", "pieces"])],
        [helper.make_tensor_value_info("states", onnx.TensorProto.FLOAT, ["sentences", "pieces", width * len(layers)])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)])
    model.ir_version = min(model.ir_version, 10)
    return model
