"""Classifiers of pairs: one label per line of label<TAB>trees<TAB>trees, or of text with a parser."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from sapwood.cli.inference.labels import answer_lines
from sapwood.cli.inputs import open_named
from sapwood.cli.tables import label_report

if TYPE_CHECKING:
    from sapwood.tasks.pairs import PairClassifier
    from sapwood.text_files import Line

__all__ = ["OPTIONS", "answer", "evaluate", "explain", "items", "read_pairs"]

OPTIONS = ("margins",)


def items(model: PairClassifier, options: argparse.Namespace) -> Iterator[Line]:
    """Yield the lines that are not blank."""
    from sapwood.text_files import lines

    return (line for line in lines(open_named(options.data)) if line.text.strip())


def answer(
    model: PairClassifier, options: argparse.Namespace, tally: Counter[str], items: Iterable[Line]
) -> Iterator[str]:
    """Yield one line per pair, with probabilities for margins."""
    read = partial(_read, parser=model.parser, labels=False)
    return answer_lines(options, tally, items, read, model.classes_, model.predict_proba)


def read_pairs(source: str, parser: Any) -> tuple[Any, Any, int]:
    """Read pairs with their labels: of trees or, where there is a parser, of text; and how many were unparsed."""
    from sapwood.corpora.labeled import nothing_in
    from sapwood.text_files import lines

    stream = open_named(source)
    pairs, found, flat = _read(lines(stream), parser, labels=True)
    if not len(pairs):
        kind = "trees" if parser is None else "text"
        raise nothing_in(stream, "pair", f"label<TAB>{kind}<TAB>{kind}")
    return pairs, found, sum(flat)


def _read(rows: Iterable[Line], parser: Any, *, labels: bool) -> tuple[Any, Any, list[bool]]:
    from sapwood.corpora.labeled import given_labels, labeled_rows
    from sapwood.corpora.tree_pairs import tree_pairs
    from sapwood.tasks.pairs.reading import read_pair_trees

    if parser is None:
        found = list(labeled_rows(rows, labels=labels, fields=2, what="trees"))
        return tree_pairs(found), given_labels(found), [False] * len(found)
    found = list(labeled_rows(rows, labels=labels, fields=2, what="text"))
    reading = read_pair_trees([row.fields for row in found], parser)
    return reading.pairs, given_labels(found), reading.unparsed.tolist()


def explain(model: PairClassifier, options: argparse.Namespace, items: Iterable[Line]) -> Iterator[Any]:
    """Yield what the features of each pair add to the decision, which is about the second class."""
    for line in items:
        pairs, _, _ = _read([line], model.parser, labels=False)
        yield model.explain(pairs, top=options.top)


def evaluate(model: PairClassifier, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return log-loss, area under the curve, accuracy, and precision, recall and F1 of both classes."""
    from sklearn.metrics import log_loss, roc_auc_score

    from sapwood.errors import DataError
    from sapwood.metrics import score_labels

    pairs, gold, flat = read_pairs(options.data, model.parser)
    names = model.classes_.astype(str)
    unknown = sorted(set(gold.tolist()) - set(names.tolist()))
    if unknown:
        raise DataError(f"the label {unknown[0]!r} was not there in training; the model knows {', '.join(names)}.")
    probabilities = model.predict_proba(pairs)
    truth = (gold == names[1]).astype(int)
    predicted = names[(probabilities[:, 1] > 0.5).astype(int)]
    # With one class only there is nothing to rank.
    area = float(roc_auc_score(truth, probabilities[:, 1])) if len(set(truth.tolist())) == 2 else None
    loss = float(log_loss(truth, probabilities, labels=[0, 1]))
    record, text = label_report(score_labels(gold, predicted))
    text += f"\n\nlog-loss {loss:.4f}, AUC {'–' if area is None else f'{area:.4f}'}"
    if flat:
        text += (
            f"\n{flat:,} pairs had a text without a whole parse, and were classified from the parts that were parsed"
        )
    unparsed = {} if model.parser is None else {"unparsed": flat}
    return {"log_loss": loss, "auc": area, **unparsed, **record}, text
