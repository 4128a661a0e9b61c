"""Classifiers of trees: one label per line of label<TAB>tree."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sapwood.learn import KernelSVC

__all__ = ["evaluate", "predict"]


def predict(model: KernelSVC, options: argparse.Namespace) -> int:
    """Write one line per tree: the predicted label, with ``--margins`` also the margin of every class."""
    import numpy as np

    from sapwood.corpora import read_labelled
    from sapwood.files import atomic_write

    trees, _ = read_labelled(sys.stdin if options.data == "-" else options.data, labels=False)
    margins = model.decision_function(trees)
    if margins.ndim == 1:
        margins = np.column_stack([-margins, margins])
    lines = []
    for row in margins:
        order = np.argsort(-row, kind="stable")
        cells = [str(model.classes_[order[0]])]
        if options.margins:
            cells += [f"{model.classes_[k]}={row[k]:.6g}" for k in order]
        lines.append("\t".join(cells) + "\n")
    if options.out:
        atomic_write(options.out, "".join(lines).encode())
    else:
        sys.stdout.writelines(lines)
    return 0


def evaluate(model: KernelSVC, options: argparse.Namespace) -> int:
    """Print accuracy, and precision, recall and F1 per class."""
    import numpy as np
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    from sapwood.corpora import read_labelled

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
