"""Source files as syntax trees: which files of a folder can be read, the nodes of each in arrays, and a file of those.

Parsing is tree-sitter's, with whatever grammars are installed. Which parts of a file are compared is in ``clones``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sapwood.errors import DataError
from sapwood.extras import need
from sapwood.writing import atomic_write

__all__ = ["GRAMMARS", "CodeFile", "Languages", "ParsedFiles", "code_files", "read_code", "shown"]

# Endings of file names, the package of the grammar, and what makes the language where it is not called `language`.
GRAMMARS = {
    **dict.fromkeys((".c", ".h"), "tree_sitter_c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp"), "tree_sitter_cpp"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "tree_sitter_javascript"),
    **dict.fromkeys((".py", ".pyi"), "tree_sitter_python"),
    ".cs": "tree_sitter_c_sharp",
    ".go": "tree_sitter_go",
    ".hs": "tree_sitter_haskell",
    ".java": "tree_sitter_java",
    ".jl": "tree_sitter_julia",
    ".kt": "tree_sitter_kotlin",
    ".lua": "tree_sitter_lua",
    ".ml": "tree_sitter_ocaml:language_ocaml",
    ".php": "tree_sitter_php:language_php",
    ".rb": "tree_sitter_ruby",
    ".rs": "tree_sitter_rust",
    ".scala": "tree_sitter_scala",
    ".sh": "tree_sitter_bash",
    ".swift": "tree_sitter_swift",
    ".ts": "tree_sitter_typescript:language_typescript",
    ".tsx": "tree_sitter_typescript:language_tsx",
}
# The version of the files that keep what was parsed.
_VERSION = 3
# Tokens that the kind of the node above them implies.
_PUNCTUATION = frozenset(["(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "->", "=>", "::", "''", '"', "'", "`"])


@dataclass
class CodeFile:
    """The nodes of one file, children before their parents.

    Attributes
    ----------
    path, sha256 : str
    labels, kinds : list of str
        Of every node: its kind with its text if it is a leaf, and its kind alone.
    child_ends, children : list of int
        Where the children of each node end, and their places.
    starts, ends, rows : list of int
        The bytes that a node begins and ends at, and the line that it begins in, from 0.
    units : list of (int, str, str)
        What can be compared: the place of a node, whether it is a function or a block, and its name.
    broken : bool
        Whether some of the file could not be parsed.
    grammar : str
        What parsed it, with its version.
    """

    path: str
    sha256: str
    labels: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    child_ends: list[int] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    units: list[tuple[int, str, str]] = field(default_factory=list)
    broken: bool = False
    grammar: str = ""


class Languages:
    """Parsers by the endings of file names, loaded when they are first needed."""

    def __init__(self, grammars: Mapping[str, str] | None = None) -> None:
        self.grammars = {**GRAMMARS, **(grammars or {})}
        self.missing: dict[str, int] = {}  # packages, and how many files would have needed them
        self._parsers: dict[str, Any] = {}
        self._versions: dict[str, str] = {}

    def parser(self, path: str) -> Any:
        """Return the parser for a file, or None if its grammar is not installed."""
        name = self.grammars[os.path.splitext(path)[1].lower()]
        if name not in self._parsers:
            tree_sitter = need("tree_sitter", "source code")
            package, _, maker = name.partition(":")
            try:
                language = tree_sitter.Language(getattr(import_module(package), maker or "language")())
            except ModuleNotFoundError as error:
                if error.name != package:
                    raise
                self._parsers[name] = None
            else:
                self._parsers[name] = tree_sitter.Parser(language)
        if self._parsers[name] is None:
            package = name.partition(":")[0].replace("_", "-")
            self.missing[package] = self.missing.get(package, 0) + 1
        return self._parsers[name]

    def grammar(self, path: str) -> str:
        """Return which grammar a file is parsed with, and its version: another one may see other nodes in it."""
        name = self.grammars[os.path.splitext(path)[1].lower()]
        if name not in self._versions:
            try:
                self._versions[name] = version(name.partition(":")[0])
            except PackageNotFoundError:
                self._versions[name] = "?"
        return f"{name} {self._versions[name]}"


class ParsedFiles:
    """What was parsed before, by the digest of a file and the grammar."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.parsed = 0
        self._path = path
        self._known: dict[str, dict[str, Any]] = {}
        if path is None or not os.path.exists(path):
            return
        try:
            with gzip.open(path, "rt", encoding="utf-8") as stream:
                held = json.load(stream)
            if held.get("version") == _VERSION:
                self._known = dict(held["files"])
        except (OSError, EOFError, ValueError, KeyError, AttributeError):
            raise DataError(f"{path}: is no cache of sapwood clones, or a damaged one; delete it.") from None

    def get(self, path: str, content: bytes, grammar: str, parse: Callable[[], CodeFile]) -> CodeFile:
        """Return a file as it was parsed before, or parse it."""
        known = self._known.get(f"{grammar} {hashlib.sha256(content).hexdigest()}") if self._known else None
        if known is not None:
            return CodeFile(path, **{**known, "units": [tuple(unit) for unit in known["units"]]})
        self.parsed += 1
        return parse()

    def save(self, files: Sequence[CodeFile]) -> None:
        """Keep these files, and nothing else."""
        if self._path is None:
            return
        names = [field.name for field in fields(CodeFile) if field.name != "path"]
        held = {f"{one.grammar} {one.sha256}": {name: getattr(one, name) for name in names} for one in files}
        text = json.dumps({"version": _VERSION, "files": held}, separators=(",", ":"))
        atomic_write(self._path, gzip.compress(text.encode(), 1))


