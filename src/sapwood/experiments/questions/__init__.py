"""Question classification on TREC: from bags of words through tree kernels to trees with similar words.

The rows follow Bloehdorn and Moschitti's argument (semantic syntactic tree kernels, CIKM 2007) and go on to focus
trees, lexical trees and their sums. Every row is cross-validated on the training questions, and that table is complete
before any test question is scored; each row is scored once. Trees are a parser's throughout, never an annotator's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import settings
from sapwood.experiments.figures import plot_lines
from sapwood.experiments.measuring import Stopwatch, percent
from sapwood.experiments.questions.context import compare_in_context
from sapwood.experiments.questions.data import DIMENSIONS, QuestionData, read_questions
from sapwood.experiments.questions.scoring import COST, margins_of, ridge_accuracy, with_interval
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.files import save
from sapwood.kernels import Kernel, Linear, PartialTree, SemanticSubsetTree, SmoothedPartialTree, SubsetTree, Subtree
from sapwood.learn import KernelSVC
from sapwood.tasks.questions import QuestionClassifier, semantic_kernel
from sapwood.tasks.questions.tuning import Folds, Grams, cross_validate, make_folds, svm_on_gram
from sapwood.words import Table as WordTable
from sapwood.words import Tagged, WordNet

__all__ = ["run"]

_FOLDS = 5
_SIZES = (500, 1000, 2000, 4000)
_LEAF_WEIGHTS = (0.5, 1.0, 2.0, 4.0)
_WEIGHTS = ("full", "wu-palmer", "path", "resnik")


@dataclass(frozen=True)
class Row:
    """A kernel under its name; with ``fine`` the 50 classes are trained too, with ``final`` it may be chosen."""

    name: str
    kernel: Kernel
    fine: bool = False
    final: bool = False


# An SVM that is trained but has not been asked, and what it needs of the test questions: their Gram rows.
_Fitted = tuple[KernelSVC, NDArray[np.float32]]


def run(setting: Setting) -> Iterator[Table]:
    """Make the tables: ``validation``, ``test``, ``context``, ``leaves``, ``curve`` and ``time``."""
    data = read_questions(setting)
    grams = Grams(data.views, data.test_views)
    folds = make_folds(data.labels(fine=False), _FOLDS, setting.seed)
    rows = _rows(data)
    curve = [row for row in rows if row.name in _CURVE] if setting.wants("curve") else []
    if setting.wants("validation", "test"):
        fitted: dict[tuple[str, bool], _Fitted] = {}
        lines: list[tuple[Cell, ...]] = []
        with settings.progress_bar(len(rows), "Rows", "rows") as progress:
            for number, row in enumerate(rows):
                lines.append(_validate(row, data, grams, folds, fitted, testing=setting.wants("test")))
                grams.forget(*(later.kernel for later in [*rows[number + 1 :], *curve]))
                if progress is not None:
                    progress(number + 1)
        best = max(
            (line for line, row in zip(lines, rows, strict=True) if row.final), key=lambda line: float(line[3] or 0)
        )
        yield Table(
            "validation",
            f"TREC, {len(data.train):,} training questions, {_FOLDS}-fold cross-validation: accuracy",
            ("kernel", "ridge, 6 classes", "ridge, 50", "SVM, 6", "SVM, 50", "CPU s"),
            lines,
            {"CPU s": 1},
            notes=(
                f"seed {setting.seed}; SVM with C = {COST:g} in all rows; – is not run.",
                f"LSI: nouns, {DIMENSIONS} dimensions; that of questions has seen the words of all folds, no label.",
                f"Best by cross-validation of the SVM: {best[0]}.",
                *([] if data.brown is not None else ["The Brown corpus is not here, so its rows are left out."]),
            ),
        )
        if setting.wants("test"):
            yield _test(rows, data, fitted, setting.seed)
    if setting.wants("context") and (table := compare_in_context(setting, data, folds)) is not None:
        yield table
    if setting.wants("leaves"):
        yield _leaves(data, folds)
    if setting.wants("curve"):
        yield _curve(curve, data, grams, setting.seed)
    if setting.wants("time"):
        yield _time(data)


_CURVE = ("bag of words", "SST on lemmas", "SSTK on focus trees, Lin, all senses", "focus + lexical + ½ words")


def _semantic(words: Any, view: str = "lemmas", *, decay: float = 0.4, leaf_weight: float = 1.0) -> Kernel:
    return SemanticSubsetTree(words, decay=decay, leaf_weight=leaf_weight).normalized().on(view)


def _rows(data: QuestionData) -> list[Row]:
    first, every = WordNet(weights="lin"), WordNet(weights="lin", senses="all")
    words = Linear().normalized().on("words")
    focus = {"decay": 0.2, "leaf_weight": 2.0}
    on_focus = _semantic(every, "focus", **focus)
    on_lexical = SmoothedPartialTree(Tagged(every), lexical="all").normalized().on("lexical")
    tagged = Tagged(every, prefix="LEX##")
    on_dependencies = SmoothedPartialTree(tagged, lexical="all").normalized().on("dependencies")
    same = WordTable({})  # words are similar to themselves only
    counted = [] if data.counts is None else [("Lin, Brown counts", WordNet(information=data.counts))]
    brown = [] if data.brown is None else [("LSI of Brown", data.brown)]
    latent = [*brown, ("LSI of questions", data.questions)]
    return [
        Row("bag of words", Linear().normalized().on("bag"), fine=True),
        Row("bag of words and pairs", words),
        Row("semantic bag of words, Lin", Linear(words=first).normalized().on("lemmas")),
        Row("ST on lemmas", Subtree(decay=0.4).normalized().on("lemmas")),
        Row("SST on lemmas", SubsetTree(decay=0.4).normalized().on("lemmas"), fine=True),
        Row("SST on lemmas, λ=.2", SubsetTree(decay=0.2).normalized().on("lemmas")),
        Row("PTK on lemmas", PartialTree().normalized().on("lemmas")),
        *(Row(f"SSTK on lemmas, {weights}", _semantic(WordNet(weights=weights))) for weights in _WEIGHTS),
        Row("SSTK on lemmas, Lin", _semantic(first), fine=True),
        *(Row(f"SSTK on lemmas, {name}", _semantic(similar)) for name, similar in counted),
        Row("SSTK on lemmas, Lin, all senses", _semantic(every)),
        *(
            Row(f"SSTK on lemmas, {half}{name}", _semantic(0.5 * same + 0.5 * similar if half else similar))
            for name, similar in latent
            for half in ("", "½ same + ½ ")
        ),
        Row("SST on focus trees", SubsetTree(decay=0.2).normalized().on("focus")),
        *(
            Row(f"SSTK on focus trees, ½ same + ½ {name}", _semantic(0.5 * same + 0.5 * similar, "focus", **focus))
            for name, similar in brown
        ),
        Row("SSTK on focus trees, Lin", _semantic(first, "focus", **focus)),
        Row("SSTK on focus trees, Lin, all senses", on_focus, fine=True),
        Row("PTK on lexical trees", PartialTree().normalized().on("lexical")),
        Row("SPTK on lexical trees, Lin, all senses", on_lexical, fine=True),
        Row("PTK on dependency trees", PartialTree().normalized().on("dependencies")),
        Row("SPTK on dependency trees, Lin, all senses", on_dependencies),
        Row("focus + words", on_focus + words),
        Row("focus + lexical", on_focus + on_lexical),
        Row("focus + lexical + ½ words", on_focus + on_lexical + 0.5 * words, fine=True, final=True),
        Row(
            "focus + lexical + dependency + ½ words",
            on_focus + on_lexical + on_dependencies + 0.5 * words,
            fine=True,
            final=True,
        ),
    ]


def _validate(
    row: Row, data: QuestionData, grams: Grams, folds: Folds, fitted: dict[tuple[str, bool], _Fitted], *, testing: bool
) -> tuple[Cell, ...]:
    """Cross-validate a row and, for later, train on all training questions."""
    scores: list[float | None] = []
    with Stopwatch() as spent:
        K = grams.train(row.kernel)
        ridge = ridge_accuracy(K, data, folds)
        for fine in (False, True):
            labels = data.labels(fine)
            scores.append(percent(cross_validate(K, labels, folds, C=COST) == labels) if row.final else None)
            if testing and (row.fine or not fine):
                svm = svm_on_gram(K, np.arange(len(K)), labels, COST)
                fitted[row.name, fine] = svm, grams.other(row.kernel)
    return row.name, *ridge, *scores, spent.cpu


def _test(rows: list[Row], data: QuestionData, fitted: dict[tuple[str, bool], _Fitted], seed: int) -> Table:
    lines: list[tuple[Cell, ...]] = []
    for row in rows:
        cells: list[Cell] = [row.name]
        for fine in (False, True):
            if (row.name, fine) not in fitted:
                cells += [None, None]
                continue
            svm, known = fitted[row.name, fine]
            margins, gold = margins_of(svm, known), data.labels(fine, test=True)
            right = svm.classes_[margins.argmax(axis=1)] == gold
            cells += with_interval(right, seed)
            if not fine:
                # Every class decides by its own margin; F1 over all these decisions.
                said, true = margins > 0, svm.classes_ == gold[:, None]
                counts = np.column_stack([2 * (said & true).sum(axis=1), said.sum(axis=1) + true.sum(axis=1)])
                cells += with_interval(counts, seed, lambda sums: float(sums[0]) / max(1.0, float(sums[1])))
        lines.append(tuple(cells))
    return Table(
        "test",
        f"TREC, {len(data.test)} test questions, each row scored once",
        ("kernel", "accuracy, 6 classes", "95%", "micro-F1", "95% ", "accuracy, 50", "95%  "),
        lines,
        {"accuracy, 6 classes": 1, "micro-F1": 1, "accuracy, 50": 1},
        notes=(
            "Accuracy: the class with the largest margin. Micro-F1: every class decides by its own margin.",
            "Intervals: percentiles of 2,000 bootstrap samples of the test questions.",
        ),
    )


def _leaves(data: QuestionData, folds: Folds) -> Table:
    """Weigh leaves: the paper's α, by cross-validation only."""
    similarities: list[tuple[str, Any]] = [("same words", WordTable({}))]
    similarities += [(weights, WordNet(weights=weights)) for weights in _WEIGHTS]
    similarities.append(("Lin", WordNet(weights="lin")))
    if data.brown is not None:
        similarities.append(("LSI of Brown", data.brown))
    similarities.append(("LSI of questions", data.questions))
    lines: list[tuple[Cell, ...]] = []
    for name, words in similarities:
        cells: list[Cell] = [f"SSTK on lemmas, {name}"]
        for weight in _LEAF_WEIGHTS:
            kernel = _semantic(words, leaf_weight=weight)
            cells.append(ridge_accuracy(Grams(data.views).train(kernel), data, folds)[0])
        lines.append(tuple(cells))
    return Table(
        "leaves",
        "Weight of leaves α: accuracy on 6 classes in cross-validation (ridge) on the training questions",
        ("kernel", *(f"α={weight:g}" for weight in _LEAF_WEIGHTS)),
        lines,
    )


