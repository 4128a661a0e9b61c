"""``sapwood parse``: text to trees."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from sapwood.cli.arguments import Subparsers, add_threads, check_outputs, positive_int
from sapwood.cli.texts import BATCH, read_text

if TYPE_CHECKING:
    from sapwood.parse import Parsed, PCFGParser

__all__ = ["add_parser", "run"]


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
    parser.add_argument("--out", metavar="FILE", help="where to write (default: standard output)")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, parse batch after batch, write."""
    import sys

    from sapwood.cli.models import load_parser
    from sapwood.errors import ParameterError
    from sapwood.files import atomic_write

    check_outputs(options.out)
    parser = load_parser(options.model)
    if options.nbest > 100_000:
        raise ParameterError(f"--nbest must be at most 100,000, got {options.nbest:,}.")
    sentences = list(_sentences(options))
    written: list[str] = []
    fallback = 0
    for lines, plain in _parsed(parser, sentences, options):
        fallback += not plain
        if options.out:
            written.append(lines)
        else:
            sys.stdout.write(lines)
    if options.out:
        atomic_write(options.out, "".join(written).encode())
    if fallback:
        print(
            f"sapwood: {fallback:,} of {len(sentences):,} sentences were outside the grammar or too long, and got a "
            "plainer parse",
            file=sys.stderr,
        )
    return 0


def _parsed(parser: PCFGParser, sentences: list[_Sentence], options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    from sapwood import settings

    with settings.progress_bar(len(sentences), "parsing") as progress:
        for begin in range(0, len(sentences), BATCH):
            batch = sentences[begin : begin + BATCH]
            with settings.options(progress=False):
                found = parser.analyse([one.words for one in batch], options.nbest, tags=[one.tags for one in batch])
            for number, (sentence, parsed) in enumerate(zip(batch, found, strict=True), begin + 1):
                yield _shown(number, sentence, parsed, options), parsed.how == "grammar"
            if progress is not None:
                progress(begin + len(batch))


def _shown(number: int, sentence: _Sentence, parsed: Parsed, options: argparse.Namespace) -> str:
    import json

    texts = parsed.parses.parses.to_strings(escape=True)
    if options.format == "mrg":
        return "".join(f"{text}\n" for text in texts) + ("\n" if options.nbest > 1 else "")
    record: dict[str, Any] = {"name": str(number), "words": [str(word) for word in sentence.words]}
    if not options.tokens and not options.tagged:
        record["offsets"] = [[word.begin, word.end] for word in sentence.words]
    record["how"] = parsed.how
    record["parses"] = [list(pair) for pair in zip(parsed.parses.scores.tolist(), texts, strict=True)]
    return json.dumps(record, ensure_ascii=False) + "\n"


def _sentences(options: argparse.Namespace) -> Iterator[_Sentence]:
    from sapwood.errors import DataError
    from sapwood.parse import split_sentences
    from sapwood.parse.tokenizing import separate

    text = read_text(options.file)
    if not options.tokens and not options.tagged:
        yield from (_Sentence(list(words), None) for words in split_sentences(text))
        return
    for number, line in enumerate(text.split("\n"), 1):
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
