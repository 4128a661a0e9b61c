"""Where the next word of a sentence hangs, by a kernel and by a network."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sapwood.corpora.nursery import Nursery
from sapwood.draw import outline
from sapwood.draw.charts import Point, scatter_chart
from sapwood.experiments.attachment.pictures import forest_components
from sapwood.experiments.figures import Figure, Part, plot_lines
from sapwood.experiments.measuring import Stopwatch
from sapwood.experiments.tables import Table
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.parse.incremental import ConnectionPaths, Forests, attachment_trees
from sapwood.tasks.attachment import AttachmentRanker, choices, evaluate, frequency_utility
from sapwood.trees import Tree, TreeArray

__all__ = ["ABOUT", "TITLE", "run"]

TITLE = "Attach words"
ABOUT = (
    "A parser that reads from left to right has a tree over the first words. Where does the next word hang? A kernel "
    "and a recursive network learn to choose."
)

_TRAIN, _TEST, _PASSES = 100, 300, 8


def run(corpus: Nursery) -> Iterator[Part]:
    """Train both learners on a hundred sentences."""
    trees = attachment_trees(TreeArray([sentence.tree for sentence in corpus.sentences[: _TRAIN + _TEST]]))
    train, test = trees[:_TRAIN], trees[_TRAIN:]
    paths = ConnectionPaths.from_trees(train)
    forests = paths.forests(test, reduction=1)
    largest = int(forests.sizes.argmax())
    right = forests.trees[int(forests.ends[largest] - forests.sizes[largest] + forests.gold[largest])]
    assert isinstance(right, Tree)
    tag = forests.feet[largest]
    says = f"one of {forests.sizes[largest]} ways to attach its last word, {tag}."
    yield Figure(
        "A tree over the first words of a sentence",
        right._repr_svg_(),
        f"{outline(right)}\n\nis {says}",
        (f"This is {says}",),
    )
    base = evaluate(forests, frequency_utility(forests, paths.counts))
    rows: list[tuple[str, float, float | None]] = [("most frequent path, lowest anchor", 100 * base.error, None)]
    for name, ranker in (
        ("kernel", KernelRanker(SubsetTree(decay=0.5), random_state=0)),
        ("recursive network", RecursiveRanker(epochs=5, random_state=0)),
    ):
        with Stopwatch() as training:
            model = AttachmentRanker(ranker, reduction=1, paths=paths).fit(train)
        utility = model.decision_function(forests)
        rows.append((name, 100 * evaluate(forests, utility).error, training.wall))
    yield Table(
        "attachment",
        f"Trained on {len(train):,} sentences, tested on {len(forests):,} words with {len(forests.trees):,} trees",
        ("choice", "wrong %", "seconds"),
        rows,
        {"wrong %": 1},
    )
    yield _curves(paths, train, test)
    yield _components(model.rankers_["all"], forests, utility)


def _curves(paths: ConnectionPaths, train: TreeArray, test: TreeArray) -> Figure:
    """Follow both learners over passes through the training sentences."""
    lines = {}
    for name, ranker in (
        ("kernel", KernelRanker(SubsetTree(decay=0.5), epochs=_PASSES, random_state=0)),
        ("recursive network", RecursiveRanker(epochs=_PASSES, patience=_PASSES, random_state=0)),
    ):
        model = AttachmentRanker(ranker, reduction=1, paths=paths).fit(train, validation=test[:100])
        lines[name] = [100 * error for error in model.rankers_["all"].validation_curve_]
    chart = plot_lines(
        "Wrong attachments over passes through the training sentences",
        range(1, _PASSES + 1),
        lines,
        x_label="passes through the training sentences",
        y_label="wrong attachments, %",
        log=False,
    )
    return Figure("Learning, pass by pass, on 100 held-out sentences", chart)


def _components(ranker: RecursiveRanker, forests: Forests, utility: np.ndarray) -> Figure:
    """Show the largest forest that the network gets right as it sees it."""
    found = choices(forests, utility) == forests.gold
    chosen = int(np.argmax(forests.sizes * found))
    members, places, share = forest_components(ranker, forests, utility, chosen)
    best = members[int(np.argmax(utility[members]))]
    points = [
        Point(
            float(x),
            float(y),
            "right tree, ranked first" if member == best else "other ways to attach it",
            f"{forests.trees[int(member)]}, utility {utility[member]:.2f}",
        )
        for member, (x, y) in zip(members, places, strict=True)
    ]
    chart = scatter_chart(
        "States of the network for the trees of one forest", points, x_label="first component", y_label="second"
    )
    return Figure(
        f"The {len(members)} trees of one forest on two principal components of the network's states",
        chart,
        notes=(f"They hold {100 * share:.0f} % of the variance. Point at one to see its tree.",),
    )
