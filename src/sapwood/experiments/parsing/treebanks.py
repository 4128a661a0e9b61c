"""The treebanks that parsers are learnt from and tested on, and how each is split.

Penn Treebank sample: files whose number ends in 0 are the test data, those that end in 5 the development data. English
Web Treebank: as released. CRAFT: by the number of the article, as for the sample; only sentences, no headings and the
like.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from sapwood.errors import DataError
from sapwood.experiments.setting import Setting
from sapwood.sources import Stream, open_all
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.tree import Tree
from sapwood.trees.treebank import read_trees

__all__ = ["ARTICLES", "SAMPLE", "WEB", "part", "single_trees", "split_sample"]

SAMPLE, WEB, ARTICLES = "penn-sample", "ewt", "craft"
_TEST, _DEVELOPMENT = 0, 5


def part(setting: Setting, treebank: str, name: str) -> TreeArray:
    """Return the trees of a part of a treebank: ``train``, ``dev`` or ``test``; without traces and function tags."""
    path = setting.path(treebank)
    if treebank == WEB:
        return read_trees(os.path.join(os.path.dirname(path), f"{name}.trees*"))
    wanted = {"test": {_TEST}, "dev": {_DEVELOPMENT}, "train": set(range(10)) - {_TEST, _DEVELOPMENT}}[name]
    found = concatenate([_bare(stream) for digit, stream in _numbered(path) if digit in wanted])
    if treebank == ARTICLES:
        # Titles, headings, captions and citations are roots of their own kind.
        return TreeArray([tree for tree in map(_without_wrapper, single_trees(found)) if tree.label == "S"])
    return found


def split_sample(path: str) -> tuple[TreeArray, list[Tree]]:
    """Return the training trees as they are in the files, and the held-out ones without traces and function tags."""
    train, held_out = [], []
    for digit, stream in _numbered(path):
        if digit == _TEST:
            held_out.append(_bare(stream))
        else:
            train.append(read_trees(stream))
    return concatenate(train), single_trees(concatenate(held_out))


def single_trees(array: TreeArray) -> list[Tree]:
    """Return the elements of an array without bags."""
    return [tree for tree in array if isinstance(tree, Tree)]


def _bare(stream: Stream) -> TreeArray:
    return read_trees(stream, drop_traces=True, drop_function_tags=True)


def _numbered(path: str) -> Iterator[tuple[int, Stream]]:
    """Yield the files of a treebank with the last digit of their numbers."""
    for stream in open_all(path):
        found = re.search(r"(\d+)\.\w+$", stream.name)
        if found is None:
            raise DataError(f"{stream.name}: the file has no number, by which the treebank is split.")
        yield int(found[1]) % 10, stream


def _without_wrapper(tree: Tree) -> Tree:
    return tree.children[0] if not tree.label and len(tree.children) == 1 else tree
