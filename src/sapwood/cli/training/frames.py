"""``sapwood train frames``: a finder of frames and their arguments, from a FrameNet release."""

from __future__ import annotations

import argparse

from sapwood.cli.arguments import Subparsers, add_parser_model, add_threads, check_outputs, positive_float, positive_int

__all__ = ["add_parser", "run"]


def add_parser(tasks: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the task."""
    frames = tasks.add_parser(
        "frames",
        help="a finder of frames and their arguments",
        description="Learn from the annotated texts of a FrameNet release and the parses of their sentences.",
    )
    frames.add_argument("data", metavar="RELEASE", help="folder or archive with frame/, fulltext/ and frRelation.xml")
    frames.add_argument("--parses", required=True, metavar="FILE", help="JSON lines with doc, sent_id, offsets, tree")
    frames.add_argument("--splits", metavar="FILE", help='JSON with the texts to leave out of training under "test"')
    frames.add_argument("-o", "--out", required=True, metavar="MODEL", help="the model file to write")
    frames.add_argument("--spans", choices=("extended", "dependency"), default="extended", help="default: %(default)s")
    frames.add_argument(
        "--templates", choices=("extended", "semafor"), default="extended", help="features (default: %(default)s)"
    )
    frames.add_argument("--alpha", type=positive_float, default=None, metavar="λ", help="price of large weights")
    frames.add_argument("--epochs", type=positive_int, default=None, metavar="N", help="passes over the texts")
    frames.add_argument("--bits", type=positive_int, default=None, metavar="N", help="2 to this power of weights")
    frames.add_argument(
        "--null-offset",
        type=float,
        default=-0.9,
        metavar="X",
        help="added to leaving a role unfilled; lower fills more (default: %(default)s, best on FrameNet's dev texts)",
    )
    frames.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    add_parser_model(frames, "the model keeps the parser, and takes text")
    add_threads(frames)
    frames.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit, save, and say what was learnt."""
    from sapwood.files import save
    from sapwood.parse import as_parser
    from sapwood.tasks.frames import FrameIdentifier, FrameLabeler, FrameParser, load_framenet
    from sapwood.tasks.frames.loading import find_senses

    check_outputs(options.out)
    corpus = load_framenet(options.data, options.parses, options.splits, senses=find_senses())
    given = {name: getattr(options, name) for name in ("alpha", "epochs", "bits") if getattr(options, name) is not None}
    labeler = FrameLabeler(
        spans=options.spans,
        templates=options.templates,
        inherit=options.templates == "extended",
        null_offset=options.null_offset,
        random_state=options.seed,
        **given,
    )
    identifier = FrameIdentifier(random_state=options.seed)
    data = [*corpus.train, *corpus.dev]
    kept = None if options.parser is None else as_parser(options.parser)
    model = FrameParser(labeler=labeler, identifier=identifier, parser=kept).fit(data, lexicon=corpus.lexicon)
    save(model, options.out)
    targets = sum(len(one.targets) for one in data)
    print(f"{options.out}: {len(corpus.lexicon):,} frames, learnt from {targets:,} targets in {len(data):,} sentences")
    return 0
