"""Learning curves per word class for both learners, and what they cost."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from sapwood.experiments.attachment.data import REDUCTION, Data
from sapwood.experiments.attachment.learners import (
    CACHE_MEGABYTES,
    CLASSES,
    attach,
    kernel,
    learn,
    network,
    percentages,
)
from sapwood.experiments.attachment.subsets import shares
from sapwood.experiments.figures import plot_lines
from sapwood.experiments.measuring import growth
from sapwood.experiments.tables import Cell, Table
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.parse.incremental import Forests
from sapwood.tasks.attachment import AttachmentRanker, evaluate

__all__ = ["run", "web"]

_SIZES = (100, 500, 2000)
# Passes of kernel and network up to so many sentences: fewer over more. Early stopping ends most of the network's.
_PASSES = ((100, 6, 30), (500, 6, 20), (2000, 3, 10))
_LATER_PASSES = (3, 6)
_BLOCK = 500
_WEB_EPOCHS = 3
_COLUMNS = ("learner", "sentences", *CLASSES, "all")
_SPECIALIZED = ("kernel", "network")
_LEARNERS = (*_SPECIALIZED, "network, one for all")


def run(data: Data) -> Iterator[Table]:
    """Make the tables ``curve`` and ``cost`` of the same trainings."""
    sizes = [size for size in _SIZES if size < len(data.train)] + [len(data.train)]
    outcomes = {}
    for name in _LEARNERS:
        for size in sizes:
            ranker = _ranker(name, size, data.seed)
            train = partial(attach, data, ranker, data.train[:size], specialize=name in _SPECIALIZED)
            outcomes[name, size] = learn(data, f"curve after {size}, {name}", ranker, train, data.test_forests)
    if data.setting.wants("curve"):
        lines = {name: [100 * outcomes[name, size].errors.error for size in sizes] for name in _LEARNERS}
        yield Table(
            "curve",
            "Wrong attachments in % by word class (table 1)",
            _COLUMNS,
            _first_rows(data) + [(name, size, *percentages(one.errors)) for (name, size), one in outcomes.items()],
            dict.fromkeys(_COLUMNS, 1),
            notes=(
                *data.notes,
                "One learner per word class, where it does not say otherwise. The kernel makes six passes "
                "over up to 500 sentences and three over more; the network stops early on the validation part.",
                "Published, all classes, at 100, 500, 2,000, 10,000 and 40,000 sentences: "
                "voted perceptron 27.3, 21.3, 18.3, 15.3, 13.4; network 26.6, 19.4, 17.3, 14.5, 12.6.",
            ),
            chart=plot_lines(
                "Wrong attachments of all word classes by sentences learnt from",
                sizes,
                lines,
                x_label="sentences",
                y_label="wrong attachments, %",
            ),
        )
    if data.setting.wants("cost"):
        rows: list[tuple[Cell, ...]] = []
        for (name, size), one in outcomes.items():
            at = sizes.index(size)
            pair = [one if at == 0 else outcomes[name, sizes[at - 1]], one]
            exponent = growth(sizes[at - 1 : at + 1], [max(each.learn, 1e-9) for each in pair]) if at else None
            rows.append((name, size, one.learn, exponent, one.answer, int(one.megabytes)))
        yield Table(
            "cost",
            "CPU seconds to learn and to score the test part, and memory",
            ("learner", "sentences", "learn", "exponent", "test", "MB"),
            rows,
            {"learn": 1, "test": 1},
            notes=(
                *data.notes,
                f"The test part has {len(data.test_forests.trees):,} trees. Exponent: of the time to learn over the "
                "number of sentences, from the row above. Both make fewer passes over more sentences.",
                f"MB: the most that the process had taken so far, with forests, corpora and Python. Learners keep at "
                f"most {CACHE_MEGABYTES} MB of intermediate results (memory_limit).",
            ),
        )


def web(data: Data) -> Table:
    """Learn from as many as 10,000 sentences, whose forests are built block by block: memory stays bounded."""
    rows, used = _first_rows(data), []
    for name, ranker in (("kernel", kernel(data.seed)), ("network", network(data.seed, epochs=1))):
        what = f"blocks of {_BLOCK}, {_WEB_EPOCHS} passes of the network"
        one = learn(
            data, what, ranker, partial(_learn_in_blocks, data, ranker, data.validation_forests), data.test_forests
        )
        used.append(f"{name} {one.learn:.0f} s to learn, {one.megabytes:.0f} MB")
        rows.append((name, len(data.train), *percentages(one.errors)))
    return Table(
        "web",
        "Wrong attachments in % of the web treebank by word class, one learner for each",
        _COLUMNS,
        rows,
        dict.fromkeys(_COLUMNS, 1),
        notes=(
            *data.notes,
            f"CPU time, and the most memory that the process had taken so far: {'; '.join(used)}. Forests of {_BLOCK} "
            f"sentences are in memory at a time, and at most {CACHE_MEGABYTES} MB of intermediate results.",
            f"The kernel makes one pass, the network {_WEB_EPOCHS}, of which the best by validation counts.",
        ),
    )


def _ranker(name: str, size: int, seed: int) -> KernelRanker | RecursiveRanker:
    of_kernel, of_network = next(((k, n) for most, k, n in _PASSES if size <= most), _LATER_PASSES)
    return kernel(seed, epochs=of_kernel) if name == "kernel" else network(seed, epochs=of_network)


def _learn_in_blocks(data: Data, ranker: Any, held_out: Forests) -> AttachmentRanker:
    model = AttachmentRanker(ranker, reduction=REDUCTION, specialize=True, paths=data.paths)
    if isinstance(ranker, KernelRanker):
        for at in range(0, len(data.train), _BLOCK):
            model.partial_fit(data.train[at : at + _BLOCK])
        return model
    best, chosen = float("inf"), model
    for epoch in range(_WEB_EPOCHS):
        order = np.random.default_rng([data.seed, epoch]).permutation(len(data.train))
        for at in range(0, len(order), _BLOCK):
            model.partial_fit(data.train[order[at : at + _BLOCK]])
        error = evaluate(held_out, model.decision_function(held_out)).error
        if error < best:
            best, chosen = error, copy.deepcopy(model)
    return chosen


def _first_rows(data: Data) -> list[tuple[Cell, ...]]:
    return [
        ("share of words", None, *shares(data), 100.0),
        ("most frequent path, lowest anchor", len(data.train), *percentages(data.baseline)),
    ]
