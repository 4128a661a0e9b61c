"""``sapwood data``: which corpora are found where, what they hold, and how to get the others."""

from __future__ import annotations

import argparse
import json

from sapwood.cli.arguments import Subparsers

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "data",
        help="list corpora: found where, how large, how to get the rest",
        description="List the corpora that can be read: where each is found, how many items it holds, and how to get "
        "the others. Looks in --data, in the folders of SAPWOOD_DATA and where NLTK keeps its data.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="corpora to look for; all if none is named")
    parser.add_argument("--data", action="append", default=[], metavar="DIR", help="a folder to look in; repeatable")
    parser.add_argument("--no-count", action="store_true", help="do not read the corpora, only say where they are")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List the corpora; 1 if one that was found is broken."""
    from sapwood.corpora import nursery
    from sapwood.corpora.catalogue import data_folders, find
    from sapwood.errors import SapwoodError

    found = find(data_folders(args.data), names=args.names)
    rows = []
    if not args.names:
        garden = nursery.grow()
        counts = {"sentences": len(garden.sentences), "pairs": len(garden.pairs)}
        rows.append(_row("nursery", "built-in garden of sentences, not a benchmark", "sapwood.corpora.nursery", counts))
    broken = False
    for one in found:
        row = _row(one.corpus.name, one.corpus.what, one.path, {})
        if one.path is None:
            row["obtain"] = one.corpus.obtain
        elif not args.no_count:
            try:
                row["counts"] = one.corpus.count(one.path)
            except SapwoodError as error:
                row["error"] = str(error)
                broken = True
        rows.append(row)
    if args.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        _print(rows)
    return 1 if broken else 0


def _row(name: str, what: str, path: str | None, counts: dict[str, int]) -> dict[str, object]:
    return {"name": name, "what": what, "path": path, "counts": counts}


def _print(rows: list[dict[str, object]]) -> None:
    from textwrap import fill

    width = max(len(str(row["name"])) for row in rows)
    indent = " " * (width + 2)
    missing = [row for row in rows if row["path"] is None]
    for row in rows:
        if row["path"] is None:
            continue
        print(f"{row['name']:<{width}}  {row['what']}")
        print(f"{indent}{row['path']}")
        counts = row["counts"]
        if isinstance(counts, dict) and counts:
            print(indent + ", ".join(f"{number:,} {name}" for name, number in counts.items()))
        if "error" in row:
            print(f"{indent}BROKEN: {row['error']}")
    if missing:
        print("\nNot found:")
        for row in missing:
            print(f"{row['name']:<{width}}  {row['what']}")
            # Paths are not broken: a path in two pieces cannot be copied.
            print(
                fill(
                    f"get it: {row['obtain']}",
                    80,
                    initial_indent=indent,
                    subsequent_indent=indent,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            )
