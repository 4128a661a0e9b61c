"""Models that need an encoder: opened when it is needed, remembered by name and digest, checked when it is used."""

from __future__ import annotations

import re
from typing import Any

from sapwood.layouts import Field
from sapwood.registry import Reader, Writer
from sapwood.words.encoder.encoding import Encoder, EncoderSpec

__all__ = ["ENCODER_SPEC", "UsesEncoder"]


class UsesEncoder:
    """A model with a parameter ``encoder``: an ``Encoder``, its folder or its name, or None."""

    encoder: Any
    _spec: EncoderSpec | None

    def _forget_encoder(self) -> None:
        """Begin anew: the next encoder may be any."""
        self._spec = None

    def _encoder(self, **settings: Any) -> Encoder | None:
        """Return the encoder, opened; None for none. A trained model takes only the one it was trained with.

        Parameters
        ----------
        settings
            Parameters of an encoder that is given by its folder or name, for models that are not trained yet.
        """
        spec: EncoderSpec | None = getattr(self, "_spec", None)
        if self.encoder is None and spec is None:
            return None
        encoder = self.encoder
        if not isinstance(encoder, Encoder):
            if spec is None:
                if str(encoder).endswith(".onnx"):
                    settings.pop("layers", None)  # its output is what it is
                encoder = Encoder(encoder, **settings)
            else:
                source = spec.name if encoder is None else encoder
                encoder = Encoder(source, layers=spec.layers or None, pieces=spec.pieces, precision=spec.precision)
            # Opened once: as a parameter it stays what was given.
            known: Encoder | None = getattr(self, "_opened", None)
            if known is not None and known.spec == encoder.spec:
                return known
            self._opened = encoder
        return encoder if spec is None else encoder.checked(spec)

    def _check_network(self, network: object | None, reader: Reader) -> None:
        """Check that a file has both, the network over an encoder and the encoder that it needs, or neither."""
        if (network is None) != (self._spec is None):
            raise reader.fail("its network and its encoder do not fit together")


def _write(spec: EncoderSpec | None, writer: Writer) -> list[Any] | None:
    # A path in a file would be opened on other machines: an encoder is looked for by its name.
    return None if spec is None else [spec.name, spec.sha256, list(spec.layers), spec.pieces, spec.precision]


def _read(data: Any, reader: Reader) -> EncoderSpec | None:
    if data is None:
        return None
    name, sha256, layers, pieces, precision = data
    whole = all(isinstance(text, str) for text in (name, sha256, pieces, precision)) and isinstance(layers, list)
    # Names alone, no paths: see find_encoder.
    if not whole or not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or not re.fullmatch("[0-9a-f]{64}", sha256):
        raise reader.fail("it does not say which encoder it needs")
    if pieces not in ("ends", "first", "last", "mean") or precision not in ("int8", "float32"):
        raise reader.fail("it does not say how its encoder is used")
    return EncoderSpec(name, sha256, tuple(reader.count(layer) for layer in layers), pieces, precision)


ENCODER_SPEC = Field(_write, _read, absent=None)
"""Which encoder a model needs, in model files; its weights are never stored."""
