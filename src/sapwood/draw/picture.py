"""What drawing gives: the text of an SVG or HTML picture that shows itself in notebooks."""

from __future__ import annotations

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
