"""What happens inside: validation error over iterations, and one forest as the network sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.draw.charts import Point, scatter_chart
from sapwood.experiments.attachment.data import REDUCTION, Data
from sapwood.experiments.attachment.learners import attach, describe, kernel, network
from sapwood.experiments.figures import plot_lines
from sapwood.experiments.tables import Table
from sapwood.tasks.attachment import AttachmentRanker, choices

__all__ = ["components", "iterations"]

_SIZE, _ITERATIONS, _EPOCHS = 100, 15, 12
# A forest that fits on a page.
_SMALLEST, _LARGEST = 12, 40


def iterations(data: Data, passes: int | None = None) -> Table:
    """Follow both learners over passes through 100 sentences."""
    part, most = data.train[:_SIZE], passes or _ITERATIONS

    def curve(ranker: Any) -> list[float]:
        model = AttachmentRanker(ranker, reduction=REDUCTION, paths=data.paths).fit(part, validation=data.validation)
        return [100 * error for error in model.rankers_["all"].validation_curve_]

    rankers = {
        "kernel": kernel(data.seed, epochs=most),
        "network": network(data.seed, epochs=most, averaging=0.0).set_params(patience=most),
        "network, weights averaged": network(data.seed, epochs=most).set_params(patience=most),
    }
    found = [data.cache(f"passes over {_SIZE}: {describe(ranker)}", curve, ranker) for ranker in rankers.values()]
    title = f"Wrong attachments in % of the validation part, over passes through {len(part)} sentences"
    numbers = range(1, len(found[0]) + 1)
    lines = dict(zip(rankers, found, strict=True))
    return Table(
        "iterations",
        title,
        ("pass", *rankers),
        [(str(at), *errors) for at, *errors in zip(numbers, *found, strict=True)],
        notes=data.notes,
        chart=plot_lines(title, numbers, lines, x_label="passes", y_label="wrong attachments, %", log=False),
    )


def components(data: Data) -> Table:
    """Project the states of one forest onto their first two principal components (figure 2)."""
    ranker = network(data.seed, epochs=_EPOCHS)
    found = data.cache(f"components after {_SIZE}: {describe(ranker)}", _project, data, ranker)
    title = f"States of the network for the {len(found['rows'])} ways to attach one {found['foot']}, best first"
    points = [
        Point(x, y, "right tree" if right else "other ways to attach it", f"{tree}, utility {utility:.2f}")
        for tree, x, y, utility, right in found["rows"]
    ]
    return Table(
        "pca",
        title,
        ("tree", "first component", "second component", "utility", "right"),
        found["rows"],
        {"first component": 3, "second component": 3, "utility": 3},
        notes=(
            *data.notes,
            f"The two components hold {found['share']:.0f} % of the variance of {found['units']} units.",
        ),
        chart=scatter_chart(title, points, x_label="first component", y_label="second component"),
    )


def _project(data: Data, network: Any) -> dict[str, Any]:
    model = attach(data, network, data.train[:_SIZE])
    (ranker,) = model.rankers_.values()
    forests = data.test_forests
    utility = model.decision_function(forests)
    fitting = (forests.sizes >= _SMALLEST) & (forests.sizes <= _LARGEST)
    right = choices(forests, utility) == forests.gold
    candidates = np.flatnonzero(fitting & right)
    chosen = int(candidates[0]) if len(candidates) else int(np.argmax(forests.sizes * right))
    members = np.arange(forests.ends[chosen] - forests.sizes[chosen], forests.ends[chosen])
    states = ranker.transform(forests.trees[members])
    left, weights, _ = np.linalg.svd(states - states.mean(axis=0), full_matrices=False)
    # The sign of a component means nothing, so that trees of higher utility are put to the right.
    places = (left * weights)[:, :2] * np.where(left[:, :2].T @ utility[members] < 0, -1.0, 1.0)
    share = float((weights[:2] ** 2).sum() / max(float((weights**2).sum()), 1e-300))
    gold = members[forests.gold[chosen]]
    rows = [
        (str(forests.trees[member]), *places[at].tolist(), float(utility[member]), "right" if member == gold else "")
        for at, member in sorted(enumerate(members.tolist()), key=lambda one: -utility[one[1]])
    ]
    return {"foot": str(forests.feet[chosen]), "share": 100 * share, "units": ranker.units, "rows": rows}
