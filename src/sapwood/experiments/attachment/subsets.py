"""Five independent subsets of 100 sentences: both learners, the kernel's on the network's states, and both losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sapwood.experiments.attachment.data import REDUCTION, Data
from sapwood.experiments.attachment.learners import CLASSES, attach, errors, kernel, network
from sapwood.experiments.tables import Cell, Setting, Table
from sapwood.kernels import Linear
from sapwood.learn import KernelRanker
from sapwood.parse.incremental import ConnectionPaths, word_classes
from sapwood.tasks.attachment import AttachmentErrors, AttachmentRanker, evaluate, frequency_utility
from sapwood.trees import TreeArray

__all__ = ["forests", "run"]

_SUBSETS, _SIZE = 5, 100
_DECAYS, _EPOCHS = (0.4, 0.5), (1, 6)
_NETWORK_EPOCHS = 30
_LINEAR_EPOCHS = 10


def forests(data: Data) -> Table:
    """Say what the forests are like, and how often the right tree is among them."""
    rows: list[tuple[Cell, ...]] = []
    for name, trees, paths in (
        ("test", data.test, data.paths),
        ("test, paths of 100 sentences", data.test, ConnectionPaths.from_trees(data.train[:_SIZE])),
    ):
        made = paths.forests(trees, missing="keep", reduction=REDUCTION)
        chosen = evaluate(made, frequency_utility(made, paths.counts))
        sizes = made.sizes
        rows.append(
            (
                name,
                len(paths),
                len(made),
                float(sizes.mean()),
                int(sizes.max()),
                100 * (1 - made.missing / made.steps),
                100 * chosen.error,
            )
        )
    return Table(
        "forests",
        "Forests of attachments, and the choice to be beaten: the most frequent path, the lowest anchor",
        ("sentences", "paths", "forests", "trees each", "most", "right tree in %", "baseline error %"),
        rows,
        notes=(*data.notes, "A forest without the right tree counts as an error here; below it is added, as published"),
    )


def run(setting: Setting, data: Data) -> Iterator[Table]:
    """Make the tables ``subsets``, ``states`` and ``losses``, which share what is trained."""
    wanted = [name for name in ("subsets", "states", "losses") if setting.wants(name)]
    if not wanted:
        return
    count = min(_SUBSETS, len(data.train) // 2)
    size = min(_SIZE, len(data.train) // count)
    parts = [data.train[at * size : (at + 1) * size] for at in range(count)]
    decay, epochs, chosen = _tuned(data, parts[0])
    notes = (*data.notes, f"{count} disjoint subsets of {size} sentences, not specialised.", chosen)
    found: dict[str, list[AttachmentErrors]] = {}

    def keep(name: str, result: AttachmentErrors) -> None:
        found.setdefault(name, []).append(result)

    for at, part in enumerate(parts):
        seed = data.seed + at
        keep("kernel", errors(data, attach(data, kernel(seed, decay=decay, epochs=epochs), part)))
        net = attach(data, network(seed, epochs=_NETWORK_EPOCHS), part)
        keep("network", errors(data, net))
        if "states" in wanted:
            keep("states", _on_states(data, net, part, seed))
        if "losses" in wanted:
            setwise = kernel(seed, decay=decay, epochs=epochs, loss="setwise")
            keep("setwise kernel", errors(data, attach(data, setwise, part)))
            pairwise = network(seed, epochs=_NETWORK_EPOCHS, loss="pairwise")
            keep("pairwise network", errors(data, attach(data, pairwise, part)))
    heads = tuple(str(at + 1) for at in range(count))
    if "subsets" in wanted:
        base = evaluate(data.test_forests, frequency_utility(data.test_forests, data.paths.counts))
        rows: list[tuple[Cell, ...]] = [
            ("most frequent path, lowest anchor", *(None for _ in parts), 100 * base.error, None),
            ("kernel", *_spread(found["kernel"])),
            ("network", *_spread(found["network"])),
            ("published: voted perceptron", *_padded((26.4, 26.3, 26.5, 26.8, 27.4), count), 26.7, 0.4),
            ("published: network", *_padded((26.7, 24.6, 26.3, 27.0, 25.6), count), 26.0, 1.0),
        ]
        yield Table(
            "subsets",
            "Wrong attachments in %, after learning from 100 sentences (table 2)",
            ("learner", *heads, "mean", "±"),
            rows,
            notes=(*notes, "Published figures are of other sentences: WSJ sections 2-21 and 23."),
        )
    if "states" in wanted:
        yield Table(
            "states",
            "Wrong attachments in %: the perceptron on what the network has learnt to see (table 4)",
            ("learner", *heads, "mean", "±"),
            [
                ("perceptron on states of the network", *_spread(found["states"])),
                ("kernel", *_spread(found["kernel"])),
                ("network", *_spread(found["network"])),
            ],
            notes=(*notes, f"Linear kernel, {_LINEAR_EPOCHS} epochs. Published: 27.1 ± 1.1 on states, 26.7 ± 0.4."),
        )
    if "losses" in wanted:
        lines = [
            ("pairwise", "pairs", found["pairwise network"], found["kernel"], "pair_error", "1.79, 2.32"),
            ("pairwise", "sets", found["pairwise network"], found["kernel"], "error", "29.1, 26.7"),
            ("setwise", "pairs", found["network"], found["setwise kernel"], "pair_error", "1.50, –"),
            ("setwise", "sets", found["network"], found["setwise kernel"], "error", "26.0, –"),
        ]
        yield Table(
            "losses",
            "What is minimised in training and what is counted in the test, in % (table 5)",
            ("trained on", "tested on", "network", "±", "kernel", "± ", "published"),
            [
                (loss, test, *_mean([getattr(one, what) for one in n]), *_mean([getattr(one, what) for one in k]), p)
                for loss, test, n, k, what, p in lines
            ],
            notes=notes,
        )


def _tuned(data: Data, part: TreeArray) -> tuple[float, int, str]:
    """Choose decay and epochs of the kernel by the error on the validation part, after learning from one subset."""
    tried: dict[tuple[float, int], float] = {}
    forests = data.paths.forests(data.validation, reduction=REDUCTION)
    for decay in _DECAYS:
        for epochs in _EPOCHS:
            model = attach(data, kernel(data.seed, decay=decay, epochs=epochs), part)
            tried[decay, epochs] = evaluate(forests, model.decision_function(forests)).error
    decay, epochs = min(tried, key=lambda key: tried[key])
    shown = ", ".join(f"{d:g} and {e}: {100 * error:.1f}" for (d, e), error in tried.items())
    return decay, epochs, f"Validation error of the kernel by decay and epochs, first subset: {shown} %."


def _on_states(data: Data, net: AttachmentRanker, part: TreeArray, seed: int) -> AttachmentErrors:
    (ranker,) = net.rankers_.values()
    forests = net.forests(part)
    linear = KernelRanker(Linear(), epochs=_LINEAR_EPOCHS, random_state=seed)
    linear.fit(ranker.transform(forests.trees), forests.y, forests.groups)
    return evaluate(data.test_forests, linear.decision_function(ranker.transform(data.test_forests.trees)))


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
