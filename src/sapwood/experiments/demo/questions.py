"""Which type of answer a question asks for, by one classifier per kernel."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from sapwood.corpora.nursery import Nursery
from sapwood.draw import outline
from sapwood.experiments.tables import Table
from sapwood.kernels import parse_kernel
from sapwood.learn import KernelSVC
from sapwood.trees import Examples, TreeArray

__all__ = ["TITLE", "run"]

TITLE = "Classify questions"

# From words alone to fragments with gaps, so that the table shows what each kind of fragment adds.
_KERNELS = (
    ("bag of words", "Linear().on('words')"),
    ("subtrees", "Subtree(decay=0.4).normalized().on('tree')"),
    ("subset trees", "SubsetTree(decay=0.2).normalized().on('tree')"),
    ("partial trees", "PartialTree(decay=0.2, depth_decay=0.4).normalized().on('tree')"),
    ("subset trees + words", "SubsetTree(decay=0.2).normalized().on('tree') + Linear().normalized().on('words')"),
)


def run(garden: Nursery) -> Iterator[Table | str]:
    """Train and test one classifier per kernel."""
    questions = [sentence for sentence in garden.sentences if sentence.label is not None]
    groups = np.unique([sentence.group for sentence in questions], return_inverse=True)[1]
    labels = np.array([sentence.label[1] for sentence in questions if sentence.label is not None])
    examples = Examples(
        tree=TreeArray([sentence.tree for sentence in questions]),
        words=[dict(Counter(word.lower() for word in sentence.tree.leaves())) for sentence in questions],
    )
    # Paraphrases of one sentence stay on one side, or the test would ask what training has answered.
    # A tenth is enough to learn from: with more, every kernel is right about everything that the grammar can say.
    train, test = np.flatnonzero(groups % 10 == 0), np.flatnonzero(groups % 10 != 0)
    first = int(test[0])
    yield f"{outline(questions[first].tree)}\n\nasks for {labels[first]}; there are {len(set(labels))} such types"
    rows = []
    for name, expression in _KERNELS:
        start = time.perf_counter()
        model = KernelSVC(kernel=parse_kernel(expression), C=10.0).fit(examples[train], labels[train])
        trained = time.perf_counter()
        accuracy = float(np.mean(model.predict(examples[test]) == labels[test]))
        speed = len(test) / (time.perf_counter() - trained)
        rows.append((name, accuracy, len(model.support_), trained - start, round(speed)))
    yield Table(
        "questions",
        f"Trained on {len(train):,} questions, tested on {len(test):,}",
        ("kernel", "accuracy", "support", "seconds", "per second"),
        rows,
        {"accuracy": 3},
    )
