"""How well the parsers do: the grammar, and the network over spans with and without an encoder."""

from __future__ import annotations

from collections.abc import Iterator

from sapwood.experiments.parsing.adapting import adaptation_table
from sapwood.experiments.parsing.grammar import grammar_tables
from sapwood.experiments.parsing.networks import span_tables
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Table

__all__ = ["run"]


def run(setting: Setting) -> Iterator[Table]:
    """Yield the tables that are wanted."""
    yield from grammar_tables(setting)
    yield from span_tables(setting)
    yield from adaptation_table(setting)
