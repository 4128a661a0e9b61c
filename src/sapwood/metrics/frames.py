"""Scores of frames and their arguments, as in the SemEval-2007 task on frame-semantic structure.

A core argument is worth 1 point, any other half a point; its label and both borders must be right. Argument
identification with given frames is scored on arguments alone, as Das, Martins and Smith (2012) do; with
``frame_points=1`` frames count too. Credit for related frames, which the task also allows, is not given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sapwood.errors import DataError
from sapwood.notebook import HtmlTable

__all__ = ["FrameAnalysis", "FrameScores", "score_frames"]


class FrameAnalysis(NamedTuple):
    """A frame and what fills its roles: (role, first character, last character) for each piece of a filler."""

    frame: str
    arguments: Iterable[tuple[str, int, int]] = ()


@dataclass(frozen=True)
class FrameScores(HtmlTable):
    """Points, and what follows from them.

    Attributes
    ----------
    matched, predicted, gold : float
        Points for what is right, for all that was predicted, and for all that there is.
    """

    matched: float
    predicted: float
    gold: float

    @property
    def precision(self) -> float:
        """Points right among those predicted; 0 without predictions."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Points right among those of the gold standard; 0 if it has none."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.predicted + self.gold
        return 2 * self.matched / total if total else 0.0

    def __add__(self, other: FrameScores) -> FrameScores:
        return FrameScores(self.matched + other.matched, self.predicted + other.predicted, self.gold + other.gold)


def score_frames(
    gold: Mapping[Hashable, FrameAnalysis],
    predicted: Mapping[Hashable, FrameAnalysis],
    is_core: Callable[[str, str], bool],
    *,
    frame_points: float = 0.0,
) -> FrameScores:
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

    Examples
    --------
    >>> gold = {"t1": FrameAnalysis("Giving", [("Donor", 0, 3), ("Time", 20, 25)])}
    >>> guess = {"t1": FrameAnalysis("Giving", [("Donor", 0, 3), ("Time", 20, 24)])}
    >>> scores = score_frames(gold, guess, lambda frame, role: role == "Donor")
    >>> scores.matched, scores.predicted, scores.gold
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
    return FrameScores(right, guessed, total)


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
