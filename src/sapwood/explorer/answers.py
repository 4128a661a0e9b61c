"""From a request to an answer, both as JSON, and from an error to a message that a user can act on.

Knows nothing of processes or HTTP: ``worker`` calls it, and so can a test.
"""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from sapwood.errors import ModelFileError, SapwoodError, TooLargeError
from sapwood.explorer.analyzing import KINDS, analyze, explain_role
from sapwood.explorer.changing import change, without
from sapwood.explorer.comparing import FORMS, compare, similarities
from sapwood.explorer.decoding import METHODS, decode
from sapwood.explorer.faults import fault
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelEntry, ModelFolder
from sapwood.explorer.predicting import predict
from sapwood.explorer.requests import Request
from sapwood.tasks.pairs import PairClassifier
from sapwood.trees import Grammar

__all__ = ["OutOfTime", "answer", "contents"]


_PANELS: dict[str, Callable[[ModelFolder, Request, Limits], dict[str, Any]]] = {
    "analyze": analyze,
    "why": explain_role,
    "change": change,
    "without": without,
    "predict": predict,
    "compare": compare,
    "decode": lambda models, request, limits: decode(request, limits),
}


class OutOfTime(BaseException):
    """The time for a request is over. Not an ``Exception``, so that no handler on the way takes it for another."""


def answer(models: ModelFolder, path: str, request: Request, limits: Limits) -> tuple[int, dict[str, Any]]:
    """Answer a request: the HTTP status and the JSON to send."""
    if path not in _PANELS:
        return 404, fault("unknown", f"there is nothing to ask under {path[:60]!r}.")
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as said:
            # What the library warns of, the page says too.
            warnings.simplefilter("always")
            found = _PANELS[path](models, request, limits)
    except OutOfTime:
        return 503, fault(
            "time", f"this took longer than {limits.seconds:g} seconds and was stopped. Try a shorter sentence."
        )
    except ModelFileError as error:
        return 422, fault("model", str(error))
    except TooLargeError as error:
        return 422, fault("size", str(error))
    except SapwoodError as error:
        return 422, fault("input", str(error))
    except MemoryError:
        return 503, fault("size", "there is not enough memory for this. Try a smaller tree.")
    except Exception as error:
        traceback.print_exc()
        return 500, fault("internal", f"something went wrong inside ({type(error).__name__}); the terminal says more.")
    warned = [str(one.message) for one in said if issubclass(one.category, UserWarning)]
    found["notes"] = [*found.get("notes", []), *dict.fromkeys(warned)]
    found["milliseconds"] = round(1000 * (time.perf_counter() - start), 1)
    return 200, found


def contents(models: ModelFolder, limits: Limits) -> dict[str, Any]:
    """Return what the page needs to know at the start: models, kernels, ways to decode, limits."""
    kernels = ("name", "short", "counts", "extra", "words")
    asked = ("characters", "words", "roles", "spans", "seconds")
    return {
        "about": models.about,
        "models": [_listed(entry) for entry in models],
        "kernels": [{field: getattr(one, field) for field in kernels} for one in FORMS],
        "words": similarities(),
        "methods": [{"name": name, "does": does} for name, does in METHODS],
        "limits": {field: getattr(limits, field) for field in asked},
    }


# Why models of other classes have no panel.
_TREES = "holds trees or numbers, and no model that says something of a sentence"
_NUMBERS = "turns trees into numbers for other models; open a classifier that was trained on them"
_CHOICES = "chooses among alternatives that a sentence alone does not give"
_WORDS = "says which words are similar; it is used inside kernels"
_WRAPPED = "wraps another estimator, and what that takes is not known here; save the estimator itself"
REASONS = {
    **dict.fromkeys(("TreeArray", "Examples", "TreeIndex", "Checkpoint", "ConnectionPaths"), _TREES),
    **dict.fromkeys(("FragmentMap", "HashedFragmentMap", "SubtreeMap", "LandmarkMap", "PairFeatures"), _NUMBERS),
    **dict.fromkeys(("KernelRanker", "RecursiveRanker", "AttachmentRanker"), _CHOICES),
    **dict.fromkeys(("WordSimilarity", "WordSenses"), _WORDS),
    **dict.fromkeys(("CalibratedClassifierCV", "FrozenEstimator", "Pipeline"), _WRAPPED),
    **dict.fromkeys(("AdditiveLogistic", "LogLinear", "ShardClassifier"), "learns from numbers, not from sentences"),
    "Kernel": "is a kernel without a classifier; the panel Compare has all kernels",
    "RoleClassifier": "is a part of a RoleLabeler, which has a panel",
    "FrameIdentifier": "is a part of a FrameParser, which has a panel",
    "FrameLabeler": "is a part of a FrameParser, which has a panel",
}
"""Why what can be stored in a model file is not shown, by its name there."""


def _reason(model: object) -> str:
    names = [REASONS[one.__name__] for one in type(model).__mro__ if one.__name__ in REASONS]
    return names[0] if names else "is not shown here"


def _listed(entry: ModelEntry) -> dict[str, Any]:
    """Say of a model in which panel it is shown and what it does there, or why it is not shown."""
    kind = next((one for one in KINDS if isinstance(entry.model, one.model)), None)
    panel, title, does = None, type(entry.model).__name__, _reason(entry.model)
    if entry.fault:
        title, does = "cannot be loaded", ""
    elif kind is not None:
        panel, title, does = "analyze", kind.title, kind.does
    elif isinstance(entry.model, PairClassifier):
        panel, title, does = "compare", "classifier of pairs", "says whether two sentences mean the same"
    elif isinstance(entry.model, Grammar):
        panel, title, does = "compare", "grammar", "says which children may be left out"
    return {
        "name": entry.name,
        "source": entry.source,
        "fault": entry.fault,
        "panel": panel,
        "title": title,
        "does": does,
        "card": [*map(list, entry.card), *([] if entry.fault else _facts(entry.model))],
    }


def _facts(model: Any) -> list[list[str]]:
    """Return what a model says of itself, as names and texts."""
    found = [["class", type(model).__name__]]
    if (classes := getattr(model, "classes_", None)) is not None:
        shown = ", ".join(map(str, classes[:12].tolist()))
        found.append(["classes", f"{len(classes)}: {shown}{', …' if len(classes) > 12 else ''}"])
    if (kernel := getattr(model, "kernel", None)) is not None:
        found.append(["kernel", str(kernel)[:300]])
    if isinstance(language := getattr(model, "language", None), str):
        found.append(["language", language])
    return found
