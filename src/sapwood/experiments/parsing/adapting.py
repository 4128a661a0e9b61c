"""A parser of web text that goes on learning from a few trees of articles, as ``sapwood train parser --start`` does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sapwood.experiments.parsing.models import MODELS, Models
from sapwood.experiments.parsing.networks import RULES
from sapwood.experiments.parsing.treebanks import ARTICLES, WEB, part, single_trees
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.files import load, save
from sapwood.metrics import parseval
from sapwood.parse.spans.parser import SpanParser
from sapwood.trees.array import TreeArray

__all__ = ["adaptation_table"]

_BASE = "web-plain-short"
_SIZES = (200, 1000)
_EPOCHS, _HELD_OUT = 10, 100


def adaptation_table(setting: Setting) -> Iterator[Table]:
    """Yield the table, if the treebanks and PyTorch are there."""
    models = Models(setting)
    if not (setting.wants("adaptation") and models.available(_BASE) and setting.find(ARTICLES) is not None):
        return
    base = models[_BASE]
    held = part(setting, ARTICLES, "dev")
    held = held[:: max(1, len(held) // _HELD_OUT)][:_HELD_OUT]
    trees = part(setting, ARTICLES, "train")
    rows: list[Sequence[Cell]] = [["web alone", 0, *_scores(setting, base)]]
    for size in _SIZES:
        some = trees[:: max(1, len(trees) // size)][:size]
        for name, start in (("articles alone", None), ("web, then articles", base)):
            rows.append([name, len(some), *_scores(setting, _trained(setting, name, some, held, start))])
    columns = ("learnt from", "trees of articles", "F1, articles", "tags, articles", "F1, web", "tags, web")
    notes = [
        f"No encoder. The web parser: {len(part(setting, WEB, 'train')):,} trees, {MODELS[_BASE].epochs} epochs. Then "
        f"{_EPOCHS} epochs on articles, of which that with the best F1 on {len(held)} held-out trees of other articles "
        "is kept; all other settings are the defaults. PARSEVAL with COLLINS.prm, punctuation by the gold tags.",
        f"Test sentences: articles {len(part(setting, ARTICLES, 'test')):,}, web {len(part(setting, WEB, 'test')):,}.",
    ]
    title = "A parser of web text adapted to biomedical articles"
    decimals = {"tags, articles": 1, "tags, web": 1}
    yield Table("adaptation", title, columns, rows, decimals, notes)


def _trained(setting: Setting, name: str, trees: TreeArray, held: TreeArray, start: SpanParser | None) -> SpanParser:
    kept = setting.cached(f"adapted-{_BASE}-{name.replace(', ', '-').replace(' ', '-')}-{len(trees)}-{_EPOCHS}.sap")
    if kept is not None and kept.exists():
        parser: SpanParser = load(kept)
        return parser
    parser = SpanParser(epochs=_EPOCHS, random_state=setting.seed).fit(trees, validation=held, start=start)
    if kept is not None:
        save(parser, kept)
    return parser


def _scores(setting: Setting, parser: SpanParser) -> list[float]:
    found: list[float] = []
    for treebank in (ARTICLES, WEB):
        gold = single_trees(part(setting, treebank, "test"))
        made = single_trees(parser.parse_batch([tree.leaves() for tree in gold]))
        summary = parseval(gold, made, rules=RULES).overall
        found += [100 * summary.f1, 100 * summary.tagging]
    return found
