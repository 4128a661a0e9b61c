"""How much one request may ask for. What is too much is refused before any work is done."""

from __future__ import annotations

from dataclasses import dataclass

from sapwood.notebook import HtmlTable

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits(HtmlTable):
    """The limits of a request.

    Attributes
    ----------
    seconds : float
        Time to answer; what takes longer is broken off.
    body : int
        Bytes of a request.
    characters, words, nodes : int
        Of a text, of the sentence in it, and of a tree.
    roles, spans : int
        Rows and columns of a table of scores.
    fragments : int
        Fragments that are listed.
    """

    seconds: float = 10.0
    body: int = 1_000_000
    characters: int = 20_000
    words: int = 150
    nodes: int = 1_500
    roles: int = 20
    spans: int = 40
    fragments: int = 30
