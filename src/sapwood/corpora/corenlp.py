"""Stanford CoreNLP's output: its pretty-printed trees, alone or inside its text output, and its JSON.

Reading gives constituency trees, and from JSON also words, tags, lemmas and basic dependencies. Writing covers the
pretty-printed form, which people read and other tools accept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sapwood.corpora.json_stream import list_items
from sapwood.errors import FormatError
from sapwood.lazy import public_names
from sapwood.notebook import HtmlTable
from sapwood.sources import Sources
from sapwood.text_files import Line, files
from sapwood.trees.brackets import to_brackets
from sapwood.trees.dependency_sentence import DependencySentence, Row
from sapwood.trees.texts import TreeTexts
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["CoreNLPSentence", "read", "write"]

__dir__ = public_names(__name__)

_HEADING = re.compile(r"Sentence #(\d+) \((\d+) tokens?(?:, sentiment: [^)]*)?\):?\s*")
_BRACKET = re.compile(r"[()]")
_UNPARSED = "SENTENCE_SKIPPED_OR_UNPARSABLE"


@dataclass(frozen=True)
class CoreNLPSentence(HtmlTable):
    """A sentence that CoreNLP has annotated.

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
    tags: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    tree: Tree | None = None
    dependencies: DependencySentence | None = None


def read(source: Sources, *, encoding: str = "utf-8") -> Iterator[CoreNLPSentence]:
    """Yield the sentences of CoreNLP's output one by one.

    A file that begins with a brace or square bracket is JSON: one document or several, one after the other or in a
    list. Any other holds pretty-printed trees alone, or is the whole text output with its ``Sentence #1 (7 tokens):``
    headings; then every sentence must have a tree, with as many words as its heading says. Words and tags are taken
    from the tree where nothing else gives them.

    Examples
    --------
    >>> import io
    >>> print(next(read(io.StringIO("(ROOT\\n  (NP (JJ Heavy)\\n    (NN rain)))\\n"))).tree)
    (ROOT (NP (JJ Heavy) (NN rain)))
    >>> text = '{"sentences": [{"index": 0, "parse": "(ROOT (NP (NN rain)))", "tokens": [{"word": "rain"}]}]}'
    >>> next(read(io.StringIO(text))).words
    ('rain',)
    """
    for rows in files(source, encoding=encoding):
        head: list[Line] = []
        for line in rows:
            head.append(line)
            if line.text.strip():
                break
        every = chain(head, rows)
        if not head[-1].text.lstrip().startswith(("{", "[")):
            yield from map(_from_tree, _text_output(every))
            continue
        empty = True
        for record, line in list_items(every, "sentences"):
            empty = False
            yield _from_json(record, line)
        if empty:
            raise head[-1].fault('the file holds no sentence; expected {"sentences": [{"parse": ...}]}')


def write(trees: Iterable[Tree], path: str | os.PathLike[str]) -> None:
    """Write trees pretty-printed, a blank line after each."""
    write_text(path, (f"{_pretty(tree)}\n\n" for tree in trees))


def _pretty(tree: Tree) -> str:
    """Lay a tree out as CoreNLP does: a line per constituent, words beside what they open.

    >>> print(_pretty(Tree.fromstring("(ROOT (SQ (VBZ is) (NP (DT the) (NN rain)) (. ?)))")))
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


def _text_output(rows: Iterator[Line]) -> Iterator[Tree]:
    """Yield the trees of one file of text output, or of trees alone."""
    heading: Line | None = None
    expected = 0
    in_tokens = any_tree = False
    for line in rows:
        text = line.text
        if found := _HEADING.fullmatch(text):
            if heading is not None:
                raise _no_tree(heading, line)
            heading, expected, in_tokens = line, line.count(found[2], text.index("(") + 2), False
        elif heading is not None:
            # The sentence itself may begin with a bracket; its tokens stand between it and the tree.
            in_tokens = in_tokens or text.startswith(("[Text=", "Tokens:", "Constituency parse:"))
            if in_tokens and text.startswith("(ROOT"):
                tree = _tree(line, rows)
                if len(tree.leaves()) != expected:
                    raise line.fault(
                        f"the heading in line {heading.number} promises {expected} tokens, the tree has "
                        f"{len(tree.leaves())}"
                    )
                heading, any_tree = None, True
                yield tree
        elif text.startswith("("):
            any_tree = True
            yield _tree(line, rows)
        elif text.strip() and not expected and (any_tree or not text.startswith("Document:")):
            # After the first heading, whatever follows a tree is other annotation.
            raise line.fault(f"expected a tree or 'Sentence #1 (7 tokens):', found {text[:40]!r}")
    if heading is not None:
        raise _no_tree(heading, line)
    if not any_tree:
        raise line.fault("the file holds no tree; expected trees such as (ROOT (S ...))")


def _no_tree(heading: Line, line: Line) -> FormatError:
    return heading.fault(f"this sentence has no tree before line {line.number}; run CoreNLP with the annotator 'parse'")


def _tree(first: Line, rows: Iterator[Line]) -> Tree:
    """Read a tree that begins on one line and may go on over the next ones."""
    taken: list[Line] = []
    depth = 0
    for line in chain([first], rows):
        if not line.text.strip():
            raise first.fault(f"the tree that begins here is cut off: line {line.number} is blank")
        taken.append(line)
        for found in _BRACKET.finditer(line.text):
            depth += 1 if found[0] == "(" else -1
            rest = line.text[found.end() :] if depth == 0 else ""
            if rest.strip():
                raise line.fault(f"text after the end of the tree: {rest.strip()[:40]!r}", found.end() + 1)
        if depth <= 0:
            break
    else:
        raise first.fault("the tree that begins here is never closed; the file is cut off")
    return _one_tree("\n".join(line.text for line in taken), first)


def _one_tree(text: str, line: Line) -> Tree:
    texts = TreeTexts()
    texts.add(text, line, 1)
    (tree,) = texts.trees()
    return tree


def _from_tree(tree: Tree) -> CoreNLPSentence:
    words = tree.leaves()
    tags = tuple(node.label for node in tree.preorder() if len(node.children) == 1 and node.children[0].is_leaf)
    # A word without a tag of its own leaves the others without theirs.
    return CoreNLPSentence(words, tags if len(tags) == len(words) else (), (), tree)


def _from_json(record: dict[str, Any], line: Line) -> CoreNLPSentence:
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
        # The tree has lines of its own inside the JSON text; the sentence's line is what helps in the file.
        tree = _one_tree(parse.replace("\r", " ").replace("\n", " "), line)
        if tokens and len(tree.leaves()) != len(tokens):
            raise line.fault(f"the tree has {len(tree.leaves())} words, the sentence {len(tokens)} tokens")
    if not tokens:
        if tree is None:
            raise line.fault('a sentence with neither "tokens" nor a "parse"')
        plain = _from_tree(tree)
        words, tags = plain.words, plain.tags
    links = record.get("basicDependencies")
    dependencies = None if links is None else _dependencies(links, words, tags, lemmas, line)
    return CoreNLPSentence(words, tags, lemmas, tree, dependencies)


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
