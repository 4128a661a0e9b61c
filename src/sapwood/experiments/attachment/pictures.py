"""What happens inside: validation error over iterations, and one forest as the network sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.experiments.attachment.data import REDUCTION, Data
from sapwood.experiments.attachment.learners import attach, describe, kernel, network
from sapwood.experiments.attachment.projection import forest_components
from sapwood.experiments.tables import Setting, Table
from sapwood.tasks.attachment import AttachmentRanker, choices

__all__ = ["components", "iterations"]

_SIZE, _ITERATIONS, _EPOCHS = 100, 15, 12
# A forest that fits on a page.
_SMALLEST, _LARGEST = 12, 40


def iterations(setting: Setting, data: Data) -> Table:
    """Follow both learners over passes through 100 sentences."""
    part = data.train[:_SIZE]
    kept = data.kept(setting)

    def curve(ranker: Any) -> list[float]:
        model = AttachmentRanker(ranker, reduction=REDUCTION, paths=data.paths).fit(part, validation=data.validation)
        return [100 * error for error in model.rankers_["all"].validation_curve_]

    rankers = (
        kernel(data.seed, epochs=_ITERATIONS),
        network(data.seed, epochs=_ITERATIONS, averaging=0.0).set_params(patience=_ITERATIONS),
        network(data.seed, epochs=_ITERATIONS).set_params(patience=_ITERATIONS),
    )
    curves = [kept(f"passes over {_SIZE}: {describe(ranker)}", curve, ranker) for ranker in rankers]
    return Table(
        "iterations",
        f"Wrong attachments in % of the validation part, over passes through {len(part)} sentences",
        ("pass", "kernel", "network", "network, weights averaged"),
        [(str(at + 1), *errors) for at, errors in enumerate(zip(*curves, strict=True))],
        notes=data.notes,
    )


def components(setting: Setting, data: Data) -> Table:
    """Project the states of one forest onto their first two principal components (figure 2)."""
    ranker = network(data.seed, epochs=_EPOCHS)
    found = data.kept(setting)(f"components after {_SIZE}: {describe(ranker)}", _project, data, ranker)
    return Table(
        "pca",
        f"States of the network for the {len(found['rows'])} ways to attach one {found['foot']}, best first",
        ("tree", "first component", "second component", "utility", "right"),
        found["rows"],
        {"first component": 3, "second component": 3, "utility": 3},
        notes=(
            *data.notes,
            f"The two components hold {found['share']:.0f} % of the variance of {found['units']} units.",
        ),
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
    members, places, share = forest_components(ranker, forests, utility, chosen)
    order = np.argsort(-utility[members], kind="stable").tolist()
    rows = [
        (
            str(forests.trees[int(members[at])]),
            float(places[at, 0]),
            float(places[at, 1]),
            float(utility[members[at]]),
            "right" if at == forests.gold[chosen] else "",
        )
        for at in order
    ]
    return {"foot": str(forests.feet[chosen]), "share": 100 * share, "units": ranker.units, "rows": rows}
