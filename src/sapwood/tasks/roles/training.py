"""What the role labeler learns from: sentences with trees, and their candidates with roles."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sapwood.callers import levels_to_user
from sapwood.errors import DataError, ParameterError
from sapwood.parse.reading import read_examples
from sapwood.settings import counted
from sapwood.tasks.inputs import check_annotated
from sapwood.tasks.roles.linear import LinearRoles
from sapwood.tasks.roles.predicates import VERBAL_TAGS
from sapwood.tasks.roles.pruning import candidates
from sapwood.tasks.roles.views import Candidate, Parse
from sapwood.trees.propositions import Proposition, RoleSentence
from sapwood.trees.tree import Tree

if TYPE_CHECKING:
    from sapwood.tasks.roles.labeler import RoleLabeler

__all__ = ["check_words", "labeled_candidates", "sides_of", "stages_of", "with_trees"]


def with_trees(sentences: Any, parser: Any) -> list[RoleSentence]:
    """Return the sentences to learn from: those with a tree, and those that the parser finds one for."""
    hint = "with words, tree and propositions, as read by sapwood.corpora"
    given = check_annotated(sentences, RoleSentence, hint)
    if parser is None:
        known = [one for one in given if one.tree is not None]
        if known and len(known) < len(given):
            warnings.warn(
                f"{len(given) - len(known):,} of {len(given):,} sentences have no tree, and there is no parser: "
                "they are left out. Pass parser= to parse them.",
                UserWarning,
                stacklevel=levels_to_user(),
            )
        return known
    reading = read_examples([one.tree or list(one.words) for one in given], parser, what="sentence")
    reading.report(training=True, kept=False)
    return [
        replace(one, tree=found.tree, how=found.how)
        for one, each in zip(given, reading.examples, strict=True)
        for found in each
        if found.how != "flat"
    ]


def labeled_candidates(
    sentences: Sequence[RoleSentence], *, nouns: bool, pruning: str
) -> tuple[list[Candidate], list[str]]:
    """Return all candidates with their roles; empty text for those that are no arguments.

    Without ``nouns``, only predicates that are verbs count.
    """
    rows: list[Candidate] = []
    labels: list[str] = []
    for sentence in counted(sentences, len(sentences), "Finding candidates", "sentences"):
        if sentence.tree is None or not sentence.propositions:
            continue
        parse = Parse(sentence.tree)
        wanted = [one for one in sentence.propositions if _is_wanted(one, sentence, parse, nouns)]
        if wanted:
            check_words(sentence.tree, sentence.words)
        for proposition in wanted:
            truth = {argument.span: argument.role for argument in proposition.roles}
            view = parse.view(proposition.predicate, proposition.lemma)
            for node in candidates(parse.at, proposition.predicate, pruning):
                rows.append((view, node))
                labels.append(truth.pop((parse.at.first[node], parse.at.last[node]), ""))
    return rows, labels


def _is_wanted(proposition: Proposition, sentence: RoleSentence, parse: Parse, nouns: bool) -> bool:
    if not 0 <= proposition.predicate < len(sentence):
        raise DataError(
            f"{sentence.name or 'a sentence'}: the predicate {proposition.lemma!r} is word {proposition.predicate}; "
            f"there are {len(sentence)} words, counted from 0."
        )
    return nouns or parse.at.labels[parse.at.tag(proposition.predicate)] in VERBAL_TAGS


def sides_of(labels: Sequence[str]) -> list[str]:
    """Name the two classes of identification so that arguments sort last, and their margin is the positive one."""
    return ["1" if label else "0" for label in labels]


def check_words(tree: Tree, words: Sequence[str]) -> None:
    """Raise unless the leaves of a tree are these words."""
    leaves = tree.leaves()
    if leaves != tuple(words):
        pairs = enumerate(zip(leaves, words, strict=False))
        at = next((k for k, (leaf, word) in pairs if leaf != word), min(len(leaves), len(words)))
        raise DataError(
            f"the leaves of the tree are not the words: they differ from word {at} on ({len(leaves)} leaves, "
            f"{len(words)} words)."
        )


def stages_of(labeler: RoleLabeler, start: RoleLabeler | None) -> tuple[LinearRoles | None, LinearRoles | None]:
    """Return the stages that a labeler goes on from, or raise if it cannot."""
    if start is None:
        return None, None
    if type(start) is not type(labeler):
        raise ParameterError(f"start must be a RoleLabeler, got a {type(start).__name__}.")
    if not hasattr(start, "classifier_"):
        raise ParameterError("start has learnt nothing; train it first, or load a model file.")
    if labeler.encoder is not None or start.context_ is not None:
        raise ParameterError(
            "a network over an encoder cannot be adapted; go on from a labeler without one, and leave encoder out."
        )
    if labeler.classifier is not None or not isinstance(start.classifier_, LinearRoles):
        raise ParameterError("a classifier with exact kernels cannot be adapted; go on from a linear labeler.")
    for name in ("features", "fragments"):
        own, theirs = getattr(labeler, name), getattr(start, name)
        if (own or None) != (theirs or None):
            raise ParameterError(f"{name} is {own!r}, but that of start is {theirs!r}; they must be the same.")
    return start.identifier_, start.classifier_
