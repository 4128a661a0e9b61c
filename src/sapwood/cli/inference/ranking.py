"""Choosers among parses and among attachments: the chosen tree of each n-best list, or of each word."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from sapwood.cli.inputs import is_text, open_named, parsed_trees, text_sentences

if TYPE_CHECKING:
    from sapwood.corpora.nbest import NBest
    from sapwood.tasks.attachment import AttachmentRanker
    from sapwood.tasks.reranking import ParseReranker
    from sapwood.trees import TreeArray

__all__ = ["OPTIONS", "answer", "evaluate", "explain", "gold_lists", "items", "read_sentences"]

OPTIONS = ("margins",)

_BATCH = 64
# How treebanks are read for attachments.
_TREEBANK: dict[str, Any] = {"drop_traces": True, "drop_function_tags": True, "collapse_unary": True}


def gold_lists(model: ParseReranker, path: str) -> list[NBest]:
    """Read n-best lists with gold trees or, where the model has a parser, a treebank that it makes lists of."""
    from sapwood import corpora
    from sapwood.trees import read_trees

    if model.parser is None:
        return list(corpora.nbest.read(open_named(path)))
    return model.lists(read_trees(open_named(path), drop_traces=True, drop_function_tags=True))


def read_sentences(path: str, parser: Any = None) -> TreeArray:
    """Read a treebank, or the parses of a text, as trees over tags."""
    from sapwood.parse.incremental import attachment_trees
    from sapwood.trees import read_trees

    if parser is not None:
        return attachment_trees(parsed_trees(parser, path))
    return attachment_trees(read_trees(open_named(path), **_TREEBANK))


def items(model: ParseReranker | AttachmentRanker, options: argparse.Namespace) -> Iterator[Any]:
    """Yield n-best lists or sentences of words; for attachments, numbered sentences of words or trees."""
    from sapwood import corpora
    from sapwood.tasks.reranking import ParseReranker
    from sapwood.trees import iter_trees

    text = is_text(model, options)
    if isinstance(model, ParseReranker):
        return text_sentences(options.data) if text else corpora.nbest.read(open_named(options.data))
    sentences: Iterable[Any] = text_sentences(options.data)
    if not text:
        sentences = iter_trees(open_named(options.data), **_TREEBANK)
    return enumerate(sentences, 1)


def answer(
    model: ParseReranker | AttachmentRanker, options: argparse.Namespace, tally: Counter[str], items: Iterable[Any]
) -> Iterator[str]:
    """Yield one line per n-best list, or one per word that can be attached in several ways."""
    from sapwood.tasks.reranking import ParseReranker

    source = iter(items)
    if not isinstance(model, ParseReranker):
        while numbered := list(islice(source, _BATCH)):
            tally["items"] += len(numbered)
            yield from _attachments(model, numbered, options, tally)
        return
    while batch := model.lists(islice(source, _BATCH)):
        tally["items"] += len(batch)
        for one, utility in zip(batch, model.decision_function(batch), strict=True):
            best = int(utility.argmax())
            margins = f"\t{best}\t{utility[best]:.6g}" if options.margins else ""
            yield f"{one.parses[best]}{margins}\n"


def _attachments(
    model: AttachmentRanker, numbered: list[tuple[int, Any]], options: argparse.Namespace, tally: Counter[str]
) -> list[str]:
    """Return the lines of each sentence: one per word that can be attached in several ways."""
    from sapwood.parse import as_parser
    from sapwood.parse.incremental import attachment_trees
    from sapwood.tasks.attachment import choices
    from sapwood.trees import Tree

    numbers, sentences = zip(*numbered, strict=True)
    hows = ["given"] * len(sentences)
    if not isinstance(sentences[0], Tree):
        parsed = list(as_parser(model.parser).parse_sentences(sentences))
        sentences, hows = tuple(one.tree for one in parsed), [one.how for one in parsed]
    tally.update(hows)
    forests = model.forests(attachment_trees(sentences), missing="keep")
    utility = model.decision_function(forests)
    members = forests.ends - forests.sizes + choices(forests, utility)
    lines = [""] * len(sentences)
    for number, member in enumerate(members.tolist()):
        at = int(forests.sentence[number])
        margins = f"\t{utility[member]:.6g}" if options.margins else ""
        mark = "\tunparsed" if hows[at] in ("pieces", "flat") else ""
        place = f"{numbers[at]}\t{forests.word[number] + 1}\t{forests.feet[number]}"
        lines[at] += f"{place}\t{model.paths_[int(forests.path[member])]}\t{forests.trees[member]}{margins}{mark}\n"
    return lines


def explain(model: Any, options: argparse.Namespace, items: Iterable[Any]) -> Iterator[Any]:
    """Yield why each list has its chosen parse, for rerankers with kernels."""
    from sapwood.errors import ParameterError

    if not hasattr(model, "explain"):
        raise ParameterError(f"a {type(model).__name__} does not say why; there are explanations of rerankers.")
    return (model.explain(one, top=options.top) for one in items)


def evaluate(model: ParseReranker | AttachmentRanker, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return PARSEVAL of the chosen parses beside first choices and the best ones, or errors per word class."""
    from sapwood.tasks.reranking import ParseReranker

    if isinstance(model, ParseReranker):
        return _evaluate_parses(model, options)
    return _evaluate_attachments(model, options)


def _evaluate_parses(model: ParseReranker, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from sapwood.experiments.tables import Table
    from sapwood.metrics import ParsevalSummary

    lists = gold_lists(model, options.data)
    scores = model.evaluate(lists)
    rows = []
    for name, one in (("first choice", scores.first), ("chosen", scores.chosen), ("oracle", scores.oracle)):
        summary = ParsevalSummary.of(one)
        cells = (summary.recall, summary.precision, summary.f1, summary.crossing)
        rows.append((name, *cells, summary.no_crossing, summary.two_or_less_crossing))
    columns = ("parses", "LR", "LP", "F1", "CBs", "0 CB", "≤2 CB")
    record = {row[0]: dict(zip(columns[1:], row[1:], strict=True)) for row in rows}
    table = Table("parses", f"{len(lists):,} n-best lists", columns, rows, dict.fromkeys(columns, 4))
    return {"sentences": len(lists), **record}, str(table)


def _evaluate_attachments(model: AttachmentRanker, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from sapwood.errors import ParameterError
    from sapwood.experiments.tables import Table

    if options.parser is not None:
        raise ParameterError("--parser: attachments are compared with the trees of a treebank; leave the option out.")
    result = model.evaluate(read_sentences(options.data))
    counts = {name: count for name, count in result.forests.items() if count}
    classes = {name: {"forests": count, "wrong": result.wrong[name]} for name, count in counts.items()}
    rows = [(name, count, result.of(name)) for name, count in counts.items()]
    rows.append(("all", sum(counts.values()), result.error))
    table = Table("attachments", "Wrong attachments", ("word class", "words", "error"), rows, {"error": 4})
    return {"error": result.error, "pair_error": result.pair_error, "classes": classes}, str(table)
