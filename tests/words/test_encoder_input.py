"""Encoders of other shapes, files that do not fit together, and packages that are missing: each says what is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sapwood.errors import DataError, ModelFileError, SapwoodError
from sapwood.words import Encoder
from tiny_encoders import make_encoder

for _package in ("onnx", "onnxruntime", "tokenizers"):
    pytest.importorskip(_package, reason=f"{_package} is not installed (pip install 'sapwood[encoder]')")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "model"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"hidden_size": 0}, "hidden_size is 0; expected an integer"),
        ({"hidden_size": "16"}, "hidden_size is '16'"),
        ({"hidden_size": 16.5}, r"hidden_size is 16\.5"),
        ({"hidden_size": True}, "hidden_size is True"),
        ({"hidden_size": None}, "hidden_size is None"),
        ({"num_attention_heads": 3}, "3 heads do not divide states of 16"),
        ({"num_hidden_layers": 10**30}, "num_hidden_layers is 1000"),
        ({"max_position_embeddings": 4}, "takes 4 pieces at most"),
        ({"hidden_act": "swish"}, "the activation is 'swish'"),
        ({"position_embedding_type": "relative_key"}, "expected absolute"),
        ({"layer_norm_eps": "small"}, "layer_norm_eps is 'small'"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps is nan"),
        ({"model_type": ["bert"]}, r"a model of type \['bert'\]"),
        ({"model_type": "roberta", "pad_token_id": "x"}, "pad_token_id is 'x'"),
        ({"model_type": "roberta", "pad_token_id": 1000}, "none is left behind pad_token_id"),
    ],
    ids=str,
)
def test_shapes(folder, change, says):
    make_encoder(folder, "bert")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(ModelFileError, match=says):
        Encoder(folder).encode(["dog"])


def _tensors(change: Callable[[dict[str, np.ndarray]], None]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        from safetensors.numpy import load_file, save_file

        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(
            {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, folder / "model.safetensors"
        )

    return changed


def _cut(name: str) -> Callable[[Path], None]:
    return _tensors(lambda tensors: tensors.update({name: tensors[name][:3]}))


def _spoil(tensors: dict[str, np.ndarray]) -> None:
    tensors["embeddings.word_embeddings.weight"] *= np.nan


def _tokenizer(change: Callable[[dict], None]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        content = json.loads((folder / "tokenizer.json").read_text())
        change(content["model"])
        (folder / "tokenizer.json").write_text(json.dumps(content))

    return changed


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "config.json").write_text("[" * 100_000), "this is no JSON"),
        (lambda folder: (folder / "config.json").write_bytes(b"\xff{"), "this is no JSON"),
        (lambda folder: (folder / "config.json").write_text("[]"), "expected an object"),
        (lambda folder: (folder / "tokenizer.json").write_text("[]"), "this is no tokenizer"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b""), "the weights cannot be read"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"\xff" * 8 + b"{}"), "the weights cannot be read"),
        (_cut("embeddings.word_embeddings.weight"), "may be of different models"),
        (_cut("embeddings.position_embeddings.weight"), "may be of different models"),
        (_tensors(_spoil), "word_embeddings.weight holds numbers that are not finite"),
        (_tokenizer(lambda model: model["vocab"].update(dog=5000)), "may be of different models"),
        (_tokenizer(lambda model: model.update(unk_token="none")), "the tokenizer cannot split 'zebra'"),
    ],
    ids=["deep JSON", "not UTF-8", "a list", "no tokenizer", "no weights", "huge header", "few words", "few positions",
         "NaN", "other tokenizer", "no unknown piece"],
)  # fmt: skip
def test_files_that_do_not_fit_together(folder, damage, says, capfd):
    make_encoder(folder, "bert")
    damage(folder)
    with pytest.raises(ModelFileError, match=says):
        Encoder(folder).encode(["the", "dog", "zebra"])
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("package", ["onnxruntime", "onnx", "tokenizers"])
def test_packages_that_are_missing(folder, package, monkeypatch):
    make_encoder(folder, "bert")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DataError, match=rf"the package {package}, .*pip install 'sapwood\[encoder\]'"):
        Encoder(folder).encode(["dog"])


@pytest.mark.parametrize("content", [b"", b"not a graph", b"\x08\x07" * 50])
def test_files_that_are_no_graphs(folder, content):
    make_encoder(folder, "bert")
    (folder / "other.onnx").write_bytes(content)
    with pytest.raises(ModelFileError, match="onnxruntime cannot open it"):
        Encoder(folder / "other.onnx").encode(["dog"])


@pytest.mark.parametrize(
    ("inputs", "rank", "says"), [(["pixels"], 3, "its inputs are pixels"), (["input_ids"], 2, "no output")]
)
def test_graphs_of_other_models(folder, inputs, rank, says):
    import onnx
    from onnx import helper

    make_encoder(folder, "bert")
    kind, shape = onnx.TensorProto.FLOAT, [1, 2, 4][:rank]
    constant = helper.make_tensor("c", kind, shape, np.zeros(int(np.prod(shape)), np.float32))
    graph = helper.make_graph(
        [helper.make_node("Constant", [], ["states"], value=constant)],
        "other",
        [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["a", "b"]) for name in inputs],
        [helper.make_tensor_value_info("states", kind, shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 10
    onnx.save(model, str(folder / "other.onnx"))
    with pytest.raises(ModelFileError, match=says):
        Encoder(folder / "other.onnx").encode(["dog"])


def test_sentences_of_any_length(folder):
    make_encoder(folder, "bert")
    encoder = Encoder(folder)
    assert encoder.encode([]).shape == (0, encoder.width)
    assert encoder.encode(["dogs"] * 2000).shape == (2000, encoder.width)
    for words in (["שלום", "عالم"], ["中文", "日本語"], ["a\u0301" * 50], ["", "dog"]):
        try:
            assert np.isfinite(encoder.encode(words)).all()
        except SapwoodError:
            assert "" in words


def test_states_too_large_for_half_precision(folder):
    def enlarge(tensors: dict[str, np.ndarray]) -> None:
        tensors["encoder.layer.0.output.LayerNorm.weight"] *= 1e30

    make_encoder(folder, "bert")
    _tensors(enlarge)(folder)
    with pytest.raises(ModelFileError, match="its states are not finite"):
        Encoder(folder, precision="float32").encode(["dog"])
