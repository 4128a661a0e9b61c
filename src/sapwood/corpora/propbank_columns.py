"""PropBank's ``gold_skel`` columns, with words left out, and the same joined with words and dependencies.

Both hold tags, parse bits and one column of arguments per predicate. Roles are given in CoNLL-2005's short form.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from sapwood.checks import check_choice
from sapwood.corpora.columns import Column, bits_of, cell_rows, column_blocks, propositions_of, tree_of
from sapwood.errors import DataError
from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Proposition, RoleSentence, long_role, short_role
from sapwood.writing import write_text

__all__ = ["read", "write"]

__dir__ = public_names(__name__)

Format = Literal["skeleton", "joined"]


def read(source: Sources, *, format: Format = "joined", encoding: str = "utf-8") -> Iterator[RoleSentence]:
    """Yield the sentences of PropBank's columns one by one.

    Parameters
    ----------
    format : {"skeleton", "joined"}
        ``skeleton`` is the ``gold_skel`` of the release, white space between columns: file, sentence, token, word, tag,
        parse bits, frame file, roleset, then one per predicate; a word ``[WORD]`` that was left out reads as ``_``.
        ``joined`` has tabs between columns: id, form, lemma, universal tag, tag, other tag, head, relation, parse bits,
        lemma of the predicate, roleset, then one per predicate; lines that begin with ``#`` are comments.

    Examples
    --------
    >>> import io
    >>> text = "f 0 0 [WORD] NNS (TOP(S(NP*) - - (ARG0*)\\nf 0 1 [WORD] VBP (VP*))) bark bark.01 (V*)\\n\\n"
    >>> (sentence,) = read(io.StringIO(text), format="skeleton")
    >>> sentence.propositions[0].roleset, sentence.propositions[0].roles[0].role, sentence.name
    ('bark.01', 'A0', 'f:0')
    """
    check_choice(format, "format", ("skeleton", "joined"))
    for block in column_blocks(source, encoding=encoding, separator="\t" if format == "joined" else None):
        if format == "joined":
            _, words, _, _, tags, _, _, _, bits, lemmas, rolesets, *arguments = block.columns(11)
            forms, name = words.texts, ""
        else:
            files, numbers, _, words, tags, bits, lemmas, rolesets, *arguments = block.columns(8)
            forms = tuple("_" if word == "[WORD]" else word for word in words.texts)
            name = f"{files.texts[0]}:{numbers.texts[0]}"
        propositions = _shortened(lemmas, rolesets, arguments)
        yield RoleSentence(forms, propositions, tree_of(forms, tags.texts, bits), name)


def write(sentences: Iterable[RoleSentence], path: str | os.PathLike[str], *, format: Format = "joined") -> None:
    """Write columns. Roles get PropBank's long form.

    Parameters
    ----------
    sentences : iterable of RoleSentence
        What to write; each needs a tree.
    format : {"skeleton", "joined"}
        As in ``read``. In a skeleton the name of a sentence, ``file:number``, fills the first two columns; in joined
        columns it becomes a comment, and lemmas, universal tags and dependencies, which are not known, read ``_``.
    """
    check_choice(format, "format", ("skeleton", "joined"))
    write_text(path, map(sentence_text if format == "joined" else _skeleton_text, sentences))


def _skeleton_text(sentence: RoleSentence) -> str:
    file, _, number = sentence.name.rpartition(":")
    lead = [file or "-", number if file else "0"]
    words = ["[WORD]" if word == "_" else word for word in sentence.words]
    rows = enumerate(zip(words, _rows(sentence), strict=True))
    return "".join(" ".join([*lead, str(at), word, *row]) + "\n" for at, (word, row) in rows) + "\n"


def sentence_text(sentence: RoleSentence) -> str:
    """Return the joined columns of one sentence, the blank line after it included."""
    head = f"# sent_id = {sentence.name}\n" if sentence.name else ""
    rows = enumerate(zip(sentence.words, _rows(sentence), strict=True), 1)
    return (
        head
        + "".join(
            "\t".join([str(at), word, "_", "_", tag, "_", "_", "_", *rest]) + "\n" for at, (word, (tag, *rest)) in rows
        )
        + "\n"
    )


def _rows(sentence: RoleSentence) -> list[list[str]]:
    """Return tag, parse bits, lemma, roleset and cells of each word."""
    if sentence.tree is None or sentence.tree.leaves() != sentence.words:
        raise DataError(f"{sentence.name or 'a sentence'}: has no tree over its words; these columns need one.")
    at = Positions(sentence.tree)
    long = tuple(
        replace(one, arguments=tuple(replace(each, role=long_role(each.role)) for each in one.arguments))
        for one in sentence.propositions
    )
    senses = {one.predicate: one.roleset or f"{one.lemma}.01" for one in long}
    cells = cell_rows(replace(sentence, propositions=long))
    return [
        [at.labels[at.tag(word)], bits, row[0], senses.get(word, "-"), *row[1:]]
        for word, (bits, row) in enumerate(zip(bits_of(sentence.tree), cells, strict=True))
    ]


def _shortened(lemmas: Column, rolesets: Column, columns: Sequence[Column]) -> tuple[Proposition, ...]:
    return tuple(
        replace(one, arguments=tuple(replace(each, role=short_role(each.role)) for each in one.arguments))
        for one in propositions_of(lemmas, columns, rolesets=rolesets)
    )
