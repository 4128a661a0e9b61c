"""Why an argument got its role."""

from __future__ import annotations

from dataclasses import dataclass

from sapwood.draw.html import fragment_table, panel

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

    def __str__(self) -> str:
        lines = [f"margin of {self.role} {self.margin:.4f} = {self.bias:.4f} (bias) + {self.margin - self.bias:.4f}"]
        return "\n".join(lines + [f"{weight:+9.4f}  {name}" for name, weight in self.features[:12]])

    def _repr_html_(self) -> str:
        rows = [(weight, name, "") for name, weight in self.features[:12]]
        title = f"margin of {self.role} {self.margin:.4f}"
        return panel(title, [fragment_table(rows, [(self.bias, "bias")])])
