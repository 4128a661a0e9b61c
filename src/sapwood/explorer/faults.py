"""What goes wrong, as JSON: one form for everything that the server and its workers send instead of an answer."""

from __future__ import annotations

from typing import Any

__all__ = ["fault"]


def fault(kind: str, message: str) -> dict[str, Any]:
    """Return an error as the page shows it.

    >>> fault("time", "too slow")
    {'error': {'kind': 'time', 'message': 'too slow'}}
    """
    return {"error": {"kind": kind, "message": message}}
