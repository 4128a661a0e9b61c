"""Trees as pictures and as text for the terminal. Knows trees and nothing else."""

from sapwood.draw.html import fragment_table, page, panel
from sapwood.draw.svg import fragment_nodes, weighted_svg
from sapwood.draw.text import outline, weighted_outline

__all__ = ["fragment_nodes", "fragment_table", "outline", "page", "panel", "weighted_outline", "weighted_svg"]
