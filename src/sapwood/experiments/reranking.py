"""Reranking: can learning from trees improve a parser's first choice? (Menchetti et al. 2005, table 3)

Cross-validation over the folds of n-best lists that were made by jackknifing. Whatever is tuned is tuned inside the
training folds: trained on all but one of them, chosen by bracket F1 on that one, then trained again on all. With a
cache, folds that are finished and the lists of Sapwood's own parser are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sapwood import corpora, settings
from sapwood.corpora.nbest import NBest
from sapwood.errors import DataError
from sapwood.experiments.measuring import Stopwatch
from sapwood.experiments.parsing.models import MODELS, SAMPLE_FOLDS, Models, fold_of
from sapwood.experiments.parsing.treebanks import SAMPLE, single_trees
from sapwood.experiments.result_cache import ResultCache
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.kernels import Linear, SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.metrics import ParsevalSummary, SentenceScore, mutual_f1, paired_bootstrap
from sapwood.parse import jackknife
from sapwood.tasks.reranking import RERANKING_RULES, expected_f1, mean_spread, nbest_examples, score_parses
from sapwood.trees.treebank import read_trees

__all__ = ["run"]

Numbers = NDArray[np.float64]
Rows = NDArray[np.int64]
Chosen = NDArray[np.bool_]

# What is tried: decay of the tree kernel and weight β of log p (eq. 17), passes of the network, and how much the best
# parses outweigh the others where they are asked for a consensus.
_KERNELS = ((0.3, 0.003), (0.3, 0.01))
_NETWORK_EPOCHS = 5
_SHARPNESS = (0.5, 1.0, 1.5, 2.0, 3.0)
_KERNEL_EPOCHS = 10
# Another order of the lists, or other first weights, changes the choice in many lists; the mean of some is steadier.
_MEMBERS = 3
_SAMPLES = 2000
# Their table 3, by the number of words.
_PUBLISHED = {
    40: "voted perceptron 89.1 89.4 0.85 69.3 88.2; network 89.2 89.5 0.84 67.9 88.4",
    100: "voted perceptron 88.6 88.9 0.99 66.5 86.3; network 88.6 88.9 0.98 64.8 86.3",
}
_LIST = 30


def run(setting: Setting) -> Iterator[Table]:
    """Make the tables ``bllip``, ``own``, ``own-40`` and ``spans``.

    The paper scores sentences of up to 40 and of up to 100 words; BLLIP's lists end at 40.
    """
    if setting.wants("bllip"):
        lists = [one for one in list(corpora.nbest.read(setting.path("nbest-wsj"))) if one.gold is not None]
        yield from _compare(setting, "bllip", "n-best lists of a strong parser (BLLIP)", lists, {"bllip": 40})
    limits = {name: most for name, most in (("own", 100), ("own-40", 40)) if setting.wants(name)}
    if limits:
        lists = _kept(setting, "own", lambda: jackknife(read_trees(setting.path(SAMPLE), drop_traces=True), n=_LIST))
        yield from _compare(setting, "own", "n-best lists of Sapwood's own grammar", lists, limits)
    if setting.wants("spans") and (models := Models(setting)).available("sample-encoder-fold-0"):
        lists = _kept(setting, "spans", lambda: _span_lists(models))
        yield from _compare(setting, "spans", "n-best lists of the span parser with MiniLM", lists, {"spans": 100})


def _kept(setting: Setting, name: str, make: Callable[[], list[NBest]]) -> list[NBest]:
    """Read the lists of a parser from the cache, or let it make them."""
    cached = setting.cached(f"nbest-{name}.jsonl.xz")
    if cached is not None and cached.exists():
        setting.read[f"nbest-{name}"] = str(cached)
        return list(corpora.nbest.read(cached))
    lists = make()
    if cached is None:
        return lists
    corpora.nbest.write(lists, cached)
    # Read again, so that a run that makes the lists is the same as the next one, which finds them.
    return list(corpora.nbest.read(cached))


def _span_lists(models: Models) -> list[NBest]:
    """Parse each fold of the training part of the sample with a span parser trained on the others."""
    whole = single_trees(models.parts(MODELS["sample-encoder"])[0])
    lists: list[NBest] = []
    for fold in range(SAMPLE_FOLDS):
        gold = whole[fold_of(len(whole), fold, SAMPLE_FOLDS)]
        found = models[f"sample-encoder-fold-{fold}"].parse_nbest_batch([tree.leaves() for tree in gold], _LIST)
        lists += [replace(one, gold=tree, fold=fold) for one, tree in zip(found, gold, strict=True)]
    return lists


class _Lists:
    """All lists as one array of parses, with what each parse is worth; folds are taken from it by rows."""

    def __init__(self, lists: Sequence[NBest]) -> None:
        folds = [one.fold for one in lists]
        if None in folds or len(set(folds)) < 3:
            raise DataError("the n-best lists must say in which of at least three folds they were parsed.")
        self.examples, self.groups = nbest_examples(lists)
        self.folds: Rows = np.array(folds, dtype=np.int64)
        self.scores = [score_parses(one) for one in lists]
        self.relevance: Numbers = np.array([score.f1 for scores in self.scores for score in scores])
        self.first = [int(np.argmax(one.scores)) for one in lists]
        sizes = [len(one) for one in lists]
        self.sizes: Rows = np.array(sizes, dtype=np.int64)
        self.words: Rows = np.array([len(one.gold.leaves()) if one.gold else 0 for one in lists], dtype=np.int64)
        self.agreement = [mutual_f1(one.parses, rules=RERANKING_RULES) for one in lists]

    def data(self, chosen: Chosen) -> tuple[Any, Numbers, Rows]:
        """What rankers learn some lists from."""
        rows = np.flatnonzero(chosen[self.groups])
        return self.examples[rows], self.relevance[rows], self.groups[rows]

    def utilities(self, rankers: Sequence[Any], chosen: Chosen) -> list[Numbers]:
        """What rankers make of some lists, in the mean."""
        examples = self.data(chosen)[0]
        utility = np.mean([ranker.decision_function(examples) for ranker in rankers], axis=0)
        return np.split(utility, np.cumsum(self.sizes[chosen])[:-1])

    def scaled(self, rankers: Sequence[Any], train: Chosen, asked: Chosen) -> list[Numbers]:
        """The same on one scale for all learners, so that they can be summed and a sharpness means the same to all."""
        spread = mean_spread(self.utilities(rankers, train))
        return [utility / spread for utility in self.utilities(rankers, asked)]

    def consensus(self, chosen: Chosen, utilities: Sequence[Numbers], sharpness: float) -> list[Numbers]:
        """The F1 to be expected of each parse of some lists."""
        numbers = np.flatnonzero(chosen).tolist()
        return [
            expected_f1(sharpness * utility, self.agreement[number])
            for number, utility in zip(numbers, utilities, strict=True)
        ]

    def f1(self, chosen: Chosen, utilities: Sequence[Numbers]) -> float:
        """Bracket F1 of the parses of highest utility in some lists."""
        numbers = np.flatnonzero(chosen).tolist()
        picked = [self.scores[n][int(u.argmax())] for n, u in zip(numbers, utilities, strict=True)]
        return ParsevalSummary.of(picked).f1

    def sharpest(self, chosen: Chosen, utilities: Sequence[Numbers]) -> tuple[float, float]:
        """The sharpness whose consensus has the highest F1, after that F1."""
        return max((self.f1(chosen, self.consensus(chosen, utilities, sharp)), sharp) for sharp in _SHARPNESS)


def _rankers(learner: str, setting: Sequence[float], seed: int) -> list[Any]:
    """Make learners that differ in their seeds."""
    if learner == "kernel":
        decay, weight = setting
        # Normalized, or the longest sentences would have the last word.
        kernel = SubsetTree(decay=decay).normalized().on("tree") + weight * Linear().on("prior")
        return [
            KernelRanker(kernel, loss="top", epochs=_KERNEL_EPOCHS, random_state=seed + at) for at in range(_MEMBERS)
        ]
    # Rare words would be learnt by heart.
    network = RecursiveRanker(
        learning_rate=0.0007, alpha=1e-3, averaging=1.0, min_label_count=20, epochs=int(setting[0])
    )
    return [clone(network).set_params(random_state=seed + at) for at in range(_MEMBERS)]


def _tried(
    lists: _Lists, learner: str, train: Chosen, asked: Chosen, seed: int
) -> Iterator[tuple[Sequence[float], list[Numbers]]]:
    """Train with every setting there is; yield each with the utilities of parses that it has not seen."""
    if learner == "kernel":
        for setting in _KERNELS:
            yield setting, _trained(lists, learner, setting, train, asked, seed)
        return
    data, networks = lists.data(train), _rankers("network", (1,), seed)
    for epoch in range(_NETWORK_EPOCHS):
        for network in networks:
            network.partial_fit(*data)
        yield (epoch + 1,), lists.scaled(networks, train, asked)


def _trained(
    lists: _Lists, learner: str, setting: Sequence[float], train: Chosen, asked: Chosen, seed: int
) -> list[Numbers]:
    data = lists.data(train)
    return lists.scaled([ranker.fit(*data) for ranker in _rankers(learner, setting, seed)], train, asked)


def _fold(lists: _Lists, at: int, seed: int) -> dict[str, Any]:
    """Choose settings inside the training folds, train, and choose a parse for each list of the fold."""
    folds = np.unique(lists.folds).tolist()
    test, held_out = lists.folds == folds[at], lists.folds == folds[(at + 1) % len(folds)]
    inner = ~test & ~held_out
    result: dict[str, Any] = {"chosen": {}, "settings": {}, "seconds": {}}

    def choose(name: str, setting: Sequence[float], utilities: Sequence[Numbers]) -> None:
        result["chosen"][name] = [int(utility.argmax()) for utility in utilities]
        result["settings"][name] = " ".join(f"{value:g}" for value in setting)

    def agree(name: str, setting: Sequence[float], utilities: Sequence[Numbers], sharpness: float) -> None:
        choose(f"{name}, consensus", setting, lists.consensus(test, utilities, sharpness))
        result["settings"][f"{name}, consensus"] += f", {sharpness:g}"

    prior = [_Prior()]
    agree("parser", (), lists.scaled(prior, ~test, test), lists.sharpest(~test, lists.scaled(prior, ~test, ~test))[1])
    summed: list[list[list[Numbers]]] = []
    for learner in ("kernel", "network"):
        with Stopwatch() as spent:
            tried = list(_tried(lists, learner, inner, held_out, seed))
            alone = max(tried, key=lambda one: lists.f1(held_out, one[1]))[0]
            found = [(*lists.sharpest(held_out, utilities), number) for number, (_, utilities) in enumerate(tried)]
            _, sharpness, number = max(found)
            together, before = tried[number]
            finals = {one: _trained(lists, learner, one, ~test, test, seed) for one in {alone, together}}
        result["seconds"][learner] = spent.cpu
        choose(learner, alone, finals[alone])
        agree(learner, together, finals[together], sharpness)
        summed.append([before, finals[together]])
    before, after = (
        [kernel + network for kernel, network in zip(*part, strict=True)] for part in zip(*summed, strict=True)
    )
    choose("both", (), after)
    agree("both", (), after, lists.sharpest(held_out, before)[1])
    return result


class _Prior:
    """The parser itself, as a ranker."""

    def decision_function(self, examples: Any) -> Numbers:
        """Return its log probabilities."""
        return np.asarray(examples["prior"][:, 0])


def _compare(
    setting: Setting, name: str, title: str, given: Sequence[NBest], limits: dict[str, int]
) -> Iterator[Table]:
    """Choose from all lists, and make a table for each limit of the number of words: what is scored of the choices."""
    lists, seed = _Lists(given), setting.seed
    count = len(np.unique(lists.folds))
    about = (seed, _KERNELS, _NETWORK_EPOCHS, _SHARPNESS, _KERNEL_EPOCHS, _MEMBERS)
    cache = ResultCache(
        setting, f"reranking-{name}", *about, lists.examples, lists.groups, lists.folds, lists.relevance
    )
    made = []
    with settings.progress_bar(count, "Folds", "folds") as progress:
        for at in range(count):
            made.append(cache(f"fold {at}", _fold, lists, at, seed))
            if progress is not None:
                progress(at + 1)
    order = np.argsort(lists.folds, kind="stable").tolist()
    picked = {"parser's first choice": dict(enumerate(lists.first))}
    for learner in made[0]["chosen"]:
        numbers = (index for fold in made for index in fold["chosen"][learner])
        picked[learner] = dict(zip(order, numbers, strict=True))
    picked["oracle"] = {n: max(range(len(s)), key=lambda at: s[at].f1) for n, s in enumerate(lists.scores)}
    seconds = {learner: sum(fold["seconds"][learner] for fold in made) for learner in made[0]["seconds"]}
    chosen_settings = {
        learner: "; ".join(fold["settings"][learner].strip(", ") for fold in made) for learner in made[0]["chosen"]
    }
    notes = (
        f"Seed {seed}; {len(lists.groups):,} parses of all sentences. Gain in F1 with its 95 % interval, paired "
        f"bootstrap over sentences, {_SAMPLES:,} samples.",
        f"Chosen within the training folds. Kernel, decay and weight of log p: {chosen_settings['kernel']}; with "
        f"consensus, sharpness last: {chosen_settings['kernel, consensus']}. Network, passes: "
        f"{chosen_settings['network']}; {chosen_settings['network, consensus']}. Sharpness for the parser: "
        f"{chosen_settings['parser, consensus']}; for both: {chosen_settings['both, consensus']}.",
        f"Consensus: the parse with the highest expected F1, each parse of the list being right with the "
        f"probability that the learner (or the parser) gives it. Kernel and network are means of {_MEMBERS} that "
        "differ in their seeds. Both: utilities on one scale, summed.",
        f"CPU time with tuning: kernel {seconds['kernel']:.0f} s, network {seconds['network']:.0f} s.",
    )
    for table, most in limits.items():
        short = np.flatnonzero(lists.words <= most).tolist()
        scores = {choice: [lists.scores[n][found[n]] for n in short] for choice, found in picked.items()}
        first = scores["parser's first choice"]
        published = f"Published, other sentences and another parser (LR LP CBs 0CB 2CB): {_PUBLISHED[most]}."
        yield Table(
            table,
            f"Reranking {title}: {len(short):,} of {len(given):,} sentences, of up to {most} words; {count} folds",
            ("choice", "LR", "LP", "F1", "CBs", "0 CB", "≤2 CB", "gain", "from", "to"),
            [_row(choice, chosen, first, seed) for choice, chosen in scores.items()],
            notes=(*notes, published),
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
