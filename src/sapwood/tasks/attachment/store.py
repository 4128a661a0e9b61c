"""How attachment rankers are written to model files and read back."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from sapwood.parse.incremental import ConnectionPaths
from sapwood.parse.parameter_store import read_parser, write_parser
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.attachment.ranker import AttachmentRanker

_PARAMETERS = ("root", "reduction", "min_count", "recombine", "specialize", "block")


def _write(model: AttachmentRanker, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model, "rankers_")
    return {
        "params": {name: getattr(model, name) for name in _PARAMETERS},
        "classes": None if model.classes is None else {name: list(tags) for name, tags in model.classes.items()},
        "paths": writer.part(model.paths_),
        "given": model.paths is not None,
        "parser": write_parser(model.parser, writer),
        "rankers": {name: writer.part(ranker) for name, ranker in model.rankers_.items()},
    }


def _read(data: dict[str, Any], reader: Reader) -> AttachmentRanker:
    rankers = {name: reader.part(part) for name, part in data["rankers"].items()}
    if not rankers or not all(hasattr(ranker, "decision_function") for ranker in rankers.values()):
        raise reader.fail("it holds no rankers")
    # All rankers are clones of one, whatever they have learnt.
    template = clone(next(iter(rankers.values())))
    if getattr(template, "checkpoint", None) is not None:
        # It is that of one class, and the training is over.
        template.set_params(checkpoint=None)
    paths = reader.part(data["paths"])
    if not isinstance(paths, ConnectionPaths):
        raise reader.fail("it holds no connection paths")
    params = {name: data["params"][name] for name in _PARAMETERS if name in data["params"]}
    model = AttachmentRanker(
        template,
        classes=data["classes"],
        paths=paths if data["given"] else None,
        # Files of older versions hold no parser.
        parser=read_parser(data.get("parser"), reader),
        **params,
    )
    model.paths_ = paths
    model.rankers_ = rankers
    return model


register("AttachmentRanker", AttachmentRanker, _write, _read)
