"""Roles from words alone: what the labeler makes of automatic parses, by the parser and by what it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from sapwood.experiments.parsing.models import WEB_FOLDS, Models, fold_of
from sapwood.experiments.parsing.treebanks import single_trees
from sapwood.experiments.roles.data import CORPORA, read_parts
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.metrics import COLLINS, parseval, score_roles
from sapwood.parse import PCFGParser
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.tasks.roles.pruning import coverage
from sapwood.trees import RoleSentence, Tree

__all__ = ["f1_with", "from_parses", "label_parses"]

_NAME = "ewt-propbank"
_RULES = replace(COLLINS, max_errors=10**9)
_GRAMMAR, _PLAIN, _ENCODER = "PCFGParser", "SpanParser, no encoder", "SpanParser, MiniLM"
_OFFSETS = (0.0, -0.2, -0.4, -0.6, -0.8, -1.0)
# Trees with the fewest expected errors have fewer constituents, and an argument that is none cannot be found.
_TREE = "best"
_MODELS = {_PLAIN: "web-plain", _ENCODER: "web-encoder-0"}


def label_parses(setting: Setting) -> Table:
    """Make the table of roles by parser, on the test sentences of the web treebank."""
    parts = read_parts(setting, _NAME)
    models = Models(setting)

    def parsed(part: str, parser: str) -> list[RoleSentence]:
        return from_parses(models, parts, part, parser)

    labeler = RoleLabeler(random_state=setting.seed).fit(parts["train"], calibration=parts["dev"])
    runs: list[tuple[str, str, RoleLabeler, list[RoleSentence]]] = [("gold", "gold trees", labeler, parts["test"])]
    there = [_GRAMMAR, *(parser for parser, model in _MODELS.items() if models.available(model))]
    runs += [(parser, "gold trees", labeler, parsed("test", parser)) for parser in there]
    chosen = ""
    if _ENCODER in there:
        held = parsed("dev", _ENCODER)
        other = RoleLabeler(pruning="wide", random_state=setting.seed)
        other.fit([*parts["train"], *parsed("train", _ENCODER)], calibration=held)
        other.null_offset = max(_OFFSETS, key=lambda offset: f1_with(other, held, parts["dev"], null_offset=offset))
        chosen = f": {other.null_offset:g}"
        runs.append((_ENCODER, "gold trees and parses", other, parsed("test", _ENCODER)))
    rows: list[tuple[Cell, ...]] = []
    for parser, learnt, labels, given in runs:
        brackets = parseval([one.tree for one in parts["test"]], [one.tree for one in given], rules=_RULES).overall
        scores = score_roles(parts["test"], labels.predict(given, given_predicates=True))
        found = score_roles(parts["test"], labels.predict(given))
        counts = coverage(given, labels.pruning)
        whole = [100 * counts[what] / counts["arguments"] for what in ("constituents", "survive pruning")]
        figures = [100 * value for value in (brackets.f1, scores.overall.f1, found.overall.f1, scores.unlabeled.f1)]
        rows.append((parser, learnt, *figures, *whole))
    columns = ("trees", "labeler learnt from", "brackets F1", "roles F1, predicates given", "found", "spans F1",
               "arguments that are constituents %", "survive pruning %")  # fmt: skip
    title = f"Roles from words alone, {len(parts['test']):,} sentences: {CORPORA[_NAME]}"
    notes = [
        f"Verbs; srl-eval's counting; parsers and labelers learnt from the {len(parts['train']):,} training sentences. "
        f"Parses to learn from are made by parsers that have not seen the sentences, in {WEB_FOLDS} folds; the labeler "
        "that learns from them prunes widely, and what it adds to the log-probability of no argument was chosen on "
        f"development data{chosen}."
    ]
    return Table("parsed", title, columns, rows, notes=notes)


def from_parses(
    models: Models, parts: dict[str, list[RoleSentence]], part: str, parser: str = _ENCODER
) -> list[RoleSentence]:
    """Return the sentences of a part with the trees of a parser instead of their own."""
    trees = _trees(models, parts, part, parser)
    return [replace(one, tree=tree) for one, tree in zip(parts[part], trees, strict=True)]


def f1_with(
    labeler: RoleLabeler, given: Sequence[RoleSentence], gold: Sequence[RoleSentence], **params: float
) -> float:
    """Return F1, predicates given, of a trained labeler with other parameters."""
    asked = copy(labeler).set_params(**params)
    return score_roles(gold, asked.predict(given, given_predicates=True)).overall.f1


def _trees(models: Models, parts: dict[str, list[RoleSentence]], part: str, parser: str) -> list[Tree]:
    """Parse the sentences of a part; training sentences by parsers learnt from the other folds."""
    words = [list(one.words) for one in parts[part]]
    if parser == _GRAMMAR:
        grammar = PCFGParser().fit([one.tree for one in parts["train"] if one.tree is not None])
        return single_trees(grammar.parse_batch(words))
    if part != "train":
        return models.parse(_MODELS[parser], words, _TREE)
    found: list[Tree] = []
    for fold in range(WEB_FOLDS):
        found += models.parse(f"web-encoder-fold-{fold}", words[fold_of(len(words), fold, WEB_FOLDS)], _TREE)
    return found
