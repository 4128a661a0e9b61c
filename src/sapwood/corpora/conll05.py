"""The CoNLL-2005 shared task: words, tags, parse bits, senses and propositions, each in a file of its own.

The release keeps the words of the Wall Street Journal out; where there is no file of words they read as ``_``. Writing
covers the propositions (``props``), which is what the official scorer takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest

from sapwood.corpora.columns import Block, cell_rows, column_blocks, propositions_of, tree_of
from sapwood.errors import DataError
from sapwood.lazy import public_names
from sapwood.sources import Sources, file_names
from sapwood.trees.propositions import RoleSentence
from sapwood.writing import write_text

__all__ = ["read", "read_release", "write"]

__dir__ = public_names(__name__)

_Files = Sources


def read(
    props: _Files,
    *,
    syntax: _Files | None = None,
    words: _Files | None = None,
    senses: _Files | None = None,
    encoding: str = "utf-8",
) -> Iterator[RoleSentence]:
    """Yield sentences from parallel files of columns.

    Parameters
    ----------
    props : path, pattern, open file, or a list of these
        Base forms of predicates, then one column per predicate.
    syntax : the same, optional
        Tag and parse bits; without it sentences have no trees.
    words : the same, optional
        One word per line; without it they read as ``_``.
    senses : the same, optional
        The sense of each predicate, or ``-``.

    Raises
    ------
    FormatError
        With file, line and column, also where the files do not run in parallel.

    Examples
    --------
    >>> import io
    >>> files = ["dogs\\nbark\\n\\n", "NNS (S(NP*)\\nVBP (VP*))\\n\\n", "- (A0*)\\nbark (V*)\\n\\n"]
    >>> words, syntax, props = map(io.StringIO, files)
    >>> (sentence,) = read(props, syntax=syntax, words=words)
    >>> print(sentence.tree)
    (S (NP (NNS dogs)) (VP (VBP bark)))
    >>> next(read(io.StringIO("- (A0*)\\nbark (V*)\\n\\n"))).words
    ('_', '_')
    """
    beside = [None if files is None else column_blocks(files, encoding=encoding) for files in (syntax, words, senses)]
    rows = zip_longest(column_blocks(props, encoding=encoding), *(() if one is None else one for one in beside))
    for number, (block, *others) in enumerate(rows):
        if block is None:
            extra = next(other for other in others if other is not None)
            raise extra.fault(f"sentence {number} has no counterpart in the file of propositions")
        for other, files in zip(others, beside, strict=True):
            if files is not None and other is None:
                raise block.fault(f"sentence {number} has no counterpart in the files beside it")
            if files is not None and other is not None and len(other) != len(block):
                raise other.fault(f"this sentence has {len(other)} words here and {len(block)} at {block.place}")
        yield _sentence(block, *others)


def read_release(root: str | os.PathLike[str], part: str, *, syntax: str = "cha") -> Iterator[RoleSentence]:
    """Yield the sentences of one part of the shared task's release, section by section.

    Parameters
    ----------
    root : path
        The folder ``conll05st-release``, or that folder in an archive: ``"x.tar/conll05st-release"``.
    part : str
        ``train``, ``devel``, ``test.wsj`` or ``test.brown``.
    syntax : str
        Whose parses: ``cha`` for Charniak's.
    """
    base = f"{os.fspath(root)}/{part}"
    names = file_names(f"{base}/props/*")
    if not names:
        raise DataError(f"{base}/props: there are no propositions; expected a folder of the CoNLL-2005 release.")
    kinds = {kind: set(file_names(f"{base}/{kind}/*")) for kind in (f"synt.{syntax}", "words", "senses")}
    for props in names:
        section = os.path.basename(props)
        files: dict[str, str | None] = {}
        for kind, known in kinds.items():
            name = f"{base}/{kind}/{section.replace('.props', f'.{kind}')}"
            files[kind] = name if name in known else None
        for number, sentence in enumerate(
            read(props, syntax=files[f"synt.{syntax}"], words=files["words"], senses=files["senses"])
        ):
            yield replace(sentence, name=f"{section.split('.props')[0]}:{number}")


def write(sentences: Iterable[RoleSentence], path: str | os.PathLike[str]) -> None:
    """Write propositions in columns."""
    write_text(path, map(sentence_text, sentences))


def sentence_text(sentence: RoleSentence) -> str:
    """Return the columns of one sentence, the blank line after it included."""
    rows = cell_rows(sentence)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    return "".join(
        " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows
    ) + ("\n" if rows else "")


def _sentence(block: Block, syntax: Block | None, words: Block | None, senses: Block | None) -> RoleSentence:
    targets, *columns = block.columns()
    propositions = propositions_of(targets, columns)
    forms = ("_",) * len(block) if words is None else words.columns()[0].texts
    tree = None
    if syntax is not None:
        tags, bits, *_ = syntax.columns(2)
        tree = tree_of(forms, tags.texts, bits)
    if senses is not None:
        sense = senses.columns()[0].texts
        propositions = tuple(
            replace(one, roleset=f"{one.lemma}.{sense[one.predicate]}") if sense[one.predicate] != "-" else one
            for one in propositions
        )
    return RoleSentence(forms, propositions, tree)
