"""Where a warning belongs: at the line of the user's own code that led to it."""

from __future__ import annotations

import sys

__all__ = ["levels_to_user"]


def levels_to_user() -> int:
    """Return the stack level, seen from the caller, of the first frame outside Sapwood: where a warning belongs."""
    level = 1
    frame = sys._getframe(1)
    # scikit-learn wraps the methods of transformers, and calls estimators in searches.
    inside = ("sapwood.", "sklearn.")
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(inside):
        frame = frame.f_back
        level += 1
    return level
