"""From scores of single candidates to labels that fit together, and roles that follow from a rule.

No two arguments of a predicate overlap, numbered roles occur once, R-X needs an X, C-X an X before it. These
constraints are stated here; the exact search under them is in ``sapwood.decode``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.decode import decode_labels
from sapwood.tasks.roles.predicates import VERBAL_TAGS, is_auxiliary
from sapwood.tasks.roles.views import Parse

__all__ = ["Constraints", "role_by_rule"]

_NEGATIONS = frozenset(["not", "n't", "nt"])


class Constraints:
    """What labels must obey together.

    Parameters
    ----------
    labels : sequence of str
        All roles; NONE is not among them.

    Examples
    --------
    >>> rules = Constraints(["A0", "A1", "R-A0"])
    >>> scores = [[0.0, 2.0, 1.9, 0.0], [0.0, 3.0, 2.0, 0.0], [0.0, 0.0, 0.0, 2.0]]
    >>> rules.choose(scores, [(0, 1), (3, 4), (5, 5)])
    ['A1', 'A0', 'R-A0']
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = list(labels)
        self._number = {label: at + 1 for at, label in enumerate(self.labels)}

        self._unique = [self._number[label] for label in self.labels if is_core(label)]
        bare = [(number, bare_role(label)) for label, number in self._number.items()]
        self._numbered = [(number, role) for number, role in bare if is_core(role)]
        # References need what they refer to, continuations what they continue, before them.
        self._implies, self._after = (
            [
                (number, self._number[label[2:]])
                for label, number in self._number.items()
                if label.startswith(prefix) and label[2:] in self._number
            ]
            for prefix in ("R-", "C-")
        )

    def choose(
        self,
        scores: NDArray[np.float64] | Sequence[Sequence[float]],
        spans: Sequence[tuple[int, int]],
        *,
        legal: Iterable[str] | None = None,
    ) -> list[str | None]:
        """Return the best label for each candidate, None where it is no argument.

        Parameters
        ----------
        scores : array, candidates × (NONE and labels)
            What each choice is worth; log-probabilities add up as they should.
        spans : sequence of (int, int)
            First and last word of each candidate.
        legal : collection of str, optional
            Numbered roles that the predicate can have, with ``R-`` and ``C-`` ones of these; all if not given.
        """
        table = np.asarray(scores, dtype=np.float64)
        if not len(table):
            return []
        if legal is not None:
            known = set(legal)
            table = table.copy()
            table[:, [number for number, role in self._numbered if role not in known]] = _NEVER
        # A label that costs more than leaving the candidate alone can only pay as what R-X or C-X leans on, so rows are
        # cut down to labels that may matter. The search is then over a handful of labels instead of fifty.
        useful = np.flatnonzero((table[:, 1:] > table[:, :1] - _SLACK).any(axis=0)) + 1
        if not len(useful):
            return [None] * len(table)
        columns = np.concatenate([[0], useful])
        place = {int(column): at for at, column in enumerate(columns)}
        result = decode_labels(
            table[:, columns],
            spans,
            unique=[place[one] for one in self._unique if one in place],
            implies=_kept(self._implies, place),
            after=_kept(self._after, place),
            allowed=_allowed(table, columns, place, [*self._implies, *self._after]),
        )
        if result.assignment is None:
            return [None] * len(table)
        return [None if not at else self.labels[int(columns[at]) - 1] for at in result.assignment.tolist()]


_NEVER = -1e6
_SLACK = 4.0


def _kept(pairs: Sequence[tuple[int, int]], place: dict[int, int]) -> list[tuple[int, int]]:
    return [(place[a], place[b]) for a, b in pairs if a in place and b in place]


def _allowed(
    table: NDArray[np.float64], columns: NDArray[np.intp], place: dict[int, int], pairs: Sequence[tuple[int, int]]
) -> NDArray[np.bool_]:
    allowed = np.ones((len(table), len(columns)), dtype=bool)
    allowed[:, 1:] = table[:, columns[1:]] > _NEVER / 2
    for needy, needed in pairs:
        if needy in place and needed not in place:
            allowed[:, place[needy]] = False
    return allowed


def is_core(role: str) -> bool:
    """Whether a role is numbered (or AA) and not an adjunct: such a role occurs once.

    >>> [is_core(role) for role in ("A0", "AA", "AM-TMP", "R-A0", "V")]
    [True, True, False, False, False]
    """
    return role.startswith("A") and not role.startswith("AM")


def bare_role(role: str) -> str:
    """Return a role without ``R-`` and ``C-``."""
    return role[2:] if role[:2] in ("R-", "C-") else role


def role_by_rule(parse: Parse, predicate: int, node: int) -> str:
    """Return the role that a single word always gets: modal verbs and *not* in the predicate's chain of verb phrases.

    >>> from sapwood.trees import Tree
    >>> parse = Parse(Tree.fromstring("(S (NP (PRP I)) (VP (MD may) (RB not) (VP (VB go))))"))
    >>> [role_by_rule(parse, 3, parse.at.tag(word)) for word in range(3)]
    ['', 'AM-MOD', 'AM-NEG']
    """
    at = parse.at
    if not at.is_tag(node) or parse.tags[predicate] not in VERBAL_TAGS or is_auxiliary(at, predicate):
        return ""
    word, above, chain = at.first[node], at.parent[node], at.tag(predicate)
    # Upwards from the predicate, as far as the chain is not broken by another phrase.
    while at.parent[chain] >= 0 and at.labels[at.parent[chain]] in ("VP", "SQ", "SINV"):
        chain = at.parent[chain]
        if chain == above:
            if at.labels[node] == "MD" and word < predicate:
                return "AM-MOD"
            return "AM-NEG" if parse.lower[word] in _NEGATIONS and at.labels[node] == "RB" else ""
    return ""
