"""``sapwood train roles``: a labeler of semantic roles."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sapwood.cli.command import argument
from sapwood.cli.options import ENCODER, PARSER, flag, number
from sapwood.cli.training import task

if TYPE_CHECKING:
    from sapwood.tasks.roles import RoleLabeler
    from sapwood.trees import RoleSentence

__all__ = ["COMMAND"]


def _train(options: argparse.Namespace) -> tuple[Any, str]:
    from sapwood.parse import as_parser
    from sapwood.tasks.roles import RoleLabeler

    sentences = _read(options.data)
    held = None if options.calibration is None else _read(options.calibration)
    parser = None if options.parser is None else as_parser(options.parser)
    start = None if options.start is None else _start(options)
    if start is None:
        labeler = RoleLabeler(
            nouns=options.nouns,
            rules=not options.no_rules,
            fragments={"path+siblings": options.fragments} if options.fragments else None,
            parser=parser,
            encoder=options.encoder,
        )
    else:
        labeler = RoleLabeler(**start.get_params(deep=False))
        labeler.set_params(parser=start.parser if parser is None else parser)
    labeler.set_params(classification_C=options.C).fit(sentences, calibration=held, start=start)
    predicates = sum(labeler.lexicon_.counts.values())
    learned = f"{len(labeler.roles_)} roles, {len(sentences):,} sentences, {predicates:,} predicates"
    return labeler, learned if start is None else f"{learned} with those of {options.start}"


def _start(options: argparse.Namespace) -> RoleLabeler:
    """Return the labeler to go on from."""
    from sapwood.errors import ParameterError
    from sapwood.files import load
    from sapwood.tasks.roles import RoleLabeler

    for name in ("nouns", "no_rules", "fragments", "encoder"):
        if getattr(options, name):
            raise ParameterError(
                f"--start goes on with the settings of its model; leave --{name.replace('_', '-')} out."
            )
    start = load(options.start)
    if not isinstance(start, RoleLabeler):
        raise ParameterError(f"{options.start} holds a {type(start).__name__}; --start takes a labeler of roles.")
    return start


def _read(path: str) -> list[RoleSentence]:
    from sapwood.cli.inference.roles import read_sentences
    from sapwood.errors import DataError
    from sapwood.settings import counted

    sentences = list(counted(read_sentences(path), 0, "Reading", "sentences"))
    if not any(sentence.propositions for sentence in sentences):
        what = "trees without propositions" if any(sentence.tree for sentence in sentences) else "no propositions"
        raise DataError(
            f"{path}: holds {what}; that is the wrong format to learn roles from. Expected sentences with trees and "
            "propositions: JSON lines (.jsonl), PropBank columns with words (.conll, .conllu or .tsv) or gold_skel "
            "columns (*_skel). The ending of the name says which; files of other names are read as trees alone."
        )
    return sentences


COMMAND = task(
    "roles",
    "a labeler of semantic roles",
    "Learn to label semantic roles from sentences with trees and propositions.",
    (
        argument(
            "data",
            metavar="DATA",
            help="JSON lines (.jsonl), PropBank columns with words (.conll, .tsv), or gold_skel columns (*_skel)",
        ),
        argument("--calibration", metavar="FILE", help="held-out sentences (default: a tenth of DATA)"),
        argument("--start", metavar="MODEL", help="a trained labeler to go on from, with its settings and its parser"),
        flag("--nouns", "label predicates that are nouns or adjectives too"),
        flag("--no-rules", "learn AM-MOD and AM-NEG, no rules for them"),
        number("--fragments", "add fragments of paths with this weight", metavar="W"),
        number("-C", "inverse of the strength of regularization", 0.05, metavar="C"),
        ENCODER,
        PARSER.but(help="sentences without trees are parsed with this model; the labeler keeps it"),
    ),
    _train,
)
