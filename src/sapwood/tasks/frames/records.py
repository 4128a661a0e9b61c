"""Sentences with frames as JSON lines: what ``sapwood predict`` and ``evaluate`` read.

A line is a tree in brackets, for a sentence whose frames are to be found, or an object with ``tree`` and, if known,
``offsets`` (first and last character of each word), ``name`` and ``targets``: each with ``frame``, ``spans`` of
characters, and for evaluation ``fillers`` as [role, first, last character] and ``annotated``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sapwood.corpora.framenet.fulltext import Filler, FrameTarget
from sapwood.errors import TreeError
from sapwood.sources import Source
from sapwood.tasks.frames.instances import FrameInput
from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.text_files import Line, lines
from sapwood.trees.brackets import to_brackets
from sapwood.trees.texts import TreeTexts
from sapwood.trees.tree import Tree
from sapwood.words.senses import WordSenses
from sapwood.writing import write_text

__all__ = ["iter_records", "write_records"]


def iter_records(
    source: Source | Sequence[Source], *, senses: WordSenses | None = None, encoding: str = "utf-8"
) -> Iterator[FrameInput]:
    """Yield the sentences of JSON lines or of lines with one tree each.

    Raises
    ------
    FormatError, BracketError
        With file, line and column: broken JSON or brackets, offsets that do not fit, spans outside the sentence.

    Examples
    --------
    >>> import io
    >>> record = next(iter_records(io.StringIO('{"tree": "(S (NP (NN Rain)) (VP (VBD fell)))", "targets": '
    ...     '[{"frame": "Motion", "spans": [[5, 8]], "fillers": [["Theme", 0, 3]]}]}')))
    >>> record.targets[0].fillers
    (Filler(role='Theme', start=0, end=3),)
    """
    for line in lines(source, encoding=encoding):
        text = line.text.strip()
        if not text:
            raise line.fault("a blank line; expected a tree in brackets or a JSON object")
        if text.startswith("{"):
            yield _record(_object(line, text), line, senses)
        else:
            yield _record({"tree": text}, line, senses)


def write_records(trees: Iterable[tuple[Tree, FrameInput]], path: str | os.PathLike[str]) -> None:
    """Write sentences with their trees, targets and fillers; the file appears whole or not at all."""
    rows = []
    for tree, one in trees:
        targets = [
            {
                "frame": target.frame,
                "spans": target.spans,
                "fillers": [[filler.role, filler.start, filler.end] for filler in target.fillers],
                "annotated": target.annotated,
            }
            for target in one.targets
        ]
        record = {"name": one.name, "tree": to_brackets(tree), "offsets": one.parse.offsets, "targets": targets}
        rows.append(json.dumps(record, ensure_ascii=False))
    write_text(path, (f"{row}\n" for row in rows))


def _object(line: Line, text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise line.fault(f"broken JSON ({error})") from None
    if not isinstance(record, dict) or not isinstance(record.get("tree"), str):
        raise line.fault('expected an object with a "tree" in brackets')
    return record


def _record(record: dict[str, Any], line: Line, senses: WordSenses | None) -> FrameInput:
    texts = TreeTexts()
    texts.add(record["tree"], line, 1)
    (tree,) = texts.trees()
    try:
        offsets = [(int(start), int(end)) for start, end in record["offsets"]] if "offsets" in record else None
        if offsets is not None and len(offsets) != len(tree.leaves()):
            raise line.fault(f"the tree has {len(tree.leaves())} words, and there are {len(offsets)} offsets")
        parse = ParsedSentence.from_tree(tree, offsets=offsets, senses=senses)
        last = parse.offsets[-1][1]
        targets = []
        for each in record.get("targets", ()):
            spans = tuple((int(start), int(end)) for start, end in each["spans"])
            fillers = tuple(Filler(str(role), int(start), int(end)) for role, start, end in each.get("fillers", ()))
            for start, end in (*spans, *((filler.start, filler.end) for filler in fillers)):
                if not 0 <= start <= end <= last:
                    raise line.fault(f"the span from {start} to {end} lies outside the sentence, which ends at {last}")
            if not spans:
                raise line.fault(f"the target of {each['frame']!r} has no span")
            annotated = bool(each.get("annotated", True))
            targets.append(FrameTarget(str(each["frame"]), spans, fillers, (), "", annotated))
    except TreeError as error:
        raise line.fault(str(error)) from None
    except (KeyError, TypeError, ValueError) as error:
        if type(error) not in (KeyError, TypeError, ValueError):
            raise
        raise line.fault(
            'expected "targets" as [{"frame": name, "spans": [[first, last]], "fillers": [[role, first, last]]}], and '
            f'"offsets" as [[first, last]] ({error!r})'
        ) from None
    return FrameInput(parse, tuple(targets), str(record.get("name", "")), find="targets" not in record)
