"""The path from a candidate to the predicate, spelled out in the ways that features use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Path"]

_KEPT = frozenset(["S", "SBAR", "SBARQ", "SINV", "SQ", "VP"])


class Path(NamedTuple):
    """A path in text.

    Attributes
    ----------
    text : str
        The labels up to the common ancestor (^), and down to the predicate's tag (!).
    rising : str
        The part up to the common ancestor.
    undirected : str
        The labels alone.
    initials : str
        Their first letters, up and down.
    collapsed : str
        The path with runs of one label written once.
    clauses : str
        The clauses and verb phrases on the path, other nodes as ``*``.
    steps : str
        How many there are, 12 for more.
    """

    text: str
    rising: str
    undirected: str
    initials: str
    collapsed: str
    clauses: str
    steps: str

    @staticmethod
    @lru_cache(maxsize=1 << 13)
    def of(rising: tuple[str, ...], falling: tuple[str, ...]) -> Path:
        """Spell out the path with these labels up to the common ancestor, and from there down to the predicate's tag.

        >>> path = Path.of(("NP", "VP", "VP"), ("VP", "VBD"))
        >>> path.text, path.collapsed, path.clauses, path.steps
        ('NP^VP^VP!VP!VBD', 'NP^VP!VBD', 'NP^VP!VP', '4')
        """
        labels = rising + falling
        up, down = _runs(rising), _runs(falling)
        clauses = [_runs([label if label in _KEPT else "*" for label in part]) for part in (rising[1:], falling[:-1])]
        return Path(
            _joined(rising, falling),
            "^".join(rising),
            "-".join(labels),
            "!".join("".join(label[:1] for label in part) for part in (rising, falling)),
            _joined(up, down[1:] if down and down[0] == up[-1] else down),
            f"{rising[0]}^{'^'.join(clauses[0])}!{'!'.join(clauses[1])}",
            str(min(len(labels) - 1, 12)),
        )


def _joined(rising: Sequence[str], falling: Sequence[str]) -> str:
    return "^".join(rising) + "".join(f"!{label}" for label in falling)


def _runs(labels: Sequence[str]) -> list[str]:
    return [label for at, label in enumerate(labels) if not at or label != labels[at - 1]]
