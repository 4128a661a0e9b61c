"""Stanford CoreNLP's output: its pretty-printed trees, alone or inside its text output, and its JSON.

Reading gives constituency trees, and from JSON also words, tags, lemmas and basic dependencies. Writing covers the
pretty-printed form, which people read and other tools accept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sapwood.corpora.conllu import DependencySentence, Row
from sapwood.corpora.json_stream import list_items
from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.sources import Line, Source, lines, open_all
from sapwood.trees.brackets import to_brackets
from sapwood.trees.texts import TreeTexts
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["CoreNLPSentence", "iter_corenlp", "iter_corenlp_json", "pretty", "read_corenlp", "write_corenlp"]

_SENTENCE = re.compile(r"Sentence #(\d+) \((\d+) tokens?(?:, sentiment: [^)]*)?\):?\s*")
_BRACKET = re.compile(r"[()]")
_UNPARSED = "SENTENCE_SKIPPED_OR_UNPARSABLE"


@dataclass(frozen=True)
class CoreNLPSentence(HtmlTable):
    """A sentence of CoreNLP's JSON.

    Attributes
    ----------
    words, tags, lemmas : tuple of str
        One entry per token; tags and lemmas are empty if the annotators did not run.
    tree : Tree, optional
        The constituency tree.
    dependencies : DependencySentence, optional
        The basic dependencies.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    tree: Tree | None
    dependencies: DependencySentence | None


def iter_corenlp(source: Source | Sequence[Source], *, encoding: str = "utf-8") -> Iterator[Tree]:
    """Yield the trees of CoreNLP's pretty-printed output one by one.

    The file may hold trees alone, or be the whole text output with its ``Sentence #1 (7 tokens):`` headings; then
    every sentence must have a tree, with as many words as its heading says.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Also compressed files and members of archives.
    encoding : str
        Encoding of the files.

    Raises
    ------
    FormatError, BracketError
        With file, line and column of the fault.

    Examples
    --------
    >>> import io
    >>> print(next(iter_corenlp(io.StringIO("(ROOT\\n  (NP (JJ Heavy)\\n    (NN rain)))\\n"))))
    (ROOT (NP (JJ Heavy) (NN rain)))
    """
    state = _TextOutput()
    for line in lines(source, encoding=encoding):
        if line.number == 1:
            state.finish()
            state = _TextOutput()
        tree = state.take(line)
        if tree is not None:
            yield tree
    state.finish()


def read_corenlp(source: Source | Sequence[Source], *, encoding: str = "utf-8") -> list[Tree]:
    """Read every tree at once; see ``iter_corenlp``."""
    return list(iter_corenlp(source, encoding=encoding))


def write_corenlp(trees: Iterable[Tree], path: str | os.PathLike[str]) -> None:
    """Write trees pretty-printed, a blank line after each; the file appears whole or not at all."""
    write_text(path, (f"{pretty(tree)}\n\n" for tree in trees))


def pretty(tree: Tree) -> str:
    """Lay a tree out as CoreNLP does: a line per constituent, words beside what they open.

    >>> print(pretty(Tree.fromstring("(ROOT (SQ (VBZ is) (NP (DT the) (NN rain)) (. ?)))")))
    (ROOT
      (SQ (VBZ is)
        (NP (DT the) (NN rain))
        (. ?)))
    """
    if tree.is_leaf:
        return to_brackets(tree)
    parts: list[str] = []
    # Each entry: a node, its depth, and whether all siblings before it are words with their tags.
    stack: list[tuple[Tree, int, bool] | None] = [(tree, 0, False)]
    while stack:
        entry = stack.pop()
        if entry is None:
            parts.append(")")
            continue
        node, depth, beside = entry
        flat = all(child.is_leaf for child in node.children)
        if depth:
            parts.append(" " if beside and flat else "\n" + "  " * depth)
        if flat:
            parts.append(to_brackets(node) if not node.is_leaf else to_brackets(node)[1:-1])
            continue
        # Only the label is taken from the writer, which knows what may stand in brackets.
        parts.append(to_brackets(Tree(node.label))[:-1])
        stack.append(None)
        besides, entries = True, []
        for child in node.children:
            entries.append((child, depth + 1, besides))
            besides = besides and all(grandchild.is_leaf for grandchild in child.children)
        stack.extend(reversed(entries))
    return "".join(parts)


def iter_corenlp_json(source: Source | Sequence[Source], *, encoding: str = "utf-8") -> Iterator[CoreNLPSentence]:
    """Yield the sentences of CoreNLP's JSON one by one, holding one at a time however long the document is.

    Parameters are those of ``iter_corenlp``. A file holds one document or several, one after the other or in a list.

    Examples
    --------
    >>> import io
    >>> text = '{"sentences": [{"index": 0, "parse": "(ROOT (NP (NN rain)))", "tokens": [{"word": "rain"}]}]}'
    >>> print(next(iter_corenlp_json(io.StringIO(text))).tree)
    (ROOT (NP (NN rain)))
    """
    for stream in open_all(source):
        empty = True
        for record, line in list_items(stream, "sentences", encoding=encoding):
            empty = False
            yield _sentence(record, line)
        if empty:
            raise DataError(f'{stream.name}: holds no sentence; expected {{"sentences": [{{"parse": ...}}]}}.')


