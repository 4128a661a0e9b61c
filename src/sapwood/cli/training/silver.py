"""Silver trees for ``sapwood train parser``: raw text, parsed by another model and kept in a file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sapwood.cli.inputs import text_sentences
from sapwood.cli.output import summary

if TYPE_CHECKING:
    from sapwood.parse import Token
    from sapwood.trees import TreeArray

__all__ = ["check_silver", "read_silver"]


def check_silver(options: argparse.Namespace) -> None:
    """Refuse options for silver trees where one of them makes no sense without another."""
    from sapwood.errors import ParameterError

    if bool(options.silver) != bool(options.teacher):
        raise ParameterError("--silver and --teacher go together: text, and the model that parses it.")
    for name, default in (("min_probability", None), ("gold_copies", 1)):
        if getattr(options, name) != default and not options.silver:
            raise ParameterError(f"--{name.replace('_', '-')} is about silver trees; name a text with --silver.")


def read_silver(options: argparse.Namespace, known: Iterable[tuple[str, ...]]) -> TreeArray:
    """Parse the text of ``--silver``; sentences that are known, from gold or held-out trees, are left out.

    With ``--checkpoint`` the trees are kept beside it, and parsing goes on where it was stopped.
    """
    from tempfile import TemporaryDirectory

    from sapwood.errors import DataError
    from sapwood.files import describe
    from sapwood.resuming import CheckpointFile, fingerprint
    from sapwood.trees import read_trees

    run = {
        "teacher": describe(options.teacher).get("sha256"),
        "text": [(name, *_stamp(name)) for name in options.silver],
        "min_probability": options.min_probability,
    }
    with TemporaryDirectory() as folder:
        base = Path(folder) / "text" if options.checkpoint is None else Path(options.checkpoint)
        path = base.with_name(f"{base.name}.silver.mrg")
        note = CheckpointFile(base.with_name(f"{base.name}.silver.sap"), fingerprint(run))
        found = note.read()
        if found is None or not path.is_file():
            counts = _write(options, path, run, set(known))
            note.write(counts, {})
        else:
            counts = found.values
        if not counts["kept"]:
            raise DataError(
                f"{', '.join(options.silver)}: none of {counts['sentences']:,} sentences gave a silver tree; lower "
                "--min-probability, or look at what sapwood parse makes of the text."
            )
        trees = read_trees(path)
    summary(options, f"silver: {counts['kept']:,} trees of {counts['sentences']:,} sentences")
    return trees


def _write(options: argparse.Namespace, path: Path, run: dict[str, Any], known: set[tuple[str, ...]]) -> dict[str, int]:
    from sapwood.drafts import write_answers
    from sapwood.parse import as_parser
    from sapwood.parse.silver import judged_trees
    from sapwood.trees import TreeArray

    teacher = as_parser(options.teacher)
    every = (words for name in options.silver for words in text_sentences(name, options.encoding))
    sentences = (words for words in every if tuple(map(str, words)) not in known)

    def answers(items: Iterator[list[Token]]) -> Iterator[str]:
        for tree in judged_trees(teacher, items, options.min_probability or 0.0):
            yield "" if tree is None else TreeArray([tree]).to_strings(escape=True)[0] + "\n"

    count = write_answers(path, sentences, answers, run=run, resume=options.checkpoint is not None, what="silver trees")
    with open(path, "rb") as stream:
        return {"sentences": count, "kept": sum(1 for _ in stream)}


def _stamp(name: str) -> tuple[int, ...]:
    """Return size and time of a file, so that silver trees are made again where a text has changed."""
    if not os.path.isfile(name):
        return ()
    found = os.stat(name)
    return found.st_size, found.st_mtime_ns
