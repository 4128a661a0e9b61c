from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

STATUS: tuple[str, str, str, str]

class RoleProblem:
    roles: int
    null: int
    span_count: int
    @property
    def scores(self) -> NDArray[np.float64]: ...
    @property
    def allowed(self) -> NDArray[np.uint8]: ...
    @property
    def excludes(self) -> NDArray[np.int64]: ...
    @property
    def requires(self) -> NDArray[np.int64]: ...
    @property
    def spans(self) -> NDArray[np.int64]: ...

class Graph: ...

def make_roles(
    scores: NDArray[np.float64],
    spans: NDArray[np.int64],
    excludes: NDArray[np.int64],
    requires: NDArray[np.int64],
    allowed: NDArray[np.uint8] | None,
    tokens: int,
) -> RoleProblem | str: ...
def decode_roles(
    problems: list[RoleProblem],
    method: int,
    beam: int,
    time_limit: float,
    max_nodes: int,
    states: int,
    caching: bool,
    threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.uint8],
    NDArray[np.int32],
    NDArray[np.uint64],
    NDArray[np.uint32],
    NDArray[np.uint64],
    NDArray[np.uint64],
]: ...
def decode_labels(
    scores: NDArray[np.float64],
    spans: NDArray[np.int64],
    unique: NDArray[np.uint8],
    implies: NDArray[np.int64],
    after: NDArray[np.int64],
    allowed: NDArray[np.uint8] | None,
    tokens: int,
    direct: bool,
    time_limit: float,
    max_nodes: int,
    states: int,
) -> tuple[float, float, int, NDArray[np.int32], int, int] | str: ...
def make_graph(
    scores: NDArray[np.float64],
    kinds: NDArray[np.uint8],
    limits: NDArray[np.uint32],
    weights: NDArray[np.float64],
    first: NDArray[np.uint64],
    links: NDArray[np.uint32],
) -> Graph: ...
def solve_graph(
    graph: Graph,
    exact: bool,
    subgradient: bool,
    time_limit: float,
    max_nodes: int,
    iterations: int,
    penalty: float,
    tolerance: float,
    residual: float,
    caching: bool,
    trace: bool,
    warm_shares: NDArray[np.float64] | None,
    warm_assignment: NDArray[np.uint8] | None,
) -> tuple[
    float,
    float,
    int,
    int,
    int,
    int,
    NDArray[np.uint8],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
]: ...
def project_factor(kind: int, point: NDArray[np.float64], limit: int, score: float) -> NDArray[np.float64]: ...
