"""Roles from words alone: what the labeler makes of automatic parses, by the parser and by what it was trained on."""

from __future__ import annotations

from dataclasses import replace

from sapwood.experiments.parsing.models import WEB_FOLDS, Models, fold_of
from sapwood.experiments.parsing.treebanks import single_trees
from sapwood.experiments.result_cache import ResultCache
from sapwood.experiments.roles.data import CORPORA, read_parts
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.metrics import COLLINS, parseval, score_roles
from sapwood.parse import PCFGParser
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.tasks.roles.pruning import coverage
from sapwood.trees import RoleSentence, Tree

__all__ = ["label_parses"]

_NAME = "ewt-propbank"
_RULES = replace(COLLINS, max_errors=10**9)
_GRAMMAR, _PLAIN, _ENCODER = "PCFGParser", "SpanParser, no encoder", "SpanParser, MiniLM"
_MODELS = {_PLAIN: "web-plain", _ENCODER: "web-encoder-0"}


def label_parses(setting: Setting) -> Table:
    """Make the table of roles by parser, on the test sentences of the web treebank."""
    parts = read_parts(setting, _NAME)
    models = Models(setting)
    cache = ResultCache(setting, "roles-parsed", setting.seed, [list(one.words) for one in parts["test"]])

    def parsed(part: str, parser: str) -> list[RoleSentence]:
        """Return the sentences of a part with the trees of a parser instead of their own."""
        texts = cache(f"{part} by {parser}", lambda: [str(tree) for tree in _trees(models, parts, part, parser)])
        return [replace(one, tree=Tree.fromstring(text)) for one, text in zip(parts[part], texts, strict=True)]

    labeler = RoleLabeler(random_state=setting.seed).fit(parts["train"], calibration=parts["dev"])
    runs: list[tuple[str, str, RoleLabeler, list[RoleSentence]]] = [("gold", "gold trees", labeler, parts["test"])]
    there = [_GRAMMAR, *(parser for parser, model in _MODELS.items() if models.available(model))]
    runs += [(parser, "gold trees", labeler, parsed("test", parser)) for parser in there]
    if _ENCODER in there:
        other = RoleLabeler(random_state=setting.seed)
        other.fit(parsed("train", _ENCODER), calibration=parsed("dev", _ENCODER))
        runs.append((_ENCODER, f"parses, {WEB_FOLDS} folds", other, parsed("test", _ENCODER)))
    rows: list[tuple[Cell, ...]] = []
    for parser, learnt, labels, given in runs:
        brackets = parseval([one.tree for one in parts["test"]], [one.tree for one in given], rules=_RULES).overall
        scores = score_roles(parts["test"], labels.predict(given, given_predicates=True))
        found = score_roles(parts["test"], labels.predict(given))
        counts = coverage(given)
        whole = [100 * counts[what] / counts["arguments"] for what in ("constituents", "survive pruning")]
        figures = [100 * value for value in (brackets.f1, scores.overall.f1, found.overall.f1, scores.unlabeled.f1)]
        rows.append((parser, learnt, *figures, *whole))
    columns = ("trees", "labeler learnt from", "brackets F1", "roles F1, predicates given", "found", "spans F1",
               "arguments that are constituents %", "survive pruning %")  # fmt: skip
    title = f"Roles from words alone, {len(parts['test']):,} sentences: {CORPORA[_NAME]}"
    notes = [
        f"Verbs; srl-eval's counting; parsers and labelers learnt from the {len(parts['train']):,} training sentences. "
        "Parses to learn from are made by parsers that have not seen the sentences."
    ]
    return Table("parsed", title, columns, rows, notes=notes)


def _trees(models: Models, parts: dict[str, list[RoleSentence]], part: str, parser: str) -> list[Tree]:
    """Parse the sentences of a part; training sentences by parsers learnt from the other folds."""
    words = [list(one.words) for one in parts[part]]
    if parser == _GRAMMAR:
        grammar = PCFGParser().fit([one.tree for one in parts["train"] if one.tree is not None])
        return single_trees(grammar.parse_batch(words))
    if part != "train":
        return single_trees(models[_MODELS[parser]].parse_batch(words))
    found: list[Tree] = []
    for fold in range(WEB_FOLDS):
        found += single_trees(
            models[f"web-encoder-fold-{fold}"].parse_batch(words[fold_of(len(words), fold, WEB_FOLDS)])
        )
    return found
