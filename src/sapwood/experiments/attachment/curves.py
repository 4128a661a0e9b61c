"""Learning curves per word class for both learners, and what they cost.

Forests are made block by block, so that memory stays bounded however many sentences there are. The number of passes is
chosen on the validation part: after each the error is counted, and the best model is kept.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial

import numpy as np

from sapwood.experiments.attachment.data import Data
from sapwood.experiments.attachment.learners import (
    CACHE_MEGABYTES,
    CLASSES,
    attachment_ranker,
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
from sapwood.tasks.attachment import AttachmentRanker, evaluate

__all__ = ["run"]

_SIZES = (100, 500, 2000, 10_000)
# Most passes of kernel and network over up to so many sentences.
_PASSES = ((100, 6, 30), (500, 6, 20), (2000, 4, 12), (10_000, 3, 8))
_LATER_PASSES = (1, 6)
_BLOCK = 500
# The network's learning rate falls in a straight line from the first pass to the last, to this share.
_LAST_RATE = 0.1
_COLUMNS = ("learner", "sentences", *CLASSES, "all")
_LEARNERS = ("kernel", "network")


def run(data: Data) -> Iterator[Table]:
    """Make the tables ``curve`` and ``cost`` of the same trainings."""
    sizes = [size for size in _SIZES if size < len(data.train)] + [len(data.train)]
    outcomes = {}
    for size in sizes:
        for name in _LEARNERS:
            ranker = kernel(data.seed) if name == "kernel" else network(data.seed, epochs=1)
            train = partial(_learn_in_blocks, data, ranker, size)
            what = f"curve after {size} in blocks of {_BLOCK}, {_passes(ranker, size)} passes, {name}"
            outcomes[name, size] = learn(data, what, ranker, train, data.test_forests)
    if data.wants("curve"):
        lines = {name: [100 * outcomes[name, size].errors.error for size in sizes] for name in _LEARNERS}
        rows = _first_rows(data)
        rows += [(name, size, *percentages(outcomes[name, size].errors)) for name in _LEARNERS for size in sizes]
        yield Table(
            f"curve{data.suffix}",
            "Wrong attachments in % by word class (table 1)",
            _COLUMNS,
            rows,
            dict.fromkeys(_COLUMNS, 1),
            notes=(
                *data.notes,
                "One learner per word class. Both are asked after each pass, and the model with the lowest validation "
                "error counts; the learning rate of the network falls from pass to pass.",
                f"Paths seen less than {data.min_count} times are left out; the right tree is added where it is "
                "missing, as published.",
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
    if data.wants("cost"):
        costs: list[tuple[Cell, ...]] = []
        for name in _LEARNERS:
            for at, size in enumerate(sizes):
                one = outcomes[name, size]
                pair = [one if at == 0 else outcomes[name, sizes[at - 1]], one]
                exponent = growth(sizes[at - 1 : at + 1], [max(each.learn, 1e-9) for each in pair]) if at else None
                costs.append((name, size, one.learn, exponent, one.answer, int(one.megabytes)))
        yield Table(
            f"cost{data.suffix}",
            "CPU seconds to learn and to score the test part, and memory",
            ("learner", "sentences", "learn", "exponent", "test", "MB"),
            costs,
            {"learn": 1, "test": 1},
            notes=(
                *data.notes,
                f"The test part has {len(data.test_forests.trees):,} trees. Exponent: of the time to learn over the "
                "number of sentences, from the row above. Both make fewer passes over more sentences.",
                f"MB: the most that the process had taken so far, with corpora, Python and the forests of {_BLOCK} "
                f"sentences. Learners keep at most {CACHE_MEGABYTES} MB of intermediate results (memory_limit).",
            ),
        )


def _passes(ranker: KernelRanker | RecursiveRanker, size: int) -> int:
    of_kernel, of_network = next(((k, n) for most, k, n in _PASSES if size <= most), _LATER_PASSES)
    return of_kernel if isinstance(ranker, KernelRanker) else of_network


def _learn_in_blocks(data: Data, ranker: KernelRanker | RecursiveRanker, size: int) -> AttachmentRanker:
    model = attachment_ranker(data, ranker, specialize=True)
    held_out, passes = data.validation_forests, _passes(ranker, size)
    best, chosen = float("inf"), model
    for number in range(passes):
        if isinstance(ranker, RecursiveRanker):
            share = 1.0 - (1.0 - _LAST_RATE) * number / max(1, passes - 1)
            for one in (*getattr(model, "rankers_", {}).values(), ranker):
                one.learning_rate = share * network(data.seed, epochs=1).learning_rate
        order = np.random.default_rng([data.seed, number]).permutation(size)
        for at in range(0, size, _BLOCK):
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
