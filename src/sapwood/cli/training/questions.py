"""``sapwood train questions``: a classifier of questions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sapwood.cli.arguments import (
    Subparsers,
    add_kernel,
    add_parser_model,
    add_threads,
    check_outputs,
    positive_float,
    positive_int,
)

if TYPE_CHECKING:
    from sapwood.corpora import Question

__all__ = ["add_parser", "run"]


def add_parser(tasks: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the task."""
    questions = tasks.add_parser(
        "questions",
        help="a classifier of questions, as text or with trees",
        description="Learn which kind of answer a question asks for. DATA holds lines of COARSE:fine question (text), "
        "or rows of five columns: coarse, fine, words, tree, gold tree.",
    )
    questions.add_argument("data", metavar="DATA", help="file of questions, or - for standard input")
    questions.add_argument("-o", "--out", required=True, metavar="MODEL", help="the model file to write")
    questions.add_argument("--labels", choices=("coarse", "fine"), default="coarse", help="default: %(default)s")
    questions.add_argument(
        "--trees",
        choices=("automatic", "gold", "none"),
        default="automatic",
        help="which trees to use; never mix them between training and test (default: %(default)s)",
    )
    add_kernel(questions, "on the views focus, lexical, words and tree (default: the best combination found on TREC)")
    questions.add_argument(
        "-C", type=positive_float, default=10.0, help="inverse of the strength of regularization (default: %(default)s)"
    )
    questions.add_argument("--balanced", action="store_true", help="let rare classes count as much as frequent ones")
    add_parser_model(questions, "questions without trees are text, and the model keeps the parser")
    questions.add_argument("--encoding", default="utf-8", help="of DATA; TREC's own files are latin-1 (default: utf-8)")
    questions.add_argument(
        "--tune",
        type=positive_int,
        metavar="FOLDS",
        help="choose C, and with no --kernel also the kernel, by cross-validation; prints the trials",
    )
    add_threads(questions)
    questions.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, tune if asked to, fit, save, and say what was learnt."""
    import sys

    import numpy as np

    from sapwood.corpora import read_questions
    from sapwood.files import save
    from sapwood.kernels import parse_kernel
    from sapwood.parse import as_parser
    from sapwood.tasks.questions import QuestionClassifier, tune
    from sapwood.tasks.questions.tuning import candidates

    check_outputs(options.out)
    kernel = None if options.kernel is None else parse_kernel(options.kernel)
    parser = None if options.parser is None else as_parser(options.parser)
    questions = read_questions(sys.stdin if options.data == "-" else options.data, encoding=options.encoding)
    shown = _shown(questions, options.trees)
    labels = np.array([one.coarse if options.labels == "coarse" else one.label for one in questions])
    cost = "balanced" if options.balanced else None
    model = QuestionClassifier(kernel, C=options.C, class_weight=cost, parser=parser)
    if options.tune is not None:
        kernels = candidates() if kernel is None else [kernel]
        values = tuple(sorted({1.0, 3.0, 10.0, options.C}))
        tuning = tune(
            shown, labels, kernels=kernels, C=values, class_weights=(cost,), folds=options.tune, keep=2, parser=parser
        )
        print(tuning)
        model = tuning.classifier(parser=parser)
    model.fit(shown, labels)
    save(model, options.out)
    flat = int(model.unparsed_.sum())
    print(
        f"{options.out}: {len(model.classes_)} classes, {len(model.svm_.support_):,} support questions of "
        f"{len(questions):,}{f', {flat:,} of them without a parse' if flat else ''}, {model.svm_.kernel_!r}"
    )
    return 0


def _shown(questions: Sequence[Question], trees: str) -> list[Any]:
    """Give questions by the trees that are wanted; by their text where there is none."""
    if trees == "automatic":
        return list(questions)
    texts: list[Any] = [" ".join(question.words) for question in questions]
    if trees == "none":
        return texts
    return [text if one.gold is None else one.gold for one, text in zip(questions, texts, strict=True)]
