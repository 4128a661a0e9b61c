"""Classifiers of questions: one label per question, with a mark where there was no parse."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sapwood.cli.inference.labels import answer_lines, unseen
from sapwood.cli.inputs import is_conllu, iter_words, labeled_sentences, open_named
from sapwood.cli.tables import label_report

if TYPE_CHECKING:
    from sapwood.tasks.questions import QuestionClassifier
    from sapwood.text_files import Line

__all__ = ["OPTIONS", "answer", "evaluate", "explain", "items"]

OPTIONS = ("encoding", "margins")


def items(model: QuestionClassifier, options: argparse.Namespace) -> Iterator[Line | list[str]]:
    """Yield all lines, or the words of each sentence of CoNLL-U; a blank line is a question without words."""
    from sapwood.text_files import lines

    if is_conllu(options.data):
        return iter_words(options.data, options.encoding)
    return lines(open_named(options.data), encoding=options.encoding)


def answer(
    model: QuestionClassifier, options: argparse.Namespace, tally: Counter[str], items: Iterable[Line | list[str]]
) -> Iterator[str]:
    """Yield one line per question.

    Lines are text, trees in brackets, rows with five columns, or ``COARSE:fine question`` whose label is passed over.
    """
    from sapwood.tasks.questions.reading import read_question_trees

    def read(block: list[Line | list[str]]) -> tuple[Any, None, Any]:
        reading = read_question_trees([_question(line) for line in block], model.parser)
        return reading.trees, None, reading.unparsed

    return answer_lines(options, tally, items, read, model.classes_, model.decision_function)


def explain(model: QuestionClassifier, options: argparse.Namespace, items: Iterable[Line | list[str]]) -> Iterator[Any]:
    """Yield why each question has its label; blank lines are passed over."""
    for line in items:
        if isinstance(line, list) or line.text.strip():
            yield model.explain(_question(line), label=options.label, top=options.top)


def evaluate(model: QuestionClassifier, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return accuracy, and precision, recall and F1 per class."""
    from sapwood import corpora
    from sapwood.metrics import score_labels
    from sapwood.tasks.questions.reading import read_question_trees

    fine = any(":" in str(label) for label in model.classes_)
    if is_conllu(options.data):
        sentences = list(labeled_sentences(options.data, options.encoding))
        questions: list[Any] = [list(sentence.words) for sentence, _ in sentences]
        gold = [label for _, label in sentences]
    else:
        questions = list(corpora.questions.read(open_named(options.data), encoding=options.encoding))
        gold = [question.label if fine else question.coarse for question in questions]
    reading = read_question_trees(questions, model.parser)
    record, text = label_report(score_labels(gold, model.predict(reading.trees).tolist()))
    flat = int(reading.unparsed.sum())
    text += unseen(gold, model.classes_)
    if flat:
        text += f"\n{flat:,} questions had no parse and were classified by their words"
    return {"unparsed": flat, **record}, text


def _question(line: Line | list[str]) -> Any:
    from sapwood.corpora.questions import Question
    from sapwood.trees import Tree

    if isinstance(line, list):
        return line
    fields = line.text.split("\t")
    if len(fields) == 5:
        tree = Tree.fromstring(fields[3]) if fields[3] else None
        return Question(fields[0], fields[1], tuple(fields[2].split()), tree)
    if len(fields) > 1:
        raise line.fault(f"expected a question, or 5 columns with a tab between them; found {len(fields)} columns")
    # A label in front, as in the published files, is not part of the question.
    label, _, rest = line.text.partition(" ")
    coarse, colon, fine = label.partition(":")
    labelled = bool(colon) and coarse.isupper() and coarse.isalpha() and fine.isalpha() and fine.islower()
    return rest if labelled and rest.strip() else line.text
