"""Who did what to whom: propositions from trees."""

from __future__ import annotations

import time
from collections.abc import Iterator
from textwrap import fill

from sapwood.corpora.nursery import Nursery
from sapwood.corpora.nursery.roles import role_sentences
from sapwood.draw import Series, line_chart
from sapwood.draw.roles import roles_html, roles_text
from sapwood.experiments.figures import Figure
from sapwood.experiments.tables import Table
from sapwood.metrics import score_roles
from sapwood.tasks.roles import RoleArguments, RoleClassifier, RoleLabeler

__all__ = ["ABOUT", "TITLE", "run"]

TITLE = "Label semantic roles"
ABOUT = "Who did what to whom, where and when: predicates are found in a tree, and their arguments get roles."

_KERNELS = ("truncated", "plain", "both", "flat", "composite")
_FOLLOWED = ("plain", "both", "flat")
_SIZES = (25, 50, 100, 200, 400)


def run(garden: Nursery) -> Iterator[Table | Figure | str]:
    """Label sentences, then classify given arguments with one kernel after the other."""
    sentences = role_sentences(garden)
    train, test = sentences[:600], sentences[600:1200]
    labeler = RoleLabeler().fit(train)
    start = time.perf_counter()
    labelled = labeler.predict(test)
    speed = len(test) / (time.perf_counter() - start)
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
        [("predicates found", overall.precision, overall.recall, overall.f1, round(speed))],
        {"precision": 3, "recall": 3, "F1": 3},
    )
    arguments = RoleArguments.from_sentences(train)
    known = arguments.sample(300)
    asked = RoleArguments.from_sentences(test).sample(600)
    rows = []
    for kernel in _KERNELS:
        start = time.perf_counter()
        classifier = RoleClassifier(kernel).fit(known)
        seconds = time.perf_counter() - start
        rows.append((kernel, float(classifier.score(asked, asked.labels)), seconds))
    yield Table(
        "role kernels",
        f"Roles of {len(asked)} given arguments, trained on {len(known)}",
        ("kernel", "accuracy", "seconds"),
        rows,
        {"accuracy": 3},
    )
    chart = line_chart(
        "Accuracy of three kernels as the number of training arguments grows",
        [
            Series(
                kernel,
                _SIZES,
                [
                    float(RoleClassifier(kernel).fit(arguments.sample(size)).score(asked, asked.labels))
                    for size in _SIZES
                ],
            )
            for kernel in _FOLLOWED
        ],
        x_label="training arguments",
        y_label="accuracy",
        x_log=True,
    )
    yield Figure(f"Learning curves: roles of {len(asked)} given arguments", chart)
