"""Roles on spans: which span, if any, fills each role.

Every role takes one span or the null span; spans of different roles do not overlap; some roles exclude each
other (not both filled) and some require each other (both or neither). A span may have several pieces. This module
states the problem, checks it once, and calls the native decoder, or HiGHS by way of a factor graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood import settings
from sapwood._core import decode as _native
from sapwood.checks import check_choice
from sapwood.decode.graph import FactorGraph
from sapwood.decode.solution import SpanResult
from sapwood.decode.validation import Pairs, check_seconds, mask, matrix, native_limit, pairs, triples
from sapwood.decode.validation import spans as span_array
from sapwood.decode.variables import Variables
from sapwood.errors import DataError, ParameterError
from sapwood.notebook import HtmlTable

__all__ = ["METHODS", "RoleProblem", "decode_roles", "decode_roles_batch"]

_NATIVE = {"local": 0, "beam": 1, "ad3": 2, "ad3-exact": 3, "exact": 4}
METHODS = ("local", "beam", "lp", "ad3", "ad3-exact", "exact", "ilp")
_MAX_STATES = 1 << 20


class RoleProblem(HtmlTable):
    """One problem, checked and ready to be decoded.

    Parameters
    ----------
    scores : array-like of float, roles × spans
        What it earns to fill a role with a span. Finite.
    spans : array-like of int, spans × 2
        First and last token of each span, both included. Exactly one span is null, (-1, -1): its column says
        what it earns to leave a role unfilled.
    excludes : pairs of role numbers
        Roles that may not both be filled.
    requires : pairs of role numbers
        Roles that are filled together or not at all.
    allowed : array-like of bool, roles × spans, optional
        False where a role may not take a span; False at null makes a role mandatory.
    tokens : int, optional
        Number of tokens, so that spans beyond the last are noticed.
    pieces : array-like of int, pieces × 3
        Further pieces of spans that are not contiguous: number of the span, first and last token. Spans overlap if
        any of their pieces do; the pieces of one span must not.

    Examples
    --------
    >>> from sapwood.decode import RoleProblem
    >>> RoleProblem([[2.0, 1.0, 0.0], [3.0, 0.5, 0.0]], [(0, 1), (2, 2), (-1, -1)], excludes=[(0, 1)])
    RoleProblem(2 roles, 3 spans, 1 excludes, 0 requires)

    The first span is "he ... be late" in "he will be late":

    >>> RoleProblem([[2.0, 1.0, 0.0]], [(0, 0), (1, 1), (-1, -1)], pieces=[(0, 2, 3)]).pieces.tolist()
    [[0, 2, 3]]
    """

    __slots__ = ("_native",)
    _native: _native.RoleProblem

    def __init__(
        self,
        scores: ArrayLike,
        spans: ArrayLike,
        excludes: Pairs = (),
        requires: Pairs = (),
        *,
        allowed: ArrayLike | None = None,
        tokens: int | None = None,
        pieces: ArrayLike = (),
    ) -> None:
        table = matrix(scores, "roles", "spans")
        places = span_array(spans)
        if len(table) == 0:  # no roles: whatever the spans are, there is nothing to fill
            places = places if len(places) else np.array([[-1, -1]], np.int64)
            table = np.zeros((0, len(places)))
        made = _native.make_roles(
            table,
            places,
            pairs(excludes, "excludes"),
            pairs(requires, "requires"),
            None if allowed is None else mask(allowed, table.shape),
            -1 if tokens is None else native_limit(tokens, "tokens"),
            triples(pieces, "pieces", "(span, first token, last token)"),
        )
        if isinstance(made, str):
            raise DataError(made)
        self._native = made

    @property
    def scores(self) -> NDArray[np.float64]:
        """A copy of the scores, roles × spans."""
        return self._native.scores.reshape(self._native.roles, self._native.span_count)

    @property
    def spans(self) -> NDArray[np.int64]:
        """A copy of the spans, with null as (-1, -1); of spans in several pieces the first one that was given."""
        return self._native.spans.reshape(-1, 2)

    @property
    def pieces(self) -> NDArray[np.int64]:
        """A copy of the further pieces, each as span, first and last token, in the order of the spans."""
        return self._native.pieces.reshape(-1, 3)

    @property
    def null(self) -> int:
        """The number of the null span."""
        return self._native.null

    @property
    def excludes(self) -> list[tuple[int, int]]:
        """Pairs of roles that may not both be filled, each once."""
        return [(int(a), int(b)) for a, b in self._native.excludes.reshape(-1, 2)]

    @property
    def requires(self) -> list[tuple[int, int]]:
        """Pairs of roles that are filled together or not at all, each once."""
        return [(int(a), int(b)) for a, b in self._native.requires.reshape(-1, 2)]

    @property
    def allowed(self) -> NDArray[np.bool_] | None:
        """Which role may take which span; None when every one may."""
        flags = self._native.allowed
        return flags.reshape(self._native.roles, self._native.span_count).astype(bool) if len(flags) else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.scores, self.spans, self.excludes, self.requires, self.allowed, self.pieces)

    def __repr__(self) -> str:
        return (
            f"RoleProblem({self._native.roles} roles, {self._native.span_count} spans, "
            f"{len(self.excludes)} excludes, {len(self.requires)} requires)"
        )

    def _summary(self) -> dict[str, Any]:
        return {
            "roles": self._native.roles,
            "spans": self._native.span_count,
            "excludes": len(self.excludes),
            "requires": len(self.requires),
        }

    def covers(self) -> NDArray[np.bool_]:
        """Return which spans cover each token where a span or a piece starts, tokens × spans.

        Spans that overlap share such a token.
        """
        places, pieces = self.spans, self.pieces
        first, last = np.append(places[:, 0], pieces[:, 1]), np.append(places[:, 1], pieces[:, 2])
        starts = np.unique(first[first >= 0])[:, None]
        inside = (first <= starts) & (starts <= last)
        covering = inside[:, : len(places)]
        for column, span in enumerate(pieces[:, 0], start=len(places)):
            covering[:, span] |= inside[:, column]
        return covering

    def to_factor_graph(self, *, overlap: bool = False) -> tuple[FactorGraph, Variables]:
        """Return the problem as a factor graph and its roles × spans variables.

        One exclusive choice per role, at most one role per token, one disjunction of nulls per exclusion, one
        equality of nulls per requirement.

        Parameters
        ----------
        overlap : bool
            Whether the spans of different roles may overlap: True leaves out the factors of tokens.
        """
        graph = FactorGraph()
        takes = graph.variables(self.scores)
        graph.xor(takes, axis=1)
        for covering in [] if overlap else self.covers():
            graph.at_most_one(takes[:, covering])
        absent = takes[:, self.null]
        for a, b in self.excludes:
            graph.or_(absent[a], absent[b])
        for a, b in self.requires:
            graph.xor_out(absent[a], out=absent[b])
        allowed = self.allowed
        if allowed is not None:
            graph.or_(~takes[~allowed][:, None], axis=1)
        return graph, takes


def _rebuild(
    scores: NDArray[np.float64],
    spans: NDArray[np.int64],
    excludes: Pairs,
    requires: Pairs,
    allowed: NDArray[np.bool_] | None,
    pieces: NDArray[np.int64],
) -> RoleProblem:
    return RoleProblem(scores, spans, excludes, requires, allowed=allowed, pieces=pieces)


def decode_roles(
    scores: ArrayLike,
    spans: ArrayLike,
    *,
    excludes: Pairs = (),
    requires: Pairs = (),
    allowed: ArrayLike | None = None,
    tokens: int | None = None,
    pieces: ArrayLike = (),
    method: str = "exact",
    beam: int = 100,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    max_states: int | None = None,
) -> SpanResult:
    """Find the best span for every role under the constraints.

    Parameters
    ----------
    scores, spans, excludes, requires, allowed, tokens, pieces
        The problem, as in `RoleProblem`.
    method : {"exact", "ad3-exact", "ilp", "ad3", "lp", "beam", "local"}
        ``exact`` is the specialised decoder, with AD3 and branch and bound where pieces are in conflict; ``ad3-exact``
        is AD3 with branch and bound; ``ilp`` is HiGHS.
        ``ad3`` and ``lp`` solve the linear relaxation and round what is not whole. ``beam`` forbids overlap
        only; ``local`` takes every role by itself.
    beam : int
        Hypotheses kept by ``beam``.
    time_limit : float, optional
        Seconds; an answer that is not proven by then has status ``limit``.
    max_nodes : int, optional
        Nodes of branch and bound, likewise.
    max_states : int, optional
        States of dynamic programming after which ``exact`` hands over to branch and bound; about a million by
        default.

    Returns
    -------
    SpanResult

    Examples
    --------
    Both roles want the first span; the second loses less by giving it up:

    >>> from sapwood.decode import decode_roles
    >>> spans = [(0, 1), (2, 2), (-1, -1)]
    >>> result = decode_roles([[2.0, 0.5, 0.0], [3.0, 2.5, 0.0]], spans)
    >>> result.assignment.tolist(), result.value, result.status
    ([0, 1], 4.5, 'optimal')
    >>> decode_roles([[2.0, 0.5, 0.0], [3.0, 2.5, 0.0]], spans, method="local").violations
    {'overlap': 1, 'excludes': 0, 'requires': 0, 'allowed': 0}

    When the first span has the last token, too, the second role has to give way altogether:

    >>> decode_roles([[2.0, 0.5, 0.0], [1.0, 1.5, 0.0]], spans, pieces=[(0, 2, 2)]).assignment.tolist()
    [0, 2]
    """
    problem = RoleProblem(scores, spans, excludes, requires, allowed=allowed, tokens=tokens, pieces=pieces)
    return _decode([problem], method, beam, time_limit, max_nodes, max_states, 1)[0]


def decode_roles_batch(
    problems: Iterable[RoleProblem],
    *,
    method: str = "exact",
    beam: int = 100,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    max_states: int | None = None,
    threads: int | None = None,
) -> list[SpanResult]:
    """Decode many problems.

    Parameters
    ----------
    problems : iterable of RoleProblem
    method, beam, max_nodes, max_states
        As in `decode_roles`.
    time_limit : float, optional
        Seconds for each problem.
    threads : int, optional
        Native threads; by default what `sapwood.options` says. Results do not depend on it. HiGHS methods use
        one.

    Returns
    -------
    list of SpanResult
        In the order of the problems.
    """
    given = list(problems)
    for number, problem in enumerate(given):
        if not isinstance(problem, RoleProblem):
            raise ParameterError(
                f"problems[{number}] is a {type(problem).__name__}; wrap it as RoleProblem(scores, spans)."
            )
    workers = settings.threads() if threads is None else native_limit(threads, "threads")
    return _decode(given, method, beam, time_limit, max_nodes, max_states, workers)


def _decode(
    problems: list[RoleProblem],
    method: str,
    beam: int,
    time_limit: float | None,
    max_nodes: int | None,
    max_states: int | None,
    threads: int,
) -> list[SpanResult]:
    check_choice(method, "method", METHODS)
    seconds, nodes = check_seconds(time_limit), native_limit(max_nodes, "max_nodes")
    width, states = native_limit(beam, "beam"), native_limit(max_states, "max_states", _MAX_STATES)
    if method in ("lp", "ilp"):
        return [_by_program(problem, method, time_limit, max_nodes) for problem in problems]
    handles = [problem._native for problem in problems]
    # One problem takes microseconds, and showing progress would take as long.
    bar = settings.progress_bar(len(problems), "Decoding", "problems") if len(problems) > 1 else nullcontext()
    with bar as progress:
        arrays = _native.decode_roles(handles, _NATIVE[method], width, seconds, nodes, states, True, threads, progress)
    values, bounds, status, assignment, first, broken, used, dp_states = arrays
    ends = first.tolist()
    names = _native.STATUS
    counts = broken.tolist()
    results = []
    for i, (value, bound, code, node_count, state_count) in enumerate(
        zip(values.tolist(), bounds.tolist(), status.tolist(), used.tolist(), dp_states.tolist(), strict=True)
    ):
        found = assignment[ends[i] : ends[i + 1]] if value != -math.inf else None
        results.append(SpanResult(found, value, bound, names[code], node_count, state_count, counts[4 * i : 4 * i + 4]))
    return results


def _by_program(problem: RoleProblem, method: str, time_limit: float | None, max_nodes: int | None) -> SpanResult:
    """Solve the integer program, or the linear one and let every role take the span with its largest share."""
    graph, takes = problem.to_factor_graph()
    solution = graph.solve(method=method, time_limit=time_limit, max_nodes=max_nodes)
    share = solution.posterior(takes)
    if np.isnan(share).any():
        return SpanResult(None, -math.inf, solution.bound, solution.status, solution.nodes, 0)
    roles = len(share)
    chosen = share.argmax(axis=1).astype(np.int32) if roles else np.zeros(0, np.int32)
    value = float(problem.scores[np.arange(roles), chosen].sum())
    bound = value if solution.status == "optimal" else solution.bound
    return SpanResult(chosen, value, bound, solution.status, solution.nodes, 0, _violations(problem, chosen))


def _violations(problem: RoleProblem, chosen: NDArray[np.int32]) -> tuple[int, int, int, int]:
    filled = chosen != problem.null
    covers = problem.covers()[:, chosen[filled]].astype(np.int64)
    overlap = np.triu(covers.T @ covers > 0, 1)
    allowed = problem.allowed
    return (
        int(overlap.sum()),
        sum(bool(filled[a] and filled[b]) for a, b in problem.excludes),
        sum(bool(filled[a] != filled[b]) for a, b in problem.requires),
        0 if allowed is None else int((~allowed[np.arange(len(chosen)), chosen]).sum()),
    )
