"""What context buys, and what structure adds to it: questions with the vectors of a frozen encoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.experiments.measuring import Stopwatch, percent
from sapwood.experiments.questions.data import QuestionData
from sapwood.experiments.questions.scoring import COST, margins_of, ridge_accuracy, with_interval
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.kernels import RBF, Kernel, SemanticSubsetTree
from sapwood.metrics import mcnemar
from sapwood.tasks.questions import contextual_kernel, question_views, semantic_kernel
from sapwood.tasks.questions.tuning import Folds, Grams, cross_validate, svm_on_gram
from sapwood.trees import Examples
from sapwood.words import Contextual, Encoder

__all__ = ["compare_in_context"]

# The next to last of MiniLM's six layers, 384 numbers per word.
_ENCODER, _LAYERS = "minilm", (5,)
_ALONE = "encoder alone: RBF on the mean of the words"
_TREES = "trees alone: focus + lexical + ½ words, WordNet"


def compare_in_context(setting: Setting, data: QuestionData, folds: Folds) -> Table | None:
    """Cross-validate trees, an encoder and both, then score each on the test questions, once."""
    try:
        encoder = Encoder(_ENCODER, layers=_LAYERS, pieces="mean", cache=setting.cached("states"))
    except DataError:
        return None
    views = [_views(questions, known, encoder) for questions, known in _parts(data)]
    grams = Grams(*views)
    labels = {fine: data.labels(fine) for fine in (False, True)}
    right: dict[tuple[str, bool], NDArray[np.bool_]] = {}
    tested: dict[str, list[Any]] = {}
    lines: list[list[Cell]] = []
    for name, kernel in _rows().items():
        with Stopwatch() as spent:
            K = grams.train(kernel)
            cells: list[Cell] = [name, *ridge_accuracy(K, data, folds)]
            for fine in (False, True):
                right[name, fine] = cross_validate(K, labels[fine], folds, C=COST) == labels[fine]
                cells.append(percent(right[name, fine]))
                svm = svm_on_gram(K, np.arange(len(K)), labels[fine], COST)
                tested.setdefault(name, []).append((svm, grams.other(kernel)))
        lines.append([*cells, spent.cpu])
        grams.forget()
    # Nothing of the test questions is looked at before the cross-validation of all rows is done.
    for line in lines:
        scores: list[Cell] = []
        for fine, (svm, rows) in zip((False, True), tested[str(line[0])], strict=True):
            gold = data.labels(fine, test=True)
            scores += with_interval(svm.classes_[margins_of(svm, rows).argmax(axis=1)] == gold, setting.seed)
        line[5:5] = scores
    best = max(lines, key=lambda line: float(line[3] or 0.0) + float(line[4] or 0.0))[0]
    notes = [
        f"MiniLM, layer {_LAYERS[0]}, frozen, int8; SVM with C = {COST:g}, one class against the rest; seed "
        f"{setting.seed}.",
        f"Best by cross-validation, both sets of classes together: {best}.",
    ]
    for other in (_ALONE, _TREES):
        values = [mcnemar(right[str(best), fine], right[other, fine]).p_value for fine in (False, True)]
        notes.append(f"Against {other}: p = {values[0]:.2g} (6 classes), {values[1]:.2g} (50), McNemar on the folds.")
    return Table(
        "context",
        f"TREC with words in context: {len(data.train):,} training questions in {len(folds)} folds, "
        f"{len(data.test)} test questions",
        ("kernel", "ridge, 6", "ridge, 50", "SVM, 6", "SVM, 50", "test, 6", "95%", "test, 50", "95% ", "CPU s"),
        lines,
        {"test, 6": 1, "test, 50": 1, "CPU s": 0},
        notes=notes,
    )


def _rows() -> dict[str, Kernel]:
    vectors = RBF().on("vectors")
    in_context = SemanticSubsetTree(Contextual(), decay=0.2, leaf_weight=2.0).normalized().on("context")
    on_context = contextual_kernel(view="context")
    return {
        _ALONE: vectors,
        _TREES: semantic_kernel(),
        "0.3 trees + 0.7 encoder": 0.3 * semantic_kernel() + 0.7 * vectors,
        "SSTK on focus trees, words in context": in_context,
        "words in context in focus trees + lexical + ½ words": on_context,
        "the same + encoder": on_context + vectors,
    }


def _parts(data: QuestionData) -> list[tuple[Any, Examples]]:
    return [(data.train, data.views), (data.test, data.test_views)]


def _views(questions: Any, known: Examples, encoder: Encoder) -> Examples:
    encoded = question_views([one.tree for one in questions], ["focus", "vectors"], encoder=encoder)
    names = ("focus", "lexical", "words")
    return Examples(**{name: known[name] for name in names}, context=encoded["focus"], vectors=encoded["vectors"])
