"""Copies in source code: functions and blocks that are the same, the same but for names, or much the same.

A function or block is a tree of syntax in which names and literals are only kinds. Equal trees are exact or renamed
copies. Others are compared by the subtrees they share: the index finds pairs with much in common, and what counts in
the end is the share of both that complete subtrees of the other cover, which is also what is marked in the sources.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.checks import check_count, is_number
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import Subtree
from sapwood.notebook import HtmlTable
from sapwood.search.code_files import CodeFile, Languages, ParsedFiles, code_files, read_code, shown
from sapwood.search.index import TreeIndex
from sapwood.trees.array import TreeArray

__all__ = ["Clone", "CloneReport", "CodeUnit", "find_clones"]

# From the most alike to the least.
_KINDS = ("exact", "renamed", "restructured")
# A shared subtree is a mark from so many nodes on: calls and names alone are in everything.
_LEAST_MARK = 5
# How alike candidates are under the kernel, as a share of the coverage that is asked for.
_CANDIDATE_SHARE = 0.5
# How many others a function or block is compared with, the most alike first: generated code is alike all over.
_MOST_PARTNERS = 50


@dataclass(frozen=True)
class CodeUnit:
    """A function or block of a source file; lines count from 1, and ``end`` is the byte after its last."""

    path: str
    kind: str
    name: str
    first_line: int
    last_line: int
    start: int
    end: int
    nodes: int

    def __str__(self) -> str:
        return f"{shown(self.path)}:{self.first_line}-{self.last_line} {self.name or self.kind}"


@dataclass(frozen=True)
class Clone:
    """Two functions or blocks that are copies of each other.

    Attributes
    ----------
    kind : str
        "exact" if they differ in white space and comments only, "renamed" if also in names and literals,
        "restructured" if they share most of their syntax.
    similarity : float
        The share of the nodes of both that complete subtrees of the other cover; 1 for the first two kinds.
    first, second : CodeUnit
    first_marks, second_marks : tuple of (int, int)
        The ranges of bytes in the files that are shared.
    """

    kind: str
    similarity: float
    first: CodeUnit
    second: CodeUnit
    first_marks: tuple[tuple[int, int], ...] = ()
    second_marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class CloneReport(HtmlTable):
    """The copies that were found, those that matter most first, and what was read for it.

    Attributes
    ----------
    clones : tuple of Clone
        Exact ones first, then renamed and restructured ones; within a kind the largest first. Of several equal
        functions each is listed with the first one.
    files, parsed, units : int
        How many files were read, how many of them were parsed anew, and how many functions and blocks they have.
    notes : tuple of str
        Files that were left out or are broken, and why.
    """

    clones: tuple[Clone, ...]
    files: int
    parsed: int
    units: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON holds it."""
        held = asdict(self)
        for clone in held["clones"]:
            for unit in (clone["first"], clone["second"]):
                unit["path"] = shown(unit["path"])
        return held

    def to_text(self, *, sources: int = 0) -> str:
        """Write the report as lines, with the sources of the first few copies side by side in time."""
        from sapwood.search.clone_pages import clone_text

        return clone_text(self, sources)

    def to_html(self, *, most: int = 200) -> str:
        """Write a page with the marked sources of at most so many copies."""
        from sapwood.search.clone_pages import clone_page

        return clone_page(self, most)

    def __str__(self) -> str:
        return self.to_text()

    def _summary(self) -> Mapping[str, Any]:
        counts = Counter(clone.kind for clone in self.clones)
        return {"files": self.files, "functions and blocks": self.units, **counts}


