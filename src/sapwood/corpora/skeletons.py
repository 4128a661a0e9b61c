"""PropBank's ``gold_skel`` columns, with words left out, and the same joined with words and dependencies.

Both hold tags, parse bits and one column of arguments per predicate. Roles are given in CoNLL-2005's short form.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sapwood.corpora.props import Column, bits_of, column_blocks, propositions_of, props_rows, tree_of
from sapwood.errors import DataError
from sapwood.sources import Source
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Proposition, RoleSentence, long_role, short_role
from sapwood.writing import write_text

__all__ = ["iter_joined", "iter_skeletons", "write_joined", "write_skeletons"]


def iter_skeletons(source: Source | Sequence[Source], *, encoding: str = "utf-8") -> Iterator[RoleSentence]:
    """Yield the sentences of ``gold_skel`` files.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Columns: file, sentence, token, word, tag, parse bits, frame file, roleset, then one per predicate. A word
        ``[WORD]`` that was left out reads as ``_``.
    encoding : str
        Encoding of the files.

    Examples
    --------
    >>> import io
    >>> text = "f 0 0 [WORD] NNS (TOP(S(NP*) - - (ARG0*)\\nf 0 1 [WORD] VBP (VP*))) bark bark.01 (V*)\\n\\n"
    >>> (sentence,) = iter_skeletons(io.StringIO(text))
    >>> sentence.propositions[0].roleset, sentence.propositions[0].roles[0].role, sentence.name
    ('bark.01', 'A0', 'f:0')
    """
    for block in column_blocks(source, encoding=encoding):
        files, numbers, _, words, tags, bits, frames, rolesets, *arguments = block.columns(8)
        forms = tuple("_" if word == "[WORD]" else word for word in words.texts)
        yield RoleSentence(
            forms,
            _shortened(frames, rolesets, arguments),
            tree_of(forms, tags.texts, bits),
            f"{files.texts[0]}:{numbers.texts[0]}",
        )


def iter_joined(source: Source | Sequence[Source], *, encoding: str = "utf-8") -> Iterator[RoleSentence]:
    """Yield sentences in which PropBank's columns are joined with words, lemmas and dependencies.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Tabs between columns: id, form, lemma, universal tag, tag, other tag, head, relation, parse bits, lemma of the
        predicate, roleset, then one per predicate. Lines that begin with ``#`` are comments.
    encoding : str
        Encoding of the files.
    """
    for block in column_blocks(source, encoding=encoding, separator="\t"):
        columns = block.columns(11)
        forms = columns[1].texts
        yield RoleSentence(
            forms,
            _shortened(columns[9], columns[10], columns[11:]),
            tree_of(forms, columns[4].texts, columns[8]),
        )


def write_skeletons(sentences: Iterable[RoleSentence], path: str | os.PathLike[str]) -> None:
    """Write ``gold_skel`` columns; the file appears whole or not at all. Roles get PropBank's long form.

    The name of a sentence, ``file:number``, fills the first two columns.
    """
    blocks = []
    for sentence in sentences:
        file, _, number = sentence.name.rpartition(":")
        lead = [file or "-", number if file else "0"]
        rows = _rows(sentence)
        words = ["[WORD]" if word == "_" else word for word in sentence.words]
        blocks += [
            " ".join([*lead, str(at), word, tag, bits, lemma, sense, *cells]) + "\n"
            for at, (word, (tag, bits, lemma, sense, cells)) in enumerate(zip(words, rows, strict=True))
        ]
        blocks.append("\n")
    write_text(path, blocks)


def write_joined(sentences: Iterable[RoleSentence], path: str | os.PathLike[str]) -> None:
    """Write PropBank's columns with words; lemmas, universal tags and dependencies, which are not known, read ``_``."""
    blocks = []
    for sentence in sentences:
        if sentence.name:
            blocks.append(f"# sent_id = {sentence.name}\n")
        for at, (word, (tag, bits, lemma, sense, cells)) in enumerate(
            zip(sentence.words, _rows(sentence), strict=True)
        ):
            fields = [str(at + 1), word, "_", "_", tag, "_", "_", "_", bits, lemma, sense, *cells]
            blocks.append("\t".join(fields) + "\n")
        blocks.append("\n")
    write_text(path, blocks)


def _rows(sentence: RoleSentence) -> list[tuple[str, str, str, str, list[str]]]:
    """Return tag, parse bits, lemma, roleset and cells of each word."""
    if sentence.tree is None or sentence.tree.leaves() != sentence.words:
        raise DataError(f"{sentence.name or 'a sentence'}: has no tree over its words; these columns need one.")
    at = Positions(sentence.tree)
    long = tuple(
        replace(one, arguments=tuple(replace(each, role=long_role(each.role)) for each in one.arguments))
        for one in sentence.propositions
    )
    senses = {one.predicate: one.roleset or f"{one.lemma}.01" for one in long}
    cells = props_rows(replace(sentence, propositions=long))
    return [
        (at.labels[at.tag(word)], bits, row[0], senses.get(word, "-"), row[1:])
        for word, (bits, row) in enumerate(zip(bits_of(sentence.tree), cells, strict=True))
    ]


def _shortened(lemmas: Column, rolesets: Column, columns: Sequence[Column]) -> tuple[Proposition, ...]:
    return tuple(
        replace(one, arguments=tuple(replace(each, role=short_role(each.role)) for each in one.arguments))
        for one in propositions_of(lemmas, columns, rolesets=rolesets)
    )
