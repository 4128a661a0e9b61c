"""``sapwood decode``: role problems as JSON lines in, the best assignments as JSON lines out.

Reading, writing and naming belong here; decoding is one call to `sapwood.decode`.
"""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import open_named
from sapwood.cli.options import OUTPUT, THREADS, integer, number
from sapwood.cli.output import write_file
from sapwood.errors import DataError, SapwoodError

__all__ = ["COMMAND"]

METHODS = ("local", "beam", "lp", "ad3", "ad3-exact", "exact", "ilp")


def _run(options: argparse.Namespace) -> None:
    from sapwood.decode import decode_roles_batch

    rows, problems = _read(options.file)
    results = decode_roles_batch(
        problems, method=options.method, beam=options.beam, time_limit=options.time_limit, threads=options.threads
    )
    answers = (_answer(row, problem.null, result) for row, problem, result in zip(rows, problems, results, strict=True))
    lines = (json.dumps(one, ensure_ascii=False, allow_nan=False) + "\n" for one in answers)
    write_file(options.output, "".join(lines))


def _read(path: str) -> tuple[list[dict[str, Any]], list[Any]]:
    from sapwood.decode import RoleProblem
    from sapwood.text_files import lines

    rows, problems = [], []
    for line in lines(open_named(path), allow_empty=True):
        if not line.text.strip():
            continue
        where = f"{line.source}:{line.number}"
        try:
            row = json.loads(line.text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: not a line of JSON ({error}); write one object per line.") from None
        if not isinstance(row, dict):
            raise DataError(f"{where}: expected an object with scores and spans, got {type(row).__name__}.")
        missing = [field for field in ("scores", "spans") if field not in row]
        if missing:
            raise DataError(f"{where}: the field {missing[0]!r} is missing.")
        try:
            problem = RoleProblem(
                row["scores"],
                row["spans"],
                _list(row, "excludes"),
                _list(row, "requires"),
                allowed=row.get("allowed"),
                tokens=row.get("n_tokens"),
                pieces=_list(row, "pieces"),
            )
        except SapwoodError as error:
            raise DataError(f"{where}: {error}") from None
        names = row.get("roles")
        if names is not None and (not isinstance(names, list) or len(names) != len(problem.scores)):
            raise DataError(f"{where}: roles must name each of the {len(problem.scores)} rows of scores.")
        try:
            # They are written again with the answer, after all the work.
            json.dumps([row.get("id"), names], allow_nan=False)
        except ValueError:
            raise DataError(f"{where}: id and roles must hold no number beyond what JSON can write.") from None
        rows.append(row)
        problems.append(problem)
    return rows, problems


def _list(row: dict[str, Any], field: str) -> list[Any]:
    value = row.get(field)
    if value is None:
        return []
    if not isinstance(value, list):
        what = "triples" if field == "pieces" else "pairs"
        raise DataError(f"{field} must be a list of {what}, got {type(value).__name__}.")
    return value


def _answer(row: dict[str, Any], null: int, result: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {"id": row["id"]} if "id" in row else {}
    chosen = None if result.assignment is None else result.assignment.tolist()
    answer["assignment"] = chosen
    if chosen is not None:
        names = row.get("roles", range(len(chosen)))
        further: dict[int, list[Any]] = {}
        for span, *piece in row.get("pieces") or ():
            further.setdefault(span, []).append(piece)
        answer["filled"] = [
            {"role": name, "span": row["spans"][span], **({"pieces": further[span]} if span in further else {})}
            for name, span in zip(names, chosen, strict=True)
            if span != null
        ]
    for field in ("value", "bound"):
        number = getattr(result, field)
        answer[field] = number if math.isfinite(number) else None
    answer["status"] = result.status
    answer["violations"] = result.violations
    return answer


COMMAND = Command(
    "decode",
    "find the best roles under constraints",
    "Fill roles with spans so that the total score is best and no constraint is broken.",
    (
        argument("file", metavar="FILE.jsonl", help="problems, one JSON object per line; - reads standard input"),
        argument("--method", choices=METHODS, default="exact", help="how to decode (default: %(default)s)"),
        integer("--beam", "width of --method beam", 100),
        number("--time-limit", "seconds for each problem at most (default: no limit)", metavar="SECONDS"),
        OUTPUT,
        THREADS,
    ),
    _run,
    epilog="Every line of FILE is an object with scores (roles × spans), spans (first and last token, null as "
    "[-1, -1]) and, where wanted, excludes, requires, allowed, n_tokens, pieces (further ones of spans, each as span "
    "number, first and last token), roles (names) and id.",
)
