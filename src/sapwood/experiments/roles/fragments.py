"""Which fragments tell roles: accuracy by their number and by how they are chosen, and the ones that are chosen first.

The paper leaves the choice of fragments, by statistics or by linguistics, to future work. Here a linear model gets only
the best fragments of the path-argument trees, by how much their presence says about the role, among all fragments or
among those that hold the argument or the predicate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from sapwood.experiments.figures import plot_lines
from sapwood.experiments.measuring import Stopwatch, percent
from sapwood.experiments.roles.data import CORPORA, grammar_of, sample_arguments
from sapwood.experiments.roles.kernels import Comparison
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.kernels import FragmentMap

__all__ = ["choose_fragments"]

TRAIN, TEST = 20_000, 6_000
COUNTS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)
_CHOICES: dict[str, dict[str, Any]] = {
    "most frequent": {},
    "χ²": {"select": "chi2"},
    "information gain": {"select": "information_gain"},
    "χ², with the argument": {"select": "chi2", "holds": "*-ARG"},
    "χ², with the predicate": {"select": "chi2", "holds": "*-PRED"},
}
_CS = (0.1, 0.3, 1.0, 3.0)
_VIEW, _LISTED = "paf", 15


def choose_fragments(setting: Setting, name: str) -> Iterator[Table]:
    """Make the table of accuracy by number of fragments, and that of the fragments chosen first."""
    train, dev, test = (
        sample_arguments(setting, name, part, count)
        for part, count in (("train", TRAIN), ("dev", TEST), ("test", TEST))
    )
    trees = [part.examples([_VIEW])[_VIEW] for part in (train, dev, test)]
    found: dict[str, list[float]] = {}
    notes, first = [], None
    for choice, options in _CHOICES.items():
        with Stopwatch() as spent:
            chosen = FragmentMap(max_size=4, min_df=3, n_fragments=COUNTS[-1], **options).fit(trees[0], train.labels)
        known, held, asked = (chosen.transform(some) for some in trees)
        # Columns stand in the order of their scores, so fewer fragments are the first columns.
        best = max(_CS, key=lambda C: _accuracy(known, train.labels, held, dev.labels, C))
        found[choice] = [
            _accuracy(known[:, :count], train.labels, asked[:, :count], test.labels, best)
            for count in COUNTS
            if count <= known.shape[1]
        ]
        notes.append(f"{choice}: {known.shape[1]:,} fragments in {spent.cpu:.0f} CPU s, C = {best:g}.")
        if choice == "χ²":
            first = chosen
    exact = percent(Comparison(train, test, grammar_of(setting, name)).right(_VIEW))
    columns = [[*values, *[None] * (len(COUNTS) - len(values))] for values in found.values()]
    rows: list[tuple[Cell, ...]] = list(zip(COUNTS, *columns, strict=True))
    title = f"Accuracy on {len(test):,} given arguments by the number of fragments: {CORPORA[name]}"
    notes += [
        f"All fragments, by the exact kernel: {exact:.2f}. Trained on {len(train):,} arguments.",
        "Fragments of at most four productions that three training trees hold; C of the linear model chosen on "
        "development data with all columns.",
    ]
    shown = {choice: values for choice, values in found.items() if len(values) == len(COUNTS)}
    chart = plot_lines(title, list(COUNTS), shown, x_label="fragments", y_label="accuracy, %")
    yield Table("fragments", title, ("fragments", *found), rows, notes=notes, chart=chart)
    assert first is not None
    counts = first.transform(trees[0])
    listed: list[tuple[Cell, ...]] = []
    for column, text in enumerate(first.get_feature_names_out()[:_LISTED]):
        holding = train.labels[np.unique(counts[:, [column]].tocoo().row)]
        roles, sizes = np.unique(holding, return_counts=True)
        role = int(sizes.argmax())
        listed.append((text, len(holding), str(roles[role]), 100 * sizes[role] / len(holding)))
    yield Table(
        "fragments chosen",
        f"The fragments that say most about a role, by χ²: {CORPORA[name]}",
        ("fragment", "arguments", "mostly", "share %"),
        listed,
        {"share %": 1},
    )


def _accuracy(known: Any, labels: Any, asked: Any, truth: Any, C: float) -> float:
    model = LinearSVC(C=C, random_state=0).fit(normalize(known), labels)
    return percent(model.predict(normalize(asked)) == truth)
