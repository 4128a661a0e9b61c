"""``sapwood train parser``: a parser from a treebank."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sapwood.cli.command import OneOf, argument
from sapwood.cli.inputs import open_named
from sapwood.cli.options import ENCODER, ENCODING, SEED, choice, flag, integer, number
from sapwood.cli.training import task
from sapwood.cli.training.silver import check_silver, read_silver

if TYPE_CHECKING:
    from sapwood.trees import TreeArray

__all__ = ["COMMAND"]

# Options that only one of the learners has, with their values where they are not given.
_OF_GRAMMAR = {"vertical": None, "horizontal": None, "no_splits": False, "beam": None, "exact": False}
_OF_NETWORK = {"encoder": None, "validation": None, "start": None, "checkpoint": None, "epochs": None, "networks": None,
               "workers": None}  # fmt: skip


def _train(options: argparse.Namespace) -> tuple[Any, str]:
    from sapwood.errors import ParameterError

    network = options.learner == "network"
    for name, default in (_OF_GRAMMAR if network else _OF_NETWORK).items():
        if getattr(options, name) != default:
            other = "network" if not network else "grammar"
            raise ParameterError(
                f"a {options.learner} has no --{name.replace('_', '-')}; leave it out or choose --learner {other}."
            )
    check_silver(options)
    trees = _read(options.data, options.encoding)
    held = None if options.validation is None else _read([options.validation], options.encoding)
    if options.silver:
        trees = _with_silver(options, trees, held)
    return _train_network(options, trees, held) if network else _train_grammar(options, trees)


def _read(names: list[str], encoding: str) -> TreeArray:
    from sapwood.trees import concatenate, read_trees

    return concatenate([read_trees(open_named(name), encoding=encoding) for name in names])


def _with_silver(options: argparse.Namespace, gold: TreeArray, held: TreeArray | None) -> TreeArray:
    from sapwood.parse.learned import training_trees
    from sapwood.trees import concatenate

    banks = {"TREEBANK": gold} | ({} if held is None else {"--validation": held})
    known = (
        tuple(node.word for node in root.postorder() if node.word is not None)
        for name, trees in banks.items()
        for root in training_trees(trees, name)[0]
    )
    return concatenate([*[gold] * options.gold_copies, read_silver(options, known)])


def _train_grammar(options: argparse.Namespace, trees: TreeArray) -> tuple[Any, str]:
    from sapwood.parse import PCFGParser

    given = {name: getattr(options, name) for name in ("vertical", "horizontal") if getattr(options, name) is not None}
    parser = PCFGParser(**given, splits=() if options.no_splits else "penn")
    if options.exact or options.beam:
        parser.set_params(beam=None if options.exact else options.beam)
    parser.fit(trees)
    size = parser.size()
    learned = f"{size['words']:,} words, {size['symbols']:,} symbols, {size['rules']:,} rules, {len(parser.tags_)} tags"
    return parser, f"{len(trees):,} trees, {learned}"


def _train_network(options: argparse.Namespace, trees: TreeArray, held: TreeArray | None) -> tuple[Any, str]:
    from sapwood.cli.output import summary
    from sapwood.errors import ParameterError
    from sapwood.files import load
    from sapwood.parse import SpanParser

    given = {name: value for name in ("epochs", "networks") if (value := getattr(options, name)) is not None}
    if options.workers is not None:
        given["n_jobs"] = options.workers
    parser = SpanParser(encoder=options.encoder, checkpoint=options.checkpoint, random_state=options.seed, **given)
    start = None if options.start is None else load(options.start)
    if start is not None and not isinstance(start, SpanParser):
        raise ParameterError(
            f"{options.start} holds a {type(start).__name__}; --start takes a parser of --learner network."
        )

    def report(progress: Any) -> None:
        score = "" if progress.score is None else f", held-out F1 {100 * progress.score:.2f}"
        network = f"network {progress.network + 1}, " if parser.networks > 1 else ""
        summary(options, f"{network}epoch {progress.epoch}: loss {progress.loss:.3f}{score}, {progress.seconds:.0f} s")

    parser.fit(trees, validation=held, start=start, report=report)
    size = parser.size()
    learned = f"{size['words']:,} words, {size['labels']:,} labels, {size['weights']:,} weights, {size['tags']} tags"
    return parser, f"{len(trees):,} trees, {learned}"


COMMAND = task(
    "parser",
    "a parser from a treebank",
    "Learn to parse from bracketed trees: a probabilistic grammar, in seconds, or a network over spans, which is far "
    "better, takes longer and needs PyTorch for training. Traces and function tags are taken off.",
    (
        argument(
            "data",
            nargs="+",
            metavar="TREEBANK",
            help="files, folders or patterns of bracketed trees; - is standard input",
        ),
        choice("--learner", ("grammar", "network"), "what is learned"),
        integer("--vertical", "grammar: labels that a symbol holds (default: 2)"),
        integer("--horizontal", "grammar: siblings remembered (default: 2)"),
        flag("--no-splits", "grammar: leave out the marks made for Penn labels"),
        OneOf(
            number("--beam", "grammar: width of the beam in natural logarithms (default: built in)"),
            flag("--exact", "grammar: prune nothing; several times slower"),
        ),
        ENCODER.but(help="network: folder or name of a pretrained encoder, such as minilm"),
        argument("--validation", metavar="TREEBANK", help="network: held-out trees that choose the best epoch"),
        argument("--start", metavar="MODEL", help="network: a trained parser to go on from"),
        argument("--checkpoint", metavar="FILE", help="network: keep the state of training here, and go on from it"),
        integer("--epochs", "network: passes over the trees (default: built in)"),
        integer("--networks", "network: how many are trained and averaged, from seeds in a row (default: 1)"),
        integer("--workers", "network: how many of --networks are trained at once, each in a process (default: 1)"),
        argument(
            "--silver",
            action="append",
            default=[],
            metavar="TEXT",
            help="learn also from what --teacher makes of this text; repeatable. With --checkpoint, its trees are kept "
            "beside that file, and parsing goes on where it was stopped",
        ),
        argument("--teacher", metavar="MODEL", help="the parser that parses --silver"),
        number("--min-probability", "leave out silver trees less probable than this per word, such as 0.9"),
        integer("--gold-copies", "how often the trees of TREEBANK count beside silver ones", 1),
        SEED,
        ENCODING,
    ),
    _train,
)
