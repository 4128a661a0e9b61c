"""Why an argument got its role."""

from __future__ import annotations

from dataclasses import dataclass

from sapwood.draw.html import fragment_table, panel
from sapwood.draw.text import cut

__all__ = ["RoleExplanation"]


@dataclass(frozen=True)
class RoleExplanation:
    """Why an argument got its role: features with weights that add up to the margin.

    Attributes
    ----------
    role : str
        The role that is explained.
    margin, bias : float
        The margin of the role, and the part of it that no feature is behind.
    features : tuple of (str, float)
        Every feature that was there, heaviest first.
    """

    role: str
    margin: float
    bias: float
    features: tuple[tuple[str, float], ...]

    @property
    def label(self) -> str:
        """The role, as explanations of other models call it."""
        return self.role

    @property
    def value(self) -> float:
        """The margin, as explanations of other models call it."""
        return self.margin

    def to_text(self, *, width: int = 80) -> str:
        """Write one line per feature, of at most ``width`` characters; the twelve heaviest."""
        lines = [f"margin of {self.role} {self.margin:.4f} = {self.bias:.4f} (bias) + {self.margin - self.bias:.4f}"]
        return "\n".join(cut(line, width) for line in [*lines, *self._lines()])

    def _lines(self) -> list[str]:
        return [f"{weight:+9.4f}  {name}" for name, weight in self.features[:12]]

    def __str__(self) -> str:
        return self.to_text(width=10_000)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """Return a piece of HTML: a table of features."""
        rows = [(weight, name, "") for name, weight in self.features[:12]]
        title = f"margin of {self.role} {self.margin:.4f}"
        return panel(title, [fragment_table(rows, [(self.bias, "bias")])])
