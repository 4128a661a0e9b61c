"""Parsers: their trees of the words of a treebank against the treebank. ``sapwood parse`` is what asks them."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sapwood.cli.inputs import open_named
from sapwood.cli.tables import label_report, parseval_report
from sapwood.errors import ParameterError

if TYPE_CHECKING:
    from sapwood.parse import BaseParser

__all__ = ["OPTIONS", "answer", "evaluate", "items"]

OPTIONS = ("encoding",)


def items(model: BaseParser, options: argparse.Namespace) -> Iterator[Any]:
    """Say which command parses."""
    raise _of_another_command(options)


def answer(model: BaseParser, options: argparse.Namespace, tally: Counter[str], items: Iterable[Any]) -> Iterator[str]:
    """Say which command parses."""
    raise _of_another_command(options)


def _of_another_command(options: argparse.Namespace) -> ParameterError:
    return ParameterError(f"{options.model} holds a parser; use: sapwood parse {options.model} {options.data}")


def evaluate(model: BaseParser, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return PARSEVAL and the scores of tags; words are those of the treebank, tags the parser's own."""
    from sapwood.metrics import COLLINS, parseval, score_tags
    from sapwood.parse.annotation import WRAPPERS
    from sapwood.settings import progress_bar
    from sapwood.trees import read_trees

    if options.parser is not None:
        raise ParameterError("--parser: a parser is compared with the trees of a treebank; leave the option out.")
    gold = read_trees(open_named(options.data), encoding=options.encoding, drop_traces=True)
    found = []
    with progress_bar(len(gold), "Parsing", "sentences") as progress:
        for one in model.parse_sentences(gold.leaves()):
            found.append(one.tree)
            if progress is not None:
                progress(len(found))
    record, text = parseval_report(parseval(gold, found, rules=COLLINS.deleting(*WRAPPERS)))
    tags, _ = label_report(score_tags(gold, found))
    return record | {"tags": tags}, f"{text}\n\nTags, punctuation included: {100 * tags['accuracy']:.2f}."
