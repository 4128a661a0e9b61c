"""Scores of frames and their arguments, as in the SemEval-2007 task on frame-semantic structure.

A core argument is worth 1 point, any other half a point; its label and both borders must be right. Argument
identification with given frames is scored on arguments alone, as Das, Martins and Smith (2012) do; with
``frame_points=1`` frames count too. Credit for related frames, which the task also allows, is not given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import NamedTuple

from sapwood.errors import DataError
from sapwood.metrics.counts import Counts

__all__ = ["FrameAnalysis", "score_frames"]


class FrameAnalysis(NamedTuple):
    """A frame and what fills its roles: (role, first character, last character) for each piece of a filler."""

    frame: str
    arguments: Iterable[tuple[str, int, int]] = ()


def score_frames(
    gold: Mapping[Hashable, FrameAnalysis],
    predicted: Mapping[Hashable, FrameAnalysis],
    is_core: Callable[[str, str], bool],
    *,
    frame_points: float = 0.0,
) -> Counts:
    """Compare predicted frames and arguments with gold ones.

    Several pieces with the same role are one argument and must match together, except those of ``Path``, which count
    one by one. Arguments count only where the frame of the target is right.

    Parameters
    ----------
    gold, predicted : mapping from target to FrameAnalysis
        A target is anything that names it, such as (document, sentence, first, last character).
    is_core : callable
        Takes a frame and a role; whether the role's type is ``Core``.
    frame_points : float
        What a frame is worth beside its arguments; 1 in the original task, 0 to score arguments only.

    Returns
    -------
    Counts
        Points for what is right, for all that was predicted, and for all that there is.

    Examples
    --------
    >>> gold = {"t1": FrameAnalysis("Giving", [("Donor", 0, 3), ("Time", 20, 25)])}
    >>> guess = {"t1": FrameAnalysis("Giving", [("Donor", 0, 3), ("Time", 20, 24)])}
    >>> scores = score_frames(gold, guess, lambda frame, role: role == "Donor")
    >>> scores.correct, scores.predicted, scores.gold
    (1.0, 1.5, 1.5)
    """
    if frame_points < 0:
        raise DataError(f"frame_points must be at least 0, got {frame_points!r}.")
    right = guessed = total = 0.0
    for target, analysis in gold.items():
        total += frame_points + sum(_points(analysis.frame, role, is_core) for role, _ in _arguments(analysis))
        guess = predicted.get(target)
        if guess is not None and guess.frame == analysis.frame:
            right += frame_points
            both = _arguments(analysis) & _arguments(guess)
            right += sum(_points(analysis.frame, role, is_core) for role, _ in both)
    for guess in predicted.values():
        guessed += frame_points + sum(_points(guess.frame, role, is_core) for role, _ in _arguments(guess))
    return Counts(right, guessed, total)


def _points(frame: str, role: str, is_core: Callable[[str, str], bool]) -> float:
    return 1.0 if is_core(frame, role) else 0.5


def _arguments(analysis: FrameAnalysis) -> set[tuple[str, tuple[tuple[int, int], ...]]]:
    pieces: dict[str, set[tuple[int, int]]] = {}
    for role, start, end in analysis.arguments:
        pieces.setdefault(role, set()).add((start, end))
    found: set[tuple[str, tuple[tuple[int, int], ...]]] = set()
    for role, spans in pieces.items():
        if role == "Path":
            found.update((role, (span,)) for span in spans)
        else:
            found.add((role, tuple(sorted(spans))))
    return found
