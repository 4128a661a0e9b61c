"""``sapwood train roles``: a labeller of semantic roles."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sapwood.cli.arguments import Subparsers, add_parser_model, add_threads, check_outputs, positive_float

if TYPE_CHECKING:
    from sapwood.trees import RoleSentence

__all__ = ["add_parser", "run"]


def add_parser(tasks: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the task."""
    roles = tasks.add_parser(
        "roles",
        help="a labeller of semantic roles",
        description="Learn to label semantic roles from sentences with trees and propositions.",
    )
    roles.add_argument(
        "data",
        metavar="DATA",
        help="JSON lines (.jsonl), PropBank columns with words (.conll, .tsv), or gold_skel columns (*_skel)",
    )
    roles.add_argument("-o", "--out", required=True, metavar="MODEL", help="the model file to write")
    roles.add_argument("--calibration", metavar="FILE", help="held-out sentences (default: a tenth of DATA)")
    roles.add_argument("--nouns", action="store_true", help="label predicates that are nouns or adjectives too")
    roles.add_argument("--no-rules", action="store_true", help="learn AM-MOD and AM-NEG, no rules for them")
    roles.add_argument("--fragments", type=positive_float, metavar="W", help="add fragments of paths with this weight")
    roles.add_argument("-C", type=positive_float, default=0.05, help="price of a training error (default: %(default)s)")
    add_parser_model(roles, "sentences without trees are parsed, and the model keeps the parser")
    add_threads(roles)
    roles.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit, save, and say what was learnt."""
    from sapwood.files import save
    from sapwood.parse import as_parser
    from sapwood.tasks.roles import RoleLabeler

    check_outputs(options.out)
    sentences = _read(options.data)
    held = None if options.calibration is None else _read(options.calibration)
    labeler = RoleLabeler(
        nouns=options.nouns,
        rules=not options.no_rules,
        classification_C=options.C,
        fragments={"path+siblings": options.fragments} if options.fragments else None,
        parser=None if options.parser is None else as_parser(options.parser),
    ).fit(sentences, calibration=held)
    save(labeler, options.out)
    predicates = sum(labeler.lexicon_.counts.values())
    print(f"{options.out}: {len(labeler.roles_)} roles, {len(sentences):,} sentences, {predicates:,} predicates")
    return 0


def _read(path: str) -> list[RoleSentence]:
    from sapwood.cli.answering.roles import read_sentences
    from sapwood.errors import DataError

    sentences = list(read_sentences(path))
    if not any(sentence.propositions for sentence in sentences):
        what = "trees without propositions" if any(sentence.tree for sentence in sentences) else "no propositions"
        raise DataError(
            f"{path}: holds {what}, so there is no role to learn. Give sentences with trees and propositions, as "
            "JSON lines (.jsonl), PropBank columns with words (.conll, .conllu or .tsv) or gold_skel columns (*_skel); "
            "the ending of the name says which. Files of any other name are read as trees alone."
        )
    return sentences
