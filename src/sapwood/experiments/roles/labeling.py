"""From trees to propositions, counted as CoNLL-2005 counts: gold trees, the task's parses, and parses of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

from sapwood.experiments.measuring import Stopwatch
from sapwood.experiments.roles.data import CORPORA, read_parts
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.metrics import score_roles
from sapwood.parse import PCFGParser
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.trees import RoleSentence

__all__ = ["label_everything"]


def label_everything(setting: Setting, name: str) -> Iterator[Table]:
    """Make the tables from trees to propositions."""
    parts = read_parts(setting, name)
    # Without words there is less to learn, and every third sentence of CoNLL-2005 teaches it.
    train = parts["train"][::3] if name == "conll05" else parts["train"]
    with Stopwatch() as training:
        labeler = RoleLabeler(random_state=setting.seed).fit(train, calibration=parts["dev"])
    test, learnt = parts["test"], copy(labeler).set_params(rules=False)
    settings: list[tuple[str, Sequence[RoleSentence], Callable[[Sequence[RoleSentence]], Any]]] = [
        ("predicates given", test, partial(labeler.predict, given_predicates=True)),
        ("predicates found", test, labeler.predict),
        ("AM-MOD and AM-NEG learnt", test, partial(learnt.predict, given_predicates=True)),
    ]
    notes = [f"Verbs; trained on {len(train):,} sentences in {training.cpu:.0f} CPU seconds; srl-eval's counting."]
    if name == "ewt-propbank":
        parsed, note = _parse(train, test)
        settings += [
            ("our own parses, predicates given", parsed, partial(labeler.predict, given_predicates=True)),
            ("our own parses, found", parsed, labeler.predict),
        ]
        notes.append(note)
    rows: list[tuple[Cell, ...]] = []
    for label, given, predict in settings:
        with Stopwatch() as spent:
            made = predict(given)
        scores = score_roles(test, made)
        overall, spans = scores.overall, scores.unlabeled
        figures = [100 * value for value in (overall.precision, overall.recall, overall.f1, spans.f1)]
        rows.append((label, *figures, 100 * scores.label_accuracy, round(len(test) / spent.cpu)))
        if label == "predicates given":
            shown = scores
    yield Table(
        f"end-to-end {name}",
        f"From {'parses' if name == 'conll05' else 'trees'} to propositions, {len(test):,} sentences: {CORPORA[name]}",
        ("setting", "P", "R", "F1", "F1 of spans", "label accuracy", "sentences per CPU s"),
        rows,
        notes=notes,
    )
    yield Table(
        f"end-to-end roles {name}",
        f"F1 per role, predicates given: {CORPORA[name]}",
        ("role", "gold", "P", "R", "F1"),
        [
            (role, score.gold, 100 * score.precision, 100 * score.recall, 100 * score.f1)
            for role, score in sorted(shown.roles.items(), key=lambda item: -item[1].gold)
            if role != "V" and score.gold >= 5
        ],
    )


def _parse(train: Sequence[RoleSentence], test: Sequence[RoleSentence]) -> tuple[list[RoleSentence], str]:
    """Parse the test sentences by a grammar of the training trees."""
    parser = PCFGParser().fit([one.tree for one in train if one.tree is not None])
    with Stopwatch() as spent:
        trees = parser.parse_batch([list(one.words) for one in test])
    parsed = [replace(one, tree=tree) for one, tree in zip(test, trees, strict=True) if not isinstance(tree, tuple)]
    speed = f"{len(test) / spent.cpu:.0f} sentences per CPU s"
    return parsed, f"Our own parses: PCFGParser() of the {len(train):,} training trees, {speed}."
