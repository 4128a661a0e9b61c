"""``sapwood parse``: text to trees."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from sapwood.cli.arguments import Subparsers, add_threads, check_outputs, positive_int
from sapwood.cli.output import add_output, write_output
from sapwood.cli.texts import iter_text, text_sentences

if TYPE_CHECKING:
    from sapwood.trees import TreeArray

__all__ = ["add_parser", "run"]


# Sentences parsed before the next ones are read: what is done is printed, and threads have enough to do.
_BATCH = 64


class _Sentence(NamedTuple):
    words: list[Any]
    tags: list[str] | None


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "parse",
        help="text to trees",
        description="Split text into sentences and words, and parse them; with --tokens or --tagged, every line.",
    )
    parser.add_argument("model", metavar="MODEL", help="model file of sapwood train parser")
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="text in UTF-8 (default: standard input)")
    parser.add_argument("--nbest", type=positive_int, default=1, metavar="N", help="parses per sentence (default: 1)")
    parser.add_argument(
        "--format",
        choices=("mrg", "jsonl"),
        default="mrg",
        help="mrg: one tree per line, a blank line after each list if there are several; jsonl: one sentence per line "
        "with its words, their places in the text and [score, tree] pairs (default: %(default)s)",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--tokens", action="store_true", help="one sentence per line, words separated by white space")
    how.add_argument("--tagged", action="store_true", help="the same with tags: word/TAG")
    add_output(parser)
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, parse batch after batch, and write the trees as they come."""
    import sys

    from sapwood.errors import ParameterError
    from sapwood.parse import as_parser

    check_outputs(options.out)
    if options.nbest > 100_000:
        raise ParameterError(f"--nbest must be at most 100,000, got {options.nbest:,}.")
    parser = as_parser(options.model)
    if (options.nbest > 1 or options.tagged) and not hasattr(parser, "analyse"):
        raise ParameterError(f"--nbest and --tagged need a PCFGParser, but the model is a {type(parser).__name__}.")
    tally: Counter[str] = Counter()
    write_output(
        options,
        _sentences(options),
        partial(_answers, parser, options, tally),
        models=[options.model],
        settings=("file", "nbest", "format", "tokens", "tagged"),
        what="parsing",
    )
    count = tally.total()
    plainer = count - tally["parser"]
    if plainer:
        print(
            f"sapwood: {plainer:,} of {count:,} sentences were outside the grammar or too long, and got a plainer "
            "parse",
            file=sys.stderr,
        )
    return 0


def _answers(
    parser: Any, options: argparse.Namespace, tally: Counter[str], sentences: Iterator[_Sentence]
) -> Iterator[str]:
    from sapwood import settings
    from sapwood.trees import TreeArray

    first = 1
    while batch := list(islice(sentences, _BATCH)):
        words = [one.words for one in batch]
        if hasattr(parser, "analyse"):
            with settings.options(progress=False):
                found = parser.analyse(words, options.nbest, tags=[one.tags for one in batch])
            parses = [(one.how, one.parses.scores.tolist(), one.parses.parses) for one in found]
        else:
            parses = [(one.how, [None], TreeArray([one.tree])) for one in parser.parse_sentences(words)]
        for number, (sentence, (how, scores, trees)) in enumerate(zip(batch, parses, strict=True), first):
            tally[how] += 1
            yield _shown(str(number), sentence, how, scores, trees, options)
        first += len(batch)


def _shown(
    name: str, sentence: _Sentence, how: str, scores: list[float | None], trees: TreeArray, options: argparse.Namespace
) -> str:
    texts = trees.to_strings(escape=True)
    if options.format == "mrg":
        return "".join(f"{text}\n" for text in texts) + ("\n" if options.nbest > 1 else "")
    record: dict[str, Any] = {"name": name, "words": [str(word) for word in sentence.words]}
    if not options.tokens and not options.tagged:
        record["offsets"] = [[word.begin, word.end] for word in sentence.words]
    record["how"] = how
    record["parses"] = [list(pair) for pair in zip(scores, texts, strict=True)]
    return json.dumps(record, ensure_ascii=False) + "\n"


def _sentences(options: argparse.Namespace) -> Iterator[_Sentence]:
    from sapwood.errors import DataError
    from sapwood.parse.tokenizing import separate

    if not options.tokens and not options.tagged:
        yield from (_Sentence(list(words), None) for words in text_sentences(options.file))
        return
    for number, line in enumerate(_lines(iter_text(options.file)), 1):
        words = separate(line)
        if not words:
            continue
        if options.tokens:
            yield _Sentence(words, None)
            continue
        pairs = [word.rpartition("/") for word in words]
        for word, (form, _, tag) in zip(words, pairs, strict=True):
            if not form or not tag:
                raise DataError(f"{options.file}:{number}: {word!r} has no tag; expected word/TAG, such as rain/NN.")
        yield _Sentence([form for form, _, _ in pairs], [tag for _, _, tag in pairs])


def _lines(blocks: Iterator[str]) -> Iterator[str]:
    left = ""
    for block in blocks:
        *whole, left = (left + block).split("\n")
        yield from whole
    yield left
