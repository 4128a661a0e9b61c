"""Encoders that are small enough to be made for a test: random weights in the folders of the Hugging Face hub."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

__all__ = ["HEADS", "LAYERS", "PARTS", "POSITIONS", "WIDTH", "make_encoder"]

WIDTH, HEADS, LAYERS, INNER, POSITIONS = 16, 4, 3, 40, 64
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "dog", "##s", "ran", "##ning", "(", '"', "a", "##a"]

# Parts of a layer: name of the weight in BERT, in DistilBERT, and its size.
PARTS = {
    "query": ("attention.self.query", "attention.q_lin", (WIDTH, WIDTH)),
    "key": ("attention.self.key", "attention.k_lin", (WIDTH, WIDTH)),
    "value": ("attention.self.value", "attention.v_lin", (WIDTH, WIDTH)),
    "attended": ("attention.output.dense", "attention.out_lin", (WIDTH, WIDTH)),
    "attended_norm": ("attention.output.LayerNorm", "sa_layer_norm", (WIDTH,)),
    "inner": ("intermediate.dense", "ffn.lin1", (INNER, WIDTH)),
    "outer": ("output.dense", "ffn.lin2", (WIDTH, INNER)),
    "outer_norm": ("output.LayerNorm", "output_layer_norm", (WIDTH,)),
}


def make_encoder(folder: Path, kind: str, prefix: str = "") -> dict[str, np.ndarray]:
    """Write a tiny model of random weights; return its tensors."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    random = np.random.default_rng(5)
    distil = kind == "distilbert"

    def draw(*size: int) -> np.ndarray:
        return (random.normal(size=size) * 0.4).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": draw(len(PIECES), WIDTH),
        "embeddings.position_embeddings.weight": draw(POSITIONS, WIDTH),
        "embeddings.LayerNorm.weight": 1 + draw(WIDTH),
        "embeddings.LayerNorm.bias": draw(WIDTH),
    }
    if not distil:
        tensors["embeddings.token_type_embeddings.weight"] = draw(2, WIDTH)
    for layer in range(LAYERS):
        base = f"transformer.layer.{layer}." if distil else f"encoder.layer.{layer}."
        for bert, other, size in PARTS.values():
            name = base + (other if distil else bert)
            tensors[f"{name}.weight"] = draw(*size) if len(size) == 2 else 1 + draw(*size)
            tensors[f"{name}.bias"] = draw(size[0])
    folder.mkdir(parents=True, exist_ok=True)
    save_file({prefix + name: value for name, value in tensors.items()}, folder / "model.safetensors")
    config = {"model_type": kind, "max_position_embeddings": POSITIONS, "layer_norm_eps": 1e-7}
    if distil:
        config |= {"n_layers": LAYERS, "n_heads": HEADS, "dim": WIDTH, "activation": "gelu"}
    else:
        config |= {
            "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS,
            "hidden_size": WIDTH,
            "hidden_act": "gelu",
        }
    if kind == "roberta":
        config["pad_token_id"] = 1
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    return tensors
