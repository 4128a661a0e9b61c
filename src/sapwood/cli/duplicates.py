"""``sapwood duplicates``: trees that are the same or nearly so, in groups."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import read_named
from sapwood.cli.nearest import AT_LEAST, index_of, saved_index
from sapwood.cli.options import JSON, KERNEL, OUTPUT, READING, THREADS, integer
from sapwood.cli.output import show, summary, write_json

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.trees import write_trees

    trees: Any = saved_index(options)
    index = trees
    if index is None:
        (trees,) = read_named(options, options.trees, None)
        index = index_of(options, trees)
    pairs = index.pairs(options.at_least)
    groups = pairs.groups()
    shown = groups if options.top is None else groups[: options.top]
    for group in shown:
        show(options, f"{len(group)} trees: {', '.join(map(str, group.members))}")
        show(options, f"  {trees[group.representative]!s}")
    copies = {place for group in groups for place in group.members if place != group.representative}
    if options.output:
        left = [place for place in index if place not in copies]
        write_trees([index[place] for place in left] if trees is index else trees[left], options.output)
    write_json(
        options,
        {
            "trees": len(trees),
            "at_least": options.at_least,
            "groups": [{"representative": group.representative, "members": list(group.members)} for group in groups],
            "pairs": [{"first": i, "second": j, "similarity": value} for i, j, value in pairs],
        },
    )
    if options.json != "-":
        found = f"{len(groups):,} {'group' if len(groups) == 1 else 'groups'}"
        spare = f"{len(copies):,} {'tree' if len(copies) == 1 else 'trees'} to spare"
        summary(options, f"{len(trees):,} trees, {found}, {spare}")


COMMAND = Command(
    "duplicates",
    "find trees that are the same or nearly so, in groups",
    "Find all pairs of trees whose similarity under a normalized tree kernel reaches a threshold, and join pairs that "
    "share a tree into groups. Trees are numbered from 0. The tree that is shown for a group is the one most similar "
    "to the others; --output keeps that one of each group, and all trees that are in none.",
    (
        argument(
            "trees",
            metavar="TREES",
            help="file of bracketed trees or CoNLL-U, a quoted glob pattern, what sapwood index wrote, or -",
        ),
        AT_LEAST.but(default=0.8),
        integer("--top", "groups to list"),
        KERNEL,
        JSON,
        OUTPUT.but(help="write the trees without their near-duplicates"),
        *READING,
        THREADS,
    ),
    _run,
)
