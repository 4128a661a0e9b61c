"""Reranking: can learning from trees improve a parser's first choice? (Menchetti et al. 2005, table 3)

Cross-validation over the folds of n-best lists that were made by jackknifing. Whatever is tuned is tuned inside the
training folds: trained on all but one of them, chosen by bracket F1 on that one, then trained again on all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import settings
from sapwood.corpora.nbest import NBest, read_nbest, write_nbest
from sapwood.corpora.penn import read_treebank
from sapwood.errors import DataError
from sapwood.experiments.places import place_of
from sapwood.experiments.tables import Cell, Setting, Table
from sapwood.kernels import Linear, SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.metrics import paired_bootstrap
from sapwood.metrics.parseval import ParsevalSummary, SentenceScore
from sapwood.tasks.reranking import bracket_f1, examples_of, judge

__all__ = ["run"]

Numbers = NDArray[np.float64]
Rows = NDArray[np.int64]

# Decay of the tree kernel and weight β of log p (eq. 17).
_KERNELS = ((0.3, 0.01), (0.3, 0.03))
_KERNEL_EPOCHS = 5
_NETWORK_EPOCHS = 5
# One network more or less changes the choice in many lists; the mean of some is steadier.
_NETWORKS = 3
_SAMPLES = 2000
_OWN = "nbest-own.jsonl.xz"


def run(setting: Setting) -> Iterator[Table]:
    """Make the tables ``bllip`` and ``own``."""
    if setting.wants("bllip"):
        yield from _compare(
            "bllip",
            "n-best lists of a strong parser (BLLIP), sentences of at most 40 words",
            [one for one in read_nbest(place_of(setting, "nbest-wsj")) if one.gold is not None],
            setting.seed,
        )
    if setting.wants("own"):
        lists = _own_lists(setting)
        if lists is not None:
            yield from _compare(
                "own", "n-best lists of Sapwood's own parser, sentences of any length", lists, setting.seed
            )
        elif setting.tables:
            raise DataError(
                f"there is no parser to make n-best lists with; put lists with folds and gold trees at {_OWN} in the "
                "folder named by --cache."
            )


def _own_lists(setting: Setting) -> list[NBest] | None:
    """Read the lists of Sapwood's parser from the cache, or let it make them; None where there is no parser."""
    kept = None if setting.cache is None else setting.cache / _OWN
    if kept is not None and kept.exists():
        return read_nbest(kept)
    jackknife: Callable[..., list[NBest]] | None = getattr(import_module("sapwood.parse"), "jackknife", None)
    if jackknife is None:
        return None
    lists = jackknife(read_treebank(place_of(setting, "penn-sample"), drop_traces=True), n=30)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_nbest(lists, kept)
    return lists


class _Lists:
    """All lists as one array of parses, with what each parse is worth; folds are taken from it by rows."""

    def __init__(self, lists: Sequence[NBest]) -> None:
        folds = [one.fold for one in lists]
        if None in folds or len(set(folds)) < 3:
            raise DataError("the n-best lists must say in which of at least three folds they were parsed.")
        self.examples, self.groups = examples_of(lists)
        self.folds: Rows = np.array(folds, dtype=np.int64)
        self.scores = [judge(one) for one in lists]
        self.relevance: Numbers = np.array([score.f1 for scores in self.scores for score in scores])
        self.first = [int(np.argmax(one.scores)) for one in lists]
        sizes = [len(one) for one in lists]
        self.begins: Rows = np.cumsum([0, *sizes[:-1]])
        self.sizes: Rows = np.array(sizes, dtype=np.int64)

    def rows(self, chosen: NDArray[np.bool_]) -> Rows:
        """The parses of some lists."""
        return np.flatnonzero(chosen[self.groups])

    def data(self, chosen: NDArray[np.bool_]) -> tuple[Any, Numbers, Rows]:
        """What rankers learn some lists from."""
        rows = self.rows(chosen)
        return self.examples[rows], self.relevance[rows], self.groups[rows]

    def choose(self, chosen: NDArray[np.bool_], utility: Numbers) -> list[SentenceScore]:
        """The scores of the parses of highest utility."""
        picked, at = [], 0
        for number in np.flatnonzero(chosen).tolist():
            size = int(self.sizes[number])
            picked.append(self.scores[number][int(np.argmax(utility[at : at + size]))])
            at += size
        return picked

    def spread(self, chosen: NDArray[np.bool_], utility: Numbers) -> float:
        """How far utilities differ within lists: what puts those of two rankers on one scale."""
        ends = np.cumsum(self.sizes[chosen])[:-1]
        return float(np.mean([part.std() for part in np.split(utility, ends)])) or 1.0


def _kernel(decay: float, weight: float, seed: int) -> KernelRanker:
    # Normalised, or the longest sentences would have the last word.
    kernel = SubsetTree(decay=decay).normalized().on("tree") + weight * Linear().on("prior")
    return KernelRanker(kernel, loss="top", epochs=_KERNEL_EPOCHS, random_state=seed)


