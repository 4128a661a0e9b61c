"""``sapwood evaluate``: compare a model's labels with the right ones."""

from __future__ import annotations

import argparse
import json
import sys

from sapwood.cli.arguments import Subparsers, add_threads

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "evaluate",
        help="score a model on labelled trees",
        description="Print accuracy, and precision, recall and F1 per class.",
    )
    parser.add_argument("model", metavar="MODEL", help="model file")
    parser.add_argument("data", metavar="DATA", help="file of label<TAB>tree lines, or - for standard input")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Predict, score and print."""
    import numpy as np
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    from sapwood.cli.models import load_classifier
    from sapwood.corpora import read_labelled

    model = load_classifier(options.model)
    trees, gold = read_labelled(sys.stdin if options.data == "-" else options.data)
    predicted = model.predict(trees).astype(str)
    assert gold is not None
    names = np.unique(np.concatenate([gold, predicted]))
    precision, recall, f1, support = precision_recall_fscore_support(gold, predicted, labels=names, zero_division=0.0)
    accuracy = float(accuracy_score(gold, predicted))
    if options.json:
        rows = {
            str(name): {"precision": float(p), "recall": float(r), "f1": float(f), "count": int(n)}
            for name, p, r, f, n in zip(names, precision, recall, f1, support, strict=True)
        }
        print(json.dumps({"accuracy": accuracy, "count": len(trees), "classes": rows}, ensure_ascii=False, indent=2))
        return 0
    width = max([len(str(name)) for name in names] + [8])
    print(f"{'class':<{width}}  precision  recall      f1   count")
    for name, p, r, f, n in zip(names, precision, recall, f1, support, strict=True):
        print(f"{name:<{width}}  {p:9.4f}  {r:6.4f}  {f:6.4f}  {n:6d}")
    print(f"{'accuracy':<{width}}  {accuracy:9.4f}{'':16}  {len(trees):6d}")
    return 0
