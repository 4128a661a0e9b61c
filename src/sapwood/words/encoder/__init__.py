"""Vectors of words as they are meant in their sentences, from a pretrained encoder run by onnxruntime."""

from sapwood.words.encoder.encoding import Encoder, EncoderSpec

__all__ = ["Encoder", "EncoderSpec"]
