"""``sapwood nearest``: the trees of a collection that are most similar to some others."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import read_named
from sapwood.cli.options import JSON, KERNEL, READING, THREADS, integer, number
from sapwood.cli.output import show, write_json

__all__ = ["AT_LEAST", "COMMAND", "index_of", "saved_index"]

AT_LEAST = number("--at-least", "smallest similarity, up to 1")


def index_of(options: argparse.Namespace, trees: Any) -> Any:
    """Return an index of trees under the kernel of the command line."""
    from sapwood.kernels import parse_kernel
    from sapwood.search import TreeIndex

    return TreeIndex(trees, None if options.kernel is None else parse_kernel(options.kernel))


def saved_index(options: argparse.Namespace) -> Any:
    """Return the index that the command line names in place of trees; None where there are trees."""
    from sapwood.errors import ParameterError
    from sapwood.files import is_model_file
    from sapwood.search.index import load_index

    if not is_model_file(options.trees):
        return None
    index = load_index(options.trees)
    if options.kernel is not None:
        raise ParameterError(f"{options.trees} has its own kernel, {index.kernel!r}; leave --kernel out.")
    return index


def _run(options: argparse.Namespace) -> None:
    index = saved_index(options)
    if index is not None:
        (queries,) = read_named(options, options.queries, None)
    else:
        queries, trees = read_named(options, options.queries, options.trees)
        index = index_of(options, trees)
    found = index.nearest(queries, options.top, at_least=options.at_least or 0.0, time_limit=options.time_limit)
    record = []
    for row, one in enumerate(found):
        show(options, f"{'' if row == 0 else chr(10)}{queries[row]!s}")
        hits = []
        for place, similarity in one:
            hit: dict[str, Any] = {"number": place, "similarity": similarity, "tree": str(index[place])}
            show(options, f"  {similarity:.4f}  {place:>7}  {hit['tree']}")
            if options.explain:
                shared = index.explain(queries[row], place, top=options.explain)
                hit["shared"] = [{"fragment": str(each.tree), "weight": each.weight} for each in shared.fragments]
                for each in hit["shared"]:
                    show(options, f"          {each['weight']:9.4f}  {each['fragment']}")
            hits.append(hit)
        show(options, f"  {one.certificate()}")
        record.append({"query": row, "exact": one.exact, "bound": one.bound, "hits": hits})
    write_json(options, record)


COMMAND = Command(
    "nearest",
    "find the trees most similar to others, exactly",
    "Find, for each tree in QUERIES, the trees in TREES that are most similar to it under a normalized tree kernel. "
    "Trees are numbered from 0 in the order of TREES.",
    (
        argument("queries", metavar="QUERIES", help="file of bracketed trees or CoNLL-U, or - for standard input"),
        argument(
            "trees",
            metavar="TREES",
            help="file of bracketed trees or CoNLL-U, a quoted glob pattern, or what sapwood index wrote",
        ),
        integer("--top", "trees to list for each query", 10),
        AT_LEAST,
        integer("--explain", "list so many shared fragments for each hit"),
        number("--time-limit", "stop after so many seconds, and say what is not known"),
        KERNEL,
        JSON,
        *READING,
        THREADS,
    ),
    _run,
)
