"""How relaxations come to their bound on decoding problems: AD3 beside the subgradient method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sapwood.decode import RoleProblem, decode_roles_batch
from sapwood.draw import Series, line_chart
from sapwood.experiments.tables import Table

__all__ = ["convergence", "with_conflicts"]

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def with_conflicts(problems: Sequence[RoleProblem], most: int = 100) -> list[RoleProblem]:
    """Return problems whose roles cannot be decided one by one, at most so many."""
    results = decode_roles_batch(problems, method="local", threads=1)
    return [one for one, result in zip(problems, results, strict=True) if sum(result.violations.values())][:most]


def convergence(problems: Sequence[RoleProblem], what: str = "test problems with conflicts") -> Table:
    """Follow the mean primal and dual values of AD3 and of the subgradient method; ``what`` is for the title."""
    courses: dict[str, list[np.ndarray]] = {"ad3": [], "subgradient": []}
    for problem in problems:
        graph, _ = problem.to_factor_graph()
        best = graph.solve().value
        for method, course in courses.items():
            trace = graph.solve(exact=False, method=method, trace=True, max_iterations=_STEPS[-1]).trace
            assert trace is not None
            # After it has stopped, a method stays where it is.
            last = np.minimum(np.array(_STEPS), len(trace.dual)) - 1
            dual = np.minimum.accumulate(trace.dual)
            course.append(np.column_stack([trace.primal[last] - best, dual[last] - best]))
    rows = []
    # Without a problem that has conflicts there is nothing to follow.
    means = {method: np.mean(course, axis=0) for method, course in courses.items() if course}
    for at, step in enumerate(_STEPS if means else ()):
        rows.append((step, *(float(value) for method in courses for value in means[method][at])))
    columns = ("AD3 primal", "AD3 dual", "subgradient primal", "subgradient dual")
    title = f"Distance from the optimum after so many iterations, mean of {len(problems)} {what}"
    # The consensus of AD3 starts far below the rest, and would press everything else flat.
    lines = [
        Series(name, _STEPS[start : len(rows)], [row[at] for row in rows[start:]], dashed="primal" in name)
        for at, name in enumerate(columns, 1)
        for start in [2 if name == "AD3 primal" else 0]
    ]
    return Table(
        "convergence",
        title,
        ("iterations", *columns),
        rows,
        dict.fromkeys(columns, 4),
        ["Primal: value of the current consensus, which may break constraints. Dual: best upper bound so far."],
        line_chart(title, lines, x_label="iterations", y_label="distance from the optimum", x_log=True),
    )
