"""``sapwood find``: the nodes of trees that match a pattern."""

from __future__ import annotations

import argparse

from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import read_named
from sapwood.cli.options import JSON, READING, flag
from sapwood.cli.output import report

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.trees.patterns import parse

    # Whatever is wrong with the pattern comes before what is wrong with files.
    parse(options.pattern)
    lines: list[str] = []
    records = []
    for name in options.files:
        (trees,) = read_named(options, name)
        found = trees.find(options.pattern)
        held = sorted(set(found.elements.tolist()))
        if options.count:
            lines.append(f"{name}: {len(found):,} in {len(held):,} of {len(trees):,} trees")
        elif options.trees:
            lines += trees[held].to_strings(escape=True)
        else:
            texts = found.subtrees.to_strings(escape=True)
            if options.words:
                texts = [" ".join(words) for words in found.subtrees.leaves()]
            lines += [f"{name}:{tree + 1}: {text}" for tree, text in zip(found.elements.tolist(), texts, strict=True)]
        if options.json:
            places = found.positions()
            records += [
                {"file": name, "tree": tree + 1, "position": list(place), "match": str(node)}
                for (tree, node), place in zip(found, places, strict=True)
            ]
    if lines or options.json:
        report(options, records, "\n".join(lines))


COMMAND = Command(
    "find",
    "find the nodes of trees that match a pattern",
    "Print every node of the trees in FILEs that matches PATTERN, with the number of its tree. A pattern is a label "
    "and its relations: 'NP < DT' is an NP with a child DT, 'NP << dog' one with dog somewhere below it, 'NP $.. VP' "
    "one with a later sister VP; /regex/ matches labels, ! negates, | is or, and round brackets hold the relations of "
    "another node: 'VP < (NP !< DT)'. docs/patterns.md lists all relations, which are those of TGrep2 and Tregex.",
    (
        argument("pattern", metavar="PATTERN", help="what to find, such as 'NP < (DT < the)'"),
        argument("files", metavar="FILE", nargs="+", help="bracketed trees, CoNLL-U, a pattern of names, or -"),
        flag("--count", "print how many there are in each file"),
        flag("--words", "print the words of each match in place of its brackets"),
        flag("--trees", "print every tree that holds a match, whole, one per line"),
        JSON,
        *READING,
    ),
    _run,
)
