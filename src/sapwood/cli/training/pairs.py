"""``sapwood train pairs``: a classifier of pairs of sentences."""

from __future__ import annotations

import argparse

from sapwood.cli.command import Command, argument
from sapwood.cli.options import MODEL_OUTPUT, PARSER, THREADS, positive_float
from sapwood.cli.output import summary

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.cli.inference.pairs import read_pairs
    from sapwood.files import save
    from sapwood.parse import as_parser
    from sapwood.tasks.pairs import PairClassifier
    from sapwood.tasks.pairs.features import GROUPS, PairFeatures
    from sapwood.words import Folded, WordNet

    parser = None if options.parser is None else as_parser(options.parser)
    pairs, labels, flat = read_pairs(options.data, parser)
    features = PairFeatures(tuple(options.groups or GROUPS), similarity=Folded(WordNet()) if options.wordnet else None)
    weight = "balanced" if options.balanced else None
    model = PairClassifier(features, C=options.C, class_weight=weight, parser=parser).fit(pairs, labels)
    save(model, options.output)
    names = " and ".join(map(str, model.classes_))
    missing = f" ({flat:,} without a whole parse)" if flat else ""
    columns = model.features_.n_features_out_
    summary(options, f"{options.output}: {names}, {len(pairs):,} pairs{missing}, {columns} features, heaviest first:")
    for name, weight_ in model.heaviest(5):
        summary(options, f"  {name:<28} {weight_:.3f}")


COMMAND = Command(
    "pairs",
    "a classifier of pairs of sentences",
    "Learn from lines of label<TAB>trees<TAB>trees which pairs of sentences mean the same. A field holds the trees of "
    "all sentences of a text; an empty one is a text without words. With --parser, fields are text, which is parsed "
    "first.",
    (
        argument("data", metavar="DATA", help="file of label<TAB>trees<TAB>trees, or - for standard input"),
        MODEL_OUTPUT,
        argument("--groups", nargs="+", metavar="GROUP", help="groups of features (default: all)"),
        argument("--wordnet", action="store_true", help="take word meaning from WordNet (default: from DATA)"),
        argument("-C", type=positive_float, default=0.1, help="inverse of regularization (default: %(default)s)"),
        argument("--balanced", action="store_true", help="let the rarer class count as much as the other"),
        PARSER.but(help="DATA is text; the model keeps this parser"),
        THREADS,
    ),
    _run,
)
