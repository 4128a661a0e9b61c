"""``sapwood train trees``: a classifier of labelled trees."""

from __future__ import annotations

import argparse

from sapwood.cli.arguments import (
    Subparsers,
    add_encoding,
    add_kernel,
    add_parser_model,
    add_threads,
    check_outputs,
    positive_float,
)

__all__ = ["add_parser", "run"]


def add_parser(tasks: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the task."""
    trees = tasks.add_parser(
        "trees", help="a classifier of labelled trees", description="Learn a classifier from lines of label<TAB>tree."
    )
    trees.add_argument("data", metavar="DATA", help="file of label<TAB>tree lines, or - for standard input")
    trees.add_argument("-o", "--out", required=True, metavar="MODEL", help="the model file to write")
    add_kernel(trees, "default: %(default)s", default="SubsetTree(decay=0.4).normalized()")
    trees.add_argument("-C", type=positive_float, default=1.0, help="price of a training error (default: %(default)s)")
    trees.add_argument("--multi-class", choices=("ovr", "ovo"), default="ovr", help="default: %(default)s")
    trees.add_argument("--balanced", action="store_true", help="let rare classes count as much as frequent ones")
    add_encoding(trees)
    add_parser_model(trees, "DATA has lines of label<TAB>text")
    add_threads(trees)
    trees.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit, save, and say what was learnt."""
    from sapwood.cli.answering.trees import read
    from sapwood.files import save
    from sapwood.kernels import parse_kernel
    from sapwood.learn import KernelSVC

    check_outputs(options.out)
    kernel = parse_kernel(options.kernel)
    trees, labels = read(options)
    model = KernelSVC(
        kernel=kernel,
        C=options.C,
        multi_class=options.multi_class,
        class_weight="balanced" if options.balanced else None,
    ).fit(trees, labels)
    save(model, options.out)
    counts = f"{len(model.classes_)} classes, {len(model.support_):,} support trees of {len(trees):,}"
    print(f"{options.out}: {counts}, {kernel!r}")
    return 0
