"""``sapwood train questions``: a classifier of questions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import open_named
from sapwood.cli.options import ENCODING, KERNEL, MODEL_OUTPUT, PARSER, THREADS, positive_float, positive_int
from sapwood.cli.output import summary

if TYPE_CHECKING:
    from sapwood.corpora.questions import Question

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    import numpy as np

    from sapwood import corpora
    from sapwood.files import save
    from sapwood.kernels import parse_kernel
    from sapwood.parse import as_parser
    from sapwood.tasks.questions import QuestionClassifier, tune
    from sapwood.tasks.questions.tuning import candidates

    kernel = None if options.kernel is None else parse_kernel(options.kernel)
    parser = None if options.parser is None else as_parser(options.parser)
    questions = list(corpora.questions.read(open_named(options.data), encoding=options.encoding))
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
        summary(options, str(tuning))
        model = tuning.classifier(parser=parser)
    model.fit(shown, labels)
    save(model, options.output)
    flat = int(model.unparsed_.sum())
    unparsed = f", {flat:,} of them without a parse" if flat else ""
    learnt = f"{len(model.svm_.support_):,} support questions of {len(questions):,}{unparsed}"
    summary(options, f"{options.output}: {len(model.classes_)} classes, {learnt}, {model.svm_.kernel_!r}")


def _shown(questions: Sequence[Question], trees: str) -> list[Any]:
    """Give questions by the trees that are wanted; by their text where there is none."""
    if trees == "automatic":
        return list(questions)
    texts: list[Any] = [" ".join(question.words) for question in questions]
    if trees == "none":
        return texts
    return [text if one.gold is None else one.gold for one, text in zip(questions, texts, strict=True)]


COMMAND = Command(
    "questions",
    "a classifier of questions, as text or with trees",
    "Learn which kind of answer a question asks for. DATA holds lines of COARSE:fine question (text), or rows of five "
    "columns: coarse, fine, words, tree, gold tree.",
    (
        argument("data", metavar="DATA", help="file of questions, or - for standard input"),
        MODEL_OUTPUT,
        argument("--labels", choices=("coarse", "fine"), default="coarse", help="default: %(default)s"),
        argument(
            "--trees",
            choices=("automatic", "gold", "none"),
            default="automatic",
            help="which trees to use; never mix them between training and test (default: %(default)s)",
        ),
        KERNEL.but(help="on the views focus, lexical, words and tree (default: the best combination found on TREC)"),
        argument("-C", type=positive_float, default=10.0, help="inverse of regularization (default: %(default)s)"),
        argument("--balanced", action="store_true", help="let rare classes count as much as frequent ones"),
        argument(
            "--tune",
            type=positive_int,
            metavar="FOLDS",
            help="choose C, and with no --kernel also the kernel, by cross-validation; prints the trials",
        ),
        ENCODING.but(help="of DATA; TREC's own files are latin-1 (default: %(default)s)"),
        PARSER.but(help="questions without trees are text; the model keeps this parser"),
        THREADS,
    ),
    _run,
)
