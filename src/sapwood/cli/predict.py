"""``sapwood predict``: label trees with a model."""

from __future__ import annotations

import argparse
import sys

from sapwood.cli.arguments import Subparsers, add_threads

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "predict",
        help="label trees with a model",
        description="Write one line per tree: the predicted label, with --margins also the margin of every class.",
    )
    parser.add_argument("model", metavar="MODEL", help="model file")
    parser.add_argument("data", metavar="DATA", help="one tree or label<TAB>tree per line, or - for standard input")
    parser.add_argument("--margins", action="store_true", help="add class=margin columns, largest first")
    parser.add_argument("--out", metavar="FILE", help="where to write (default: standard output)")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Predict and write the labels."""
    import numpy as np

    from sapwood.cli.models import load_classifier
    from sapwood.corpora import read_labelled
    from sapwood.files import atomic_write

    model = load_classifier(options.model)
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
