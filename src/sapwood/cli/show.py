"""``sapwood show``: look at trees or at a model file."""

from __future__ import annotations

import argparse
import hashlib
import os

from sapwood.cli.arguments import Subparsers, add_reading, check_outputs, positive_int, read_named

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "show",
        help="draw trees, or say what a model file holds",
        description="Draw the trees of a file as outlines, or as SVG, or describe a model file.",
    )
    parser.add_argument("file", metavar="FILE", help="bracketed trees, a model file (.sap), or - for standard input")
    parser.add_argument(
        "--first", type=positive_int, default=1, metavar="N", help="number of the first tree (default: 1)"
    )
    parser.add_argument("--count", type=positive_int, default=3, metavar="N", help="how many trees (default: 3)")
    parser.add_argument("--svg", metavar="OUT", help="write one tree, the first shown, as an SVG file")
    add_reading(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw or describe."""
    check_outputs(options.svg)
    from sapwood.files import is_model_file
    from sapwood.writing import atomic_write

    if options.file.endswith(".sap") or is_model_file(options.file):
        return _show_model(options.file)
    from sapwood.draw import outline
    from sapwood.errors import DataError
    from sapwood.trees import Tree

    (trees,) = read_named(options, options.file)
    if options.first > len(trees):
        raise DataError(f"{options.file}: holds {len(trees)} trees, so there is no tree number {options.first}.")
    chosen = trees[options.first - 1 : options.first - 1 + options.count]
    for number, tree in enumerate(chosen, options.first):
        assert isinstance(tree, Tree)
        if options.svg:
            atomic_write(options.svg, tree._repr_svg_().encode())
            return 0
        print(f"# {number} of {len(trees)}: {tree.size():,} nodes, height {tree.height():,}")
        print(outline(tree, max_lines=200))
    return 0


def _show_model(path: str) -> int:
    from sapwood.files import describe, load

    document = describe(path)
    value = load(path)
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    version = f"format {document['format']}.{document.get('minor', 0)}"
    size = os.path.getsize(path)
    print(
        f"{path}: {document['object'].get('class')}, {size:,} bytes, {version}, written by {document.get('written_by')}"
    )
    print(f"sha256: {digest}")
    for name in ("kernel_", "classes_", "support_examples_"):
        if hasattr(value, name):
            shown = getattr(value, name)
            text = ", ".join(map(str, shown)) if name == "classes_" else repr(shown)
            print(f"{name.rstrip('_').replace('_', ' ')}: {text}")
    if not hasattr(value, "kernel_"):
        print(repr(value))
    return 0
