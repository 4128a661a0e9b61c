"""What an experiment shows besides tables: a finished picture, and what a terminal shows in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Figure"]


@dataclass(frozen=True)
class Figure:
    """A finished picture.

    Parameters
    ----------
    title : str
        What it shows, on which data.
    picture : str
        SVG or HTML as ``sapwood.draw`` makes it; whatever came from data is escaped already.
    text : str
        What a terminal shows instead; empty for nothing.
    notes : sequence of str
        What a reader must know.
    wide : bool
        Whether it needs the whole width of a page.

    Examples
    --------
    >>> print(Figure("A dog", "<svg/>", "(NN dog)"))
    (NN dog)
    """

    title: str
    picture: str
    text: str = ""
    notes: Sequence[str] = ()
    wide: bool = False

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.picture
