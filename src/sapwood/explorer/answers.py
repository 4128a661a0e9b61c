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
from sapwood.explorer.analysing import KINDS, analyse
from sapwood.explorer.comparing import FORMS, compare, similarities
from sapwood.explorer.decoding import METHODS, decode
from sapwood.explorer.faults import fault
from sapwood.explorer.limits import Limits
from sapwood.explorer.requests import Request
from sapwood.explorer.shelf import Shelf
from sapwood.tasks.pairs import PairClassifier
from sapwood.trees import Grammar

__all__ = ["OutOfTime", "answer", "contents"]


_PANELS: dict[str, Callable[[Shelf, Request, Limits], dict[str, Any]]] = {
    "analyse": analyse,
    "compare": compare,
    "decode": lambda shelf, request, limits: decode(request, limits),
}


class OutOfTime(BaseException):
    """The time for a request is over. Not an ``Exception``, so that no handler on the way takes it for another."""


def answer(shelf: Shelf, path: str, request: Request, limits: Limits) -> tuple[int, dict[str, Any]]:
    """Answer a request: the HTTP status and the JSON to send."""
    if path not in _PANELS:
        return 404, fault("unknown", f"there is nothing to ask under {path[:60]!r}.")
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as said:
            # What the library warns of, the page says too.
            warnings.simplefilter("always")
            found = _PANELS[path](shelf, request, limits)
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


def contents(shelf: Shelf, limits: Limits) -> dict[str, Any]:
    """Return what the page needs to know at the start: models, kernels, ways to decode, limits."""
    models = []
    for book in shelf:
        kind = next((one for one in KINDS if isinstance(book.model, one.model)), None)
        entry = {"name": book.name, "fault": book.fault, "panel": None, "title": type(book.model).__name__, "does": ""}
        if book.fault:
            entry["title"] = "cannot be loaded"
        elif kind is not None:
            entry |= {"panel": "analyse", "title": kind.title, "does": kind.does}
        elif isinstance(book.model, PairClassifier):
            entry |= {"panel": "compare", "title": "judge of pairs", "does": "says whether two sentences mean the same"}
        elif isinstance(book.model, Grammar):
            entry |= {"panel": "compare", "title": "grammar", "does": "says which children may be left out"}
        else:
            entry["does"] = "is not shown here"
        models.append(entry)
    kernels = [
        {"name": one.name, "short": one.short, "counts": one.counts, "extra": one.extra, "words": one.words}
        for one in FORMS
    ]
    return {
        "models": models,
        "kernels": kernels,
        "words": similarities(),
        "methods": [{"name": name, "does": does} for name, does in METHODS],
        "limits": {
            "characters": limits.characters,
            "words": limits.words,
            "roles": limits.roles,
            "spans": limits.spans,
            "seconds": limits.seconds,
        },
    }
