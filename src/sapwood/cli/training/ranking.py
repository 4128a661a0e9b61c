"""``sapwood train ranking``: a ranker of parses, or of attachments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sapwood.cli.command import Command, argument
from sapwood.cli.options import KERNEL, MODEL_OUTPUT, PARSER, SEED, THREADS, positive_float, positive_int
from sapwood.cli.output import summary

if TYPE_CHECKING:
    from sapwood.learn import KernelRanker, RecursiveRanker

__all__ = ["COMMAND"]

_KERNELS = {
    "parses": "SubsetTree(decay=0.3).normalized().on('tree') + 0.01 * Linear().on('prior')",
    "attachments": "SubsetTree(decay=0.5)",
}


def _run(options: argparse.Namespace) -> None:
    from sapwood.cli.inference.ranking import gold_lists, read_sentences
    from sapwood.errors import ParameterError
    from sapwood.files import save
    from sapwood.parse import as_parser
    from sapwood.tasks.attachment import AttachmentRanker
    from sapwood.tasks.reranking import ParseReranker

    if options.of == "attachments" and options.consensus is not None:
        raise ParameterError("attachments are right or wrong, so there is no consensus; leave out --consensus.")
    if options.of == "parses" and options.recombine:
        raise ParameterError("parses have no connection paths; leave out --recombine or choose --of attachments.")
    ranker = _ranker(options)
    parser = None if options.parser is None else as_parser(options.parser)
    model: Any
    if options.of == "parses":
        model = ParseReranker(ranker, consensus=options.consensus, parser=parser)
        lists = gold_lists(model, options.data)
        held_out = None if options.validation is None else gold_lists(model, options.validation)
        model.fit(lists, validation=held_out)
        learnt = f"{len(lists):,} n-best lists, {sum(map(len, lists)):,} parses"
    else:
        trees = read_sentences(options.data, parser)
        others = None if options.validation is None else read_sentences(options.validation, parser)
        model = AttachmentRanker(
            ranker,
            reduction=options.reduction,
            recombine=options.recombine,
            specialize=options.specialize,
            parser=parser,
        )
        model.fit(trees, validation=others)
        learnt = f"{len(trees):,} sentences, {len(model.paths_):,} connection paths"
    save(model, options.output)
    summary(options, f"{options.output}: {learnt}, {' '.join(repr(ranker).split())}")


def _ranker(options: argparse.Namespace) -> KernelRanker | RecursiveRanker:
    from sapwood.errors import ParameterError
    from sapwood.kernels import parse_kernel
    from sapwood.learn import KernelRanker, RecursiveRanker

    if options.learner == "network":
        if options.kernel is not None:
            raise ParameterError("a network has no kernel; leave out --kernel or choose --learner kernel.")
        if options.loss == "top":
            raise ParameterError("a network has no loss 'top'; choose setwise or pairwise.")
        return RecursiveRanker(
            options.units,
            loss=options.loss or "setwise",
            epochs=options.epochs or 10,
            alpha=options.alpha,
            averaging=options.averaging,
            # Words that are rare would be learnt by heart; tags never are.
            min_label_count=20 if options.of == "parses" else 1,
            checkpoint=options.checkpoint,
            random_state=options.seed,
        )
    if options.validation is not None:
        raise ParameterError("a kernel does not stop early; leave out --validation or choose --learner network.")
    return KernelRanker(
        parse_kernel(options.kernel or _KERNELS[options.of]),
        loss=options.loss or ("top" if options.of == "parses" else "pairwise"),
        epochs=options.epochs or 3,
        checkpoint=options.checkpoint,
        random_state=options.seed,
    )


COMMAND = Command(
    "ranking",
    "a ranker of parses or attachments",
    "Learn to choose among the parses of n-best lists (JSON lines with gold trees), or, with --of attachments, where "
    "each word of a sentence is attached, from the trees of a treebank.",
    (
        argument("data", metavar="DATA", help="n-best lists or a treebank, or - for standard input"),
        MODEL_OUTPUT,
        argument("--of", choices=("parses", "attachments"), default="parses", help="default: %(default)s"),
        argument("--learner", choices=("kernel", "network"), default="kernel", help="default: %(default)s"),
        KERNEL.but(help=f"default: {_KERNELS['parses']}; of attachments {_KERNELS['attachments']}"),
        argument(
            "--loss",
            choices=("pairwise", "top", "setwise"),
            help="default: top for a kernel on parses, pairwise on attachments; setwise for a network, which has no "
            "top",
        ),
        argument("--epochs", type=positive_int, metavar="N", help="passes (default: 3, a network 10)"),
        argument("--units", type=positive_int, default=25, metavar="N", help="of a network (default: %(default)s)"),
        argument(
            "--alpha", type=positive_float, default=1e-3, help="penalty on weights of a network (default: %(default)s)"
        ),
        argument(
            "--averaging",
            type=float,
            default=1.0,
            metavar="PASSES",
            help="passes over which a network averages its weights; 0 for none (default: %(default)s)",
        ),
        argument(
            "--consensus",
            type=positive_float,
            metavar="N",
            help="choose parses by the F1 to be expected; the larger N, the more the best parses count (1 or 2 are "
            "good)",
        ),
        argument("--validation", metavar="DATA", help="held-out data on which a network stops early"),
        argument(
            "--recombine",
            action="store_true",
            help="join ways up and down that were never seen together to attachments",
        ),
        argument("--specialize", action="store_true", help="one ranker of attachments per word class"),
        argument(
            "--reduction",
            type=positive_int,
            metavar="N",
            help="levels kept of subtrees off the right frontier (default: all)",
        ),
        argument(
            "--checkpoint", metavar="FILE", help="keep the state of training there; if the file is there, go on from it"
        ),
        PARSER.but(help="DATA is a treebank, of which this parser makes n-best lists, or text for attachments"),
        SEED,
        THREADS,
    ),
    _run,
)
