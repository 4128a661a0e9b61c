"""Five independent subsets of 100 sentences: both learners, the kernel's on the network's states, and both losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from sapwood.experiments.attachment.data import REDUCTION, Data
from sapwood.experiments.attachment.learners import CLASSES, attach, describe, kernel, learn, network
from sapwood.experiments.tables import Cell, Table
from sapwood.kernels import Linear
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.parse.forests import word_classes
from sapwood.parse.incremental import ConnectionPaths
from sapwood.tasks.attachment import AttachmentErrors, evaluate, frequency_utility
from sapwood.trees import TreeArray

__all__ = ["forests", "run", "shares"]

_SUBSETS, _SIZE = 5, 100
# The first of them, from which everything that is tried learns.
_TUNED = 2
# What is tried: decay and passes of the kernel, learning rate and averaging of the network.
_KERNELS = ((0.4, 1), (0.4, 6), (0.5, 1), (0.5, 6), (0.5, 15), (0.7, 15))
_NETWORKS = ((0.002, 2.0), (0.003, 4.0), (0.004, 2.0), (0.004, 4.0), (0.008, 2.0))
_NETWORK_EPOCHS = 30
_LINEAR_EPOCHS = 10


def forests(data: Data) -> Table:
    """Say what the forests are like, and how often the right tree is among them."""
    rows: list[tuple[Cell, ...]] = []
    for name, paths in (
        ("all training sentences, recombined", data.paths),
        ("all training sentences", ConnectionPaths.from_trees(data.train)),
        (f"{_SIZE} sentences", ConnectionPaths.from_trees(data.train[:_SIZE])),
    ):
        made = paths.forests(data.test, missing="keep", reduction=REDUCTION)
        chosen = evaluate(made, frequency_utility(made, paths.counts))
        share = 100 * (1 - made.missing / made.steps)
        sizes = made.sizes
        rows.append((name, len(paths), len(made), float(sizes.mean()), int(sizes.max()), share, 100 * chosen.error))
    return Table(
        "forests",
        "Forests of attachments, and the choice to be beaten: the most frequent path, the lowest anchor",
        ("paths of", "paths", "forests", "trees each", "most", "right tree in %", "baseline error %"),
        rows,
        notes=(
            *data.notes,
            "Recombined: a way up seen twice may be followed by any way down from there that was seen five times. All "
            "learners choose from the forests of the first row.",
            "A forest without the right tree counts as an error here; below it is added, as published.",
        ),
    )


def run(data: Data) -> Iterator[Table]:
    """Make the tables ``subsets``, ``states`` and ``losses``, which share what is trained."""
    count = min(_SUBSETS, len(data.train) // 2)
    size = min(_SIZE, len(data.train) // count)
    parts = [data.train[at * size : (at + 1) * size] for at in range(count)]
    (decay, epochs), kernels = _tuned(data, parts[:_TUNED], "kernel", _KERNELS, _kernel)
    (rate, averaging), networks = _tuned(data, parts[:_TUNED], "network", _NETWORKS, _network)
    notes = (
        *data.notes,
        f"{count} disjoint subsets of {size} sentences, one learner for all words. Settings are those with the lowest "
        f"validation error, mean over the first {_TUNED} subsets. Kernel, decay and passes: {kernels}. Network, "
        f"learning rate and averaging: {networks}.",
    )
    found: dict[str, list[AttachmentErrors]] = {}
    for at, part in enumerate(parts):
        seed = data.seed + at
        rankers = {"kernel": _kernel(seed, decay, epochs), "network": _network(seed, rate, averaging)}
        if data.wants("losses"):
            rankers["pairwise kernel"] = _kernel(seed, decay, epochs, loss="pairwise")
            rankers["pairwise network"] = _network(seed, rate, averaging, loss="pairwise")
        for name, ranker in rankers.items():
            key = f"subset {at} of {size}, {name}: {describe(ranker)}"
            for what, errors in data.cache(key, _errors, data, part, ranker).items():
                found.setdefault(f"{name}{what}", []).append(AttachmentErrors(**errors))
    yield from _tables(data, found, notes)


def _errors(data: Data, part: TreeArray, ranker: Any) -> dict[str, Any]:
    """Train on a subset, and count errors in the test part; of a network also those of a perceptron on its states."""
    asked = data.test_forests
    model = attach(data, ranker, part)
    found = {"": vars(evaluate(asked, model.decision_function(asked)))}
    if isinstance(ranker, RecursiveRanker):
        (network,) = model.rankers_.values()
        seen = model.forests(part)
        linear = KernelRanker(Linear(), epochs=_LINEAR_EPOCHS, random_state=ranker.random_state)
        linear.fit(network.transform(seen.trees), seen.y, seen.groups)
        found[", states"] = vars(evaluate(asked, linear.decision_function(network.transform(asked.trees))))
    return found


def _tables(data: Data, found: dict[str, list[AttachmentErrors]], notes: tuple[str, ...]) -> Iterator[Table]:
    wants = data.wants
    count = len(found["kernel"])
    heads = tuple(str(at + 1) for at in range(count))
    if wants("subsets"):
        rows: list[tuple[Cell, ...]] = [
            ("most frequent path, lowest anchor", *(None for _ in heads), 100 * data.baseline.error, None),
            ("kernel", *_spread(found["kernel"])),
            ("network", *_spread(found["network"])),
            ("published: voted perceptron", *_padded((26.4, 26.3, 26.5, 26.8, 27.4), count), 26.7, 0.4),
            ("published: network", *_padded((26.7, 24.6, 26.3, 27.0, 25.6), count), 26.0, 1.0),
        ]
        yield Table(
            f"subsets{data.suffix}",
            "Wrong attachments in %, after learning from 100 sentences (table 2)",
            ("learner", *heads, "mean", "±"),
            rows,
            notes=(*notes, "Published figures are of other sentences: WSJ sections 2-21 and 23."),
        )
    if wants("states"):
        yield Table(
            f"states{data.suffix}",
            "Wrong attachments in %: the perceptron on what the network has learnt to see (table 4)",
            ("learner", *heads, "mean", "±"),
            [
                ("perceptron on states of the network", *_spread(found["network, states"])),
                ("kernel", *_spread(found["kernel"])),
                ("network", *_spread(found["network"])),
            ],
            notes=(*notes, f"Linear kernel, {_LINEAR_EPOCHS} epochs. Published: 27.1 ± 1.1 on states, 26.7 ± 0.4."),
        )
    if wants("losses"):
        lines = [
            ("pairwise", "pairs", found["pairwise network"], found["pairwise kernel"], "pair_error", "1.79, 2.32"),
            ("pairwise", "sets", found["pairwise network"], found["pairwise kernel"], "error", "29.1, 26.7"),
            ("setwise", "pairs", found["network"], found["kernel"], "pair_error", "1.50, –"),
            ("setwise", "sets", found["network"], found["kernel"], "error", "26.0, –"),
        ]
        yield Table(
            f"losses{data.suffix}",
            "What is minimised in training and what is counted in the test, in % (table 5)",
            ("trained on", "tested on", "network", "±", "kernel", "± ", "published"),
            [
                (loss, test, *_mean([getattr(one, what) for one in n]), *_mean([getattr(one, what) for one in k]), p)
                for loss, test, n, k, what, p in lines
            ],
            notes=notes,
        )


def _kernel(seed: int, decay: float, epochs: float, *, loss: str = "setwise") -> KernelRanker:
    return kernel(seed, decay=decay, epochs=int(epochs), loss=loss)


def _network(seed: int, rate: float, averaging: float, *, loss: str = "setwise") -> Any:
    return network(seed, epochs=_NETWORK_EPOCHS, learning_rate=rate, averaging=averaging, loss=loss)


def _tuned(
    data: Data,
    parts: list[TreeArray],
    name: str,
    tried: tuple[tuple[float, float], ...],
    make: Callable[[int, float, float], Any],
) -> tuple[tuple[float, float], str]:
    """Choose settings by the error on the validation part, after learning from some subsets; say what was tried."""
    means = []
    for values in tried:
        errors = []
        for at, part in enumerate(parts):
            ranker = make(data.seed + at, *values)
            what = f"validation, subset {at} of {len(part)}, {name}"
            outcome = learn(data, what, ranker, partial(attach, data, ranker, part), data.validation_forests)
            errors.append(100 * outcome.errors.error)
        means.append(float(np.mean(errors)))
    shown = ", ".join(f"{a:g} and {b:g}: {mean:.1f} %" for (a, b), mean in zip(tried, means, strict=True))
    return tried[int(np.argmin(means))], shown


def _mean(values: list[float]) -> tuple[float, float]:
    return 100 * float(np.mean(values)), 100 * float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def _spread(results: list[AttachmentErrors]) -> tuple[float, ...]:
    values = [one.error for one in results]
    return (*(100 * value for value in values), *_mean(values))


def _padded(values: tuple[float, ...], count: int) -> tuple[Cell, ...]:
    return tuple(values[at] if at < len(values) else None for at in range(count))


def shares(data: Data) -> tuple[float, ...]:
    """Return the share of each word class among the forests of the test part, in percent."""
    names = word_classes(data.test_forests.feet)
    return tuple(100 * float(np.mean(names == name)) for name in CLASSES)
