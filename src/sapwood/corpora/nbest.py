"""n-best lists: the alternative parses of a sentence with their scores, read and written.

Two formats. JSON lines, one sentence each, ``{"gold": tree, "parses": [[score, tree], ...]}``, in which a parse may
also carry what it scored against the gold tree, ``[score, F1, matched, brackets, tree]``; and the text that the BLLIP
(Charniak) parser prints.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Literal

import numpy as np

from sapwood.checks import check_choice
from sapwood.errors import DataError
from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.text_files import Line, files
from sapwood.trees.brackets import to_brackets
from sapwood.trees.nbest import NBest
from sapwood.trees.texts import TreeTexts
from sapwood.writing import write_text

__all__ = ["NBest", "read", "write"]

__dir__ = public_names(__name__)

_HEADER = re.compile(r"\s*([0-9]+)\s+(\S+)\s*")


def read(
    source: Sources, *, format: Literal["json", "bllip"] | None = None, encoding: str = "utf-8"
) -> Iterator[NBest]:
    """Yield n-best lists one by one.

    Parameters
    ----------
    format : {"json", "bllip"}, optional
        None tells them apart by the first character of each file.

    Examples
    --------
    >>> import io
    >>> text = '{"gold": "(S (NP a))", "parses": [[-1.5, "(S (NP a))"], [-2.0, "(S (VP a))"]]}'
    >>> one = next(read(io.StringIO(text)))
    >>> len(one), one.scores.tolist(), str(one.parses[1])
    (2, [-1.5, -2.0], '(S (VP a))')
    """
    if format is not None:
        check_choice(format, "format", ("json", "bllip"))
    for rows in files(source, encoding=encoding):
        first = next(rows)
        every = chain([first], rows)
        if format == "json" or (format is None and first.text.lstrip().startswith("{")):
            yield from map(_from_json, every)
        else:
            yield from (_from_bllip(line, every) for line in every if line.text.strip())


def write(lists: Iterable[NBest], path: str | os.PathLike[str], *, format: Literal["json", "bllip"] = "json") -> None:
    """Write n-best lists.

    Parameters
    ----------
    format : {"json", "bllip"}
        ``bllip`` keeps names, scores and parses only.
    """
    check_choice(format, "format", ("json", "bllip"))
    parts = []
    for index, one in enumerate(lists):
        texts, scores = one.parses.to_strings(), one.scores.tolist()
        if len(scores) != len(texts) or not texts:
            raise DataError(f"list {index} has {len(texts)} parses and {len(scores)} scores; expected one of each.")
        if not np.isfinite(one.scores).all():
            raise DataError(f"list {index} has a score that is not finite.")
        if format == "bllip":
            name = str(index) if one.name is None else one.name
            rows = [f"{len(texts)}\t{name}"] + [f"{score!r}\n{text}" for score, text in zip(scores, texts, strict=True)]
            parts.append("\n".join(rows) + "\n\n")
            continue
        record: dict[str, Any] = {"name": one.name, "fold": one.fold}
        record["gold"] = None if one.gold is None else to_brackets(one.gold)
        record["gold_brackets"] = one.gold_brackets
        record = {key: value for key, value in record.items() if value is not None}
        if one.f1 is not None and one.matched is not None and one.brackets is not None:
            columns: list[list[Any]] = [scores, one.f1.tolist(), one.matched.tolist(), one.brackets.tolist(), texts]
        else:
            columns = [scores, texts]
        record["parses"] = [list(row) for row in zip(*columns, strict=True)]
        parts.append(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(path, parts)


def _from_json(line: Line) -> NBest:
    record = line.json()
    if not isinstance(record, dict) or not isinstance(record.get("parses"), list) or not record["parses"]:
        raise line.fault('expected an object with a list "parses" of at least one [score, tree]')
    widths = {len(row) if isinstance(row, list) else 0 for row in record["parses"]}
    if widths not in ({2}, {5}):
        raise line.fault("every parse must be [score, tree], or every one [score, F1, matched, brackets, tree]")
    texts = TreeTexts()
    for row in record["parses"]:
        if not isinstance(row[-1], str):
            raise line.fault(f"the tree of a parse must be text in brackets, found {str(row[-1])[:40]!r}")
        # Inside JSON a column would mean little, so the line alone places the fault.
        texts.add(row[-1], line, 1)
    columns = list(zip(*record["parses"], strict=True))
    f1 = matched = brackets = None
    if widths == {5}:
        f1 = np.array([_real(value, line, "F1") for value in columns[1]])
        matched = np.array([_count(value, line, "matched") for value in columns[2]])
        brackets = np.array([_count(value, line, "brackets") for value in columns[3]])
    gold = record.get("gold")
    if gold is not None:
        if not isinstance(gold, str):
            raise line.fault("the gold tree must be text in brackets")
        gold_texts = TreeTexts()
        gold_texts.add(gold, line, 1)
        gold = gold_texts.trees()[0]
    name, fold, gold_brackets = record.get("name"), record.get("fold"), record.get("gold_brackets")
    return NBest(
        texts.array(),
        np.array([_real(value, line, "score") for value in columns[0]]),
        gold,
        None if name is None else str(name),
        None if fold is None else _count(fold, line, "fold"),
        None if gold_brackets is None else _count(gold_brackets, line, "gold_brackets"),
        f1,
        matched,
        brackets,
    )


def _from_bllip(header: Line, rows: Iterator[Line]) -> NBest:
    found = _HEADER.fullmatch(header.text)
    if found is None:
        raise header.fault("expected the number of parses and the name of the sentence, such as: 50 sentence-1")
    texts, scores = TreeTexts(), []
    for number in range(header.count(found[1], found.start(1) + 1, what="the number of parses")):
        pair = []
        for what in ("score", "tree"):
            line = next(rows, None)
            if line is None or not line.text.strip():
                raise (line or header).fault(
                    f"the list promises {found[1]} parses, but its parse {number + 1} has no {what}; it is cut off"
                )
            pair.append(line)
        scores.append(pair[0].real(pair[0].text, what="the score"))
        texts.add(pair[1].text, pair[1], 1)
    if not scores:
        raise header.fault("a list of no parses")
    return NBest(texts.array(), np.array(scores), name=found[2])


def _real(value: Any, line: Line, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise line.fault(f"expected a finite number as the {what}, found {str(value)[:40]!r}")
    return float(value)


def _count(value: Any, line: Line, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise line.fault(f"{what} must be a number of at least 0, found {str(value)[:40]!r}")
    return value
