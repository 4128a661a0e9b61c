"""``sapwood train questions``: a classifier of questions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sapwood.cli.command import argument
from sapwood.cli.inputs import open_named
from sapwood.cli.options import ENCODER, ENCODING, KERNEL, PARSER, choice, flag, integer, number
from sapwood.cli.output import summary
from sapwood.cli.training import task

if TYPE_CHECKING:
    from sapwood.corpora.questions import Question

__all__ = ["COMMAND"]


def _train(options: argparse.Namespace) -> tuple[Any, str]:
    import numpy as np

    from sapwood import corpora
    from sapwood.errors import ParameterError
    from sapwood.kernels import parse_kernel
    from sapwood.parse import as_parser
    from sapwood.tasks.questions import QuestionClassifier, tune
    from sapwood.tasks.questions.tuning import candidates

    if options.encoder is not None and options.tune is not None:
        raise ParameterError("--tune chooses among kernels without an encoder; leave out --tune or --encoder.")
    kernel = None if options.kernel is None else parse_kernel(options.kernel)
    parser = None if options.parser is None else as_parser(options.parser)
    questions = list(corpora.questions.read(open_named(options.data), encoding=options.encoding))
    shown = _shown(questions, options.trees)
    labels = np.array([one.coarse if options.labels == "coarse" else one.label for one in questions])
    cost = "balanced" if options.balanced else None
    model = QuestionClassifier(kernel, C=options.C, class_weight=cost, parser=parser, encoder=options.encoder)
    if options.tune is not None:
        kernels = candidates() if kernel is None else [kernel]
        values = tuple(sorted({1.0, 3.0, 10.0, options.C}))
        tuning = tune(
            shown, labels, kernels=kernels, C=values, class_weights=(cost,), folds=options.tune, keep=2, parser=parser
        )
        summary(options, str(tuning))
        model = tuning.classifier(parser=parser)
    model.fit(shown, labels)
    flat = int(model.unparsed_.sum())
    unparsed = f", {flat:,} of them without a parse" if flat else ""
    learned = f"{len(model.svm_.support_):,} support questions of {len(questions):,}{unparsed}"
    return model, f"{len(model.classes_)} classes, {learned}, {model.svm_.kernel_!r}"


def _shown(questions: Sequence[Question], trees: str) -> list[Any]:
    """Give questions by the trees that are wanted; by their text where there is none."""
    if trees == "automatic":
        return list(questions)
    texts: list[Any] = [" ".join(question.words) for question in questions]
    if trees == "none":
        return texts
    return [text if one.gold is None else one.gold for one, text in zip(questions, texts, strict=True)]


COMMAND = task(
    "questions",
    "a classifier of questions, as text or with trees",
    "Learn which kind of answer a question asks for. DATA holds lines of COARSE:fine question (text), or rows of five "
    "columns: coarse, fine, words, tree, gold tree.",
    (
        argument("data", metavar="DATA", help="file of questions, or - for standard input"),
        choice("--labels", ("coarse", "fine"), "which labels to learn"),
        choice(
            "--trees", ("automatic", "gold", "none"), "which trees to use; never mix them between training and test"
        ),
        KERNEL.but(
            help="kernel on the views focus, lexical, words and tree (default: the best combination found on TREC)"
        ),
        number("-C", "inverse of the strength of regularization", 10.0, metavar="C"),
        flag("--balanced", "let rare classes count as much as frequent ones"),
        integer(
            "--tune",
            "choose C, and with no --kernel also the kernel, by cross-validation in N folds; prints the trials",
        ),
        ENCODER,
        ENCODING.but(help="encoding of DATA; TREC's own files are latin-1 (default: %(default)s)"),
        PARSER.but(help="questions without trees are text; the model keeps this parser"),
    ),
    _train,
)
