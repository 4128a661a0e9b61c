"""Exact decoding under constraints."""

from collections.abc import Callable
from typing import Annotated

import numpy
from numpy.typing import NDArray


STATUS: tuple[str, str, str, str]

class RoleProblem:
    @property
    def roles(self) -> int: ...

    @property
    def null(self) -> int: ...

    @property
    def span_count(self) -> int: ...

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def allowed(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

    @property
    def excludes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def requires(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def spans(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def pieces(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

def make_roles(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], spans: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], excludes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], requires: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, tokens: int, pieces: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> RoleProblem | str: ...

def decode_roles(problems: list[RoleProblem], method: int, beam: int, time_limit: float, max_nodes: int, states: int, caching: bool, threads: int, progress: Callable[[int], None] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]: ...

def decode_labels(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], spans: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], unique: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], implies: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], after: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, tokens: int, direct: bool, time_limit: float, max_nodes: int, states: int) -> tuple[float, float, int, Annotated[NDArray[numpy.int32], dict(shape=(None,))], int, int] | str: ...

class Graph:
    pass

def make_graph(scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kinds: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], limits: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Graph: ...

def solve_graph(graph: Graph, exact: bool, subgradient: bool, time_limit: float, max_nodes: int, iterations: int, penalty: float, tolerance: float, residual: float, caching: bool, trace: bool, warm_shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, warm_assignment: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[float, float, int, int, int, int, Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

def project_factor(kind: int, point: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], limit: int, score: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
