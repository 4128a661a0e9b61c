"""
Decode under constraints
========================

A role is filled by one span at most, spans may not overlap, and some roles exclude each other. The best choice that
is allowed comes with a proof; AD3's bound shows how it is reached.
"""

import numpy as np

from sapwood.decode import FactorGraph, RoleProblem, decode_roles_batch
from sapwood.draw import LabeledSpan, Series, SpanLayer, line_chart, span_svg

words = ["Kim", "gave", "the", "old", "dog", "some", "bones", "in", "the", "park"]
spans = [(0, 0), (2, 4), (2, 6), (5, 6), (7, 9), (-1, -1)]
roles = ["Donor", "Recipient", "Theme", "Place"]
scores = np.array(
    [
        [3.0, 0.5, 0.0, 0.0, 0.0, 0.0],
        [0.5, 2.5, 2.6, 0.2, 0.0, 0.0],
        [0.0, 0.5, 2.9, 2.4, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.5, 0.0],
    ]
)
problem = RoleProblem(scores, spans)


def draw(method):
    """Show what one method chooses."""
    (result,) = decode_roles_batch([problem], method=method)
    chosen = [LabeledSpan(role, *spans[at]) for role, at in zip(roles, result.assignment) if spans[at][0] >= 0]
    return span_svg(words, [SpanLayer("Giving", chosen, marked=[1])])


# %%
# Every role by itself: two of them take overlapping spans.
draw("local")

# %%
# The best allowed choice.
draw("exact")

# %%
# How AD3 comes to its bound on a harder problem: fifteen variables in a ring, of which no two neighbours may be true.
graph = FactorGraph()
u = graph.variables(np.random.default_rng(0).uniform(0.5, 1.0, 15))
for at in range(15):
    graph.at_most_one(u[at], u[(at + 1) % 15])
solution = graph.solve(exact=False, trace=True)
steps = list(range(1, len(solution.trace.dual) + 1))
line_chart(
    "AD3 on a ring",
    [
        Series("upper bound", steps, np.minimum.accumulate(solution.trace.dual).tolist()),
        Series("consensus", steps, solution.trace.primal.tolist(), dashed=True),
    ],
    x_label="iterations",
    y_label="value",
)

# %%
# The relaxation may not be whole; branch and bound settles the rest.
graph.solve()
