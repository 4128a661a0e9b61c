"""What a ``TreeArray`` is made of: trees, strings, trees of NLTK, sentences with dependencies and lists of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import DataError, TreeError
from sapwood.trees.arrow import ArrowExchange, unpacked
from sapwood.trees.brackets import read_each_into
from sapwood.trees.convert import from_nltk, is_frame, is_missing, is_nltk
from sapwood.trees.dependency_sentence import DependencySentence, is_spacy
from sapwood.trees.nested import from_spelled, is_spelled
from sapwood.trees.tree import Tree

__all__ = ["collect", "is_single"]


def collect(trees: Iterable[Any], arena: _core.trees.Arena) -> tuple[NDArray[np.uint32], NDArray[np.uint64] | None]:
    """Add elements to a store; return the roots of their trees and, if there are bags, where each element ends."""
    if is_single(trees):
        raise DataError("expected a list of trees, got a single tree; write TreeArray([tree]).")
    trees = unpacked(trees)
    if not isinstance(trees, Iterable):
        raise DataError(f"expected an iterable of trees, got {type(trees).__name__}.")
    # A column of trees in pandas, or a Series of it.
    column = getattr(trees, "array", trees)
    if hasattr(column, "__tree_array__") or isinstance(column, ArrowExchange):
        whole: Any = column.__tree_array__() if hasattr(column, "__tree_array__") else column
        return arena.transplant(whole._arena, whole._roots), whole._ends
    _refuse_tables(trees)
    if isinstance(trees, np.ndarray) and trees.ndim == 0:
        raise DataError("expected a list of trees, got an array without dimensions; write TreeArray([tree]).")
    builder = _Builder(arena)
    for index, element in enumerate(trees):
        builder.add(element, index)
    return builder.finish()


def is_single(value: Any) -> bool:
    """Return whether a value is one tree of any kind, or one sentence with dependencies, rather than many."""
    return isinstance(value, (Tree, str, DependencySentence)) or is_nltk(value) or is_spacy(value)


def _refuse_tables(trees: Iterable[Any]) -> None:
    """Raise for what would give the names of its columns when it is iterated over."""
    if isinstance(trees, Mapping):
        name, whole = "views", "Examples(**views)"
    elif is_frame(trees):
        name, whole = "df", "Examples.from_frame(df)"
    else:
        return
    raise DataError(
        f"expected a list of trees, got a {type(trees).__name__} of columns; pass one column, for example "
        f"{name}[{next(iter(trees), 'tree')!r}], or keep them all with {whole}."
    )


class _Builder:
    """Collects elements of any accepted kind; trees that come as objects are handed over in blocks."""

    def __init__(self, arena: _core.trees.Arena) -> None:
        self._arena = arena
        # Trees wait here, all as objects or all as strings, to be added together.
        self._objects: list[Tree] = []
        self._strings: list[str] = []
        self._numbers: list[int] = []  # per string: which element it belongs to
        self._characters = 0
        self._roots: list[NDArray[np.uint32]] = []
        self._sizes: list[int] = []
        self._any_bag = False

    def add(self, element: Any, index: int) -> None:
        # Bags of Arrow's come as arrays of objects where pandas has read them.
        many = isinstance(element, np.ndarray) and element.dtype == object and element.ndim == 1
        if many or (isinstance(element, (list, tuple)) and not is_nltk(element)):
            self._any_bag = True
            self._sizes.append(len(element))
            for part in element:
                self._add_tree(part, index)
        else:
            self._sizes.append(1)
            self._add_tree(element, index)

    def _add_tree(self, tree: Any, index: int) -> None:
        if isinstance(tree, str):
            self._flush_objects()
            self._strings.append(tree)
            self._numbers.append(index)
            self._characters += len(tree)
            if len(self._strings) >= 10_000 or self._characters >= 10_000_000:
                self._flush_strings()
            return
        # Whatever is wrong with the strings so far comes first.
        self._flush_strings()
        try:
            if is_nltk(tree):
                tree = from_nltk(tree)
            elif isinstance(tree, DependencySentence):
                tree = tree.to_tree()
            elif is_spacy(tree):
                tree = DependencySentence.from_spacy(tree).to_tree()
            elif is_spelled(tree):
                tree = from_spelled(tree)
        except (DataError, TreeError) as error:
            raise TreeError(f"element {index}: {error}") from None
        if not isinstance(tree, Tree):
            if is_missing(tree):
                raise TreeError(
                    f"element {index} is missing, it is {tree!r}; drop such elements first, as frame.dropna() does."
                )
            if isinstance(tree, Mapping):
                raise TreeError(
                    f"element {index} is a {type(tree).__name__} with the keys {', '.join(map(str, tree))[:80]}; make "
                    "a tree of it first, with Tree.from_dict or Tree.from_json."
                )
            raise TreeError(
                f"element {index} is a {type(tree).__name__}; expected a Tree, a string in bracket notation, "
                "an nltk.Tree, a DependencySentence, a spaCy sentence, or a list of these."
            )
        self._objects.append(tree)
        if len(self._objects) >= 10_000:
            self._flush_objects()

    def _flush_objects(self) -> None:
        if self._objects:
            self._roots.append(self._arena.add(self._objects))
            self._objects = []

    def _flush_strings(self) -> None:
        if self._strings:
            self._roots.append(read_each_into(self._arena, self._strings, self._numbers))
            self._strings, self._numbers, self._characters = [], [], 0

    def finish(self) -> tuple[NDArray[np.uint32], NDArray[np.uint64] | None]:
        self._flush_objects()
        self._flush_strings()
        roots = np.concatenate(self._roots) if self._roots else np.zeros(0, dtype=np.uint32)
        return roots, np.cumsum(self._sizes, dtype=np.uint64) if self._any_bag else None
