"""PropBank's ``gold_skel`` columns, with words left out, and the same joined with words and dependencies.

Both hold tags, parse bits and one column of arguments per predicate. Roles are given in CoNLL-2005's short form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sapwood.corpora.props import Column, column_blocks, propositions_of, tree_of
from sapwood.corpora.sources import Source
from sapwood.trees.propositions import Proposition, RoleSentence, short_role

__all__ = ["iter_joined", "iter_skeletons"]


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


def _shortened(lemmas: Column, rolesets: Column, columns: Sequence[Column]) -> tuple[Proposition, ...]:
    return tuple(
        replace(one, arguments=tuple(replace(each, role=short_role(each.role)) for each in one.arguments))
        for one in propositions_of(lemmas, columns, rolesets=rolesets)
    )
