"""From trees to propositions, counted as CoNLL-2005 counts: gold trees, the task's parses, and parses of our own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

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
    start = time.process_time()
    labeler = RoleLabeler(random_state=setting.seed).fit(train, calibration=parts["dev"])
    trained = time.process_time() - start
    test = parts["test"]
    settings: list[tuple[str, Sequence[RoleSentence], Callable[[Sequence[RoleSentence]], Any]]] = [
        ("predicates given", test, partial(labeler.predict, given_predicates=True)),
        ("predicates found", test, labeler.predict),
        ("AM-MOD and AM-NEG learnt", test, partial(_with(labeler, rules=False).predict, given_predicates=True)),
    ]
    notes = [f"Verbs; trained on {len(train):,} sentences in {trained:.0f} CPU seconds; srl-eval's counting."]
    if name == "ewt-propbank":
        parsed, note = _parse(train, test)
        settings += [
            ("our own parses, predicates given", parsed, partial(labeler.predict, given_predicates=True)),
            ("our own parses, found", parsed, labeler.predict),
        ]
        notes.append(note)
    rows: list[tuple[Cell, ...]] = []
    for label, given, predict in settings:
        start = time.process_time()
        made = predict(given)
        speed = len(test) / (time.process_time() - start)
        scores = score_roles(test, made)
        overall, spans = scores.overall, scores.unlabelled
        figures = [100 * value for value in (overall.precision, overall.recall, overall.f1, spans.f1)]
        rows.append((label, *figures, 100 * scores.label_accuracy, round(speed)))
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
    start = time.process_time()
    trees = parser.parse_batch([list(one.words) for one in test])
    speed = len(test) / (time.process_time() - start)
    parsed = [replace(one, tree=tree) for one, tree in zip(test, trees, strict=True) if not isinstance(tree, tuple)]
    note = f"Our own parses: PCFGParser() of the {len(train):,} training trees, {speed:.0f} sentences per CPU s."
    return parsed, note


def _with(labeler: RoleLabeler, **params: Any) -> RoleLabeler:
    """Return the same fitted labeller with other parameters for labelling."""
    other = RoleLabeler(**labeler.get_params(deep=False))
    other.__dict__.update(labeler.__dict__)
    other.set_params(**params)
    return other
