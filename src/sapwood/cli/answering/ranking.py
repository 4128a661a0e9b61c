"""Choosers among parses and among attachments: the chosen tree of each n-best list, or of each word."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sapwood.corpora.nbest import NBest
    from sapwood.tasks.attachment import AttachmentRanker
    from sapwood.tasks.reranking import ParseReranker
    from sapwood.trees import TreeArray

__all__ = ["TAKES", "evaluate", "predict", "read_lists", "read_sentences"]

TAKES: tuple[str, ...] = ()


def read_lists(path: str) -> list[NBest]:
    """Read n-best lists; ``-`` is standard input."""
    from sapwood.corpora import read_nbest

    return read_nbest(sys.stdin if path == "-" else path)


def read_sentences(path: str) -> TreeArray:
    """Read a treebank as trees over tags; ``-`` is standard input."""
    from sapwood.corpora import read_treebank
    from sapwood.parse.incremental import attachment_trees

    source = sys.stdin if path == "-" else path
    return attachment_trees(read_treebank(source, drop_traces=True, drop_function_tags=True, collapse_unary=True))


def predict(model: ParseReranker | AttachmentRanker, options: argparse.Namespace) -> int:
    """Write one line per n-best list, or per word that can be attached in several ways."""
    from sapwood.files import atomic_write
    from sapwood.tasks.reranking import ParseReranker

    lines = _parses(model, options) if isinstance(model, ParseReranker) else _attachments(model, options)
    if options.out:
        atomic_write(options.out, "".join(lines).encode())
    else:
        sys.stdout.writelines(lines)
    return 0


def _parses(model: ParseReranker, options: argparse.Namespace) -> list[str]:
    lists = read_lists(options.data)
    lines = []
    for one, utility in zip(lists, model.decision_function(lists), strict=True):
        best = int(utility.argmax())
        margins = f"\t{best}\t{utility[best]:.6g}" if options.margins else ""
        lines.append(f"{one.parses[best]}{margins}\n")
    return lines


def _attachments(model: AttachmentRanker, options: argparse.Namespace) -> list[str]:
    from sapwood.tasks.attachment import choices

    forests = model.forests(read_sentences(options.data), missing="keep")
    utility = model.decision_function(forests)
    members = forests.ends - forests.sizes + choices(forests, utility)
    lines = []
    for number, member in enumerate(members.tolist()):
        margins = f"\t{utility[member]:.6g}" if options.margins else ""
        place = f"{forests.sentence[number] + 1}\t{forests.word[number] + 1}\t{forests.feet[number]}"
        lines.append(f"{place}\t{model.paths_[int(forests.path[member])]}\t{forests.trees[member]}{margins}\n")
    return lines


def evaluate(model: ParseReranker | AttachmentRanker, options: argparse.Namespace) -> int:
    """Print PARSEVAL of the chosen parses beside first choices and the best ones, or errors per word class."""
    from sapwood.tasks.reranking import ParseReranker

    if isinstance(model, ParseReranker):
        return _evaluate_parses(model, options)
    return _evaluate_attachments(model, options)


def _evaluate_parses(model: ParseReranker, options: argparse.Namespace) -> int:
    from sapwood.experiments.tables import Table
    from sapwood.metrics.parseval import ParsevalSummary

    lists = read_lists(options.data)
    scores = model.evaluate(lists)
    rows = []
    for name, one in (("first choice", scores.first), ("chosen", scores.chosen), ("oracle", scores.oracle)):
        summary = ParsevalSummary.of(one)
        cells = (summary.recall, summary.precision, summary.f1, summary.crossing)
        rows.append((name, *cells, summary.no_crossing, summary.two_or_less_crossing))
    columns = ("parses", "LR", "LP", "F1", "CBs", "0 CB", "≤2 CB")
    if options.json:
        result = {row[0]: dict(zip(columns[1:], row[1:], strict=True)) for row in rows}
        print(json.dumps({"sentences": len(lists), **result}, ensure_ascii=False, indent=2))
    else:
        print(Table("parses", f"{len(lists):,} n-best lists", columns, rows, dict.fromkeys(columns, 4)))
    return 0


def _evaluate_attachments(model: AttachmentRanker, options: argparse.Namespace) -> int:
    from sapwood.experiments.tables import Table

    result = model.evaluate(read_sentences(options.data))
    if options.json:
        classes = {
            name: {"forests": count, "wrong": result.wrong[name]} for name, count in result.forests.items() if count
        }
        print(json.dumps({"error": result.error, "pair_error": result.pair_error, "classes": classes}, indent=2))
        return 0
    rows = [(name, count, result.of(name)) for name, count in result.forests.items() if count]
    rows.append(("all", sum(result.forests.values()), result.error))
    print(Table("attachments", "Wrong attachments", ("word class", "words", "error"), rows, {"error": 4}))
    return 0
