"""``sapwood parse``: text to trees."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from sapwood.cli.command import Command, OneOf, argument
from sapwood.cli.inputs import is_conllu, iter_lines, text_or_name, text_sentences
from sapwood.cli.options import ENCODING, LINES, OUTPUT, RESUME, THREADS, choice, flag, integer
from sapwood.cli.output import note, write_output

if TYPE_CHECKING:
    from sapwood.parse import ParseChart
    from sapwood.trees import TreeArray

__all__ = ["COMMAND"]


# Sentences parsed before the next ones are read: what is done is printed, and threads have enough to do.
_BATCH = 64
_ENGLISH = "en/parser"


class _Sentence(NamedTuple):
    number: int
    words: list[Any]
    tags: list[str] | None = None


def _run(options: argparse.Namespace) -> None:
    from sapwood.parse import SpanParser, as_parser

    _sort_out(options)
    parser = as_parser(options.model)
    _check(parser, options)
    if isinstance(parser, SpanParser) and options.tree is not None:
        parser.tree = options.tree
    tally: Counter[str] = Counter()
    write_output(
        options,
        _sentences(parser, options),
        partial(_answers, parser, options, tally),
        models=[options.model],
        settings=("file", "nbest", "format", "lines", "tokens", "tagged", "tree", "probabilities"),
        what="sentences",
    )
    count = tally.total()
    plainer = count - tally["parser"]
    if plainer:
        note(f"{plainer:,} of {count:,} sentences were outside the grammar or too long, and got a plainer parse")


def _sort_out(options: argparse.Namespace) -> None:
    """Tell MODEL and TEXT apart: what is left out is the parser of English, or standard input."""
    from sapwood.errors import DataError
    from sapwood.files import is_model_file
    from sapwood.packages import package_model

    first, second = options.model, options.file
    if second is None:
        is_model = first is not None and (is_model_file(first) or package_model(first))
        first, second = (first, "-") if is_model else (_ENGLISH, first or "-")
    try:
        options.model, options.file = first, text_or_name(second)
    except argparse.ArgumentTypeError as error:
        raise DataError(str(error)) from None


def _check(parser: Any, options: argparse.Namespace) -> None:
    """Refuse options that the parser has no answer to, or that do not go together."""
    from sapwood.errors import ParameterError
    from sapwood.parse import PCFGParser
    from sapwood.parse.learned import LearnedParser

    if options.nbest > 100_000:
        raise ParameterError(f"--nbest must be at most 100,000, got {options.nbest:,}.")
    kind, chart = type(parser).__name__, options.probabilities or options.tree is not None
    if options.tagged and not isinstance(parser, PCFGParser):
        raise ParameterError(f"--tagged needs a PCFGParser, but the model is a {kind}.")
    if (options.nbest > 1 or chart) and not isinstance(parser, LearnedParser):
        raise ParameterError(
            f"--nbest, --tree and --probabilities need a PCFGParser or a SpanParser, but the model is a {kind}."
        )
    if options.tagged and chart:
        raise ParameterError("--tagged: --tree and --probabilities go with tags that the parser chooses; leave it out.")
    if options.nbest > 1 and options.tree == "minimum-risk":
        raise ParameterError(f"--nbest: there is one tree of --tree {options.tree}; leave one of the two out.")
    if options.nbest > 1 and options.format == "text":
        raise ParameterError("--nbest: --format text draws one tree per sentence; choose mrg or jsonl.")
    if (options.tokens or options.tagged) and is_conllu(options.file):
        raise ParameterError(
            f"--{'tokens' if options.tokens else 'tagged'}: {options.file} is CoNLL-U, whose words are taken as they "
            "are; leave the option out."
        )
    if options.probabilities and options.format == "mrg":
        raise ParameterError("--probabilities: brackets have no place for them; choose --format text or jsonl.")


def _answers(
    parser: Any, options: argparse.Namespace, tally: Counter[str], sentences: Iterator[_Sentence]
) -> Iterator[str]:
    from sapwood import settings
    from sapwood.parse import PCFGParser
    from sapwood.parse.learned import LearnedParser
    from sapwood.trees import TreeArray

    while batch := list(islice(sentences, _BATCH)):
        words = [one.words for one in batch]
        with settings.options(progress=False):
            if isinstance(parser, PCFGParser):
                found = parser.parse_nbest_batch(words, options.nbest, tags=[one.tags for one in batch])
            elif isinstance(parser, LearnedParser) and options.nbest > 1:
                found = parser.parse_nbest_batch(words, options.nbest)
            else:
                found = None
        if found is not None:
            parses = [(one.how, one.scores.tolist(), one.parses) for one in found]
        else:
            parses = [(one.how, [None], TreeArray([one.tree])) for one in parser.parse_sentences(words)]
        for sentence, (how, scores, trees) in zip(batch, parses, strict=True):
            tally[how] += 1
            chart = _chart(parser, sentence, how, options)
            if chart is not None and options.tree == "minimum-risk":
                tree = chart.minimum_risk()
                scores, trees = [chart.log_probability(tree)], TreeArray([tree])
            yield _shown(sentence, how, scores, trees, chart if options.probabilities else None, options)


def _chart(parser: Any, sentence: _Sentence, how: str, options: argparse.Namespace) -> ParseChart | None:
    """Return the chart of a sentence if it is needed and there is one: not where a tree was put together."""
    if how == "pieces" or not (options.probabilities or options.tree == "minimum-risk"):
        return None
    chart: ParseChart = parser.chart([str(word) for word in sentence.words])
    return chart


def _shown(
    sentence: _Sentence,
    how: str,
    scores: list[float | None],
    trees: TreeArray,
    chart: ParseChart | None,
    options: argparse.Namespace,
) -> str:
    from sapwood.draw import outline
    from sapwood.parse import Token
    from sapwood.trees import Tree

    texts = trees.to_strings(escape=True)
    if options.format == "mrg":
        return "".join(f"{text}\n" for text in texts) + ("\n" if options.nbest > 1 else "")
    if options.format == "text":
        drawn = [outline(tree) if chart is None else chart.text(tree) for tree in trees if isinstance(tree, Tree)]
        return "".join(f"{text}\n\n" for text in drawn)
    record: dict[str, Any] = {"name": str(sentence.number), "words": [str(word) for word in sentence.words]}
    if all(isinstance(word, Token) for word in sentence.words):
        record["offsets"] = [[word.begin, word.end] for word in sentence.words]
    record["how"] = how
    # A tree that is put together may be one that the parser never makes by itself.
    finite = [None if score is not None and score == float("-inf") else score for score in scores]
    record["parses"] = [list(pair) for pair in zip(finite, texts, strict=True)]
    if chart is not None:
        whole = chart.to_dict()
        record |= {name: whole[name] for name in ("constituents", "tags", "entropy")}
    return json.dumps(record, ensure_ascii=False) + "\n"


def _sentences(parser: Any, options: argparse.Namespace) -> Iterator[_Sentence]:
    if options.tagged:
        rows = _tagged(parser, options)
    elif options.tokens:
        rows = ((words, None) for _, words in _lines(options))
    else:
        rows = (
            (list(words), None)
            for words in text_sentences(options.file, options.encoding, lines=options.lines, language=parser.language)
        )
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

    for number, line in enumerate(iter_lines(options.file, options.encoding), 1):
        if words := separate(line):
            yield number, words


COMMAND = Command(
    "parse",
    "text to trees",
    "Split text into sentences and words, and parse them; with --lines, --tokens or --tagged, every line is a "
    "sentence. Sentences of CoNLL-U files (.conllu) are parsed as they are.",
    (
        argument(
            "model",
            nargs="?",
            metavar="MODEL",
            help="model file of sapwood train parser, or a name such as en/parser (default: that of English)",
        ),
        argument(
            "file", nargs="?", metavar="TEXT", help="text, or a file with text or CoNLL-U (default: standard input)"
        ),
        integer("--nbest", "parses per sentence", 1),
        choice(
            "--format",
            ("mrg", "jsonl", "text"),
            "mrg: one tree per line, a blank line after each list if there are several; jsonl: one sentence per line "
            "with its words, their places in the text and [score, tree] pairs; text: drawn as an outline",
        ),
        argument(
            "--tree",
            choices=("best", "minimum-risk"),
            help="the most probable tree (default for grammars), or the one with the fewest expected errors (default "
            "for networks)",
        ),
        flag("--probabilities", "say how probable constituents and tags are, with --format text or jsonl"),
        OneOf(
            LINES,
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
