"""A labeler of web text that goes on learning from a few sentences of a newspaper, as ``train roles --start`` does."""

from __future__ import annotations

from sapwood.experiments.roles.data import read_parts
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.metrics import score_roles
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.trees import RoleSentence

__all__ = ["adapt"]

_SIZES = (200, 1000)


def adapt(setting: Setting) -> Table:
    """Compare the labeler of web text, one of few sentences alone, and one that goes on from the first with these."""
    web = read_parts(setting, "ewt-propbank")
    general = RoleLabeler(random_state=setting.seed).fit(web["train"], calibration=web["dev"])
    news = read_parts(setting, "propbank-wsj")
    rows: list[tuple[Cell, ...]] = [("web alone", 0, *_scores(general, news["test"]))]
    for size in _SIZES:
        own = news["train"][:: max(1, len(news["train"]) // size)][:size]
        for name, start in (("newspaper alone", None), ("web, then newspaper", general)):
            labeler = RoleLabeler(random_state=setting.seed).fit(own, start=start)
            rows.append((name, len(own), *_scores(labeler, news["test"])))
    notes = [
        f"Gold trees, verbs, predicates given; the web labeler learnt from {len(web['train']):,} sentences; "
        f"{len(news['test']):,} test sentences of PropBank over the Penn sample. Settings are the defaults."
    ]
    columns = ("learnt from", "newspaper sentences", "F1", "spans F1", "label accuracy")
    return Table("adaptation", "A labeler of web text adapted to a newspaper", columns, rows, notes=notes)


def _scores(labeler: RoleLabeler, test: list[RoleSentence]) -> tuple[float, ...]:
    scores = score_roles(test, labeler.predict(test, given_predicates=True))
    return 100 * scores.overall.f1, 100 * scores.unlabeled.f1, 100 * scores.label_accuracy
