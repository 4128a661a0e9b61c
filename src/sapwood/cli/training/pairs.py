"""``sapwood train pairs``: a classifier of pairs of sentences."""

from __future__ import annotations

import argparse

from sapwood.cli.arguments import Subparsers, add_parser_model, add_threads, check_outputs, positive_float

__all__ = ["add_parser", "run"]


def add_parser(tasks: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the task."""
    pairs = tasks.add_parser(
        "pairs",
        help="a classifier of pairs of sentences",
        description="Learn from lines of label<TAB>trees<TAB>trees which pairs of sentences mean the same. A field "
        "holds the trees of all sentences of a text; an empty one is a text without words. With --parser, fields are "
        "text, which is parsed first.",
    )
    pairs.add_argument("data", metavar="DATA", help="file of label<TAB>trees<TAB>trees, or - for standard input")
    add_parser_model(pairs, "DATA is text, and the model keeps the parser")
    pairs.add_argument("-o", "--out", required=True, metavar="MODEL", help="the model file to write")
    pairs.add_argument("--groups", nargs="+", metavar="GROUP", help="groups of features (default: all)")
    pairs.add_argument("--wordnet", action="store_true", help="take word meaning from WordNet (default: from DATA)")
    pairs.add_argument(
        "-C", type=positive_float, default=0.1, help="how far to bend to the data (default: %(default)s)"
    )
    pairs.add_argument("--balanced", action="store_true", help="let the rarer class count as much as the other")
    add_threads(pairs)
    pairs.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit, save, and say what was learnt."""
    from sapwood.cli.answering.pairs import read_pairs
    from sapwood.files import save
    from sapwood.parse import as_parser
    from sapwood.tasks.pairs import PairClassifier
    from sapwood.tasks.pairs.features import GROUPS, PairFeatures
    from sapwood.words import Folded, WordNet

    check_outputs(options.out)
    parser = None if options.parser is None else as_parser(options.parser)
    pairs, labels, flat = read_pairs(options.data, parser)
    features = PairFeatures(tuple(options.groups or GROUPS), similarity=Folded(WordNet()) if options.wordnet else None)
    weight = "balanced" if options.balanced else None
    model = PairClassifier(features, C=options.C, class_weight=weight, parser=parser).fit(pairs, labels)
    save(model, options.out)
    names = " and ".join(map(str, model.classes_))
    missing = f" ({flat:,} without a whole parse)" if flat else ""
    columns = model.features_.n_features_out_
    print(f"{options.out}: {names}, {len(pairs):,} pairs{missing}, {columns} features, heaviest first:")
    for name, weight_ in model.heaviest(5):
        print(f"  {name:<28} {weight_:.3f}")
    return 0
