"""``sapwood data``: which corpora are found where, what they hold, how to get the others; and getting them."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.command import Command, argument
from sapwood.cli.options import DATA_FOLDERS, JSON, flag
from sapwood.cli.output import note, report

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> int:
    from sapwood.errors import ParameterError

    if options.names[:1] == ["get"]:
        return _get(options)
    for name, given in (("--from", options.source is not None), ("--accept-terms", options.accept_terms)):
        if given:
            raise ParameterError(f"{name} belongs to sapwood data get NAME; leave it out.")
    return _list(options)


def _get(options: argparse.Namespace) -> int:
    from sapwood.corpora.obtaining import OBTAINABLE
    from sapwood.errors import ParameterError
    from sapwood.words.encoder.places import KNOWN

    names = (*KNOWN, *(one.names[0] for one in OBTAINABLE))
    if len(options.names) != 2:
        raise ParameterError(f"sapwood data get takes one name: {', '.join(names)}.")
    name = options.names[1]
    corpora = [alias for one in OBTAINABLE for alias in one.names]
    if name not in corpora and name not in KNOWN:
        raise ParameterError(f"there is nothing called {name!r} that can be got; known are {', '.join(names)}.")
    return _get_corpus(options, name) if name in corpora else _get_encoder(options, name)


def _get_corpus(options: argparse.Namespace, name: str) -> int:
    from sapwood.corpora.obtaining import obtain, obtainable
    from sapwood.settings import progress_bar

    one = obtainable(name)
    note(f"{one.names[0]}: {one.what}. License: {one.license}.")
    with progress_bar(0, "Getting", "bytes") as progress:
        found = obtain(
            name,
            folder=options.data[0] if options.data else None,
            source=options.source,
            accept_terms=options.accept_terms,
            report=None if progress is None else lambda _, done: progress(done),
        )
    record = {"name": one.names[0], "path": found.path, "license": one.license, "note": found.note}
    lines = [f"{one.names[0]}  {found.path}", *([found.note] if found.note else [])]
    if found.known:
        lines.append(f"{len(found.known)} files with the SHA-256 that was expected")
    if found.kept:
        first = next(iter(found.kept.items())) if len(found.kept) == 1 else None
        what = f"SHA-256 {first[1]}" if first else f"the SHA-256 of {len(found.kept)} files"
        lines.append(f"{what}: not known before, so it was not checked; kept in SHA256SUMS and checked from now on")
    report(options, record | {"checked": found.known, "unchecked": found.kept}, "\n".join(lines))
    return 0


def _get_encoder(options: argparse.Namespace, name: str) -> int:
    from sapwood.settings import progress_bar
    from sapwood.words.encoder.fetching import fetch_encoder
    from sapwood.words.encoder.places import KNOWN

    known = KNOWN[name]
    note(f"{name}: {known.hub}. License: {known.license}.")
    with progress_bar(0, "Getting", "bytes") as progress:
        folder = fetch_encoder(
            name, options.source, report=None if progress is None else lambda _, done: progress(done)
        )
    record = {"name": name, "path": str(folder), "hub": known.hub, "license": known.license, "sha256": known.sha256}
    report(options, record, f"{name}  {folder}\n{known.hub}, {known.license}; found as Encoder({name!r})")
    return 0


def _list(options: argparse.Namespace) -> int:
    from sapwood.corpora import nursery
    from sapwood.corpora.catalog import data_folders, find
    from sapwood.errors import SapwoodError

    found = find(data_folders(options.data), names=options.names)
    rows = []
    if not options.names:
        corpus = nursery.generate()
        counts = {"sentences": len(corpus.sentences), "pairs": len(corpus.pairs)}
        rows.append(_row("nursery", "built-in synthetic sentences, not a benchmark", "sapwood.corpora.nursery", counts))
    broken = False
    for one in found:
        row = _row(one.corpus.name, one.corpus.what, one.path, {})
        if one.path is None:
            row["obtain"] = one.corpus.obtain
        elif not options.no_count:
            try:
                row["counts"] = one.corpus.count(one.path)
            except SapwoodError as error:
                row["error"] = str(error)
                broken = True
        rows.append(row)
    report(options, rows, _text(rows))
    return 1 if broken else 0


def _row(name: str, what: str, path: str | None, counts: dict[str, int]) -> dict[str, Any]:
    return {"name": name, "what": what, "path": path, "counts": counts}


def _text(rows: list[dict[str, Any]]) -> str:
    from textwrap import fill

    width = max(len(row["name"]) for row in rows)
    indent = " " * (width + 2)
    lines = []
    for row in rows:
        if row["path"] is None:
            continue
        lines += [f"{row['name']:<{width}}  {row['what']}", f"{indent}{row['path']}"]
        if row["counts"]:
            lines.append(indent + ", ".join(f"{number:,} {name}" for name, number in row["counts"].items()))
        if "error" in row:
            lines.append(f"{indent}BROKEN: {row['error']}")
    missing = [row for row in rows if row["path"] is None]
    if missing:
        lines += ["", "Not found:"]
    for row in missing:
        lines.append(f"{row['name']:<{width}}  {row['what']}")
        # Paths are not broken: a path in two pieces cannot be copied.
        lines.append(
            fill(
                f"get it: {row['obtain']}",
                80,
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return "\n".join(lines)


COMMAND = Command(
    "data",
    "list corpora: found where, how large, how to get the rest",
    "List the corpora that can be read: where each is found, how many items it holds, and how to get the others. Looks "
    "in --data, in the folders of SAPWOOD_DATA, where NLTK keeps its data, and where get puts it. sapwood data "
    "get NAME takes a corpus that is free, or an encoder, from the network or --from a folder, checks its SHA-256 and "
    "puts it where it is found; a download that was stopped goes on. Nothing else uses the network.",
    (
        argument("names", nargs="*", metavar="NAME", help="corpora to look for (default: all); or: get NAME"),
        argument(
            "--from", dest="source", metavar="FOLDER", help="with get: a folder, zip file or file to take it from"
        ),
        flag("--accept-terms", "with get: you meet the terms of the corpus"),
        DATA_FOLDERS,
        flag("--no-count", "do not read the corpora, only say where they are"),
        JSON,
    ),
    _run,
)
