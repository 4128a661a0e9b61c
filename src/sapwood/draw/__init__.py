"""Trees as pictures and as text for the terminal. Knows trees and nothing else."""

from sapwood.draw.text import outline

__all__ = ["outline"]
