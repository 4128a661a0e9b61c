"""``sapwood show``: look at trees or at a model file."""

from __future__ import annotations

import argparse
import os

from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import read_named
from sapwood.cli.options import READING, SVG, integer

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.files import is_model_file
    from sapwood.packages import model_file, package_model
    from sapwood.writing import atomic_write

    path = model_file(options.file) if package_model(options.file) else options.file
    if path.endswith(".sap") or is_model_file(path):
        _show_model(path)
        return
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
            return
        print(f"# {number} of {len(trees)}: {tree.size():,} nodes, height {tree.height():,}")
        print(outline(tree, max_lines=200))


def _show_model(path: str) -> None:
    import hashlib

    from sapwood.files import MAPPED_INDEX, class_in, describe, load
    from sapwood.search import TreeIndex

    document = describe(path)
    value = TreeIndex.load_mapped(path) if class_in(document) == MAPPED_INDEX else load(path)
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


COMMAND = Command(
    "show",
    "draw trees, or say what a model file holds",
    "Draw the trees of a file as outlines, or one as SVG, or describe a model file.",
    (
        argument("file", metavar="FILE", help="bracketed trees, CoNLL-U, a model, or - for standard input"),
        integer("--first", "number of the first tree", 1),
        integer("--count", "how many trees", 3),
        SVG.but(help="write the first of these trees as a picture"),
        *READING,
    ),
    _run,
)
