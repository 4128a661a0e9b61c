"""``sapwood train trees``: a classifier of labeled trees."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.command import argument
from sapwood.cli.options import DEPENDENCIES, ENCODING, KERNEL, PARSER, choice, flag, number
from sapwood.cli.training import task

__all__ = ["COMMAND"]


def _train(options: argparse.Namespace) -> tuple[Any, str]:
    from sapwood.cli.inference.trees import read
    from sapwood.kernels import parse_kernel
    from sapwood.learn import KernelSVC

    kernel = parse_kernel(options.kernel)
    trees, labels = read(options)
    model = KernelSVC(
        kernel=kernel,
        C=options.C,
        multi_class=options.multi_class,
        class_weight="balanced" if options.balanced else None,
    ).fit(trees, labels)
    counts = f"{len(model.classes_)} classes, {len(model.support_):,} support trees of {len(trees):,}"
    return model, f"{counts}, {kernel!r}"


COMMAND = task(
    "trees",
    "a classifier of labeled trees",
    "Learn a classifier from lines of label<TAB>tree, or from sentences of CoNLL-U (.conllu) with a comment "
    "'# label = ...' each.",
    (
        argument("data", metavar="DATA", help="file of label<TAB>tree lines or .conllu, or - for standard input"),
        KERNEL.but(default="SubsetTree(decay=0.4).normalized()"),
        number("-C", "inverse of the strength of regularization", 1.0, metavar="C"),
        choice("--multi-class", ("ovr", "ovo"), "one class against the rest, or against each other one"),
        flag("--balanced", "let rare classes count as much as frequent ones"),
        ENCODING,
        DEPENDENCIES,
        PARSER.but(help="DATA has lines of label<TAB>text, to be parsed with this model"),
    ),
    _train,
)
