"""Which type of answer a question asks for, by one classifier per kernel."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from sapwood.corpora.nursery import Nursery
from sapwood.draw import outline
from sapwood.experiments.tables import Table
from sapwood.kernels import parse_kernel
from sapwood.tasks.questions import QuestionClassifier, find_focus, focus_tree
from sapwood.trees import TreeArray

__all__ = ["TITLE", "run"]

TITLE = "Classify questions"

# From words alone to fragments with gaps, so that the table shows what each kind of fragment adds.
_KERNELS = (
    ("bag of words and pairs", "Linear().normalized().on('words')"),
    ("subtrees", "Subtree(decay=0.4).normalized().on('tree')"),
    ("subset trees", "SubsetTree(decay=0.2).normalized().on('tree')"),
    ("subset trees, focus on top", "SubsetTree(decay=0.2).normalized().on('focus')"),
    ("partial trees of words", "PartialTree().normalized().on('lexical')"),
    (
        "all three",
        "SubsetTree(decay=0.2).normalized().on('focus') + PartialTree().normalized().on('lexical')"
        " + 0.5 * Linear().normalized().on('words')",
    ),
)


def run(garden: Nursery) -> Iterator[Table | str]:
    """Train and test one classifier per kernel."""
    questions = [sentence for sentence in garden.sentences if sentence.label is not None]
    groups = np.unique([sentence.group for sentence in questions], return_inverse=True)[1]
    labels = np.array([sentence.label[1] for sentence in questions if sentence.label is not None])
    trees = TreeArray([sentence.tree for sentence in questions])
    # Paraphrases of one sentence stay on one side, or the test would ask what training has answered.
    # A tenth is enough to learn from: with more, every kernel is right about everything that the grammar can say.
    train, test = np.flatnonzero(groups % 10 == 0), np.flatnonzero(groups % 10 != 0)
    shown = questions[int(test[0])].tree
    focus = find_focus(shown)
    yield (
        f"{outline(focus_tree(shown))}\n\nasks {focus.word!r} about {focus.head!r}, for {labels[test[0]]}; "
        f"there are {len(set(labels))} such types"
    )
    rows = []
    for name, expression in _KERNELS:
        start = time.perf_counter()
        model = QuestionClassifier(parse_kernel(expression)).fit(trees[train], labels[train])
        trained = time.perf_counter()
        accuracy = float(np.mean(model.predict(trees[test]) == labels[test]))
        speed = len(test) / (time.perf_counter() - trained)
        rows.append((name, accuracy, len(model.machine_.support_), trained - start, round(speed)))
    yield Table(
        "questions",
        f"Trained on {len(train):,} questions, tested on {len(test):,}",
        ("kernel", "accuracy", "support", "seconds", "per second"),
        rows,
        {"accuracy": 3},
    )
