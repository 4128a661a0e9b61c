"""Role scores and constraints, decoded in several ways side by side: the panel Decode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.decode import RoleProblem, decode_roles_batch
from sapwood.errors import DataError, ParameterError
from sapwood.explorer import requests
from sapwood.explorer.limits import Limits
from sapwood.explorer.requests import Request, finite

__all__ = ["METHODS", "decode"]

METHODS = (
    ("local", "each role by itself"),
    ("beam", "no overlap, one role after the other"),
    ("ad3", "the linear relaxation, rounded"),
    ("exact", "the best that the constraints allow"),
)
"""Ways to decode, and what each does."""

_PAIRS = 100


def decode(request: Request, limits: Limits) -> dict[str, Any]:
    """Answer a request with the fields ``words``, ``roles``, ``spans`` and ``scores``.

    Leaving a role unfilled is worth 0. Optional fields: ``excludes`` and ``requires`` (pairs of role numbers),
    ``mandatory`` (numbers of roles that must be filled), ``overlap`` (whether spans may overlap; false by default),
    ``unique`` (whether a span fills one role at most; true by default, and implied where spans may not overlap) and
    ``beam``.
    """
    words = requests.items(request, "words", limits.words)
    roles = requests.items(request, "roles", limits.roles)
    spans = requests.items(request, "spans", limits.spans)
    if not all(isinstance(word, str) for word in [*words, *roles]):
        raise ParameterError("words and roles must be lists of text.")
    if not roles:
        raise DataError("there is no role to fill; add one.")
    table = _table(request, len(roles), len(spans), limits)
    mandatory = {_index(one, len(roles), "mandatory") for one in requests.items(request, "mandatory", limits.roles)}
    overlap, unique = requests.flag(request, "overlap"), requests.flag(request, "unique", True)
    beam = requests.integer(request, "beam", 1, 1000, 2)
    allowed = np.ones((len(roles), len(spans) + 1), dtype=bool)
    allowed[sorted(mandatory), -1] = False
    problem = RoleProblem(
        np.column_stack([table, np.zeros(len(roles))]),
        [*spans, [-1, -1]],
        requests.items(request, "excludes", _PAIRS),
        requests.items(request, "requires", _PAIRS),
        allowed=allowed,
        tokens=len(words),
    )
    return {
        "methods": [
            {"method": method, "does": does, **_decoded(problem, method, beam, overlap, unique, mandatory)}
            for method, does in METHODS
        ]
    }


def _decoded(
    problem: RoleProblem, method: str, beam: int, overlap: bool, unique: bool, mandatory: set[int]
) -> dict[str, Any]:
    if overlap and method in ("ad3", "exact"):
        chosen, value, bound, status = _with_overlap(problem, unique, exact=method == "exact")
    else:
        # All that the beam knows is overlap; where that is allowed, nothing keeps roles apart.
        plain = "local" if overlap else method
        result = decode_roles_batch([problem], method=plain, beam=beam, threads=1)[0]
        value, bound, status = result.value, result.bound, result.status
        chosen = None if result.assignment is None else result.assignment.tolist()
    spans = None if chosen is None else [None if span == problem.null else span for span in chosen]
    return {
        "assignment": spans,
        "value": finite(value),
        "bound": finite(bound),
        "status": status,
        "violations": [] if spans is None else _broken(problem, spans, overlap, unique, mandatory),
    }


def _with_overlap(problem: RoleProblem, unique: bool, *, exact: bool) -> tuple[list[int] | None, float, float, str]:
    """Decode without the rule that spans may not overlap."""
    graph, takes = problem.to_factor_graph(overlap=True)
    if unique:
        for span in range(len(problem.spans)):
            if span != problem.null:
                graph.at_most_one(takes[:, span])
    solution = graph.solve(exact=exact)
    if solution.assignment is None:
        return None, solution.value, solution.bound, solution.status
    return solution[takes].argmax(axis=1).tolist(), solution.value, solution.bound, solution.status


def _broken(
    problem: RoleProblem, chosen: list[int | None], overlap: bool, unique: bool, mandatory: set[int]
) -> list[dict[str, Any]]:
    """List the constraints that an assignment breaks, each with the roles that do so."""
    places = problem.spans.tolist()
    found: list[dict[str, Any]] = []
    filled = [role for role, span in enumerate(chosen) if span is not None]
    for number, a in enumerate(filled):
        for b in filled[number + 1 :]:
            one, other = chosen[a], chosen[b]
            assert one is not None
            assert other is not None
            (first, last), (begin, end) = places[one], places[other]
            if not overlap and first <= end and begin <= last:
                found.append({"kind": "overlap", "roles": [a, b]})
            elif overlap and unique and one == other:
                found.append({"kind": "unique", "roles": [a, b]})
    for a, b in problem.excludes:
        if chosen[a] is not None and chosen[b] is not None:
            found.append({"kind": "excludes", "roles": [a, b]})
    for a, b in problem.requires:
        if (chosen[a] is None) != (chosen[b] is None):
            found.append({"kind": "requires", "roles": [a, b]})
    found += [{"kind": "mandatory", "roles": [role]} for role in sorted(mandatory) if chosen[role] is None]
    return found


def _table(request: Request, rows: int, columns: int, limits: Limits) -> NDArray[np.float64]:
    table = requests.items(request, "scores", limits.roles)
    if len(table) != rows or not all(isinstance(row, list) and len(row) == columns for row in table):
        raise DataError(f"scores must have one row per role and one column per span: {rows} × {columns}.")
    for role, row in enumerate(table):
        for span, score in enumerate(row):
            if isinstance(score, bool) or not isinstance(score, (int, float)) or not abs(score) <= 1e6:
                raise DataError(
                    f"the score of role {role + 1} for span {span + 1} must be a number from -1,000,000 to 1,000,000."
                )
    return np.array(table, dtype=np.float64).reshape(rows, columns)


def _index(value: object, count: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise ParameterError(f"{name} must hold role numbers from 0 to {count - 1}, got {value!r}.")
    return value