def _curve(rows: list[Row], data: QuestionData, grams: Grams, seed: int) -> Table:
    labels, gold = data.labels(fine=False), data.labels(fine=False, test=True)
    order = np.random.default_rng(seed).permutation(len(labels))
    sizes = [*(size for size in _SIZES if size < len(labels)), len(labels)]
    found: dict[str, list[float]] = {}
    for row in rows:
        K, other = grams.train(row.kernel), grams.other(row.kernel)
        shares = found.setdefault(row.name, [])
        for size in sizes:
            chosen = np.sort(order[:size])
            svm = svm_on_gram(K, chosen, labels, COST)
            shares.append(percent(svm.classes_[margins_of(svm, other[:, chosen]).argmax(axis=1)] == gold))
    columns = ("kernel", *(f"{size:,}" for size in sizes))
    return Table(
        "curve",
        "Learning curve: accuracy on 6 classes of the test questions by number of training questions",
        columns,
        [(name, *shares) for name, shares in found.items()],
        dict.fromkeys(columns, 1),
        notes=(f"Nested random samples, seed {seed}; C = {COST:g}.",),
        chart=plot_lines(
            "Accuracy on 6 classes by number of training questions",
            sizes,
            found,
            x_label="training questions",
            y_label="accuracy, %",
        ),
    )


