"""The grammar: on the treebank sample, with less of it, on the web treebank, and how its cost grows.

Nothing is random here, so the seed has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sapwood import settings
from sapwood.experiments.measuring import Stopwatch, growth
from sapwood.experiments.parsing.treebanks import SAMPLE, WEB, part, single_trees, split_sample
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.metrics import COLLINS, ParsevalSummary, parseval, score_forest
from sapwood.parse import PCFGParser
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.tree import Tree

__all__ = ["grammar_tables"]

_LIST = 30
# A parse that tags a word as punctuation is an error for evalb, which leaves the sentence out; there may be some.
_RULES = replace(COLLINS, max_errors=10**9)
_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
_LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 60), (61, 100), (101, 200))
_COLUMNS = ("F1", "precision", "recall", "complete", "tags", f"oracle of {_LIST}", "outside", "ms each")
_DECIMALS = {"complete": 1, "tags": 1, "ms each": 1, "fit s": 1}


def grammar_tables(setting: Setting) -> Iterator[Table]:
    """Yield the tables that are wanted."""
    if not setting.wants("sample", "curve", "cost", "web"):
        return
    train, gold = split_sample(setting.path(SAMPLE))
    if setting.wants("sample", "cost"):
        parser = PCFGParser().fit(train)
    if setting.wants("sample"):
        yield _sample(parser, train, gold)
    if setting.wants("curve"):
        yield _curve(train, gold)
    if setting.wants("cost"):
        yield _cost(parser, gold)
    if setting.wants("web") and setting.find(WEB) is not None:
        yield _web(setting, train)


def _sample(parser: PCFGParser, train: TreeArray, gold: list[Tree]) -> Table:
    rows: list[Sequence[Cell]] = []
    for beam in (8.0, 10.0, 12.0, 16.0):
        name = f"beam of {beam:g}{', the default' if beam == PCFGParser().beam else ''}"
        rows.append([name, *_figures(parser.set_params(beam=beam), gold, _LIST)])
    parser.set_params(beam=PCFGParser().beam)
    title = (
        f"Penn Treebank sample: {len(train):,} trees learnt, {len(gold)} parsed from words alone, {_LIST} parses each"
    )
    return Table("sample", title, ("pruning", *_COLUMNS), rows, _DECIMALS)


def _curve(train: TreeArray, gold: list[Tree]) -> Table:
    rows: list[Sequence[Cell]] = []
    for share in _SHARES:
        # Every so many trees, so that each part is drawn from the whole.
        part = train[:: round(1 / share)]
        with Stopwatch() as spent:
            parser = PCFGParser().fit(part)
        f1, _, _, _, tags, *_ = _figures(parser, gold, 1)
        rows.append([len(part), f1, tags, spent.cpu, parser.size()["rules"]])
    columns = ("trees learnt", "F1", "tags", "fit s", "rules")
    return Table("curve", "Learning curve on the Penn Treebank sample", columns, rows, {"tags": 1, "fit s": 1})


def _cost(parser: PCFGParser, gold: list[Tree]) -> Table:
    """Measure by length; sentences longer than any are made by putting some together."""
    words = [tree.leaves() for tree in gold]
    long = [sum((one[:-1] for one in words[at : at + size]), ()) for size in (3, 6) for at in range(0, 60, size)]
    rows: list[Sequence[Cell]] = []
    means, times = [], []
    for first, last in _LENGTHS:
        some = [one for one in words + long if first <= len(one) <= last][: 25 if last <= 60 else 8]
        if not some:
            continue
        means.append(float(np.mean([len(one) for one in some])))
        with settings.options(threads=1, progress=False), Stopwatch() as spent:
            parser.parse_batch(some)
        times.append(spent.cpu / len(some))
        chart = max(parser.chart_bytes(some))
        cubed = 1e9 * times[-1] / means[-1] ** 3
        rows.append([f"{first}-{last}", len(some), means[-1], 1000 * times[-1], cubed, chart / 1e6])
    columns = ("words", "sentences", "mean length", "ms each", "ns / words³", "largest chart MB")
    notes = [f"Time grows with the power {growth(means, times):.1f} of the length."] if len(rows) > 1 else []
    if len(rows) > 4:
        notes.append(f"From the fourth row on, it grows with the power {growth(means[3:], times[3:]):.1f}.")
    return Table("cost", "Cost of one parse by length, one thread", columns, rows, {"largest chart MB": 1}, notes)


def _web(setting: Setting, train: TreeArray) -> Table:
    web = part(setting, WEB, "train")
    gold = single_trees(part(setting, WEB, "test"))
    rows: list[Sequence[Cell]] = []
    for name, trees in (("web", web), ("web + sample", concatenate([web, train]))):
        with Stopwatch() as spent:
            parser = PCFGParser().fit(trees)
        rows.append([name, len(trees), spent.cpu, *_figures(parser, gold, 1 if name == "web" else _LIST)])
    notes = [
        "BLLIP (Charniak), first stage, learnt from 35,934 trees, the web ones among them: F1 81.8 on 299 test "
        "sentences."
    ]
    title = f"English Web Treebank: {len(gold):,} test sentences parsed from words alone"
    return Table("web", title, ("learnt from", "trees", "fit s", *_COLUMNS), rows, _DECIMALS, notes)


def _figures(parser: PCFGParser, gold: list[Tree], n: int) -> list[Cell]:
    """Parse the words of these trees, and score the first parse of each and, of several, the best of each list."""
    with Stopwatch() as spent:
        found = parser.parse_nbest_batch([tree.leaves() for tree in gold], n)
    best = parseval(gold, [one.parses[0] for one in found], rules=_RULES).overall
    oracle = [
        max(score_forest(tree, one.parses, rules=_RULES), key=lambda score: score.f1)
        for tree, one in zip(gold, found, strict=True)
    ]
    ratios = [best.f1, best.precision, best.recall, best.complete_match, best.tagging]
    ratios.append(ParsevalSummary.of(oracle).f1 if n > 1 else float("nan"))
    outside = sum(one.how != "parser" for one in found)
    return [*(100 * ratio for ratio in ratios), outside, 1000 * spent.cpu / len(gold)]
