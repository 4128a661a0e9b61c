"""A forest: the alternative parses of one sentence with their scores.

Only the value is here. Parsers make such lists, ``corpora`` reads and writes them, and rankers learn to choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.notebook import HtmlTable
from sapwood.trees.array import TreeArray
from sapwood.trees.notebook import draw_tree
from sapwood.trees.tree import Tree

__all__ = ["NBest"]

# So many parses are drawn in a notebook.
_SHOWN = 3


@dataclass(frozen=True, eq=False)
class NBest(HtmlTable):
    """The alternative parses of one sentence.

    Attributes
    ----------
    parses : TreeArray
        The parses, in the order of the file.
    scores : array of float64
        Their scores; log probabilities as a rule, larger is better.
    gold : Tree, optional
        The correct tree.
    name : str, optional
        What the file calls the sentence.
    fold : int, optional
        The fold in which the sentence was parsed, where lists were made by cross-validation.
    gold_brackets : int, optional
        Brackets of the gold tree, as the maker of the file counted them.
    f1, matched, brackets : array, optional
        What each parse scored against the gold tree, as the maker of the file counted it.
    how : str
        How a parser found them, as in ``sapwood.parse.Sentence``; empty where that is not known.
    """

    parses: TreeArray
    scores: NDArray[np.float64]
    gold: Tree | None = None
    name: str | None = None
    fold: int | None = None
    gold_brackets: int | None = None
    f1: NDArray[np.float64] | None = None
    matched: NDArray[np.int64] | None = None
    brackets: NDArray[np.int64] | None = None
    how: str = ""

    def __len__(self) -> int:
        return len(self.parses)

    def _summary(self) -> dict[str, Any]:
        return {"parses": len(self), "gold": "unknown" if self.gold is None else str(self.gold)}

    def _repr_html_(self) -> str:
        """Draw the best parses with their scores, and the gold tree where it is known."""
        order = sorted(range(len(self)), key=lambda one: -self.scores[one])
        shown = [(f"parse {one + 1}, score {self.scores[one]:.6g}", self.parses[one]) for one in order[:_SHOWN]]
        pictures = [_captioned(text, tree) for text, tree in shown if isinstance(tree, Tree)]
        if len(self) > _SHOWN:
            pictures.append(f"<div>{len(self) - _SHOWN:,} more</div>")
        if isinstance(self.gold, Tree):
            pictures.append(_captioned("correct tree (gold)", self.gold))
        title = escape(f"{self.name or 'NBest'}: {len(self):,} parses")
        style = "display:flex;flex-wrap:wrap;align-items:flex-end;gap:2em;padding:.5em 0"
        return f'<div><strong>{title}</strong></div><div style="{style}">{"".join(pictures)}</div>'


def _captioned(text: str, tree: Tree) -> str:
    return f'<div style="min-width:0"><div>{text}</div>{draw_tree(tree)}</div>'
