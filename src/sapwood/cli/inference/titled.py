"""An explanation under a line that says what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = ["Titled"]


@dataclass(frozen=True)
class Titled:
    """Shows what an explanation shows, with a title."""

    title: str
    explanation: Any

    def to_text(self, *, width: int = 80) -> str:
        """Write the title and the explanation."""
        from sapwood.draw.text import wrapped

        return "\n".join([*wrapped(self.title, width), self.explanation.to_text(width=width)])

    def to_html(self) -> str:
        """Return the title and the explanation as HTML."""
        found: str = self.explanation.to_html()
        return f"<h2>{escape(self.title)}</h2>{found}"
