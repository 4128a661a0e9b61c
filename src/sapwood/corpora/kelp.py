"""KeLP's ``.klp`` examples: a line of labels and named representations, read and written.

An example is::

    NUM |BS:quest| How far is it ? |ES| |BV:bow| far:1.0 it:1.0 |EV| |BT:grct| (root(RB(far))) |ET|

Strings, sparse vectors, dense vectors and trees are covered; KeLP's pairs, sequences and matrices are not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sapwood.errors import DataError
from sapwood.lazy import public_names
from sapwood.notebook import HtmlTable
from sapwood.sources import Sources
from sapwood.text_files import Line, blocks, lines
from sapwood.trees.texts import TreeTexts
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["KelpExample", "read", "write"]

__dir__ = public_names(__name__)

_OPENING = re.compile(r"\|B([A-Z]*):([^|\s]*)\|")
_KINDS = {"S": "string", "V": "sparse vector", "DV": "dense vector", "T": "tree"}


@dataclass(frozen=True)
class KelpExample(HtmlTable):
    """One example: its labels, and its representations by name.

    Attributes
    ----------
    labels : tuple of str
        Class labels, in order; regression values keep their text, as ``score:0.5``.
    strings, vectors, dense, trees : mapping
        Texts, sparse vectors (feature to value), dense vectors and trees under their names.
    """

    labels: tuple[str, ...]
    strings: Mapping[str, str] = field(default_factory=dict)
    vectors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    dense: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    trees: Mapping[str, Tree] = field(default_factory=dict)


def read(source: Sources, *, trees: Iterable[str] | None = None, encoding: str = "utf-8") -> Iterator[KelpExample]:
    """Yield the examples of ``.klp`` files one by one.

    Parameters
    ----------
    trees : iterable of str, optional
        Names of the trees to read; others are passed over. None reads all.

    Examples
    --------
    >>> import io
    >>> example = next(read(io.StringIO("NUM |BS:q| How far ? |ES| |BT:t| (RB(far)) |ET|")))
    >>> example.labels, example.strings["q"], str(example.trees["t"])
    (('NUM',), 'How far ?', '(RB far)')
    """
    wanted = None if trees is None else set(trees)
    for block in blocks(lines(source, encoding=encoding)):
        texts = TreeTexts()
        drafts = [_example(line, wanted, texts) for line in block]
        built = texts.trees()
        for example, numbers in drafts:
            yield replace(example, trees={name: built[number] for name, number in numbers.items()})


def write(examples: Iterable[KelpExample], path: str | os.PathLike[str]) -> None:
    """Write examples, one per line.

    Raises
    ------
    DataError
        If a label, name or text holds what the format uses as its own marks.
    """
    write_text(path, (f"{_line(example)}\n" for example in examples))


def _tree(tree: Tree) -> str:
    """Write a tree as KeLP does: every node in brackets of its own, no white space.

    >>> _tree(Tree.fromstring("(NP (DT the) (NN dog))"))
    '(NP(DT(the))(NN(dog)))'
    """
    parts: list[str] = []
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            parts.append(")")
            continue
        if re.search(r"[()|\s]", node.label):
            raise DataError(f"the .klp format cannot hold the tree label {node.label!r}; relabel the tree.")
        parts.append(f"({node.label}")
        stack.append(None)
        stack.extend(reversed(node.children))
    return "".join(parts)


def _example(line: Line, wanted: set[str] | None, texts: TreeTexts) -> tuple[KelpExample, dict[str, int]]:
    """Read a line but for its trees, which get numbers until the block is complete."""
    text = line.text
    if not text.strip():
        raise line.fault("a blank line; every line of a .klp file is one example")
    first = text.find("|")
    if first < 0:
        raise line.fault("no representation; expected one such as |BT:name| (tree) |ET| after the labels")
    strings: dict[str, str] = {}
    vectors: dict[str, dict[str, float]] = {}
    dense: dict[str, tuple[float, ...]] = {}
    trees: dict[str, int] = {}
    names: set[str] = set()
    at = first
    while at < len(text):
        opening = _OPENING.match(text, at)
        if opening is None:
            found = text[at : at + 20]
            raise line.fault(f"expected the start of a representation, such as |BT:name|, found {found!r}", at + 1)
        kind, name = opening.groups()
        if kind not in _KINDS:
            raise line.fault(f"|B{kind}:{name}| is none of the kinds read here: {', '.join(_KINDS.values())}", at + 1)
        closing = f"|E{kind}|"
        end = text.find(closing, opening.end())
        if end < 0:
            raise line.fault(f"the {_KINDS[kind]} {name!r} is not closed by {closing}; the line is cut off", at + 1)
        if name in names:
            raise line.fault(f"the name {name!r} is used twice in one example", at + 1)
        names.add(name)
        content = text[opening.end() : end].strip()
        column = opening.end() + len(text[opening.end() : end]) - len(text[opening.end() : end].lstrip()) + 1
        if kind == "S":
            strings[name] = content
        elif kind == "V":
            vectors[name] = dict(_feature(part, line, column) for part in content.split())
        elif kind == "DV":
            dense[name] = tuple(line.real(part, column) for part in re.split(r"[\s,]+", content) if part)
        elif wanted is None or name in wanted:
            trees[name] = texts.add(content, line, column)
        at = end + len(closing)
        while at < len(text) and text[at].isspace():
            at += 1
    if wanted is not None and not wanted <= trees.keys():
        missing = ", ".join(sorted(wanted - trees.keys()))
        raise line.fault(f"the example has no tree called {missing}")
    return KelpExample(tuple(text[:first].split()), strings, vectors, dense), trees


def _feature(part: str, line: Line, column: int) -> tuple[str, float]:
    name, mark, value = part.rpartition(":")
    if not mark or not name:
        raise line.fault(f"{part!r} in a sparse vector is not of the form feature:value", column)
    return name, line.real(value, column)


def _line(example: KelpExample) -> str:
    for label in (*example.labels, *example.strings, *example.vectors, *example.dense, *example.trees):
        if not label or re.search(r"[|\s]", label):
            raise DataError(f"the .klp format cannot hold the label or name {label!r}: no white space, no '|'.")
    parts = [*example.labels]
    for name, text in example.strings.items():
        if re.search(r"\|ES\||[\n\r\0]", text) or text != text.strip():
            raise DataError(f"the .klp format cannot hold the text {text!r}: it breaks the line or has outer blanks.")
        parts.append(f"|BS:{name}| {text} |ES|")
    for name, vector in example.vectors.items():
        for feature in vector:
            if not feature or re.search(r"[|\s]", feature):
                raise DataError(f"the .klp format cannot hold the feature {feature!r}: no white space, no '|'.")
        parts.append(f"|BV:{name}| " + "".join(f"{key}:{float(value)!r} " for key, value in vector.items()) + "|EV|")
    for name, values in example.dense.items():
        parts.append(f"|BDV:{name}| {','.join(repr(float(value)) for value in values)} |EDV|")
    for name, tree in example.trees.items():
        parts.append(f"|BT:{name}| {_tree(tree)} |ET|")
    return " ".join(parts)
