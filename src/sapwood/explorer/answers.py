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
from sapwood.explorer.analyzing import KINDS, analyze
from sapwood.explorer.comparing import FORMS, compare, similarities
from sapwood.explorer.decoding import METHODS, decode
from sapwood.explorer.faults import fault
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelEntry, ModelFolder
from sapwood.explorer.requests import Request
from sapwood.tasks.pairs import PairClassifier
from sapwood.trees import Grammar

__all__ = ["OutOfTime", "answer", "contents"]


_PANELS: dict[str, Callable[[ModelFolder, Request, Limits], dict[str, Any]]] = {
    "analyze": analyze,
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


def _listed(entry: ModelEntry) -> dict[str, Any]:
    """Say of a model in which panel it is shown, and what it does there."""
    kind = next((one for one in KINDS if isinstance(entry.model, one.model)), None)
    panel, title, does = None, type(entry.model).__name__, "is not shown here"
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
        "fault": entry.fault,
        "panel": panel,
        "title": title,
        "does": does,
        "card": entry.card,
    }
