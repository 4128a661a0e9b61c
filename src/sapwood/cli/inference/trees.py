"""Classifiers of trees: one label per line of a tree or, with a parser, of text, or per sentence of CoNLL-U."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from sapwood.cli.inference.labels import answer_lines, unseen
from sapwood.cli.inputs import is_conllu, iter_dependency_trees, open_named
from sapwood.cli.tables import label_report

if TYPE_CHECKING:
    from sapwood.learn import KernelSVC
    from sapwood.text_files import Line

__all__ = ["OPTIONS", "answer", "evaluate", "explain", "items", "read"]

OPTIONS = ("dependencies", "encoding", "margins")


def items(model: KernelSVC, options: argparse.Namespace) -> Iterator[Line]:
    """Yield the lines that are not blank: a tree, or text with a parser, perhaps after a label and a tab."""
    return (line for line in _lines(options) if line.text.strip())


def _lines(options: argparse.Namespace, *, labels: bool = False) -> Iterator[Line]:
    """Yield lines as they are; a sentence of CoNLL-U is one, with the label that its comment ``# label = `` has."""
    from sapwood.errors import ParameterError
    from sapwood.text_files import Line, lines

    if not is_conllu(options.data):
        yield from lines(open_named(options.data), encoding=options.encoding)
        return
    if options.parser is not None:
        raise ParameterError(f"--parser: {options.data} holds dependencies, not text; leave the option out.")
    for number, (label, tree) in enumerate(iter_dependency_trees(options.data, options, labels=labels), start=1):
        yield Line(f"{options.data}, sentence {number}", 1, f"{label}\t{tree}" if label else str(tree))


def answer(model: KernelSVC, options: argparse.Namespace, tally: Counter[str], items: Iterable[Line]) -> Iterator[str]:
    """Yield one line per tree."""
    read = partial(_read, options=options, labels=False)
    return answer_lines(options, tally, items, read, model.classes_, model.decision_function)


def read(options: argparse.Namespace, *, labels: bool = True) -> tuple[Any, Any]:
    """Read all trees with their labels, parsing them where there is a parser."""
    from sapwood.corpora.labeled import nothing_in

    trees, found, _ = _read(_lines(options, labels=labels), options, labels=labels)
    if not len(trees):
        raise nothing_in(open_named(options.data), "tree", "label<TAB>tree")
    return trees, found


def _read(rows: Iterable[Line], options: argparse.Namespace, *, labels: bool) -> tuple[Any, Any, list[bool]]:
    from sapwood.corpora.labeled import given_labels, labeled_rows, tree_column
    from sapwood.parse import as_parser, read_examples

    if options.parser is None:
        found = list(labeled_rows(rows, labels=labels))
        return tree_column(found), given_labels(found), [False] * len(found)
    found = list(labeled_rows(rows, labels=labels, what="text"))
    reading = read_examples([row.fields[0] for row in found], as_parser(options.parser), what="line")
    return reading.array(), given_labels(found), reading.unparsed.tolist()


def explain(model: KernelSVC, options: argparse.Namespace, items: Iterable[Line]) -> Iterator[Any]:
    """Yield why each tree has its label."""
    for line in items:
        trees, _, _ = _read([line], options, labels=False)
        yield model.explain(trees, label=options.label, top=options.top)


def evaluate(model: KernelSVC, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return accuracy, and precision, recall and F1 per class."""
    from sapwood.metrics import score_labels

    trees, gold = read(options)
    record, text = label_report(score_labels(gold, model.predict(trees).astype(str)))
    return record, text + unseen(gold.tolist(), model.classes_)
