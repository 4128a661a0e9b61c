"""How model files hold the two stages of a labeler."""

from __future__ import annotations

from typing import Any

from sapwood.layouts import Field
from sapwood.registry import Reader, Writer
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.exact import KernelRoles
from sapwood.tasks.roles.linear import LinearRoles

__all__ = ["CLASSIFIER", "IDENTIFIER"]


def _write_linear(stage: LinearRoles, writer: Writer) -> dict[str, Any]:
    return {"identifying": stage.encoder.write(writer), "identifier": stage.write(writer)}


def _read_linear(data: dict[str, Any], reader: Reader) -> LinearRoles:
    return LinearRoles.read(data["identifier"], Encoder.read(data["identifying"], reader), reader)


def _write_classifier(stage: LinearRoles | KernelRoles, writer: Writer) -> dict[str, Any]:
    linear = isinstance(stage, LinearRoles)
    encoder = stage.encoder.write(writer) if isinstance(stage, LinearRoles) else None
    return {"kernels": not linear, "classifying": encoder, "classifier": stage.write(writer)}


def _read_classifier(data: dict[str, Any], reader: Reader) -> LinearRoles | KernelRoles:
    if data["kernels"]:
        return KernelRoles.read(data["classifier"], reader)
    return LinearRoles.read(data["classifier"], Encoder.read(data["classifying"], reader), reader)


IDENTIFIER = Field(_write_linear, _read_linear, spread=True)
CLASSIFIER = Field(_write_classifier, _read_classifier, spread=True)
