"""``sapwood parse``: text to trees."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from sapwood.cli.command import Command, OneOf, argument
from sapwood.cli.inputs import iter_text, text_sentences
from sapwood.cli.options import ENCODING, OUTPUT, RESUME, THREADS, choice, flag, integer
from sapwood.cli.output import note, write_output

if TYPE_CHECKING:
    from sapwood.trees import TreeArray

__all__ = ["COMMAND"]


# Sentences parsed before the next ones are read: what is done is printed, and threads have enough to do.
_BATCH = 64


class _Sentence(NamedTuple):
    number: int
    words: list[Any]
    tags: list[str] | None = None


def _run(options: argparse.Namespace) -> None:
    from sapwood.errors import ParameterError
    from sapwood.parse import PCFGParser, as_parser

    if options.nbest > 100_000:
        raise ParameterError(f"--nbest must be at most 100,000, got {options.nbest:,}.")
    parser = as_parser(options.model)
    if (options.nbest > 1 or options.tagged) and not isinstance(parser, PCFGParser):
        raise ParameterError(f"--nbest and --tagged need a PCFGParser, but the model is a {type(parser).__name__}.")
    tally: Counter[str] = Counter()
    write_output(
        options,
        _sentences(parser, options),
        partial(_answers, parser, options, tally),
        models=[options.model],
        settings=("file", "nbest", "format", "tokens", "tagged"),
        what="sentences",
    )
    count = tally.total()
    plainer = count - tally["parser"]
    if plainer:
        note(f"{plainer:,} of {count:,} sentences were outside the grammar or too long, and got a plainer parse")


def _answers(
    parser: Any, options: argparse.Namespace, tally: Counter[str], sentences: Iterator[_Sentence]
) -> Iterator[str]:
    from sapwood import settings
    from sapwood.parse import PCFGParser
    from sapwood.trees import TreeArray

    while batch := list(islice(sentences, _BATCH)):
        words = [one.words for one in batch]
        if isinstance(parser, PCFGParser):
            with settings.options(progress=False):
                found = parser.parse_nbest_batch(words, options.nbest, tags=[one.tags for one in batch])
            parses = [(one.how, one.scores.tolist(), one.parses) for one in found]
        else:
            parses = [(one.how, [None], TreeArray([one.tree])) for one in parser.parse_sentences(words)]
        for sentence, (how, scores, trees) in zip(batch, parses, strict=True):
            tally[how] += 1
            yield _shown(sentence, how, scores, trees, options)


def _shown(
    sentence: _Sentence, how: str, scores: list[float | None], trees: TreeArray, options: argparse.Namespace
) -> str:
    texts = trees.to_strings(escape=True)
    if options.format == "mrg":
        return "".join(f"{text}\n" for text in texts) + ("\n" if options.nbest > 1 else "")
    record: dict[str, Any] = {"name": str(sentence.number), "words": [str(word) for word in sentence.words]}
    if not options.tokens and not options.tagged:
        record["offsets"] = [[word.begin, word.end] for word in sentence.words]
    record["how"] = how
    record["parses"] = [list(pair) for pair in zip(scores, texts, strict=True)]
    return json.dumps(record, ensure_ascii=False) + "\n"


def _sentences(parser: Any, options: argparse.Namespace) -> Iterator[_Sentence]:
    if options.tagged:
        rows = _tagged(parser, options)
    elif options.tokens:
        rows = ((words, None) for _, words in _lines(options))
    else:
        rows = ((list(words), None) for words in text_sentences(options.file, options.encoding))
    return (_Sentence(number, *row) for number, row in enumerate(rows, 1))


def _tagged(parser: Any, options: argparse.Namespace) -> Iterator[tuple[list[Any], list[str] | None]]:
    from sapwood.errors import DataError

    known = set(parser.tags_)
    for number, words in _lines(options):
        pairs = [word.rpartition("/") for word in words]
        for word, (form, _, tag) in zip(words, pairs, strict=True):
            if not form or not tag:
                raise DataError(f"{options.file}:{number}: {word!r} has no tag; expected word/TAG, such as rain/NN.")
            if tag not in known:
                raise DataError(
                    f"{options.file}:{number}: {word!r} has a tag that the parser has not learnt; it knows "
                    f"{', '.join(parser.tags_)}."
                )
        yield [form for form, _, _ in pairs], [tag for _, _, tag in pairs]


def _lines(options: argparse.Namespace) -> Iterator[tuple[int, list[str]]]:
    """Yield the words of each line that has some, with its number."""
    from sapwood.parse.tokenizing import separate

    number, left = 0, ""
    for block in chain(iter_text(options.file, options.encoding), ["\n"]):
        *whole, left = (left + block).split("\n")
        for line in whole:
            number += 1
            if words := separate(line):
                yield number, words


COMMAND = Command(
    "parse",
    "text to trees",
    "Split text into sentences and words, and parse them; with --tokens or --tagged, every line is a sentence.",
    (
        argument("model", metavar="MODEL", help="model file of sapwood train parser"),
        argument("file", nargs="?", default="-", metavar="FILE", help="text (default: standard input)"),
        integer("--nbest", "parses per sentence", 1),
        choice(
            "--format",
            ("mrg", "jsonl"),
            "mrg: one tree per line, a blank line after each list if there are several; jsonl: one sentence per line "
            "with its words, their places in the text and [score, tree] pairs",
        ),
        OneOf(
            flag("--tokens", "one sentence per line, words separated by white space"),
            flag("--tagged", "the same with tags: word/TAG"),
        ),
        OUTPUT,
        RESUME,
        ENCODING,
        THREADS,
    ),
    _run,
)
