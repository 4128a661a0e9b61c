"""Frame-semantic parsers: sentences in, their frames and arguments out."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sapwood.cli.inference.titled import Titled
from sapwood.cli.inputs import is_text, open_named, text_sentences
from sapwood.cli.tables import text_table

if TYPE_CHECKING:
    from sapwood.tasks.frames import FrameInput, FrameLabeler, FrameParser, FrameSentence

__all__ = ["OPTIONS", "answer", "evaluate", "explain", "items", "page"]

OPTIONS = ("encoding", "format", "lines", "margins")
_FORMATS = ("jsonl", "text", "brackets", "html")


def items(model: FrameLabeler | FrameParser, options: argparse.Namespace) -> Iterator[Any]:
    """Yield sentences: the words of a text, or records with trees and perhaps targets."""
    from sapwood.errors import ParameterError

    if (options.format or "jsonl") not in _FORMATS:
        raise ParameterError(f"--format must be one of {', '.join(_FORMATS)}; got {options.format!r}.")
    if options.margins and options.format not in (None, "jsonl"):
        raise ParameterError("--margins: only JSON lines have room for them; leave out the option, or --format.")
    if is_text(model, options):
        return text_sentences(
            options.data, options.encoding, lines=options.lines, language=getattr(model, "language", None)
        )
    return _records(model, options)


def answer(
    model: FrameLabeler | FrameParser, options: argparse.Namespace, tally: Counter[str], items: Iterable[Any]
) -> Iterator[str]:
    """Yield each sentence as JSON or text; frames are found where the input does not give them."""
    from sapwood.draw.inline import span_brackets
    from sapwood.draw.listing import span_list
    from sapwood.parse import Token

    for one in _answered(model, options, tally, items):
        if options.format == "text":
            places = zip(one.parse.words, one.parse.offsets, strict=True)
            # Here the end is the last character, and not what follows it.
            words = [Token(word, first, last + 1) for word, (first, last) in places]
            yield span_list(words, one.layers()) + "\n\n"
        elif options.format == "brackets":
            yield span_brackets(one.parse.words, one.layers()) + "\n"
        else:
            marked = {"how": one.how} if one.how in ("fallback", "pieces", "flat") else {}
            yield json.dumps({**one.to_json(margins=options.margins), **marked}, ensure_ascii=False) + "\n"


def page(
    model: FrameLabeler | FrameParser, options: argparse.Namespace, tally: Counter[str], items: Iterable[Any]
) -> str:
    """Return a page that draws every sentence."""
    from sapwood.draw import span_svg
    from sapwood.draw.html import page

    answers = _answered(model, options, tally, items)
    return page("Frames", [span_svg(one.parse.words, one.layers()) for one in answers])


def explain(model: FrameLabeler | FrameParser, options: argparse.Namespace, items: Iterable[Any]) -> Iterator[Any]:
    """Yield why each frame was found, where the model finds them, and why each span fills its role."""
    from sapwood.tasks.frames import FrameParser

    if not isinstance(model, FrameParser):
        for one in _with_targets(options, items):
            for number, target in enumerate(model.predict([one])[0].frames):
                for filler in target.fillers:
                    said = model.explain(one, number, filler.role, span=(filler.first, filler.last))
                    yield Titled(_title(one.parse.words, target, filler), said)
        return
    for found in model.parse_sentences(items):
        for target in found.frames:
            yield Titled(_title(found.parse.words, target), model.explain(found.parse, target.tokens[0]))
            for filler in target.fillers:
                span = (filler.first, filler.last)
                said = model.explain(found.parse, target.tokens[0], filler.role, frame=target.frame, span=span)
                yield Titled(_title(found.parse.words, target, filler), said)


def _title(words: Sequence[str], target: Any, filler: Any = None) -> str:
    evoking = " ".join(words[token] for token in target.tokens)
    if filler is None:
        return f"{evoking}: {target.frame}"
    return f"{evoking}: {filler.role} is {' '.join(words[filler.first : filler.last + 1])}"


def _answered(
    model: FrameLabeler | FrameParser, options: argparse.Namespace, tally: Counter[str], items: Iterable[Any]
) -> Iterator[FrameSentence]:
    from sapwood.tasks.frames import FrameParser
    from sapwood.tasks.inputs import in_batches

    if isinstance(model, FrameParser):
        found = model.parse_sentences(items)
    else:
        found = (one for batch in in_batches(_with_targets(options, items)) for one in model.predict(batch))
    for one in found:
        tally["items"] += 1
        tally[one.how] += 1
        yield one


def _with_targets(options: argparse.Namespace, items: Iterable[Any]) -> Iterator[FrameInput]:
    from sapwood.errors import DataError
    from sapwood.tasks.frames import FrameInput

    for number, one in enumerate(items, 1):
        if not isinstance(one, FrameInput) or one.find:
            raise DataError(
                f"{options.data}: line {number} gives no targets, and this model finds none by itself; add them, or "
                "train with sapwood train frames."
            )
        yield one


def evaluate(model: FrameLabeler | FrameParser, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return precision, recall and F1 of the arguments, frames being given."""
    from dataclasses import replace

    from sapwood.errors import DataError, ParameterError
    from sapwood.tasks.frames import FrameParser, evaluate_arguments

    if options.parser is not None:
        raise ParameterError("--parser: arguments are scored on the parses in DATA; leave the option out.")
    records = list(_records(model, options))
    labeler = model.labeler_ if isinstance(model, FrameParser) else model
    if not any(one.targets for one in records):
        raise DataError(f"{options.data}: holds no target to score; give targets with their fillers.")
    labeled = labeler.predict([replace(one, find=False) for one in records])
    rows = {
        name: evaluate_arguments(records, labeled, labeler.lexicon_, unannotated=kept)
        for name, kept in (("annotated targets", False), ("all targets", True))
    }
    record = {name: {"precision": one.precision, "recall": one.recall, "f1": one.f1} for name, one in rows.items()}
    table = [
        ["", "P", "R", "F1"],
        *([name, *(f"{100 * value:.2f}" for value in one.values())] for name, one in record.items()),
    ]
    return record, text_table(table)


def _records(model: FrameLabeler | FrameParser, options: argparse.Namespace) -> Iterator[FrameInput]:
    from sapwood.tasks.frames import FrameParser, iter_records

    labeler = model.labeler_ if isinstance(model, FrameParser) else model
    return iter_records(open_named(options.data), senses=labeler.senses_, encoding=options.encoding)
