"""Arguments of verbs with the two trees that role classification compares: the path to the verb and the constituent.

Read from the CoNLL-2005 release without words (``conll05/conll05st-release-nowords.tar`` in a data folder): props and
Charniak's parses. An argument counts if it covers one constituent exactly; verbs themselves and continuations do not.
"""

from __future__ import annotations

import gzip
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from places import corpus

ARCHIVE = "conll05/conll05st-release-nowords.tar"
TRAIN = [("train", f"train.{section:02d}") for section in range(2, 22)]
TEST = [("test.wsj", "test.wsj")]
_NAMES = {"(": "-LRB-", ")": "-RRB-"}


@dataclass(eq=False)
class Node:
    """A constituent; inclusive positions of its first and last token."""

    label: str
    start: int
    end: int = -1
    parent: Node | None = None
    kids: list[Node] = field(default_factory=list)


def find() -> Path | None:
    """Return the archive, or None where there is none."""
    archive = corpus(ARCHIVE)
    return archive if archive.exists() else None


def read(archive: Path, parts: list[tuple[str, str]]) -> tuple[list[str], list[str], list[str]]:
    """Return path trees, constituent trees and roles."""
    paths: list[str] = []
    constituents: list[str] = []
    roles: list[str] = []
    with tarfile.open(archive) as tar:
        for folder, name in parts:
            columns = [
                gzip.decompress(tar.extractfile(f"conll05st-release/{folder}/{kind}/{name}.{kind}.gz").read()).decode()
                for kind in ("synt.cha", "props")
            ]
            for parse, props in zip(*map(_sentences, columns), strict=True):
                nodes, tokens = _tree(parse)
                verbs = [position for position, row in enumerate(props) if row[0] != "-"]
                for column, verb in enumerate(verbs, 1):
                    for role, span in _spans([row[column] for row in props]):
                        if span in nodes and role != "V" and not role.startswith("C-"):
                            paths.append(_path(nodes[span], tokens[verb], props[verb][0]))
                            constituents.append(_whole(nodes[span]))
                            roles.append(role)
    return paths, constituents, roles


def _sentences(text: str) -> Iterator[list[list[str]]]:
    for block in re.split(r"\n[ \t]*\n", text):
        rows = [line.split() for line in block.splitlines() if line.strip()]
        if rows:
            yield rows


def _tree(rows: list[list[str]]) -> tuple[dict[tuple[int, int], Node], list[Node]]:
    """Return the topmost constituent of each span, and the pre-terminals."""
    stack: list[Node] = []
    everything: list[Node] = []
    tokens: list[Node] = []
    for position, (tag, bits) in enumerate(row[:2] for row in rows):
        for piece in re.findall(r"\([^()*\s]*|\*|\)", bits):
            if piece == ")":
                stack.pop().end = position
                continue
            node = Node(piece[1:] if piece != "*" else _NAMES.get(tag, tag), position, position)
            if stack:
                node.parent = stack[-1]
                stack[-1].kids.append(node)
            everything.append(node)
            (tokens if piece == "*" else stack).append(node)
    nodes: dict[tuple[int, int], Node] = {}
    for node in everything:
        nodes.setdefault((node.start, node.end), node)
    return nodes, tokens


def _spans(column: list[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    role, start = "", 0
    for position, cell in enumerate(column):
        if cell.startswith("("):
            role, start = cell[1 : cell.index("*")], position
        if cell.endswith(")"):
            yield role, (start, position)


def _whole(node: Node) -> str:
    return f"({node.label} {' '.join(map(_whole, node.kids)) if node.kids else 'w'})"


def _path(argument: Node, verb: Node, lemma: str) -> str:
    """Write what lies between an argument and its verb, and nothing beside it."""
    above = {id(node) for node in _ancestors(argument)}
    top = next(node for node in _ancestors(verb) if id(node) in above)
    kept = {id(top)}
    for end in (argument, verb):
        for node in _ancestors(end):
            if node is top:
                break
            kept.add(id(node))

    def write(node: Node) -> str:
        marked = node.label + ("-PRED" if node is verb else "") + ("-ARG" if node is argument else "")
        if node is verb:
            return f"({marked} {lemma})"
        inside = [write(kid) for kid in node.kids if id(kid) in kept]
        return f"({marked} {' '.join(inside)})" if inside else marked

    return write(top)


def _ancestors(node: Node | None) -> Iterator[Node]:
    while node is not None:
        yield node
        node = node.parent
