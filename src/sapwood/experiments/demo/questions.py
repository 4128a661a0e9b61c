"""Which type of answer a question asks for, by one classifier per kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.nursery import Nursery
from sapwood.draw import outline
from sapwood.experiments.figures import Figure, Part, plot_lines
from sapwood.experiments.measuring import Stopwatch
from sapwood.experiments.tables import Table
from sapwood.kernels import parse_kernel
from sapwood.tasks.questions import QuestionClassifier, find_focus
from sapwood.tasks.questions.views import focus_tree
from sapwood.trees import TreeArray

__all__ = ["ABOUT", "TITLE", "run"]

TITLE = "Question classification"
ABOUT = (
    "Which kind of answer does a question ask for? Each kernel compares questions in its own way: by words, or by "
    "fragments of their trees."
)

# From words alone to fragments with gaps, so that the table shows what each kind of fragment adds.
_KERNELS = {
    "bag of words and pairs": "Linear().normalized().on('words')",
    "subtrees": "Subtree(decay=0.4).normalized().on('tree')",
    "subset trees": "SubsetTree(decay=0.2).normalized().on('tree')",
    "subset trees, focus on top": "SubsetTree(decay=0.2).normalized().on('focus')",
    "partial trees of words": "PartialTree().normalized().on('lexical')",
    "all three": (
        "SubsetTree(decay=0.2).normalized().on('focus') + PartialTree().normalized().on('lexical')"
        " + 0.5 * Linear().normalized().on('words')"
    ),
}
_EXPLAINED = "subset trees, focus on top"
_FOLLOWED = ("bag of words and pairs", "subset trees, focus on top", "partial trees of words")
_SIZES = (25, 50, 100, 200, 400)


def run(corpus: Nursery) -> Iterator[Part]:
    """Train and test one classifier per kernel, explain a decision, and follow three of them as the data grows."""
    questions = [sentence for sentence in corpus.sentences if sentence.label is not None]
    groups = np.unique([sentence.group for sentence in questions], return_inverse=True)[1]
    labels = np.array([sentence.label[1] for sentence in questions if sentence.label is not None])
    trees = TreeArray([sentence.tree for sentence in questions])
    # Paraphrases of one sentence stay on one side, or the test would ask what training has answered.
    # A tenth is enough to learn from: with more, every kernel is right about everything that the grammar can say.
    train, test = np.flatnonzero(groups % 10 == 0), np.flatnonzero(groups % 10 != 0)
    shown = questions[int(test[0])].tree
    focus = find_focus(shown)
    says = f"asks “{focus.word}” about “{focus.head}”, for {labels[test[0]]}; there are {len(set(labels))} such types."
    yield Figure(
        "A question with its focus on top",
        focus_tree(shown)._repr_svg_(),
        f"{outline(focus_tree(shown))}\n\n{says}",
        (f"It {says}",),
    )
    rows = []
    for name, expression in _KERNELS.items():
        with Stopwatch() as training:
            model = QuestionClassifier(parse_kernel(expression)).fit(trees[train], labels[train])
        with Stopwatch() as asking:
            right = model.predict(trees[test]) == labels[test]
        speed = round(len(test) / asking.wall)
        rows.append((name, float(right.mean()), len(model.svm_.support_), training.wall, speed))
        if name == _EXPLAINED:
            explained = model.explain(trees[[int(test[int(np.argmax(right))])]], top=6)
    yield Table(
        "questions",
        f"Trained on {len(train):,} questions, tested on {len(test):,}",
        ("kernel", "accuracy", "support", "seconds", "per second"),
        rows,
        {"accuracy": 3},
        (
            "Subset trees of whole questions are the weakest here: most fragments that two questions share say nothing "
            "of the answer, and a few questions do not show which do. With the focus on top, those that do weigh more.",
        ),
    )
    yield Figure(
        f"Why a question is of the class “{explained.label}”: what each node adds, and the heaviest fragments",
        explained.to_html(),
        notes=("Orange speaks for the class, blue against it. The heaviest fragment has a frame.",),
        wide=True,
    )
    yield _curve(trees, labels, groups)


def _curve(trees: TreeArray, labels: NDArray[Any], groups: NDArray[np.intp]) -> Figure:
    pool, test = np.flatnonzero(groups % 10 < 5), np.flatnonzero(groups % 10 >= 5)
    order = np.random.default_rng(0).permutation(pool)
    sizes = [size for size in _SIZES if size <= len(order)]

    def accuracy(name: str, size: int) -> float:
        part = order[:size]
        model = QuestionClassifier(parse_kernel(_KERNELS[name])).fit(trees[part], labels[part])
        return float(np.mean(model.predict(trees[test]) == labels[test]))

    chart = plot_lines(
        "Accuracy of three kernels as the number of training questions grows",
        sizes,
        {name: [accuracy(name, size) for size in sizes] for name in _FOLLOWED},
        x_label="training questions",
        y_label="accuracy",
    )
    return Figure(f"Learning curves, tested on {len(test):,} questions", chart)