class _TextOutput:
    """Where a reader of the text output stands: between trees, or inside one."""

    def __init__(self) -> None:
        self._heading: Line | None = None
        self._expected = 0
        self._in_tokens = False
        self._open: list[Line] = []
        self._depth = 0
        self._any = False
        self._last: Line | None = None

    def take(self, line: Line) -> Tree | None:
        self._last = line
        if self._open:
            return self._continue(line)
        if found := _SENTENCE.fullmatch(line.text):
            self._need_no_tree(line)
            self._heading, self._expected, self._in_tokens = line, int(found[2]), False
            return None
        if self._heading is None:
            if not line.text.strip() or (not self._any and line.text.startswith("Document:")):
                return None
            if not line.text.startswith("("):
                if self._any and self._expected:
                    return None
                raise line.fault(f"expected a tree or 'Sentence #1 (7 tokens):', found {line.text[:40]!r}")
            return self._continue(line)
        # The sentence itself may begin with a bracket; its tokens stand between it and the tree.
        self._in_tokens = self._in_tokens or line.text.startswith(("[Text=", "Tokens:", "Constituency parse:"))
        return self._continue(line) if self._in_tokens and line.text.startswith("(ROOT") else None

    def _continue(self, line: Line) -> Tree | None:
        if self._open and not line.text.strip():
            raise self._open[0].fault(f"the tree that begins here is cut off: line {line.number} is blank")
        self._open.append(line)
        for found in _BRACKET.finditer(line.text):
            self._depth += 1 if found[0] == "(" else -1
            rest = line.text[found.end() :] if self._depth == 0 else ""
            if rest.strip():
                raise line.fault(f"text after the end of the tree: {rest.strip()[:40]!r}", found.end() + 1)
        if self._depth > 0:
            return None
        first = self._open[0]
        texts = TreeTexts()
        texts.add("\n".join(part.text for part in self._open), first, 1)
        (tree,) = texts.trees()
        self._open, self._depth, self._any = [], 0, True
        if self._heading is not None and len(tree.leaves()) != self._expected:
            raise first.fault(
                f"the heading in line {self._heading.number} promises {self._expected} tokens, the tree has "
                f"{len(tree.leaves())}"
            )
        self._heading = None
        return tree

    def _need_no_tree(self, line: Line) -> None:
        if self._heading is not None:
            raise self._heading.fault(
                f"this sentence has no tree before line {line.number}; run CoreNLP with the annotator 'parse'"
            )

    def finish(self) -> None:
        if self._last is None:
            return
        if self._open:
            raise self._open[0].fault("the tree that begins here is never closed; the file is cut off")
        self._need_no_tree(self._last)
        if not self._any:
            raise self._last.fault("the file holds no tree; expected trees such as (ROOT (S ...))")


def _sentence(record: dict[str, Any], line: Line) -> CoreNLPSentence:
    tokens = record.get("tokens", [])
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        raise line.fault('the "tokens" of a sentence must be a list of objects')
    words, tags, lemmas = (_column(tokens, name, line) for name in ("word", "pos", "lemma"))
    if tokens and not words:
        raise line.fault('a token has no "word"')
    tree = None
    parse = record.get("parse")
    if parse is not None and parse != _UNPARSED:
        if not isinstance(parse, str):
            raise line.fault('the "parse" of a sentence must be text in brackets')
        texts = TreeTexts()
        # The tree has lines of its own inside the JSON text; the sentence's line is what helps in the file.
        texts.add(parse.replace("\r", " ").replace("\n", " "), line, 1)
        (tree,) = texts.trees()
        if tokens and len(tree.leaves()) != len(tokens):
            raise line.fault(f"the tree has {len(tree.leaves())} words, the sentence {len(tokens)} tokens")
    if not tokens and tree is None:
        raise line.fault('a sentence with neither "tokens" nor a "parse"')
    if not tokens and tree is not None:
        words = tree.leaves()
    links = record.get("basicDependencies")
    return CoreNLPSentence(
        words, tags, lemmas, tree, None if links is None else _dependencies(links, words, tags, lemmas, line)
    )


def _column(tokens: list[dict[str, Any]], name: str, line: Line) -> tuple[str, ...]:
    values = [token.get(name) for token in tokens]
    if all(value is None for value in values):
        return ()
    if not all(isinstance(value, str) and value for value in values):
        raise line.fault(f'some tokens have a "{name}" and some have none')
    return tuple(map(str, values))


def _dependencies(
    links: Any, words: Sequence[str], tags: Sequence[str], lemmas: Sequence[str], line: Line
) -> DependencySentence:
    rows = [
        Row(str(at + 1), word, lemmas[at] if lemmas else "_", "_", tags[at] if tags else "_")
        for at, word in enumerate(words)
    ]
    if not isinstance(links, list) or not all(isinstance(link, dict) for link in links):
        raise line.fault('"basicDependencies" must be a list of objects')
    for link in links:
        relation, head, word = link.get("dep"), link.get("governor"), link.get("dependent")
        numbers = all(isinstance(value, int) and not isinstance(value, bool) for value in (head, word))
        if not isinstance(relation, str) or not numbers or not 0 <= head <= len(rows) or not 0 < word <= len(rows):
            raise line.fault(f"a dependency does not fit the sentence: {str(link)[:80]}")
        if rows[word - 1].head != "_":
            raise line.fault(f"word {word} has two heads; basic dependencies form a tree")
        rows[word - 1] = rows[word - 1]._replace(head=str(head), deprel=relation.lower() if head == 0 else relation)
    for row in rows:
        if row.head == "_":
            raise line.fault(f"word {row.id}, {row.form!r}, has no head; basic dependencies form a tree")
    return DependencySentence(tuple(rows))
