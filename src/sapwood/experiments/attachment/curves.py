"""Learning curves per word class for both learners, and what they cost."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator

import numpy as np

from sapwood.experiments.attachment.data import REDUCTION, Data
from sapwood.experiments.attachment.learners import CLASSES, attach, errors, kernel, network, percent
from sapwood.experiments.attachment.subsets import shares
from sapwood.experiments.tables import Cell, Setting, Table
from sapwood.tasks.attachment import AttachmentErrors, AttachmentRanker, evaluate, frequency_utility

__all__ = ["run", "web"]

_SIZES = (100, 500, 2000)
# Fewer passes over more sentences; early stopping ends most of them before.
_EPOCHS = ((100, 30), (500, 20), (2000, 10))
_LATER_EPOCHS = 5
_BLOCK = 500
_WEB_EPOCHS = 3
_COLUMNS = ("learner", "sentences", *CLASSES, "all")


def run(setting: Setting, data: Data) -> Iterator[Table]:
    """Make the tables ``curve`` and ``cost`` of the same trainings."""
    if not (setting.wants("curve") or setting.wants("cost")):
        return
    sizes = [size for size in _SIZES if size < len(data.train)] + [len(data.train)]
    rows, costs = _first_rows(data), []
    for name in ("kernel", "network"):
        for size in sizes:
            start = time.process_time()
            if name == "kernel":
                model = attach(data, kernel(data.seed), data.train[:size], specialize=True)
            else:
                epochs = next((epochs for most, epochs in _EPOCHS if size <= most), _LATER_EPOCHS)
                ranker = network(data.seed, epochs=epochs, alpha=1e-3 if size <= 500 else 1e-4)
                model = attach(data, ranker, data.train[:size], specialize=True)
            trained = time.process_time()
            rows.append((name, size, *percent(errors(data, model))))
            costs.append((name, size, trained - start, time.process_time() - trained))
    if setting.wants("curve"):
        yield Table(
            "curve",
            "Wrong attachments in %, one learner per word class (table 1)",
            _COLUMNS,
            rows,
            dict.fromkeys(_COLUMNS, 1),
            notes=(
                *data.notes,
                "Published, all classes, at 100, 500, 2,000, 10,000 and 40,000 sentences: "
                "voted perceptron 27.3, 21.3, 18.3, 15.3, 13.4; network 26.6, 19.4, 17.3, 14.5, 12.6.",
                "The kernel learns in one pass; the network stops early on the validation part.",
            ),
        )
    if setting.wants("cost"):
        yield Table(
            "cost",
            "CPU seconds to learn, and to score the test part",
            ("learner", "sentences", "learn", "test", "exponent"),
            [
                (name, size, learnt, asked, _exponent([cost for cost in costs if cost[0] == name], at))
                for at, (name, size, learnt, asked) in enumerate(costs)
            ],
            notes=(
                *data.notes,
                f"The test part has {len(data.test_forests.trees):,} trees. Exponent: of the time to learn over the "
                "number of sentences, from the row above. The network makes fewer passes over more sentences.",
            ),
        )


def web(data: Data) -> Table:
    """Learn from as many as 10,000 sentences, whose forests are built block by block: memory stays bounded."""
    rows, times = _first_rows(data), []
    for name in ("network", "kernel"):
        start = time.process_time()
        result = _in_blocks(data, name)
        times.append(f"{name} {time.process_time() - start:.0f} s")
        rows.append((name, len(data.train), *percent(result)))
    return Table(
        "web",
        "Wrong attachments in % of the web treebank, one learner per word class",
        _COLUMNS,
        rows,
        dict.fromkeys(_COLUMNS, 1),
        notes=(*data.notes, f"CPU time: {', '.join(times)}; forests of {_BLOCK} sentences in memory at a time."),
    )


def _in_blocks(data: Data, name: str) -> AttachmentErrors:
    ranker = kernel(data.seed) if name == "kernel" else network(data.seed, epochs=1, alpha=1e-4)
    model = AttachmentRanker(ranker, reduction=REDUCTION, specialize=True, paths=data.paths)
    if name == "kernel":
        for at in range(0, len(data.train), _BLOCK):
            model.partial_fit(data.train[at : at + _BLOCK])
        return errors(data, model)
    held_out = data.paths.forests(data.validation, reduction=REDUCTION)
    best, kept = float("inf"), model
    for epoch in range(_WEB_EPOCHS):
        order = np.random.default_rng([data.seed, epoch]).permutation(len(data.train))
        for at in range(0, len(order), _BLOCK):
            model.partial_fit(data.train[order[at : at + _BLOCK]])
        error = evaluate(held_out, model.decision_function(held_out)).error
        if error < best:
            best, kept = error, copy.deepcopy(model)
    return errors(data, kept)


def _first_rows(data: Data) -> list[tuple[Cell, ...]]:
    base = evaluate(data.test_forests, frequency_utility(data.test_forests, data.paths.counts))
    return [
        ("share of words", None, *shares(data), 100.0),
        ("most frequent path, lowest anchor", len(data.train), *percent(base)),
    ]


def _exponent(costs: list[tuple[str, int, float, float]], at: int) -> float | None:
    at %= len(costs)
    if at == 0:
        return None
    (_, fewer, before, _), (_, more, after, _) = costs[at - 1], costs[at]
    return float(np.log(max(after, 1e-9) / max(before, 1e-9)) / np.log(more / fewer))