class _Networks:
    """Several networks that differ in their seeds; the utility of a parse is their mean."""

    def __init__(self, seed: int, epochs: int = 0) -> None:
        # Rare words would be learnt by heart.
        self.epochs = epochs
        self.members = [
            RecursiveRanker(learning_rate=0.0007, alpha=1e-3, min_label_count=20, random_state=seed + at)
            for at in range(_NETWORKS)
        ]

    def partial_fit(self, *data: Any) -> _Networks:
        """Make one pass."""
        for member in self.members:
            member.partial_fit(*data)
        return self

    def fit(self, *data: Any) -> _Networks:
        """Make all passes."""
        for member in self.members:
            member.set_params(epochs=self.epochs).fit(*data)
        return self

    def decision_function(self, examples: Any) -> Numbers:
        """Return the utility of each parse."""
        utilities: Numbers = np.mean([member.decision_function(examples) for member in self.members], axis=0)
        return utilities


def _best_kernel(lists: _Lists, train: NDArray[np.bool_], held_out: NDArray[np.bool_], seed: int) -> tuple[Any, str]:
    tried = []
    for decay, weight in _KERNELS:
        ranker = _kernel(decay, weight, seed).fit(*lists.data(train))
        tried.append(bracket_f1(lists.choose(held_out, ranker.decision_function(lists.data(held_out)[0]))))
    decay, weight = _KERNELS[int(np.argmax(tried))]
    return _kernel(decay, weight, seed), f"{decay:g}, {weight:g}"


def _best_network(lists: _Lists, train: NDArray[np.bool_], held_out: NDArray[np.bool_], seed: int) -> tuple[Any, str]:
    tried = []
    ranker, data, (others, *_) = _Networks(seed), lists.data(train), lists.data(held_out)
    for _ in range(_NETWORK_EPOCHS):
        ranker.partial_fit(*data)
        tried.append(bracket_f1(lists.choose(held_out, ranker.decision_function(others))))
    epochs = int(np.argmax(tried)) + 1
    return _Networks(seed, epochs), str(epochs)


def _compare(name: str, title: str, given: Sequence[NBest], seed: int) -> Iterator[Table]:
    lists = _Lists(given)
    folds = np.unique(lists.folds).tolist()
    found: dict[str, dict[int, SentenceScore]] = {"kernel": {}, "network": {}, "both": {}}
    choices: dict[str, list[str]] = {"kernel": [], "network": []}
    seconds = dict.fromkeys(choices, 0.0)
    with settings.progress_bar(len(folds), "Folds") as progress:
        for at, fold in enumerate(folds):
            test, held_out = lists.folds == fold, lists.folds == folds[(at + 1) % len(folds)]
            summed = np.zeros(int(lists.sizes[test].sum()))
            for learner, tune in (("kernel", _best_kernel), ("network", _best_network)):
                start = time.process_time()
                ranker, what = tune(lists, ~test & ~held_out, held_out, seed)
                utility = ranker.fit(*lists.data(~test)).decision_function(lists.data(test)[0])
                seconds[learner] += time.process_time() - start
                choices[learner].append(what)
                found[learner] |= dict(zip(np.flatnonzero(test).tolist(), lists.choose(test, utility), strict=True))
                summed += utility / lists.spread(test, utility)
            found["both"] |= dict(zip(np.flatnonzero(test).tolist(), lists.choose(test, summed), strict=True))
            if progress is not None:
                progress(at + 1)
    first = [scores[index] for scores, index in zip(lists.scores, lists.first, strict=True)]
    rows = [_row("parser's first choice", first, first, seed)]
    for learner, scores in found.items():
        rows.append(_row(learner, [scores[number] for number in range(len(first))], first, seed))
    rows.append(_row("oracle", [max(scores, key=lambda one: one.f1) for scores in lists.scores], first, seed))
    yield Table(
        name,
        f"Reranking {len(given):,} {title}, {len(folds)} folds",
        ("choice", "LR", "LP", "F1", "CBs", "0 CB", "≤2 CB", "gain", "from", "to"),
        rows,
        notes=(
            f"Seed {seed}; {len(lists.groups):,} parses. Gain in F1 with its 95 % interval, paired bootstrap over "
            f"sentences, {_SAMPLES:,} samples.",
            f"Chosen within the training folds: decay and weight of log p {'; '.join(choices['kernel'])}; passes of "
            f"the network {', '.join(choices['network'])}. The network is the mean of {_NETWORKS}. Both: "
            "utilities on one scale, summed.",
            f"CPU time with tuning: kernel {seconds['kernel']:.0f} s, network {seconds['network']:.0f} s.",
            "Published, other sentences and another parser (≤ 40 words, LR LP CBs 0CB 2CB): voted perceptron "
            "89.1 89.4 0.85 69.3 88.2; network 89.2 89.5 0.84 67.9 88.4.",
        ),
    )


def _row(name: str, scores: Sequence[SentenceScore], first: Sequence[SentenceScore], seed: int) -> tuple[Cell, ...]:
    summary = ParsevalSummary.of(scores)
    ratios = (summary.recall, summary.precision, summary.f1)
    cells = (*(100 * value for value in ratios), summary.crossing)
    rest = (100 * summary.no_crossing, 100 * summary.two_or_less_crossing)
    if scores is first:
        return (name, *cells, *rest, None, None, None)
    counts, before = (
        np.array([(one.matched, one.gold + one.predicted) for one in each], dtype=np.float64)
        for each in (scores, first)
    )
    result = paired_bootstrap(
        counts, before, metric=lambda sums: 200 * float(sums[0] / sums[1]), samples=_SAMPLES, random_state=seed
    )
    return (name, *cells, *rest, result.difference, result.low, result.high)
