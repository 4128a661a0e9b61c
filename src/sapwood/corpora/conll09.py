"""CoNLL-2009: dependencies with semantic roles on single words.

A role stands on the head of its phrase, so a span of one word is all that reading gives; writing finds the heads in
the tree. Which words a role covers is not in this format.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from sapwood.corpora.columns import column_blocks
from sapwood.errors import DataError
from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.trees.dependencies import dependencies
from sapwood.trees.propositions import Argument, Proposition, RoleSentence
from sapwood.writing import write_text

__all__ = ["read", "write"]

__dir__ = public_names(__name__)


def read(source: Sources, *, encoding: str = "utf-8") -> Iterator[RoleSentence]:
    """Yield the sentences of CoNLL-2009 files; each argument is the one word that carries the role.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Fourteen columns and one more per predicate, with tabs between them.
    """
    for block in column_blocks(source, encoding=encoding, separator="\t"):
        columns = block.columns(14)
        fill, senses, *roles = columns[12:]
        for number, text in enumerate(columns[0].texts):
            if text != str(number + 1):
                raise columns[0].fault(number, f"expected word number {number + 1}, found {text!r}")
        places = [word for word, text in enumerate(senses.texts) if text != "_"]
        for word, text in enumerate(fill.texts):
            if (text == "Y") != (senses.texts[word] != "_"):
                raise fill.fault(word, f"FILLPRED is {text!r}, but PRED is {senses.texts[word]!r}")
        if len(places) != len(roles):
            raise senses.fault(0, f"the sentence has {len(places)} predicates but {len(roles)} columns of roles")
        yield RoleSentence(
            columns[1].texts,
            tuple(
                Proposition(
                    place,
                    columns[2].texts[place],
                    tuple(Argument(role, word, word) for word, role in enumerate(column.texts) if role != "_"),
                    senses.texts[place],
                )
                for place, column in zip(places, roles, strict=True)
            ),
        )


def write(sentences: Iterable[RoleSentence], path: str | os.PathLike[str]) -> None:
    """Write sentences with trees; roles go to the heads of their phrases, and dependencies come from heads too.

    ``C-`` roles and the predicate itself are left out, as the format does. Relations between words read ``_``.
    """
    write_text(path, map(sentence_text, sentences))


def sentence_text(sentence: RoleSentence) -> str:
    """Return the lines of one sentence, the blank one after it included."""
    if sentence.tree is None:
        raise DataError(
            "a sentence without a tree has no heads to put roles on; give it a tree or write CoNLL-2005 columns."
        )
    found = dependencies(sentence.tree)
    if len(found.words) != len(sentence):
        raise DataError(f"the tree has {len(found.words)} leaves, the sentence {len(sentence)} words.")
    by_word = sorted(sentence.propositions, key=lambda one: one.predicate)
    lemmas = {one.predicate: one.lemma for one in by_word}
    senses = {one.predicate: one.roleset or f"{one.lemma}.01" for one in by_word}
    columns = []
    for proposition in by_word:
        cells = ["_"] * len(sentence)
        for argument in proposition.roles:
            if not argument.role.startswith("C-"):
                cells[_head_word(found.heads, argument)] = argument.role
        columns.append(cells)
    lines = []
    for word, form in enumerate(sentence.words):
        tag, lemma = found.tags[word], lemmas.get(word, "_")
        head = str(found.heads[word] + 1)
        sense = senses.get(word, "_")
        cells = [str(word + 1), form, lemma, lemma, tag, tag, "_", "_", head, head, "_", "_"]
        lines.append("\t".join([*cells, "Y" if word in senses else "_", sense, *(column[word] for column in columns)]))
    return "\n".join(lines) + "\n\n"


def _head_word(heads: Sequence[int], argument: Argument) -> int:
    """Return the first word of a span whose head lies outside of it."""
    span = range(argument.first, argument.last + 1)
    return next(word for word in span if heads[word] not in span)
