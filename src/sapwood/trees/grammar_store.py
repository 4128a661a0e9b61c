"""How grammars and head tables are written to model files and read back."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sapwood.errors import ParameterError
from sapwood.registry import Reader, Writer, register
from sapwood.trees.grammar import Grammar, Rule, flat_rules
from sapwood.trees.heads import HeadTable


def head_table_parameters(heads: HeadTable) -> dict[str, Any]:
    """Return what makes the table again, as JSON data."""
    if type(heads) is not HeadTable:
        raise ParameterError(
            f"heads of the class {type(heads).__name__} cannot be saved; use a HeadTable or a mapping."
        )
    return {
        "table": None if heads.table is None else {k: list(v) for k, v in heads.table.items()},
        "default": heads.default,
        "coordination": heads.coordination,
        "skip_punctuation": heads.skip_punctuation,
    }


def _write(grammar: Grammar, writer: Writer) -> dict[str, Any]:
    outside: list[Rule] = []
    heads: dict[str, Any]
    if isinstance(grammar.heads, HeadTable):
        heads = head_table_parameters(grammar.heads)
    else:
        heads = {"mapping": True}
        outside = [(lhs, rhs, head) for (lhs, rhs), head in grammar.heads.items()]
    labels, left, ends, right, positions = flat_rules([*grammar.rules, *outside])
    return {
        "labels": labels,
        "left": writer.array(left),
        "ends": writer.array(ends),
        "right": writer.array(right),
        "positions": writer.array(positions),
        "counts": writer.array(np.array(grammar.counts, dtype=np.uint64)),
        "heads": heads,
        "max_deletions": grammar.max_deletions,
        "min_children": grammar.min_children,
        "deletable": None if grammar.deletable is None else sorted(grammar.deletable),
        "strict_head": grammar.strict_head,
        "phrasal_labels": sorted(grammar.phrasal_labels),
        "marks": list(grammar.marks),
    }


def _read(data: dict[str, Any], reader: Reader) -> Grammar:
    labels = reader.texts(data["labels"])
    left = reader.indices(data["left"], len(labels))
    right = [labels[number] for number in reader.indices(data["right"], len(labels)).tolist()]
    ends = reader.offsets(data["ends"], len(right), count=len(left), empty=False).tolist()
    positions = reader.array(data["positions"], np.uint32, 1).tolist()
    counts = reader.array(data["counts"], np.uint64, 1)
    if len(counts) > len(left):
        raise reader.fail("the rules of the grammar do not add up")
    rules = [
        (labels[lhs], tuple(right[begin:end]), head)
        for lhs, (begin, end), head in zip(left.tolist(), pairwise([0, *ends]), positions, strict=True)
    ]
    heads: Any
    if "mapping" in data["heads"]:
        heads = {(lhs, rhs): head for lhs, rhs, head in rules[len(counts) :]}
    elif len(counts) == len(rules):
        heads = HeadTable(**data["heads"])
    else:
        raise reader.fail("the counts of the grammar do not add up")
    return Grammar(
        rules[: len(counts)],
        heads,
        max_deletions=data["max_deletions"],
        # Files of the first version do not have it.
        min_children=data.get("min_children", 2),
        deletable=data["deletable"],
        strict_head=data["strict_head"],
        counts=counts.tolist(),
        phrasal_labels=data["phrasal_labels"],
        marks=data["marks"],
    )


register("Grammar", Grammar, _write, _read)
