"""Labellers of semantic roles: trees or sentences in, propositions out."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sapwood.cli.inference.titled import Titled
from sapwood.cli.inputs import is_text, open_named, text_sentences

if TYPE_CHECKING:
    from sapwood.tasks.roles import RoleLabeler
    from sapwood.trees import RoleSentence

__all__ = ["OPTIONS", "answer", "evaluate", "explain", "items", "page", "read_sentences"]

OPTIONS = ("encoding", "format", "lines")


def read_sentences(path: str, *, trees: bool = True, encoding: str = "utf-8") -> Iterator[RoleSentence]:
    """Read sentences by the form of their file: JSON lines, columns with or without words, or trees alone.

    With ``trees=False`` their trees are left out, so that a parser makes others.
    """
    from dataclasses import replace

    from sapwood import corpora
    from sapwood.errors import ParameterError
    from sapwood.sources import bare_name
    from sapwood.trees import RoleSentence, iter_trees

    name = bare_name(path)
    if not trees:
        if name.endswith("_skel"):
            raise ParameterError(f"--parser: {path} holds no words to parse; leave the option out.")
        yield from (replace(sentence, tree=None) for sentence in read_sentences(path, encoding=encoding))
        return
    if name.endswith((".jsonl", ".json")):
        yield from corpora.role_lines.read(path, encoding=encoding)
    elif name.endswith((".conll", ".conllu", ".tsv")):
        yield from corpora.propbank_columns.read(path, encoding=encoding)
    elif name.endswith("_skel"):
        yield from corpora.propbank_columns.read(path, format="skeleton", encoding=encoding)
    else:
        for tree in iter_trees(open_named(path), drop_traces=True, drop_function_tags=True, encoding=encoding):
            yield RoleSentence(tree.leaves(), (), tree)


def items(model: RoleLabeler, options: argparse.Namespace) -> Iterator[RoleSentence]:
    """Yield sentences: the words of a text, or what ``read_sentences`` reads."""
    from sapwood.errors import ParameterError
    from sapwood.tasks.roles.runs import FORMATS
    from sapwood.trees import RoleSentence

    if (options.format or "jsonl") not in (*FORMATS, "html"):
        raise ParameterError(f"--format must be one of {', '.join(FORMATS)}, html; got {options.format!r}.")
    if is_text(model, options, replaces_trees=True):
        return (
            RoleSentence(tuple(words))
            for words in text_sentences(options.data, options.encoding, lines=options.lines, language=model.language)
        )
    return read_sentences(options.data, trees=options.parser is None, encoding=options.encoding)


def answer(
    model: RoleLabeler, options: argparse.Namespace, tally: Counter[str], items: Iterable[RoleSentence]
) -> Iterator[str]:
    """Yield the propositions of each sentence as JSON, columns, CoNLL-2009 or text."""
    from sapwood.tasks.roles.runs import FORMATS

    write = FORMATS[options.format or "jsonl"]
    return (write(one) for one in _labelled(model, items, tally))


def page(model: RoleLabeler, options: argparse.Namespace, tally: Counter[str], items: Iterable[RoleSentence]) -> str:
    """Return a page that draws every sentence."""
    from sapwood.draw.roles import roles_page

    return roles_page(list(_labelled(model, items, tally)))


def _labelled(model: RoleLabeler, items: Iterable[RoleSentence], tally: Counter[str]) -> Iterator[RoleSentence]:
    for one in model.label_sentences(items):
        tally["items"] += 1
        tally[one.how] += 1
        yield one


def explain(model: RoleLabeler, options: argparse.Namespace, items: Iterable[RoleSentence]) -> Iterator[Any]:
    """Yield why each argument that is found has its role, or why it would have the one that is asked for."""
    for one in model.label_sentences(items):
        for found in one.propositions:
            for argument in found.arguments:
                if argument.role != "V":
                    role = (
                        argument.role.removeprefix("R-").removeprefix("C-") if options.label is None else options.label
                    )
                    span = (argument.first, argument.last)
                    said = model.explain(one, found.predicate, span, role=role if role in model.roles_ else None)
                    words = " ".join(map(str, one.words[argument.first : argument.last + 1]))
                    yield Titled(f"{one.words[found.predicate]}: {words}", said)


def evaluate(model: RoleLabeler, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Return the scores of CoNLL-2005 for given predicates."""
    from sapwood.errors import DataError
    from sapwood.metrics import score_roles
    from sapwood.settings import counted

    gold = list(read_sentences(options.data, trees=options.parser is None, encoding=options.encoding))
    if not any(sentence.propositions for sentence in gold):
        raise DataError(f"{options.data}: holds no propositions to compare with; give JSON lines or columns.")
    labeled = model.label_sentences(gold, given_predicates=True)
    scores = score_roles(gold, counted(labeled, len(gold), "Labeling", "sentences"))
    overall = scores.overall
    record = {"precision": overall.precision, "recall": overall.recall, "f1": overall.f1}
    return record | {"sentences": scores.sentences, "propositions": scores.propositions}, str(scores)
