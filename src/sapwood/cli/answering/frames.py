"""Finders of frames: sentences in, their frames and arguments out."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sapwood.tasks.frames import FrameLabeler, FrameParser, FrameRecord

__all__ = ["TAKES", "evaluate", "predict"]

TAKES = ("parser", "format")


def predict(model: FrameLabeler | FrameParser, options: argparse.Namespace) -> int:
    """Write JSON lines, text or HTML; frames are found where the input does not give them."""
    from sapwood.draw import page, span_brackets, span_html
    from sapwood.errors import DataError, ParameterError
    from sapwood.files import atomic_write
    from sapwood.tasks.frames import FrameInput, FrameLabeler, FrameParser, prediction

    form = options.format or "jsonl"
    if form not in ("jsonl", "text", "html"):
        raise ParameterError(f"--format must be one of jsonl, text, html; got {form!r}.")
    records = _records(model, options)
    labeler = model.labeler_ if isinstance(model, FrameParser) else model
    missing = [number for number, one in enumerate(records) if not one.given]
    if missing and isinstance(model, FrameLabeler):
        raise DataError(
            f"{options.data}: line {missing[0] + 1} gives no targets, and this model finds none by itself; add them, "
            "or train with sapwood train frames."
        )
    data: list[FrameInput] = list(records)
    if isinstance(model, FrameParser) and missing:
        found = model.identifier_.predict([records[number].parse for number in missing])
        for number, targets in zip(missing, found, strict=True):
            data[number] = FrameInput(records[number].parse, tuple(targets), records[number].name)
    labelled = labeler.predict(data)
    pairs = list(zip(data, labelled, strict=True))
    if form == "jsonl":
        written = [
            json.dumps(prediction(one, answer, margins=options.margins), ensure_ascii=False) for one, answer in pairs
        ]
    else:
        draw = span_brackets if form == "text" else span_html
        written = [draw(one.parse.words, [frame.layer() for frame in answer]) for one, answer in pairs]
    lines = [page("Frames", written)] if form == "html" else [f"{one}\n" for one in written]
    if options.out:
        atomic_write(options.out, "".join(lines).encode())
    else:
        sys.stdout.writelines(lines)
    return 0


def evaluate(model: FrameLabeler | FrameParser, options: argparse.Namespace) -> int:
    """Print precision, recall and F1 of the arguments, frames being given."""
    from sapwood.errors import DataError
    from sapwood.tasks.frames import FrameParser, evaluate_arguments

    records = _records(model, options)
    labeler = model.labeler_ if isinstance(model, FrameParser) else model
    if not any(one.targets for one in records):
        raise DataError(f"{options.data}: holds no target to score; give targets with their fillers.")
    labelled = labeler.predict(records)
    rows = {
        name: evaluate_arguments(records, labelled, labeler.lexicon_, unannotated=kept)
        for name, kept in (("annotated targets", False), ("all targets", True))
    }
    if options.json:
        print(
            json.dumps(
                {name: {"precision": one.precision, "recall": one.recall, "f1": one.f1} for name, one in rows.items()},
                indent=2,
            )
        )
        return 0
    print(f"{'':<17}  precision  recall      f1")
    for name, one in rows.items():
        print(f"{name:<17}  {one.precision:9.4f}  {one.recall:6.4f}  {one.f1:6.4f}")
    return 0


def _records(model: FrameLabeler | FrameParser, options: argparse.Namespace) -> list[FrameRecord]:
    from sapwood.cli.models import load_parser
    from sapwood.cli.texts import parsed_sentences
    from sapwood.tasks.frames import FrameParser, FrameRecord, iter_records
    from sapwood.tasks.frames.loading import find_senses
    from sapwood.tasks.frames.sentences import from_tree

    labeler = model.labeler_ if isinstance(model, FrameParser) else model
    # A model that has never seen supersenses has no use for them.
    senses = find_senses() if labeler.wordnet_ else None
    if getattr(options, "parser", None) is not None:
        return [
            FrameRecord(from_tree(tree, offsets=[(word.begin, word.end - 1) for word in words], senses=senses), ())
            for words, tree in parsed_sentences(load_parser(options.parser), options.data)
        ]
    return list(iter_records(sys.stdin if options.data == "-" else options.data, senses=senses))
