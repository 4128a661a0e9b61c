"""The best assignment under logical constraints, with a certificate.

Scores and constraints go in; an assignment, its value and an upper bound on every assignment's value come out:
``decode_roles`` for roles on spans, ``decode_labels`` for labels on spans, and ``FactorGraph`` for everything else.
This package knows nothing of words or trees.
"""

from sapwood.decode.graph import FactorGraph
from sapwood.decode.labels import decode_labels
from sapwood.decode.roles import RoleProblem, decode_roles, decode_roles_batch
from sapwood.decode.solution import Solution, SpanResult, Trace
from sapwood.decode.variables import Variables
from sapwood.lazy import public_names

__all__ = [
    "FactorGraph",
    "RoleProblem",
    "Solution",
    "SpanResult",
    "Trace",
    "Variables",
    "decode_labels",
    "decode_roles",
    "decode_roles_batch",
]

__dir__ = public_names(__name__)
