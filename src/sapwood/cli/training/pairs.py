"""``sapwood train pairs``: a classifier of pairs of sentences."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.command import argument
from sapwood.cli.options import ENCODER, PARSER, flag, number
from sapwood.cli.training import task

__all__ = ["COMMAND"]


def _train(options: argparse.Namespace) -> tuple[Any, str]:
    from sapwood.cli.inference.pairs import read_pairs
    from sapwood.parse import as_parser
    from sapwood.tasks.pairs import PairClassifier
    from sapwood.tasks.pairs.features import PairFeatures
    from sapwood.words import Folded, WordNet

    parser = None if options.parser is None else as_parser(options.parser)
    pairs, labels, flat = read_pairs(options.data, parser)
    features = PairFeatures(
        tuple(options.groups) if options.groups else None,
        similarity=Folded(WordNet()) if options.wordnet else None,
        encoder=options.encoder,
    )
    balance = "balanced" if options.balanced else None
    model = PairClassifier(features, C=options.C, class_weight=balance, parser=parser).fit(pairs, labels)
    names = " and ".join(map(str, model.classes_))
    missing = f" ({flat:,} without a whole parse)" if flat else ""
    columns = model.features_.n_features_out_
    heaviest = "".join(f"\n  {name:<28} {weight:.3f}" for name, weight in model.heaviest(5))
    return model, f"{names}, {len(pairs):,} pairs{missing}, {columns} features, heaviest first:{heaviest}"


COMMAND = task(
    "pairs",
    "a classifier of pairs of sentences",
    "Learn from lines of label<TAB>trees<TAB>trees which pairs of sentences mean the same. A field holds the trees of "
    "all sentences of a text; an empty one is a text without words. With --parser, fields are text, which is parsed "
    "first.",
    (
        argument("data", metavar="DATA", help="file of label<TAB>trees<TAB>trees, or - for standard input"),
        argument("--groups", nargs="+", metavar="GROUP", help="groups of features (default: all)"),
        ENCODER,
        flag("--wordnet", "take word meaning from WordNet (default: from DATA)"),
        number("-C", "inverse of the strength of regularization", 0.1, metavar="C"),
        flag("--balanced", "let the rarer class count as much as the other"),
        PARSER.but(help="DATA is text; the model keeps this parser"),
    ),
    _train,
)
