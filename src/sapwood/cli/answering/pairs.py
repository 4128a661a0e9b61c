"""Classifiers of pairs: one label per line of label<TAB>trees<TAB>trees, or of text with a parser."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from sapwood.cli.answering.labels import as_json, class_scores, label_line, print_scores, write_lines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sapwood.tasks.pairs import PairClassifier

__all__ = ["TAKES", "evaluate", "predict", "read_pairs"]

TAKES = ("parser",)


def read_pairs(
    source: str, parser: Any, *, labels: bool = True
) -> tuple[Any, NDArray[np.str_] | None, NDArray[np.bool_] | None]:
    """Read pairs with their labels: of trees or, where there is a parser, of text, and which of these were unparsed."""
    from sapwood.corpora import read_text_pairs, read_tree_pairs
    from sapwood.tasks.pairs import read_pair_trees

    stream = sys.stdin if source == "-" else source
    if parser is None:
        return *read_tree_pairs(stream, labels=labels), None
    texts, found = read_text_pairs(stream, labels=labels)
    reading = read_pair_trees(texts, parser)
    return reading.pairs, found, reading.unparsed


def predict(model: PairClassifier, options: argparse.Namespace) -> int:
    """Write one line per pair: the label, with ``--margins`` both probabilities, and ``unparsed`` where it was so."""
    from sapwood.cli.models import load_parser

    parser = model.parser if options.parser is None else load_parser(options.parser)
    pairs, _, unparsed = read_pairs(options.data, parser, labels=False)
    flags = [False] * len(pairs) if unparsed is None else unparsed.tolist()
    lines = [
        label_line(model.classes_, row, margins=options.margins, mark="unparsed" if flag else None)
        for row, flag in zip(model.predict_proba(pairs), flags, strict=True)
    ]
    write_lines(lines, options.out)
    return 0


def evaluate(model: PairClassifier, options: argparse.Namespace) -> int:
    """Print log-loss, area under the curve, accuracy, and precision, recall and F1 of both classes."""
    import numpy as np
    from sklearn.metrics import log_loss, roc_auc_score

    from sapwood.errors import DataError

    pairs, gold, unparsed = read_pairs(options.data, model.parser)
    assert gold is not None
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
    accuracy = float(np.mean(predicted == gold))
    scores = class_scores(gold, predicted, names)
    flat = 0 if unparsed is None else int(unparsed.sum())
    if options.json:
        found = {"count": len(gold), "log_loss": loss, "auc": area, "accuracy": accuracy}
        found |= {} if unparsed is None else {"unparsed": flat}
        print(json.dumps({**found, "classes": as_json(scores)}, ensure_ascii=False, indent=2))
        return 0
    print_scores(scores, accuracy, len(gold), log_loss=loss, auc=area)
    if flat:
        print(f"{flat:,} pairs had a text without a whole parse, and were judged by what there was")
    return 0
