"""What drawing gives: the text of an SVG or HTML picture that shows itself in notebooks."""

from __future__ import annotations

import os

from sapwood.palette import color_css
from sapwood.writing import write_text

__all__ = ["Picture"]


class Picture(str):
    """The text of a picture. It is a string like any other; a notebook shows the picture instead.

    Examples
    --------
    >>> Picture("<svg></svg>").startswith("<svg")
    True
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)

    def standalone(self) -> str:
        """Return an SVG picture as the text of a file: with its colors, light or dark as the reader prefers.

        >>> Picture('<svg xmlns="http://www.w3.org/2000/svg"><text>a</text></svg>').standalone().count("--sw-ink:")
        2
        """
        light, dark = color_css(0), color_css(1)
        rules = "color:var(--sw-ink);background:var(--sw-card)"
        style = f":root{{{light};{rules}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
        head, _, rest = self.partition(">")
        return f"{head}><style>{style}</style>{rest}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an SVG picture to a file that shows it by itself."""
        write_text(path, self.standalone())