def _time(data: QuestionData) -> Table:
    """Train from trees to a saved model, and predict from trees."""
    every = WordNet(weights="lin", senses="all")
    every("dog", "cat")
    trees = [question.tree for question in data.train if question.tree]
    asked = [question.tree for question in data.test if question.tree]
    lines: list[tuple[Cell, ...]] = []
    for name, kernel in (
        ("SST on focus trees", SubsetTree(decay=0.2).normalized()),
        ("SSTK on focus trees, Lin, all senses", _semantic(every, "focus", decay=0.2, leaf_weight=2.0)),
        ("focus + lexical + ½ words", semantic_kernel(every)),
    ):
        with Stopwatch() as trained, tempfile.TemporaryDirectory() as folder:
            model = QuestionClassifier(kernel, C=COST).fit(trees, data.labels(fine=False))
            path = Path(folder, "model.sap")
            save(model, path)
            size = path.stat().st_size
        model.predict(asked[:10])  # compiles the model, once
        with Stopwatch() as spent:
            model.predict(trees)
        speed = [round(len(trees) / max(1e-9, seconds)) for seconds in (spent.wall, spent.cpu)]
        lines.append((name, trained.wall, trained.cpu, round(size / 1e6, 1), *speed))
    return Table(
        "time",
        f"From {len(trees):,} trees to a saved model of 6 classes, and from trees to predictions",
        ("kernel", "seconds", "CPU s", "MB", "per second", "per CPU s"),
        lines,
        {"seconds": 1, "CPU s": 1, "MB": 1},
        notes=(f"{settings.threads()} threads; WordNet's files had been read.",),
    )
