"""The best assignment under logical constraints, with a certificate.

Scores and constraints go in; an assignment, its value and an upper bound on every assignment's value come out:
``decode_roles`` for roles on spans, ``decode_labels`` for labels on spans, and ``FactorGraph`` for everything else.
This package knows nothing of words or trees.
"""

from sapwood.decode.graph import FactorGraph, Variables
from sapwood.decode.labels import LabelResult, decode_labels
from sapwood.decode.roles import RoleProblem, RoleResult, decode_roles, decode_roles_batch
from sapwood.decode.solution import Solution, Trace

__all__ = [
    "FactorGraph",
    "LabelResult",
    "RoleProblem",
    "RoleResult",
    "Solution",
    "Trace",
    "Variables",
    "decode_labels",
    "decode_roles",
    "decode_roles_batch",
]
