"""Classifiers of pairs: one label per line of label<TAB>trees<TAB>trees."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sapwood.tasks.pairs import PairClassifier

__all__ = ["evaluate", "predict"]


def predict(model: PairClassifier, options: argparse.Namespace) -> int:
    """Write one line per pair: the predicted label, with ``--margins`` also the probability of both."""
    import numpy as np

    from sapwood.corpora import read_tree_pairs
    from sapwood.files import atomic_write

    pairs, _ = read_tree_pairs(sys.stdin if options.data == "-" else options.data, labels=False)
    lines = []
    for row in model.predict_proba(pairs):
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


def evaluate(model: PairClassifier, options: argparse.Namespace) -> int:
    """Print log-loss, area under the curve, accuracy, and precision, recall and F1 of both classes."""
    import numpy as np
    from sklearn.metrics import log_loss, precision_recall_fscore_support, roc_auc_score

    from sapwood.corpora import read_tree_pairs
    from sapwood.errors import DataError

    pairs, gold = read_tree_pairs(sys.stdin if options.data == "-" else options.data)
    assert gold is not None
    names = model.classes_.astype(str)
    unknown = sorted(set(gold.tolist()) - set(names.tolist()))
    if unknown:
        raise DataError(f"the label {unknown[0]!r} was not there in training; the model knows {', '.join(names)}.")
    probabilities = model.predict_proba(pairs)
    truth = (gold == names[1]).astype(int)
    predicted = (probabilities[:, 1] > 0.5).astype(int)
    both = len(set(truth.tolist())) == 2
    # With one class only there is nothing to rank.
    area = float(roc_auc_score(truth, probabilities[:, 1])) if both else None
    scores = {
        "count": len(gold),
        "log_loss": float(log_loss(truth, probabilities, labels=[0, 1])),
        "auc": area,
        "accuracy": float(np.mean(predicted == truth)),
    }
    precision, recall, f1, support = precision_recall_fscore_support(truth, predicted, labels=[0, 1], zero_division=0.0)
    rows = list(zip(names.tolist(), precision, recall, f1, support, strict=True))
    if options.json:
        classes = {
            name: {"precision": float(p), "recall": float(r), "f1": float(f), "count": int(n)}
            for name, p, r, f, n in rows
        }
        print(json.dumps({**scores, "classes": classes}, ensure_ascii=False, indent=2))
        return 0
    width = max(len(name) for name in [*names, "accuracy"])
    print(f"{'class':<{width}}  precision  recall      f1   count")
    for name, p, r, f, n in rows:
        print(f"{name:<{width}}  {p:9.4f}  {r:6.4f}  {f:6.4f}  {n:6d}")
    print(f"{'accuracy':<{width}}  {scores['accuracy']:9.4f}{'':16}  {len(gold):6d}")
    print(f"{'log-loss':<{width}}  {scores['log_loss']:9.4f}")
    print(f"{'auc':<{width}}  {'–' if area is None else format(area, '9.4f')}")
    return 0