def shown(path: str) -> str:
    r"""Return a path as text that can be printed: names of files need not be.

    >>> shown("caf\udce9.py")
    'caf?.py'
    """
    return path.encode(errors="replace").decode()


def code_files(folder: str, endings: Mapping[str, str]) -> Iterator[str]:
    """Yield the files below a folder whose names have these endings, in order; links to folders are not followed."""
    if os.path.isfile(folder):
        yield folder
        return
    if not os.path.isdir(folder):
        raise DataError(f"{folder}: there is no such folder.")
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(top, name)
            # A link to a file that is elsewhere would be a copy of it.
            if os.path.splitext(name)[1].lower() in endings and not os.path.islink(path) and os.path.isfile(path):
                yield path


def read_code(path: str, content: bytes, parser: Any) -> CodeFile:
    """Parse a file, and list its nodes and the functions and blocks among them.

    Comments are left out, and so is punctuation, which follows from what it belongs to; operators stay.
    """
    found = CodeFile(path, hashlib.sha256(content).hexdigest())
    root = parser.parse(content).root_node
    found.broken = root.has_error
    cursor = root.walk()
    way: list[tuple[Any, list[int]]] = [(root, [])]
    while way:
        if cursor.goto_first_child():
            way.append((cursor.node, []))
            continue
        while way:
            node, below = way.pop()
            place = _append(found, node, way[-1][0] if way else None, below, content)
            if not way:
                break
            if place is not None:
                way[-1][1].append(place)
            if cursor.goto_next_sibling():
                way.append((cursor.node, []))
                break
            cursor.goto_parent()
    return found


def _append(found: CodeFile, node: Any, above: Any, below: list[int], content: bytes) -> int | None:
    """Add a node whose children are added; None if it is left out."""
    kind = node.type
    named = node.is_named
    if (node.is_extra and not below) or (not named and (kind in _PUNCTUATION or kind.isidentifier())):
        return None
    start, end = node.start_byte, node.end_byte
    place = len(found.kinds)
    found.kinds.append(kind)
    leaf = named and not below
    found.labels.append(f"{kind} {content[start:end].decode('utf-8', 'replace')}" if leaf else kind)
    found.children += below
    found.child_ends.append(len(found.children))
    found.starts.append(start)
    found.ends.append(end)
    found.rows.append(node.start_point[0])
    if below and named:
        if kind in _BLOCKS:
            found.units.append((place, "block", ""))
        elif any(word in kind for word in _FUNCTIONS) and _has_body(node):
            name = _name_of(node, above)
            text = "" if name is None else content[name.start_byte : name.end_byte].decode("utf-8", "replace")
            found.units.append((place, "function", text))
    return place


# Kinds of nodes in which functions are; grammars call them much alike. The last is OCaml's, also for values.
_FUNCTIONS = ("function", "method", "constructor", "let_binding")
_BLOCKS = frozenset(
    ("block", "statement_block", "compound_statement", "body_statement", "do_block", "do_group", "statements")
)


def _has_body(node: Any) -> bool:
    """Whether this is a function, and not the type or the call of one."""
    if node.type == "let_binding":
        return any(child.type == "parameter" for child in node.children)
    # Julia has the statements right in the definition, Haskell has equations, and Kotlin has no names for parts.
    return (
        node.type == "function_definition"
        or any(node.child_by_field_name(part) is not None for part in ("body", "match"))
        or any(child.type.endswith("_body") for child in node.children)
    )


def _name_of(node: Any, above: Any) -> Any:
    """Return the node that names a function, if one does."""
    for part in ("name", "pattern"):
        if (name := node.child_by_field_name(part)) is not None:
            return name
    # In C it is within what the function returns, and in Julia within how it is called.
    name, inner = None, node.child_by_field_name("declarator")
    while inner is not None:
        name, inner = inner, inner.child_by_field_name("declarator")
    if name is None and node.named_children[0].type == "signature":
        name = node.named_children[0]
        while name.named_children:
            name = name.named_children[0]
    if name is None and above is not None:
        # One without a name may be given one, as in JavaScript: const f = () => 1, {f: () => 1} and o.f = () => 1.
        for part in ("name", "key", *(("left",) if "assignment" in above.type else ())):
            if (name := above.child_by_field_name(part)) is not None and name != node:
                return name
    return name
