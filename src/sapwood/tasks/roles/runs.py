"""Labeling of many sentences into a file, which can be stopped and go on; see ``sapwood.drafts``."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sapwood.checks import check_choice
from sapwood.corpora import allennlp, conll05, conll09, propbank_columns, role_lines
from sapwood.drafts import write_answers
from sapwood.draw.listing import span_list
from sapwood.draw.roles import role_layers, roles_text
from sapwood.tasks.roles.exact import KernelRoles
from sapwood.trees.propositions import RoleSentence

__all__ = ["FORMATS", "label_to_file"]

FORMATS: dict[str, Callable[[RoleSentence], str]] = {
    "jsonl": role_lines.sentence_text,
    "props": conll05.sentence_text,
    "allennlp": allennlp.sentence_text,
    "conll": propbank_columns.sentence_text,
    "conll09": conll09.sentence_text,
    "text": lambda sentence: f"{span_list(sentence.words, role_layers(sentence))}\n\n",
    "brackets": lambda sentence: f"{roles_text(sentence)}\n",
}
"""What a sentence can be written as."""


def label_to_file(
    labeler: Any,
    sentences: Iterable[RoleSentence],
    path: str | os.PathLike[str],
    *,
    form: str = "jsonl",
    resume: bool = False,
    given_predicates: bool = False,
) -> int:
    """Label sentences into a file.

    Parameters
    ----------
    labeler : RoleLabeler or sapwood.scale.ClusterLabeler
        A fitted labeler.
    sentences : iterable of RoleSentence
        With trees, or words alone if the labeler has a parser.
    path : path
        The file to write; it appears when everything is done. A pipe or a device is written into as lines come.
    form : {"jsonl", "props", "allennlp", "conll", "conll09", "text", "brackets"}
        What to write.
    resume : bool
        Whether to go on where a stopped run of the same model over the same sentences ended.
    given_predicates : bool
        Whether the sentences' own predicates are used.

    Returns
    -------
    int
        How many sentences the file holds.
    """
    check_choice(form, "form", FORMATS)
    write = FORMATS[form]

    def answer(source: Iterator[RoleSentence]) -> Iterator[str]:
        return (write(one) for one in labeler.label_sentences(source, given_predicates=given_predicates))

    model, last = labeler.identifier_.checksum(), labeler.classifier_
    if isinstance(last, KernelRoles):
        model = zlib.crc32(last.classifier.svm_.dual_coef_.tobytes(), model)
    else:
        model = last.checksum(model)
    run = {"model": model, "form": form, "given": given_predicates}
    return write_answers(path, sentences, answer, run=run, resume=resume)
