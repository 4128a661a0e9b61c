"""``sapwood train frames``: a frame-semantic parser, from a FrameNet release."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.command import argument
from sapwood.cli.options import ENCODER, PARSER, SEED, choice, integer, number
from sapwood.cli.training import task

__all__ = ["COMMAND"]

# Best on the dev texts of FrameNet 1.5.
_OFFSET = -0.9


def _train(options: argparse.Namespace) -> tuple[Any, str]:
    from sapwood.parse import as_parser
    from sapwood.tasks.frames import FrameIdentifier, FrameLabeler, FrameParser, load_framenet
    from sapwood.words.senses import find_senses

    corpus = load_framenet(options.data, options.parses, options.splits, senses=find_senses())
    given = {name: getattr(options, name) for name in ("alpha", "epochs", "bits") if getattr(options, name) is not None}
    offset = options.null_offset
    if offset is None:
        offset = _OFFSET if options.threshold is None else 0.0
    labeler = FrameLabeler(
        spans=options.spans,
        pieces=options.pieces,
        templates=options.templates,
        inherit=options.templates == "extended",
        null_offset=offset,
        threshold=options.threshold,
        encoder=options.encoder,
        random_state=options.seed,
        **given,
    )
    identifier = FrameIdentifier(encoder=options.encoder, random_state=options.seed)
    data = [*corpus.train, *corpus.dev]
    kept = None if options.parser is None else as_parser(options.parser)
    model = FrameParser(labeler=labeler, identifier=identifier, parser=kept).fit(data, lexicon=corpus.lexicon)
    targets = sum(len(one.targets) for one in data)
    return model, f"{len(corpus.lexicon):,} frames, learned from {targets:,} targets in {len(data):,} sentences"


COMMAND = task(
    "frames",
    "a parser of frames and their arguments",
    "Learn from the annotated texts of a FrameNet release and the parses of their sentences.",
    (
        argument("data", metavar="RELEASE", help="folder or archive with frame/, fulltext/ and frRelation.xml"),
        argument("--parses", required=True, metavar="FILE", help="JSON lines with doc, sent_id, offsets, tree"),
        argument("--splits", metavar="FILE", help='JSON with the texts to leave out of training under "test"'),
        choice("--spans", ("extended", "dependency"), "which spans can fill roles"),
        argument("--pieces", action="store_true", help="let several pieces of a sentence fill a role together"),
        choice("--templates", ("extended", "semafor"), "features"),
        number("--alpha", "penalty on large weights", metavar="λ"),
        integer("--epochs", "passes over the texts"),
        integer("--bits", "2 to this power of weights"),
        argument(
            "--null-offset",
            type=float,
            metavar="X",
            help=f"added to leaving a role unfilled; lower fills more (default: {_OFFSET:g}, or 0 with --threshold)",
        ),
        argument(
            "--threshold",
            type=float,
            metavar="P",
            help="fill roles whose fillers are more probable than this, for the best F1, instead of looking for the "
            "likeliest assignment",
        ),
        ENCODER,
        PARSER.but(help="keep this parser in the model, which then takes text"),
        SEED,
    ),
    _train,
)
