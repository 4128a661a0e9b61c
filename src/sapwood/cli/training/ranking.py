"""``sapwood train ranking``: a ranker of parses, or of attachments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sapwood.cli.command import argument
from sapwood.cli.options import KERNEL, PARSER, SEED, choice, flag, integer, number
from sapwood.cli.training import task

if TYPE_CHECKING:
    from sapwood.learn import KernelRanker, RecursiveRanker

__all__ = ["COMMAND"]

_KERNELS = {
    "parses": "SubsetTree(decay=0.3).normalized().on('tree') + 0.01 * Linear().on('prior')",
    "attachments": "SubsetTree(decay=0.5)",
}


def _train(options: argparse.Namespace) -> tuple[Any, str]:
    from sapwood.cli.inference.ranking import gold_lists, read_sentences
    from sapwood.errors import ParameterError
    from sapwood.parse import as_parser
    from sapwood.tasks.attachment import AttachmentRanker
    from sapwood.tasks.reranking import ParseReranker

    if options.of == "attachments" and options.consensus is not None:
        raise ParameterError("attachments are right or wrong, so there is no consensus; leave out --consensus.")
    if options.of == "parses" and (options.recombine or options.flatten):
        given = "--recombine" if options.recombine else "--flatten"
        raise ParameterError(f"parses have no connection paths; leave out {given} or choose --of attachments.")
    ranker = _ranker(options)
    parser = None if options.parser is None else as_parser(options.parser)
    model: Any
    if options.of == "parses":
        model = ParseReranker(ranker, consensus=options.consensus, parser=parser)
        lists = gold_lists(model, options.data)
        held_out = None if options.validation is None else gold_lists(model, options.validation)
        model.fit(lists, validation=held_out)
        learned = f"{len(lists):,} n-best lists, {sum(map(len, lists)):,} parses"
    else:
        trees = read_sentences(options.data, parser)
        others = None if options.validation is None else read_sentences(options.validation, parser)
        model = AttachmentRanker(
            ranker,
            reduction=options.reduction,
            flatten=options.flatten,
            recombine=options.recombine,
            specialize=options.specialize,
            parser=parser,
        )
        model.fit(trees, validation=others)
        learned = f"{len(trees):,} sentences, {len(model.paths_):,} connection paths"
    return model, f"{learned}, {' '.join(repr(ranker).split())}"


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
        loss=options.loss or ("top" if options.of == "parses" else "setwise"),
        epochs=options.epochs or 3,
        checkpoint=options.checkpoint,
        random_state=options.seed,
    )


COMMAND = task(
    "ranking",
    "a ranker of parses or attachments",
    "Learn to choose among the parses of n-best lists (JSON lines with gold trees), or, with --of attachments, where "
    "each word of a sentence is attached, from the trees of a treebank.",
    (
        argument("data", metavar="DATA", help="n-best lists or a treebank, or - for standard input"),
        choice("--of", ("parses", "attachments"), "what to rank"),
        choice("--learner", ("kernel", "network"), "what ranks"),
        KERNEL.but(help=f"kernel; default: {_KERNELS['parses']}; of attachments {_KERNELS['attachments']}"),
        argument(
            "--loss",
            choices=("pairwise", "top", "setwise"),
            help="default: top for a kernel on parses, setwise for attachments and for a network, which has no top",
        ),
        integer("--epochs", "passes over the data (default: 3, a network 10)"),
        integer("--units", "units of a network", 25),
        number("--alpha", "penalty on weights of a network", 1e-3),
        argument(
            "--averaging",
            type=float,
            default=1.0,
            metavar="PASSES",
            help="passes over which a network averages its weights; 0 for none (default: %(default)s)",
        ),
        number(
            "--consensus",
            "choose parses by the F1 to be expected; the larger N, the more the best parses count (1 or 2 are good)",
            metavar="N",
        ),
        argument("--validation", metavar="DATA", help="held-out data on which a network stops early"),
        flag("--flatten", "make one phrase of a phrase and what is added to its right, before attaching"),
        flag("--recombine", "join ways up and down that were never seen together to attachments"),
        flag("--specialize", "one ranker of attachments per word class"),
        integer("--reduction", "levels kept of subtrees off the right frontier (default: all)"),
        argument(
            "--checkpoint", metavar="FILE", help="keep the state of training there; if the file is there, go on from it"
        ),
        PARSER.but(help="DATA is a treebank, of which this parser makes n-best lists, or text for attachments"),
        SEED,
    ),
    _train,
)
