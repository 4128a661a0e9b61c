"""Frame-semantic parsers: sentences in, their frames and arguments out."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from sapwood.cli.inputs import is_text, open_named, text_sentences
from sapwood.cli.tables import text_table

if TYPE_CHECKING:
    from sapwood.tasks.frames import FrameInput, FrameLabeler, FrameParser, FrameRecord, LabelledTarget

__all__ = ["OPTIONS", "answer", "evaluate", "items", "page"]

OPTIONS = ("format", "margins")

_BATCH = 64


def items(model: FrameLabeler | FrameParser, options: argparse.Namespace) -> Iterator[Any]:
    """Yield sentences: the words of a text, or records with trees and perhaps targets."""
    from sapwood.errors import ParameterError

    if (options.format or "jsonl") not in ("jsonl", "text", "html"):
        raise ParameterError(f"--format must be one of jsonl, text, html; got {options.format!r}.")
    if options.margins and options.format in ("text", "html"):
        raise ParameterError("--margins: only JSON lines have room for them; leave out the option, or --format.")
    return text_sentences(options.data) if is_text(model, options) else _records(model, options)


def answer(
    model: FrameLabeler | FrameParser, options: argparse.Namespace, tally: Counter[str], items: Iterable[Any]
) -> Iterator[str]:
    """Yield one line per sentence, as JSON or text; frames are found where the input does not give them."""
    from sapwood.draw.inline import span_brackets
    from sapwood.tasks.frames import prediction

    for one, how, frames in _answered(model, options, tally, items):
        if options.format == "text":
            yield span_brackets(one.parse.words, [frame.layer() for frame in frames]) + "\n"
        else:
            marked = {"how": how} if how in ("fallback", "pieces", "flat") else {}
            found = prediction(one, frames, margins=options.margins)
            yield json.dumps({**found, **marked}, ensure_ascii=False) + "\n"


def page(
    model: FrameLabeler | FrameParser, options: argparse.Namespace, tally: Counter[str], items: Iterable[Any]
) -> str:
    """Return a page that draws every sentence."""
    from sapwood.draw.html import page
    from sapwood.draw.inline import span_html

    drawn = [
        span_html(one.parse.words, [frame.layer() for frame in frames])
        for one, _, frames in _answered(model, options, tally, items)
    ]
    return page("Frames", drawn)


def _answered(
    model: FrameLabeler | FrameParser, options: argparse.Namespace, tally: Counter[str], items: Iterable[Any]
) -> Iterator[tuple[FrameInput, str, list[LabelledTarget]]]:
    from sapwood.errors import DataError
    from sapwood.parse import as_parser
    from sapwood.tasks.frames import FrameInput, FrameParser, FrameRecord
    from sapwood.tasks.frames.parser import as_parsed

    labeler = model.labeler_ if isinstance(model, FrameParser) else model
    senses = _senses(model)
    source = iter(items)
    number = 0
    while batch := list(islice(source, _BATCH)):
        hows = ["given"] * len(batch)
        if not isinstance(batch[0], FrameRecord):
            parsed = list(as_parser(options.parser or getattr(model, "parser", None)).parse_sentences(batch))
            batch = [FrameRecord(as_parsed(one, senses), ()) for one in parsed]
            hows = [one.how for one in parsed]
        missing = [at for at, one in enumerate(batch) if not one.given]
        if missing and not isinstance(model, FrameParser):
            raise DataError(
                f"{options.data}: line {number + missing[0] + 1} gives no targets, and this model finds none by "
                "itself; add them, or train with sapwood train frames."
            )
        if isinstance(model, FrameParser) and missing:
            found = model.identifier_.predict([batch[at].parse for at in missing])
            for at, targets in zip(missing, found, strict=True):
                batch[at] = FrameInput(batch[at].parse, tuple(targets), batch[at].name)
        tally["items"] += len(batch)
        tally.update(hows)
        number += len(batch)
        yield from zip(batch, hows, labeler.predict(batch), strict=True)


def evaluate(model: FrameLabeler | FrameParser, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return precision, recall and F1 of the arguments, frames being given."""
    from sapwood.errors import DataError, ParameterError
    from sapwood.tasks.frames import FrameParser, evaluate_arguments

    if options.parser is not None:
        raise ParameterError("--parser: arguments are scored on the parses in DATA; leave the option out.")
    records = list(_records(model, options))
    labeler = model.labeler_ if isinstance(model, FrameParser) else model
    if not any(one.targets for one in records):
        raise DataError(f"{options.data}: holds no target to score; give targets with their fillers.")
    labelled = labeler.predict(records)
    rows = {
        name: evaluate_arguments(records, labelled, labeler.lexicon_, unannotated=kept)
        for name, kept in (("annotated targets", False), ("all targets", True))
    }
    record = {name: {"precision": one.precision, "recall": one.recall, "f1": one.f1} for name, one in rows.items()}
    table = [
        ["", "P", "R", "F1"],
        *([name, *(f"{100 * value:.2f}" for value in one.values())] for name, one in record.items()),
    ]
    return record, text_table(table)


def _records(model: FrameLabeler | FrameParser, options: argparse.Namespace) -> Iterator[FrameRecord]:
    from sapwood.tasks.frames import iter_records

    return iter_records(open_named(options.data), senses=_senses(model))


def _senses(model: FrameLabeler | FrameParser) -> Any:
    from sapwood.tasks.frames import FrameParser
    from sapwood.tasks.frames.loading import find_senses

    labeler = model.labeler_ if isinstance(model, FrameParser) else model
    # A model that has never seen supersenses has no use for them.
    return find_senses() if labeler.wordnet_ else None
