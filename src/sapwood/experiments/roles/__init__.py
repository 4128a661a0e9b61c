"""Semantic roles: the tables of "A Grammar-driven Convolution Tree Kernel for Semantic Role Classification" again.

Three corpora: the English Web Treebank (words, gold trees), CoNLL-2005 (parses, no words of the Wall Street Journal)
and PropBank over NLTK's Penn sample. Arguments are given and only their roles are asked for, except in ``end-to-end``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sapwood.corpora.catalog import find
from sapwood.errors import DataError
from sapwood.experiments.roles.adapting import adapt
from sapwood.experiments.roles.context import roles_in_context
from sapwood.experiments.roles.cost import training_cost
from sapwood.experiments.roles.data import CORPORA, read_parts
from sapwood.experiments.roles.features import all_data, linear_time, tuned
from sapwood.experiments.roles.fragments import choose_fragments
from sapwood.experiments.roles.kernels import compare_kernels, learning_curve
from sapwood.experiments.roles.labeling import label_everything
from sapwood.experiments.roles.parsed import label_parses
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Table
from sapwood.tasks.roles.pruning import coverage

__all__ = ["run"]


def run(setting: Setting) -> Iterator[Table]:
    """Make the tables that are wanted."""
    corpora = [found.corpus.name for found in find(setting.folders(), names=list(CORPORA)) if found.path]
    if not corpora:
        raise DataError("none of the corpora ewt-propbank, conll05 and propbank-wsj is there; see sapwood data.")
    for name in corpora:
        if setting.wants("coverage"):
            yield _coverage(setting, name)
        if setting.wants("kernels", f"kernels-{name}"):
            yield from compare_kernels(setting, name)
        if setting.wants("curve", f"curve-{name}"):
            yield learning_curve(setting, name)
        if setting.wants("end-to-end", f"end-to-end-{name}"):
            yield from label_everything(setting, name)
    if "ewt-propbank" in corpora:
        if setting.wants("adaptation") and "propbank-wsj" in corpora:
            yield adapt(setting)
        if setting.wants("parsed"):
            yield label_parses(setting)
        if setting.wants("context", "context-labeling"):
            yield from roles_in_context(setting)
        if setting.wants("fragments"):
            yield from choose_fragments(setting, "ewt-propbank")
        if setting.wants("features"):
            yield tuned(setting, "ewt-propbank")
        if setting.wants("all-data"):
            yield from all_data(setting, "ewt-propbank")
        if setting.wants("linear"):
            yield linear_time(setting, "ewt-propbank")
    if setting.wants("cost"):
        yield from training_cost(setting, "conll05" if "conll05" in corpora else corpora[0])


def _coverage(setting: Setting, name: str) -> Table:
    rows = []
    for part, sentences in read_parts(setting, name).items():
        counts = coverage(islice(sentences, 10_000))
        total = max(1, counts["arguments"])
        rows.append(
            (
                part,
                counts["predicates"],
                counts["arguments"],
                100 * counts["constituents"] / total,
                100 * counts["survive pruning"] / total,
                counts["candidates"] / max(1, counts["predicates"]),
            )
        )
    columns = ("part", "predicates", "arguments", "constituents %", "survive pruning %", "candidates per predicate")
    notes = ["At most 10,000 sentences of a part. An argument that is no constituent is left out (rule: constituent)."]
    return Table(f"coverage {name}", f"Arguments and constituents, {CORPORA[name]}", columns, rows, notes=notes)
