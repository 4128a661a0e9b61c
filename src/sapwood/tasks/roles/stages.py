"""How model files hold the two stages of a labeler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sapwood.layouts import Field
from sapwood.registry import Reader, Writer
from sapwood.tasks.roles.classifier import RoleClassifier
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.exact import KernelRoles
from sapwood.tasks.roles.linear import LinearRoles

if TYPE_CHECKING:
    from sapwood.tasks.roles.labeler import RoleLabeler

__all__ = ["CLASSIFIER", "IDENTIFIER", "check_stages"]


def _write_linear(stage: LinearRoles, writer: Writer) -> dict[str, Any]:
    stage = stage.stored(writer)
    return {"identifying": stage.encoder.write(writer), "identifier": stage.write(writer)}


def _read_linear(data: dict[str, Any], reader: Reader) -> LinearRoles:
    return LinearRoles.read(data["identifier"], Encoder.read(data["identifying"], reader), reader)


def _write_classifier(stage: LinearRoles | KernelRoles, writer: Writer) -> dict[str, Any]:
    if isinstance(stage, KernelRoles):
        return {"kernels": True, "classifying": None, "classifier": stage.write(writer)}
    stage = stage.stored(writer)
    return {"kernels": False, "classifying": stage.encoder.write(writer), "classifier": stage.write(writer)}


def _read_classifier(data: dict[str, Any], reader: Reader) -> LinearRoles | KernelRoles:
    if data["kernels"]:
        return KernelRoles.read(data["classifier"], reader)
    return LinearRoles.read(data["classifier"], Encoder.read(data["classifying"], reader), reader)


IDENTIFIER = Field(_write_linear, _read_linear, spread=True)
CLASSIFIER = Field(_write_classifier, _read_classifier, spread=True)


def check_stages(labeler: RoleLabeler, reader: Reader) -> None:
    """Check that the stages of a labeler from a file go together."""
    labeler._check()
    stages = [stage for stage in (labeler.identifier_, labeler.classifier_) if isinstance(stage, LinearRoles)]
    # Features of a candidate are computed once, for both.
    if any(stage.encoder.features != labeler.features for stage in stages):
        raise reader.fail("its stages have other features than itself")
    if len(labeler.identifier_.classes) != 2:
        raise reader.fail("arguments and other nodes are two classes")
    labeler._check_context(["", *labeler.classifier_.classes], reader)
    if isinstance(labeler.classifier_, KernelRoles):
        labeler.classifier = RoleClassifier(**labeler.classifier_.classifier.get_params(deep=False))
