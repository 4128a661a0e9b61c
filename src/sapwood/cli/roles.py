"""``sapwood roles``: who did what to whom, in text."""

from __future__ import annotations

from sapwood.cli.labeling import labeling_command
from sapwood.cli.options import choice

__all__ = ["COMMAND"]

COMMAND = labeling_command(
    "roles",
    "who did what to whom, in text",
    "Find the predicates of each sentence and label their arguments with PropBank's roles.",
    choice(
        "--format",
        ("text", "jsonl", "allennlp", "conll", "props", "conll09", "brackets", "html"),
        "text: for reading; jsonl: everything, one sentence per line; allennlp: the shape of AllenNLP's predictor; "
        "conll: words, tags, tree, rolesets and roles in columns; props: columns of CoNLL-2005; conll09: columns of "
        "CoNLL-2009; brackets: one line per predicate; html: a page",
    ),
)
