"""Labellers of semantic roles: trees or sentences in, propositions out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sapwood.tasks.roles import RoleLabeler
    from sapwood.trees import RoleSentence

__all__ = ["TAKES", "evaluate", "predict", "read_sentences"]

TAKES = ("parser", "format", "resume")


def read_sentences(path: str, parser: str | None = None) -> Iterator[RoleSentence]:
    """Read sentences by the form of their file: JSON lines, columns with or without words, or trees alone.

    With a parser's model file, the file is text, and is parsed.
    """
    from sapwood.cli.models import load_parser
    from sapwood.cli.texts import parsed_sentences
    from sapwood.corpora import iter_joined, iter_role_lines, iter_skeletons, iter_treebank
    from sapwood.trees import RoleSentence, Tree

    if parser is not None:
        for one in parsed_sentences(load_parser(parser), path):
            yield RoleSentence(tuple(str(word) for word in one.words), (), one.tree)
        return
    name = path.lower().removesuffix(".gz").removesuffix(".xz").removesuffix(".bz2")
    if name.endswith((".jsonl", ".json")):
        yield from iter_role_lines(path)
    elif name.endswith((".conll", ".conllu", ".tsv")):
        yield from iter_joined(path)
    elif name.endswith("_skel"):
        yield from iter_skeletons(path)
    else:
        source = sys.stdin if path == "-" else path
        for block in iter_treebank(source, drop_traces=True, drop_function_tags=True):
            for tree in block:
                if isinstance(tree, Tree):
                    yield RoleSentence(tree.leaves(), (), tree)


def predict(model: RoleLabeler, options: argparse.Namespace) -> int:
    """Write propositions as JSON lines, columns, CoNLL-2009, text or HTML."""
    from sapwood.draw.roles import roles_page
    from sapwood.errors import ParameterError
    from sapwood.files import atomic_write
    from sapwood.tasks.roles.runs import FORMATS, label_to_file

    form = options.format or "jsonl"
    if form not in (*FORMATS, "html"):
        raise ParameterError(f"--format must be one of {', '.join(FORMATS)}, html; got {form!r}.")
    sentences = read_sentences(options.data, options.parser)
    if form == "html":
        page = roles_page(list(model.label_sentences(sentences, given_predicates=False)))
        if options.out:
            atomic_write(options.out, page.encode())
        else:
            print(page)
    elif options.out:
        try:
            count = label_to_file(model, sentences, options.out, form=form, resume=options.resume)
        except KeyboardInterrupt:
            print(f"stopped; what is done is kept, go on with --resume: {options.out}", file=sys.stderr)
            raise
        print(f"{options.out}: {count:,} sentences", file=sys.stderr)
    else:
        for labelled in model.label_sentences(sentences, given_predicates=False):
            sys.stdout.write(FORMATS[form](labelled))
    return 0


def evaluate(model: RoleLabeler, options: argparse.Namespace) -> int:
    """Print the scores of CoNLL-2005 for given predicates."""
    from sapwood.errors import DataError
    from sapwood.metrics import score_roles

    gold = list(read_sentences(options.data))
    if not any(sentence.propositions for sentence in gold):
        raise DataError(f"{options.data}: holds no propositions to compare with; give JSON lines or columns.")
    scores = score_roles(gold, model.label_sentences(gold))
    if options.json:
        overall = scores.overall
        record = {"precision": overall.precision, "recall": overall.recall, "f1": overall.f1}
        print(json.dumps(record | {"sentences": scores.sentences, "propositions": scores.propositions}, indent=2))
    else:
        print(scores)
    return 0
