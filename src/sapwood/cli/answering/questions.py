"""Classifiers of questions: one label per question, with a mark where there was no parse."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sapwood.cli.answering.labels import ClassScore, as_json, label_line, print_scores, print_unseen, write_lines

if TYPE_CHECKING:
    from sapwood.corpora import Question
    from sapwood.tasks.questions import QuestionClassifier

__all__ = ["TAKES", "evaluate", "predict", "shown_as"]

TAKES = ("parser", "encoding")


def shown_as(questions: Sequence[Question], trees: str) -> list[Any]:
    """Give questions by the trees that are wanted; by their text where there is none."""
    if trees == "automatic":
        return list(questions)
    texts: list[Any] = [" ".join(question.words) for question in questions]
    if trees == "none":
        return texts
    return [text if one.gold is None else one.gold for one, text in zip(questions, texts, strict=True)]


def predict(model: QuestionClassifier, options: argparse.Namespace) -> int:
    """Write one line per question: the label, with ``--margins`` also all margins, and ``unparsed`` where it was so.

    Lines are text, trees in brackets, rows with five columns, or ``COARSE:fine question`` whose label is passed over.
    """
    import numpy as np

    from sapwood.cli.models import load_parser
    from sapwood.tasks.questions import read_question_trees

    if options.parser is not None:
        model.set_params(parser=load_parser(options.parser))
    reading = read_question_trees(_read_questions(options.data, options.encoding), model.parser)
    margins = model.decision_function(reading.trees)
    if margins.ndim == 1:
        margins = np.column_stack([-margins, margins])
    lines = [
        label_line(model.classes_, row, margins=options.margins, mark="unparsed" if flat else None)
        for row, flat in zip(margins, reading.unparsed, strict=True)
    ]
    write_lines(lines, options.out)
    return 0


def evaluate(model: QuestionClassifier, options: argparse.Namespace) -> int:
    """Print accuracy, and precision, recall and F1 per class."""
    from sapwood.corpora import read_questions
    from sapwood.metrics import score_labels
    from sapwood.tasks.questions import read_question_trees

    questions = read_questions(sys.stdin if options.data == "-" else options.data, encoding=options.encoding)
    fine = any(":" in str(label) for label in model.classes_)
    gold = [question.label if fine else question.coarse for question in questions]
    reading = read_question_trees(questions, model.parser)
    scores = score_labels(gold, model.predict(reading.trees).tolist())
    flat = int(reading.unparsed.sum())
    rows = [ClassScore(name, one.precision, one.recall, one.f1, one.gold) for name, one in scores.classes.items()]
    if options.json:
        found = {"accuracy": scores.accuracy, "count": scores.count, "unparsed": flat, "classes": as_json(rows)}
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return 0
    print_scores(rows, scores.accuracy, scores.count)
    print_unseen(gold, model.classes_)
    if flat:
        print(f"{flat:,} questions had no parse and were classified by their words")
    return 0


def _read_questions(source: str, encoding: str) -> list[Any]:
    from sapwood.corpora.questions import Question
    from sapwood.corpora.sources import FormatError, lines
    from sapwood.trees import Tree

    found: list[Any] = []
    name = source
    for line in lines(sys.stdin if source == "-" else source, encoding=encoding):
        name = line.source
        fields = line.text.split("\t")
        if len(fields) == 5:
            tree = Tree.fromstring(fields[3]) if fields[3] else None
            found.append(Question(fields[0], fields[1], tuple(fields[2].split()), tree))
        elif len(fields) == 1:
            # A label in front, as in the published files, is not part of the question.
            label, _, rest = line.text.partition(" ")
            coarse, colon, fine = label.partition(":")
            labelled = bool(colon) and coarse.isupper() and coarse.isalpha() and fine.isalpha() and fine.islower()
            found.append(rest if labelled and rest.strip() else line.text)
        else:
            raise line.fault(f"expected a question, or 5 columns with a tab between them; found {len(fields)} columns")
    if not found:
        raise FormatError(name, 1, 1, "holds no question; expected one per line")
    return found
