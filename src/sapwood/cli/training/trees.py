"""``sapwood train trees``: a classifier of labeled trees."""

from __future__ import annotations

import argparse

from sapwood.cli.command import Command, argument
from sapwood.cli.options import ENCODING, KERNEL, MODEL_OUTPUT, PARSER, THREADS, positive_float
from sapwood.cli.output import summary

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.cli.inference.trees import read
    from sapwood.files import save
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
    save(model, options.output)
    counts = f"{len(model.classes_)} classes, {len(model.support_):,} support trees of {len(trees):,}"
    summary(options, f"{options.output}: {counts}, {kernel!r}")


COMMAND = Command(
    "trees",
    "a classifier of labeled trees",
    "Learn a classifier from lines of label<TAB>tree.",
    (
        argument("data", metavar="DATA", help="file of label<TAB>tree lines, or - for standard input"),
        MODEL_OUTPUT,
        KERNEL.but(help="default: %(default)s", default="SubsetTree(decay=0.4).normalized()"),
        argument("-C", type=positive_float, default=1.0, help="inverse of regularization (default: %(default)s)"),
        argument("--multi-class", choices=("ovr", "ovo"), default="ovr", help="default: %(default)s"),
        argument("--balanced", action="store_true", help="let rare classes count as much as frequent ones"),
        ENCODING,
        PARSER.but(help="DATA has lines of label<TAB>text, to be parsed with this model"),
        THREADS,
    ),
    _run,
)
