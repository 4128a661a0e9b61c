"""Who did what to whom: propositions from trees."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sapwood.corpora.nursery import Nursery
from sapwood.corpora.nursery.roles import role_sentences
from sapwood.draw.roles import roles_text
from sapwood.experiments.tables import Table
from sapwood.metrics import score_roles
from sapwood.tasks.roles import RoleArguments, RoleClassifier, RoleLabeler

__all__ = ["TITLE", "run"]

TITLE = "Label semantic roles"


def run(garden: Nursery) -> Iterator[Table | str]:
    """Label sentences, then classify given arguments with one kernel after the other."""
    sentences = role_sentences(garden)
    train, test = sentences[:600], sentences[600:1200]
    labeler = RoleLabeler().fit(train)
    start = time.perf_counter()
    labelled = list(labeler.label_sentences(test, given_predicates=False))
    speed = len(test) / (time.perf_counter() - start)
    yield "\n".join(roles_text(sentence) for sentence in labelled[:4])
    overall = score_roles(test, labelled).overall
    yield Table(
        "roles",
        f"From trees to propositions, trained on {len(train):,} sentences, tested on {len(test):,}",
        ("", "precision", "recall", "F1", "sentences per second"),
        [("predicates found", overall.precision, overall.recall, overall.f1, round(speed))],
        {"precision": 3, "recall": 3, "F1": 3},
    )
    known = RoleArguments.from_sentences(train).sample(300)
    asked = RoleArguments.from_sentences(test).sample(600)
    rows = []
    for kernel in ("truncated", "plain", "both", "flat", "composite"):
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