def find_clones(
    folder: str | os.PathLike[str],
    *,
    at_least: float = 0.7,
    min_nodes: int = 40,
    blocks: bool = True,
    normalize: bool = True,
    max_bytes: int = 2_000_000,
    grammars: Mapping[str, str] | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> CloneReport:
    """Find copies among the functions and blocks of all source files below a folder.

    Parameters
    ----------
    folder : path
        A folder, or one file. Hidden folders and links are passed over.
    at_least : float
        The smallest similarity of restructured copies, in (0, 1].
    min_nodes : int
        Functions and blocks of fewer nodes of syntax are not compared.
    blocks : bool
        Whether blocks are compared, too. Those within copies are not listed again.
    normalize : bool
        Whether names and literals are taken for equal; without it there are no renamed copies.
    max_bytes : int
        Longer files, which are usually generated, are left out with a note.
    grammars : mapping of str to str, optional
        More endings of file names with packages of tree-sitter, as in ``{".zig": "tree_sitter_zig"}``.
    cache : path, optional
        A file that keeps what was parsed: with it, only files whose content has changed are parsed again.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> body = "    total = 0\\n    for x in {0}:\\n        if x > 1:\\n            total += x\\n    return total\\n"
    >>> _ = (folder / "a.py").write_text("def f(items):\\n" + body.format("items"))
    >>> _ = (folder / "b.py").write_text("def g(them):\\n" + body.format("them"))
    >>> [clone.kind for clone in find_clones(folder, min_nodes=10).clones]
    ['renamed']
    """
    if not is_number(at_least) or not 0 < at_least <= 1:
        raise ParameterError(f"at_least must be a number in (0, 1], got {at_least!r}; 0.7 is a common choice.")
    check_count(min_nodes, "min_nodes")
    check_count(max_bytes, "max_bytes")
    languages = Languages(grammars)
    notes: list[str] = []
    kept = ParsedFiles(cache)
    files = _read_all(os.fspath(folder), languages, max_bytes, kept, notes)
    kept.save(files)
    compared = _Compared(files, min_nodes, blocks, normalize)
    clones = _without_inner([*compared.equal(), *compared.restructured(at_least, notes)])
    clones.sort(key=lambda one: (_KINDS.index(one.kind), -one.similarity, -one.first.nodes, astuple(one.first)))
    return CloneReport(tuple(clones), len(files), kept.parsed, len(compared.units), tuple(notes))


def _read_all(folder: str, languages: Languages, max_bytes: int, kept: ParsedFiles, notes: list[str]) -> list[CodeFile]:
    files = []
    paths = list(code_files(folder, languages.grammars))
    with settings.progress_bar(len(paths), "Reading", "files") as progress:
        for number, path in enumerate(paths, 1):
            found = _read_one(path, languages, max_bytes, kept, notes)
            if found is not None:
                files.append(found)
            if progress is not None:
                progress(number)
    for package, count in sorted(languages.missing.items()):
        notes.append(
            f"{count:,} {'file' if count == 1 else 'files'} left out for want of a grammar; pip install {package}"
        )
    if not files:
        about = f" ({'; '.join(notes[:3])})" if notes else ""
        raise DataError(f"{folder}: holds no source file that can be read{about}.")
    return files


def _read_one(path: str, languages: Languages, max_bytes: int, kept: ParsedFiles, notes: list[str]) -> CodeFile | None:
    if os.path.splitext(path)[1].lower() not in languages.grammars:
        raise DataError(f"{path}: no grammar is known for files with this ending; name one with grammars=.")
    parser = languages.parser(path)
    if parser is None:
        return None
    try:
        size = os.path.getsize(path)
        if size > max_bytes:
            notes.append(f"{shown(path)}: left out, {size:,} bytes are more than max_bytes={max_bytes:,}")
            return None
        with open(path, "rb") as stream:
            content = stream.read(max_bytes)
    except OSError as error:
        notes.append(f"{shown(path)}: left out, {error.strerror or error}")
        return None
    if b"\0" in content[:8192]:
        notes.append(f"{shown(path)}: left out, it is binary")
        return None
    found = kept.get(path, content, languages.grammar(path), lambda: read_code(path, content, parser))
    found.grammar = languages.grammar(path)
    if found.broken:
        notes.append(f"{shown(path)}: some of it cannot be parsed; the rest is compared")
    return found


class _Compared:
    """The functions and blocks of all files, whose subtrees have numbers that are equal where they are."""

    def __init__(self, files: Sequence[CodeFile], min_nodes: int, blocks: bool, normalize: bool) -> None:
        self.units: list[CodeUnit] = []
        self._files = files
        self._where: list[tuple[int, int]] = []  # of each unit: its file and its node
        self._exact: list[int] = []
        self._root: list[int] = []
        self._arena = _core.trees.Arena()
        self._numbers: list[NDArray[np.uint32]] = []
        self._sizes: list[list[int]] = []
        self._large: dict[int, _Subtrees] = {}
        for number, one in enumerate(files):
            exact = self._build(one, one.labels)
            self._numbers.append(self._build(one, one.kinds) if normalize else exact)
            sizes = _sizes(one)
            self._sizes.append(sizes)
            last = None
            for place, kind, name in one.units:
                if sizes[place] < min_nodes or (kind == "block" and not blocks):
                    continue
                span = one.starts[place], one.ends[place]
                # A block that holds one thing is that thing, which comes before it and may have a name.
                if kind == "block" and span == last:
                    continue
                last = span
                lines = one.rows[place - sizes[place] + 1 : place + 1]
                self._where.append((number, place))
                self._exact.append(int(exact[place]))
                self._root.append(int(self._numbers[number][place]))
                self.units.append(
                    CodeUnit(
                        one.path,
                        kind,
                        name,
                        one.rows[place] + 1,
                        max(lines) + 1,
                        one.starts[place],
                        one.ends[place],
                        sizes[place],
                    )
                )

    def _build(self, one: CodeFile, labels: list[str]) -> NDArray[np.uint32]:
        texts = {text: number for number, text in enumerate(dict.fromkeys(labels))}
        numbers: NDArray[np.uint32] = self._arena.build(
            list(texts),
            np.array([texts[text] for text in labels], dtype=np.uint32),
            np.array(one.child_ends, dtype=np.uint64),
            np.array(one.children, dtype=np.uint32),
        )
        return numbers

    def equal(self) -> list[Clone]:
        """Return exact and renamed copies, each with the first of its class."""
        clones = []
        same: dict[int, list[int]] = defaultdict(list)
        for unit, root in enumerate(self._root):
            same[root].append(unit)
        for members in same.values():
            first_exact: dict[int, int] = {}
            for unit in members:
                other = first_exact.setdefault(self._exact[unit], unit)
                kind = "exact" if other != unit else "renamed"
                other = other if other != unit else members[0]
                if other != unit:
                    a, b = self.units[other], self.units[unit]
                    clones.append(Clone(kind, 1.0, a, b, ((a.start, a.end),), ((b.start, b.end),)))
        return clones

    def restructured(self, at_least: float, notes: list[str]) -> list[Clone]:
        """Return pairs of different trees that cover each other."""
        first: dict[int, int] = {}
        for unit, root in enumerate(self._root):
            first.setdefault(root, unit)
        if len(first) < 2:
            return []
        chosen = list(first.values())
        trees = self._coarse(chosen)
        clones = []
        partners: Counter[int] = Counter()
        passed = 0
        for i, j, _ in TreeIndex(trees, Subtree(1.0).normalized()).pairs(at_least * _CANDIDATE_SHARE):
            a, b = self.units[chosen[i]], self.units[chosen[j]]
            nested = a.path == b.path and a.start < b.end and b.start < a.end
            if nested or min(a.nodes, b.nodes) < at_least / 2 * max(a.nodes, b.nodes):
                continue
            if partners[i] >= _MOST_PARTNERS and partners[j] >= _MOST_PARTNERS:
                passed += 1
                continue
            partners.update((i, j))
            ours, left = self._covered(chosen[i], chosen[j])
            theirs, right = self._covered(chosen[j], chosen[i])
            similarity = (ours + theirs) / (a.nodes + b.nodes)
            if similarity >= at_least:
                marks = self._ranges(chosen[i], left), self._ranges(chosen[j], right)
                clones.append(Clone("restructured", similarity, a, b, *marks))
        if passed:
            notes.append(
                f"{passed:,} pairs of functions or blocks were not compared: each of the two has already been compared "
                f"with {_MOST_PARTNERS} that are more like it"
            )
        return clones

    def _coarse(self, units: Sequence[int]) -> TreeArray:
        """Return units as trees in which subtrees too small for a mark are leaves, so that only others are compared."""
        arena = _core.trees.Arena()
        roots: dict[int, NDArray[np.uint32]] = {}
        for number in {self._where[unit][0] for unit in units}:
            one, sizes = self._files[number], np.array(self._sizes[number])
            small = sizes < _LEAST_MARK
            texts = list(dict.fromkeys(one.kinds))
            known = {text: place for place, text in enumerate(texts)}
            numbers, labels = np.unique(self._numbers[number][small], return_inverse=True)
            chosen = np.array([known[kind] for kind in one.kinds], dtype=np.uint32)
            chosen[small] = labels + len(texts)
            ends = np.array(one.child_ends, dtype=np.int64)
            begins = np.concatenate([[0], ends[:-1]])
            kept = np.repeat(~small, ends - begins)
            children = np.array(one.children, dtype=np.uint32)[kept]
            new_ends = np.cumsum(np.where(small, 0, ends - begins)).astype(np.uint64)
            # No kind of node is written like this.
            names = [*texts, *(f"\x1f{name}" for name in numbers.tolist())]
            roots[number] = arena.build(names, chosen, new_ends, children)
        found = [roots[number][place] for number, place in (self._where[unit] for unit in units)]
        return TreeArray._from_arena(arena, np.array(found, dtype=np.uint32))

    def _subtrees(self, unit: int) -> _Subtrees:
        """Return the subtrees of a unit that are large enough for a mark."""
        if unit not in self._large:
            number, place = self._where[unit]
            sizes = self._sizes[number]
            down = np.array(sizes[place - sizes[place] + 1 : place + 1])[::-1]
            large = np.flatnonzero(down >= _LEAST_MARK)
            # What is below a node stands right before it.
            after = np.searchsorted(large, large + down[large])
            keys = self._numbers[number][place - large].tolist()
            self._large[unit] = _Subtrees(keys, down[large].tolist(), after.tolist(), (place - large).tolist())
        return self._large[unit]

    def _covered(self, unit: int, other: int) -> tuple[int, list[int]]:
        """Return how many nodes of a unit are in subtrees that another one has too, and the largest of these."""
        keys, sizes, after, places = self._subtrees(unit)
        there = dict(Counter(self._subtrees(other).keys))
        covered, marks, at = 0, [], 0
        while at < len(keys):
            left = there.get(keys[at], 0)
            if left == 0:
                at += 1
                continue
            there[keys[at]] = left - 1
            covered += sizes[at]
            marks.append(places[at])
            at = after[at]
        return covered, marks

    def _ranges(self, unit: int, places: list[int]) -> tuple[tuple[int, int], ...]:
        one = self._files[self._where[unit][0]]
        return tuple((one.starts[place], one.ends[place]) for place in reversed(places))


class _Subtrees(NamedTuple):
    """Subtrees from the root down: equal ones have the same key; ``after`` says which comes after all below one."""

    keys: list[int]
    sizes: list[int]
    after: list[int]
    places: list[int]


def _sizes(one: CodeFile) -> list[int]:
    """Return the number of nodes of each subtree; those of a subtree stand right before its root."""
    sizes: list[int] = []
    begin = 0
    for end in one.child_ends:
        sizes.append(1 + sum(sizes[child] for child in one.children[begin:end]))
        begin = end
    return sizes


def _without_inner(clones: list[Clone]) -> list[Clone]:
    """Leave out copies that are parts of larger copies in the same places, or that only lie around better ones."""
    around = _around({unit for clone in clones for unit in (clone.first, clone.second)})
    listed: set[tuple[CodeUnit, CodeUnit]] = set()
    looser: set[tuple[CodeUnit, CodeUnit]] = set()
    kept = []

    def rank(clone: Clone) -> tuple[int, int, int]:
        # Those that others are part of come first.
        sizes = clone.first.nodes, clone.second.nodes
        return -min(sizes), _KINDS.index(clone.kind), -max(sizes)

    for clone in sorted(clones, key=rank):
        first, second = clone.first, clone.second
        outer = ((a, b) for a in around[first] for b in around[second])
        if any((a, b) in listed or (b, a) in listed for a, b in outer):
            continue
        listed.add((first, second))
        if clone.kind != "restructured":
            # What is equal to a part of something is no restructured copy of the whole.
            looser |= {(first, b) for b in around[second]} | {(second, a) for a in around[first]}
        elif (first, second) in looser or (second, first) in looser:
            continue
        kept.append(clone)
    return kept


def _around(units: set[CodeUnit]) -> dict[CodeUnit, list[CodeUnit]]:
    """Return, for each unit, those that hold it, itself included; of two in one file one holds the other or neither."""
    around: dict[CodeUnit, list[CodeUnit]] = {}
    way: list[CodeUnit] = []
    for unit in sorted(units, key=lambda one: (one.path, one.start, -one.end, -one.nodes, one.kind)):
        while way and (way[-1].path != unit.path or way[-1].end < unit.end):
            way.pop()
        way.append(unit)
        around[unit] = list(way)
    return around
