"""Who did what to whom: propositions from trees."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from sapwood.corpora.nursery import Nursery
from sapwood.draw.roles import roles_html, roles_text
from sapwood.experiments.figures import Figure, Part, plot_lines
from sapwood.experiments.measuring import Stopwatch
from sapwood.experiments.tables import Table
from sapwood.metrics import score_roles
from sapwood.tasks.roles import RoleArguments, RoleClassifier, RoleLabeler

__all__ = ["ABOUT", "TITLE", "run"]

TITLE = "Semantic role labeling"
ABOUT = "Who did what to whom, where and when: predicates are found in a tree, and their arguments get roles."

_KERNELS = ("truncated", "plain", "both", "flat", "composite")
_FOLLOWED = ("plain", "both", "flat")
_SIZES = (25, 50, 100, 200, 400)


def run(corpus: Nursery) -> Iterator[Part]:
    """Label sentences, then classify given arguments with one kernel after the other."""
    sentences = corpus.role_sentences()
    train, test = sentences[:600], sentences[600:1200]
    labeler = RoleLabeler().fit(train)
    with Stopwatch() as labeling:
        labelled = labeler.predict(test)
    yield Figure(
        "Roles over sentences that were not learnt from",
        "".join(roles_html(sentence) for sentence in labelled[:6]),
        "\n".join(fill(roles_text(sentence), 80, subsequent_indent="    ") for sentence in labelled[:4]),
        wide=True,
    )
    overall = score_roles(test, labelled).overall
    yield Table(
        "roles",
        f"From trees to propositions, trained on {len(train):,} sentences, tested on {len(test):,}",
        ("", "precision", "recall", "F1", "sentences per second"),
        [("predicates found", overall.precision, overall.recall, overall.f1, round(len(test) / labeling.wall))],
        {"precision": 3, "recall": 3, "F1": 3},
    )
    arguments = RoleArguments.from_sentences(train)
    known = arguments.sample(300)
    asked = RoleArguments.from_sentences(test).sample(600)
    rows = []
    for kernel in _KERNELS:
        with Stopwatch() as training:
            classifier = RoleClassifier(kernel).fit(known)
        rows.append((kernel, float(classifier.score(asked, asked.labels)), training.wall))
    yield Table(
        "role kernels",
        f"Roles of {len(asked)} given arguments, trained on {len(known)}",
        ("kernel", "accuracy", "seconds"),
        rows,
        {"accuracy": 3},
    )

    def accuracy(kernel: str, size: int) -> float:
        return float(RoleClassifier(kernel).fit(arguments.sample(size)).score(asked, asked.labels))

    chart = plot_lines(
        "Accuracy of three kernels as the number of training arguments grows",
        _SIZES,
        {kernel: [accuracy(kernel, size) for size in _SIZES] for kernel in _FOLLOWED},
        x_label="training arguments",
        y_label="accuracy",
    )
    yield Figure(f"Learning curves: roles of {len(asked)} given arguments", chart)
