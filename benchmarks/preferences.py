"""Learning preferences: the recursive network against PyTorch, the kernel ranker against one value per support tree.

Run ``python benchmarks/run.py preferences``. Forests are sets of alternative attachments (see ``forests``); all on one
thread and in CPU time. The rows against PyTorch need it installed.
"""

from __future__ import annotations

import time

import numpy as np

import forests
import sapwood as sw
import torch_rival
from measure import interleaved
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.learn.groups import make_groups
from sapwood.learn.recursive_training import LOSSES, TrainingData, initial_weights, make_network
from table import Row

UNITS, OUTDEGREE, SENTENCES = 25, 15, 100


def _network(data: forests.Forests) -> list[Row]:
    trees, sizes = len(data.X), make_groups(data.groups, len(data.X)).sizes
    training = TrainingData(data.X, np.cumsum(sizes), data.y, np.zeros((trees, 0)))
    labels = RecursiveRanker(epochs=1, random_state=0).fit(data.X, data.y, data.groups).labels_
    shape = (UNITS, OUTDEGREE, len(labels), 1)
    network = make_network("float32", *shape, 0)
    network.set_weights(initial_weights(network, *shape, None, 0))
    kept = training.forests(labels, OUTDEGREE, 10**9)

    def both_ways() -> None:
        network.gradient(kept, training.targets, training.extras, LOSSES["setwise"])

    def epoch() -> None:
        order = np.arange(len(sizes), dtype=np.uint64)
        network.train(
            kept, order, training.targets, training.extras, 0, 1, False, 1e-4, 0.5, 0.999, 1e-8, 5.0, 0.0, None
        )

    both_ways()
    own = interleaved({"both ways": both_ways, "epoch": epoch})
    ours, updates = trees / own["both ways"].median, len(sizes) / own["epoch"].median
    note = (
        f"{trees:,} trees in {len(sizes):,} groups; {data.origin}; {UNITS} units, outdegree {OUTDEGREE}, setwise loss"
    )
    rows = [
        Row("network, forward and backward", "500,000 trees/s", ours / 5e5, ours, 5e5, "trees", 1.0, note=note),
        Row(
            "network, one update per group",
            "500,000 trees/s",
            updates / len(sizes) * trees / 5e5,
            updates / len(sizes) * trees,
            5e5,
            "trees",
            note="gradient descent with momentum and clipping",
        ),
    ]
    if not torch_rival.available():
        print("PyTorch is not installed, so the network is not compared with it: pip install torch")
        return rows
    rival = torch_rival.Network(UNITS, OUTDEGREE, len(labels))
    whole = torch_rival.Plan(data.X, labels, OUTDEGREE, sizes.tolist(), data.y)
    loss, gradients = rival.by_hand(whole)
    check = rival.automatic(whole)
    assert np.isclose(float(loss), float(check), rtol=1e-4)
    for found, weight in zip(gradients, rival.weights, strict=True):
        assert np.allclose(found.numpy(), weight.grad.numpy(), rtol=1e-2, atol=2e-2)
        weight.requires_grad_(False)
    turns = interleaved(
        {"ours": both_ways, "by hand": lambda: rival.by_hand(whole), "automatic": lambda: rival.automatic(whole)}
    )
    for weight in rival.weights:
        weight.requires_grad_(False)
    by_hand, automatic = trees / turns["by hand"].median, trees / turns["automatic"].median
    quickest = min((turns["by hand"], turns["automatic"]), key=lambda one: one.median)
    rows.append(
        Row.compare(
            "network, forward and backward",
            f"PyTorch by level, {'by hand' if by_hand > automatic else 'automatic'}",
            turns["ours"],
            quickest,
            trees,
            "trees",
            5.0,
            note="all groups at once, which suits PyTorch best; plans and index tensors are made beforehand in both",
        )
    )
    ends = np.cumsum(sizes)[:100]
    single = [
        torch_rival.Plan(data.X[e - s : e], labels, OUTDEGREE, [s], data.y[e - s : e])
        for e, s in zip(ends.tolist(), sizes[:100].tolist(), strict=True)
    ]

    def rival_epoch() -> None:
        for plan in single:
            _, steps = rival.by_hand(plan)
            for weight, step in zip(rival.weights, steps, strict=True):
                weight.sub_(step, alpha=1e-4)

    turns = interleaved({"ours": epoch, "theirs": rival_epoch}, repeat=3)
    updates, slow = len(sizes) / turns["ours"].median, len(single) / turns["theirs"].median
    rows.append(
        Row(
            "network, one update per group",
            "PyTorch by level, by hand",
            updates / slow,
            updates,
            slow,
            "groups",
            spread=turns["ours"].ratio_spread(turns["theirs"]),
        )
    )
    return rows


def _ranker(data: forests.Forests) -> list[Row]:
    kernel = SubsetTree(decay=0.5)
    start = time.process_time()
    ranker = KernelRanker(kernel, random_state=0).fit(data.X, data.y, data.groups)
    seconds = time.process_time() - start
    groups = len(np.unique(data.groups))
    rows = [
        Row(
            f"ranker, one epoch over {SENTENCES} sentences",
            "3 s, so that five subsets take 15",
            3 / seconds,
            groups / seconds,
            groups / 3,
            "groups",
            1.0,
            note=f"{seconds:.2f} s; {ranker.n_mistakes_:,} updates, {len(ranker.support_examples_):,} support trees",
        )
    ]
    support, weights = ranker.support_examples_, ranker.dual_coef_
    sample = data.X[np.flatnonzero(np.isin(data.groups, np.arange(0, groups, max(1, groups // 60))))].detach()
    ranker.decision_function(sample)
    turns = interleaved(
        {"ours": lambda: ranker.decision_function(sample), "theirs": lambda: kernel(sample, support) @ weights}
    )
    expected = kernel(sample, support) @ weights
    assert np.allclose(ranker.decision_function(sample), expected, atol=1e-6 * np.abs(expected).max())
    rows.append(
        Row.compare(
            "ranker, scoring forests",
            "kernel per support tree",
            turns["ours"],
            turns["theirs"],
            len(sample),
            "trees",
            8.0,
            note=f"{len(sample):,} trees against {len(support):,} support trees; both native, {kernel!r}",
        )
    )
    return rows


def main() -> list[Row]:
    with sw.options(threads=1):
        data = forests.load(SENTENCES)
        return _network(data) + _ranker(data)
