"""PropBank's own files: one line per predicate, with pointers into the trees of a treebank.

Lines of the first release and of later ones are read, pointers are resolved on trees with traces, and trace chains
become spans of words as PropBank's conversion to columns makes them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sapwood.errors import DataError
from sapwood.lazy import public_names
from sapwood.notebook import HtmlTable
from sapwood.sources import Sources
from sapwood.text_files import Line, lines
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Argument, Proposition, short_role
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["PropInstance", "read", "write"]

__dir__ = public_names(__name__)

_POINTER = re.compile(r"\d+:\d+(?:[*,;]\d+:\d+)*-\S+\Z")
_INFLECTION = re.compile(r"[igpvf-][fpn-][pbo-][3-][ap-]\Z")
_ROLESET = re.compile(r"\S+\.[A-Za-z0-9]+\Z")

Chain = tuple[tuple[tuple[int, int], ...], ...]
"""Pieces joined by ``*`` refer to the same thing; each is made of constituents joined by ``,`` or ``;``."""


@dataclass(frozen=True)
class PropInstance(HtmlTable):
    """One line: a predicate and pointers to its arguments.

    Attributes
    ----------
    file : str
        The treebank file.
    sentence, word : int
        Which tree of the file, and which of its leaves (traces counted) the predicate is.
    tagger : str
        Who annotated it.
    roleset : str
        The sense, such as ``join.01``.
    inflection : str
        Five letters for form, tense, aspect, person and voice.
    pointers : tuple of (str, str)
        Label and pointer of each argument as written: ``("ARG0", "0:1*3:0")``; the label of the predicate is ``rel``.
    frame : str
        The frame file, which later releases name; empty in the first.

    Examples
    --------
    >>> import io
    >>> line = "wsj_0001.mrg 0 8 gold join.01 vf--a 0:2-ARG0 7:0-ARGM-MOD 8:0-rel 9:1*12:0-ARG1"
    >>> (instance,) = read(io.StringIO(line))
    >>> instance.pointers[3], instance.chain(3), str(instance) == line
    (('ARG1', '9:1*12:0'), (((9, 1),), ((12, 0),)), True)
    """

    file: str
    sentence: int
    word: int
    tagger: str
    roleset: str
    inflection: str
    pointers: tuple[tuple[str, str], ...]
    frame: str = ""

    def chain(self, number: int) -> Chain:
        """Return a pointer taken apart: words and heights, split at ``*`` first, then at ``,`` and ``;``."""
        return _chain(self.pointers[number][1])

    def proposition(self, tree: Tree) -> Proposition:
        """Turn pointers into spans over the words that are there, traces left out.

        Parameters
        ----------
        tree : Tree
            The tree that the instance points into, with its traces (``-NONE-``).

        Returns
        -------
        Proposition
            Word numbers do not count traces. Roles are in CoNLL-2005's short form.

        Notes
        -----
        ``LINK-`` pointers add what they link to the arguments that they share a node with. The leftmost piece with
        words gets X, later ones C-X, unless they are pieces of a split argument and touch; a wh-phrase in a
        ``LINK-SLC`` chain gets R-X. Where arguments overlap, the one listed last stays. ``ARGn-DSP`` (quoted speech
        around its verb) covers what nothing else does.

        Raises
        ------
        DataError
            If a pointer leads out of the tree, or the predicate is a trace.

        Examples
        --------
        >>> tree = Tree.fromstring("(NP (NP (NN man)) (SBAR (WHNP (WP who)) (S (NP (-NONE- *T*)) (VP (VBD left)))))")
        >>> instance = PropInstance("f", 0, 3, "gold", "leave.01", "-----",
        ...     (("rel", "3:0"), ("ARG0", "1:1*2:1"), ("LINK-SLC", "0:1*1:1")))
        >>> [(a.role, a.span) for a in instance.proposition(tree).arguments]
        [('A0', (0, 0)), ('R-A0', (1, 1)), ('V', (2, 2))]
        """
        at = Positions(tree)
        words = _overt(at)
        if self.word not in words:
            where = f"{self.file} {self.sentence}"
            raise DataError(f"{where}: the predicate, leaf {self.word}, is a trace or lies outside the tree.")
        links = [(label, _nodes(at, _chain(text), label)) for label, text in self.pointers if label.startswith("LINK-")]
        claims: list[list[Argument]] = []
        speech: list[str] = []
        # Where continuations are listed, somebody has worked out already what the speech covers.
        spelt_out = any(label.startswith("C-") and label.endswith("-DSP") for label, _ in self.pointers)
        for label, text in self.pointers:
            role = "V" if label == "rel" else short_role(label)
            if role.endswith("-DSP") and not spelt_out:
                speech.append(role)
            elif not label.startswith("LINK-"):
                nodes = _nodes(at, _chain(text), label)
                relative: set[int] = set()
                for kind, linked in links:
                    if set(nodes) & set(linked):
                        nodes = nodes + [node for node in linked if node not in nodes]
                        if kind == "LINK-SLC":
                            relative |= {node for node in linked if at.labels[node].startswith("WH")}
                spans = {span: node in relative for node in nodes if (span := _span(at, words, node)) is not None}
                joined = _joined(sorted(spans.items()), split="," in text or ";" in text)
                claims = _claim(claims, role, joined)
        for role in speech:
            taken = {word for claim in claims for one in claim for word in range(one.first, one.last + 1)}
            free = [word for word in range(len(words)) if word not in taken]
            claims = _claim(claims, role, [(span, False) for span in _runs(free)])
        arguments = sorted((one for claim in claims for one in claim), key=lambda one: one.first)
        return Proposition(words[self.word], self.roleset.rpartition(".")[0], tuple(arguments), self.roleset)

    def __str__(self) -> str:
        head = [self.file, str(self.sentence), str(self.word), self.tagger]
        head += [self.frame] if self.frame else []
        return " ".join([*head, self.roleset, self.inflection, *(f"{at}-{label}" for label, at in self.pointers)])


def read(source: Sources, *, encoding: str = "utf-8") -> Iterator[PropInstance]:
    """Yield the lines of ``prop.txt`` files, of the first release or with the frame file that later ones name."""
    for line in lines(source, encoding=encoding):
        if line.text.strip():
            yield _instance(line)


def write(instances: Iterable[PropInstance], path: str | os.PathLike[str]) -> None:
    """Write lines as they were read."""
    write_text(path, (f"{one}\n" for one in instances))


def _instance(line: Line) -> PropInstance:
    fields = [(found[0], found.start() + 1) for found in re.finditer(r"\S+", line.text)]
    if len(fields) < 7:
        raise line.fault(
            f"expected file, sentence, word, tagger, roleset, inflection and pointers; found {line.text!r}"
        )
    sentence, word = (line.count(text, column) for text, column in fields[1:3])
    texts = [text for text, _ in fields]
    # Later releases put the frame file before the roleset, which shows by the inflection standing one further on.
    later = not _INFLECTION.match(texts[5])
    at = 5 if later else 4
    if not _ROLESET.match(texts[at]):
        raise line.fault(f"expected a roleset such as join.01, found {texts[at]!r}", fields[at][1])
    if not _INFLECTION.match(texts[at + 1]):
        raise line.fault(f"expected an inflection such as vf--a, found {texts[at + 1]!r}", fields[at + 1][1])
    pointers = []
    for text, column in fields[at + 2 :]:
        if not _POINTER.match(text):
            raise line.fault(f"expected a pointer such as 0:2-ARG0 or 0:1*3:0-ARG1, found {text!r}", column)
        place, _, label = text.partition("-")
        for number in re.findall(r"\d+", place):
            line.count(number, column)
        pointers.append((label, place))
    return PropInstance(
        texts[0],
        sentence,
        word,
        texts[3],
        texts[at],
        texts[at + 1],
        tuple(pointers),
        texts[4] if later else "",
    )


def _chain(text: str) -> Chain:
    return tuple(
        tuple((int(word), int(height)) for word, height in (one.split(":") for one in re.split("[,;]", group)))
        for group in text.split("*")
    )


def _overt(at: Positions) -> dict[int, int]:
    """Number the leaves that are words: leaf → word."""
    kept = [leaf for leaf, node in enumerate(at.leaves) if at.labels[at.parent[node]] != "-NONE-"]
    return {leaf: word for word, leaf in enumerate(kept)}


def _nodes(at: Positions, chain: Chain, label: str) -> list[int]:
    nodes = []
    for word, height in (pointer for group in chain for pointer in group):
        if word >= len(at.leaves):
            raise DataError(f"{label} points at leaf {word}; the tree has {len(at.leaves)}, traces counted.")
        node = at.tag(word)
        for _ in range(height):
            node = at.parent[node]
            if node < 0:
                raise DataError(f"{label} points {height} steps above leaf {word}, which is above the root.")
        nodes.append(node)
    return nodes


def _span(at: Positions, words: dict[int, int], node: int) -> tuple[int, int] | None:
    overt = [words[leaf] for leaf in range(at.first[node], at.last[node] + 1) if leaf in words]
    return (overt[0], overt[-1]) if overt else None


def _joined(spans: list[tuple[tuple[int, int], bool]], *, split: bool) -> list[tuple[tuple[int, int], bool]]:
    """Join pieces of a split argument that touch."""
    result: list[tuple[tuple[int, int], bool]] = []
    for (first, last), relative in spans:
        if split and result and result[-1] == ((result[-1][0][0], first - 1), relative):
            result[-1] = ((result[-1][0][0], last), relative)
        else:
            result.append(((first, last), relative))
    return result


def _claim(claims: list[list[Argument]], role: str, spans: list[tuple[tuple[int, int], bool]]) -> list[list[Argument]]:
    """Add an argument; earlier ones that overlap with it go, except for the predicate, which keeps its word."""
    added: list[Argument] = []
    begun = False
    for (first, last), relative in spans:
        if added and first <= added[-1].last:
            continue
        added.append(Argument(f"R-{role}" if relative else f"C-{role}" if begun else role, first, last))
        begun = begun or not relative
    clashes = [claim for claim in claims if any(_overlap(one, other) for one in claim for other in added)]
    if not added or any(claim[0].role == "V" for claim in clashes):
        return claims
    return [*(claim for claim in claims if claim not in clashes), added]


def _overlap(one: Argument, other: Argument) -> bool:
    return one.first <= other.last and other.first <= one.last


def _runs(words: list[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for word in words:
        if runs and runs[-1][1] == word - 1:
            runs[-1] = (runs[-1][0], word)
        else:
            runs.append((word, word))
    return runs
