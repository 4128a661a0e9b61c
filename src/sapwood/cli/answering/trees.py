"""Classifiers of trees: one label per line of label<TAB>tree."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from sapwood.cli.answering.labels import as_json, class_scores, label_line, print_scores, print_unseen, write_lines
from sapwood.cli.arguments import named_source

if TYPE_CHECKING:
    from sapwood.learn import KernelSVC

__all__ = ["TAKES", "evaluate", "predict"]

TAKES = ("encoding",)


def predict(model: KernelSVC, options: argparse.Namespace) -> int:
    """Write one line per tree: the predicted label, with ``--margins`` also the margin of every class."""
    import numpy as np

    from sapwood.corpora import read_labelled

    trees, _ = read_labelled(named_source(options.data), labels=False, encoding=options.encoding)
    margins = model.decision_function(trees)
    if margins.ndim == 1:
        margins = np.column_stack([-margins, margins])
    write_lines([label_line(model.classes_, row, margins=options.margins) for row in margins], options.out)
    return 0


def evaluate(model: KernelSVC, options: argparse.Namespace) -> int:
    """Print accuracy, and precision, recall and F1 per class."""
    import numpy as np

    from sapwood.corpora import read_labelled

    trees, gold = read_labelled(named_source(options.data), encoding=options.encoding)
    predicted = model.predict(trees).astype(str)
    assert gold is not None
    scores = class_scores(gold, predicted, np.unique(np.concatenate([gold, predicted])))
    accuracy = float(np.mean(gold == predicted))
    if options.json:
        found = {"accuracy": accuracy, "count": len(trees), "classes": as_json(scores)}
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return 0
    print_scores(scores, accuracy, len(trees))
    print_unseen(gold.tolist(), model.classes_)
    return 0
