"""Encoders against a forward pass in plain NumPy, on tiny models that are made here."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import erf

from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.words import Encoder
from sapwood.words.encoder.places import digest
from tiny_encoders import HEADS, LAYERS, PARTS, POSITIONS, WIDTH, make_encoder

for _package in ("onnx", "onnxruntime", "tokenizers"):
    pytest.importorskip(_package, reason=f"{_package} is not installed (pip install 'sapwood[encoder]')")


def states(tensors: dict[str, np.ndarray], kind: str, ids: list[int]) -> list[np.ndarray]:
    """Return the hidden states of all layers, one step after the other."""

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centered = x - x.mean(axis=1, keepdims=True)
        scaled = centered / np.sqrt((centered**2).mean(axis=1, keepdims=True) + 1e-7)
        return scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    first = 2 if kind == "roberta" else 0
    x = tensors["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = x + tensors["embeddings.position_embeddings.weight"][first : first + len(ids)]
    if kind != "distilbert":
        x = x + tensors["embeddings.token_type_embeddings.weight"][0]
    found = [norm(x, "embeddings.LayerNorm")]
    for layer in range(LAYERS):
        base = f"transformer.layer.{layer}." if kind == "distilbert" else f"encoder.layer.{layer}."
        names = {part: base + row[1 if kind == "distilbert" else 0] for part, row in PARTS.items()}
        x = found[-1]
        query, key, value = (
            linear(x, names[part]).reshape(len(ids), HEADS, -1).swapaxes(0, 1) for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / np.sqrt(WIDTH // HEADS)
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        mixed = (weights @ value).swapaxes(0, 1).reshape(len(ids), WIDTH)
        x = norm(linear(mixed, names["attended"]) + x, names["attended_norm"])
        wide = linear(x, names["inner"])
        wide = wide * (1 + erf(wide / np.sqrt(2))) / 2
        found.append(norm(linear(wide, names["outer"]) + x, names["outer_norm"]))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "model"


# "The" is unknown to a vocabulary in lower case; brackets of the Penn Treebank are spelled as in text.
WORDS = ["The", "dogs", "-LRB-", "aaa"]
IDS = [2, 1, 5, 6, 9, 11, 12, 12, 3]
FIRST, LAST = [1, 2, 4, 5], [1, 3, 4, 7]


def expected(tensors: dict[str, np.ndarray], kind: str, layers: list[int], pieces: str) -> np.ndarray:
    every = states(tensors, kind, IDS)
    rows = np.concatenate([every[layer] for layer in layers], axis=1)
    if pieces == "mean":
        return np.stack([rows[a : b + 1].mean(axis=0) for a, b in zip(FIRST, LAST, strict=True)])
    sides = {"first": [FIRST], "last": [LAST], "ends": [FIRST, LAST]}[pieces]
    return np.concatenate([rows[side] for side in sides], axis=1)


@pytest.mark.parametrize(
    ("kind", "prefix"), [("bert", ""), ("bert", "bert."), ("roberta", "roberta."), ("distilbert", "distilbert.")]
)
def test_hidden_states(folder, kind, prefix):
    tensors = make_encoder(folder, kind, prefix)
    encoder = Encoder(folder, layers=[0, 1, 3], precision="float32")
    found = encoder.encode(WORDS)
    assert encoder.width == found.shape[1] == 2 * 3 * WIDTH
    # Vectors are kept in half precision.
    np.testing.assert_allclose(found, expected(tensors, kind, [0, 1, 3], "ends"), atol=4e-3)


@pytest.mark.parametrize("pieces", ["first", "last", "mean", "ends"])
def test_pieces(folder, pieces):
    tensors = make_encoder(folder, "bert")
    encoder = Encoder(folder, layers=[2], pieces=pieces, precision="float32")
    np.testing.assert_allclose(encoder.encode(WORDS), expected(tensors, "bert", [2], pieces), atol=4e-3)


def test_int8_is_close(folder):
    tensors = make_encoder(folder, "bert")
    found = Encoder(folder, layers=[2]).encode(WORDS)
    wanted = expected(tensors, "bert", [2], "ends")
    assert np.corrcoef(found.ravel(), wanted.ravel())[0, 1] > 0.98


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_what_stands_beside_a_sentence_changes_nothing(folder, precision):
    make_encoder(folder, "bert")
    encoder = Encoder(folder, precision=precision)
    sentences = [WORDS, ["dog"], ["a"] * 20, WORDS[::-1]]
    alone = [encoder.encode(words) for words in sentences]
    for found, wanted in zip(encoder.encode_batch(sentences), alone, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_sentences_longer_than_the_encoder_takes(folder):
    make_encoder(folder, "bert")
    encoder = Encoder(folder, precision="float32")
    words = ["dogs", "ran", "a", "the"] * 100
    found = encoder.encode(words)
    assert found.shape == (400, encoder.width)
    assert np.isfinite(found).all()
    # Words before the end of the first window see the same words as in a shorter sentence.
    windows = encoder._tokenizer.windows(words)
    assert sum(len(window.ends) for window in windows) == 400
    assert max(len(window.ids) for window in windows) <= POSITIONS
    kept = len(windows[0].ends)
    length = (len(windows[0].ids) - 2) * 4 // 5
    np.testing.assert_array_equal(encoder.encode(words[:length])[:kept], found[:kept])


@pytest.mark.parametrize("word", ["x" * 10_000, "дом", "\u200b", "🙂", "a" * 99])
def test_any_word_has_a_vector(folder, word):
    make_encoder(folder, "bert")
    found = Encoder(folder).encode(["the", word, "dog"])
    assert found.shape[0] == 3
    assert np.isfinite(found).all()


def test_vectors_are_cached_by_content(folder, tmp_path):
    make_encoder(folder, "bert")
    cache = tmp_path / "states"
    encoder = Encoder(folder, cache=cache)
    first = [np.array(one) for one in encoder.encode_batch([WORDS, ["dog"]])]
    (kept,) = cache.glob("*.npy")
    encoder._run = None  # nothing is computed again
    for found, wanted in zip(encoder.encode_batch([WORDS, ["dog"]]), first, strict=True):
        np.testing.assert_array_equal(found, wanted)
    del encoder._run
    kept.write_bytes(kept.read_bytes()[:50])
    np.testing.assert_array_equal(next(encoder.encode_batch([WORDS, ["dog"]])), first[0])
    list(encoder.encode_batch([["dog"], WORDS]))
    assert len(list(cache.glob("*.npy"))) == 2


def test_onnx_files(folder, tmp_path):
    import onnx

    from sapwood.words.encoder.graph import build_graph, read_shape

    make_encoder(folder, "bert")
    other = tmp_path / "graph"
    other.mkdir()
    onnx.save(build_graph(folder, read_shape(folder), (2,)), str(other / "some.onnx"))
    shutil.copy(folder / "tokenizer.json", other)
    found = Encoder(other / "some.onnx").encode(WORDS)
    np.testing.assert_array_equal(found, Encoder(folder, layers=[2], precision="float32").encode(WORDS))
    with pytest.raises(ParameterError, match="layers must be None"):
        Encoder(other / "some.onnx", layers=[1])


def test_survives_pickling(folder):
    make_encoder(folder, "bert")
    encoder = Encoder(folder)
    wanted = encoder.encode(WORDS)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encoder)).encode(WORDS), wanted)
    assert encoder.sha256 == digest(folder / "model.safetensors")


def test_found_by_name(folder, tmp_path, monkeypatch):
    make_encoder(tmp_path / "data" / "minilm", "bert")
    monkeypatch.setenv("SAPWOOD_DATA", str(tmp_path / "data"))
    assert Encoder("minilm").encode(["dog"]).shape[0] == 1
    make_encoder(tmp_path / "hub" / "models--some--model" / "snapshots" / "abc", "bert")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert Encoder("some/model").encode(["dog"]).shape[0] == 1
    with pytest.raises(DataError, match="pass its folder"):
        Encoder("nobody/nothing")
    monkeypatch.delenv("SAPWOOD_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="all-MiniLM-L6-v2"):
        Encoder("minilm")


def damaged(folder: Path, what: str) -> None:
    """Break a model in one way."""
    config = json.loads((folder / "config.json").read_text())
    if what == "no tokenizer":
        (folder / "tokenizer.json").unlink()
    elif what == "no weights":
        (folder / "model.safetensors").unlink()
    elif what == "bad tokenizer":
        (folder / "tokenizer.json").write_text("{}")
    elif what == "cut weights":
        (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:2000])
    elif what == "other width":
        (folder / "config.json").write_text(json.dumps({**config, "hidden_size": 32}))
    elif what == "more layers":
        (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 4}))
    elif what == "other kind":
        (folder / "config.json").write_text(json.dumps({**config, "model_type": "t5"}))
    elif what == "not JSON":
        (folder / "config.json").write_text("[")


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("no tokenizer", "there is no tokenizer.json"),
        ("no weights", "there is no model.safetensors"),
        ("bad tokenizer", "this is no tokenizer"),
        ("cut weights", "the weights cannot be read"),
        ("other width", "has shape"),
        ("more layers", r"there is no tensor encoder.layer.3"),
        ("other kind", "a model of type 't5'"),
        ("not JSON", "this is no JSON"),
    ],
)
def test_damaged_folders(folder, what, says):
    make_encoder(folder, "bert")
    damaged(folder, what)
    with pytest.raises((DataError, ModelFileError), match=says):
        Encoder(folder, layers=[4] if what == "more layers" else None).encode(["dog"])


def test_layers_are_counted_from_the_end_too(folder):
    make_encoder(folder, "bert")
    assert Encoder(folder, layers=[-1, -2]).layers == (LAYERS, LAYERS - 1)


def test_wrong_arguments(folder):
    make_encoder(folder, "bert")
    for layers in ([], [7], [-8], [True], ["1"]):
        with pytest.raises(ParameterError, match="layers must be"):
            Encoder(folder, layers=layers)
    with pytest.raises(ParameterError, match="pieces must be"):
        Encoder(folder, pieces="all")
    with pytest.raises(ParameterError, match="precision must be"):
        Encoder(folder, precision="int4")
    with pytest.raises(DataError, match="a list of words"):
        Encoder(folder).encode("the dog")
    for source in ("x" * 5000, "\0", "no/such/folder", ""):
        with pytest.raises(DataError):
            Encoder(source)
    with pytest.raises(DataError, match="no folder that vectors can be kept in"):
        Encoder(folder, cache=folder / "config.json").encode(["dog"])


def test_comparing_words_needs_no_encoder():
    program = "import sys, sapwood.words; sys.exit('sapwood.words.encoder' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_ctrl_c_while_a_package_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native packages report it as an import that has failed."""
    from sapwood.words.encoder import packages

    def stopped(name: str) -> None:
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr(packages, "import_module", stopped)
    with pytest.raises(KeyboardInterrupt):
        packages.require("onnxruntime")
