"""How objects without a picture of their own show in notebooks: a small table of what they are made of.

Used by every package; trees, charts and sentences draw themselves, in ``trees`` and ``draw``.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sized
from html import escape
from typing import Any, ClassVar

__all__ = ["HtmlTable", "table_html"]

_LONGEST = 200


class HtmlTable:
    """Gives a class a table for notebooks: its title, and its fields or what ``_summary`` says, everything escaped.

    Examples
    --------
    >>> @dataclasses.dataclass
    ... class Score(HtmlTable):
    ...     f1: float
    >>> Score(0.5)._repr_html_()
    '<table><caption>Score</caption><tr><th scope="row">f1</th><td>0.5</td></tr></table>'
    """

    __slots__ = ()

    # For classes below ``draw``: the function there that draws them, as "package.module:function".
    _drawn_by: ClassVar[str] = ""

    def _summary(self) -> Mapping[str, Any]:
        """Return what the table lists; without anything, the object is shown as it is written."""
        if not dataclasses.is_dataclass(self):
            return {}
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.repr}

    def _repr_html_(self) -> str:
        if self._drawn_by:
            module, _, name = self._drawn_by.partition(":")
            return str(getattr(importlib.import_module(module), name)(self))
        summary = self._summary()
        return table_html(type(self).__name__, summary) if summary else f"<code>{escape(_short(repr(self)))}</code>"


def table_html(title: str, summary: Mapping[str, Any]) -> str:
    """Write a summary as a table with a title."""
    rows = "".join(
        f'<tr><th scope="row">{escape(str(name).replace("_", " "))}</th><td>{escape(_text(value))}</td></tr>'
        for name, value in summary.items()
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    # The text of a long list would take long to make, and nobody would read it.
    if isinstance(value, Sized) and len(value) > 20:
        return f"{type(value).__name__} of {len(value):,}"
    return _short(repr(value))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
