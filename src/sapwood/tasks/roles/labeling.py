"""From trees and predicates to propositions: the candidates of several sentences are scored together.

The arguments of each predicate are then chosen by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.parse.base import Sentence
from sapwood.tasks.roles.feature_sets import describe
from sapwood.tasks.roles.inference import Constraints, role_by_rule
from sapwood.tasks.roles.linear import Values
from sapwood.tasks.roles.predicates import find_predicates
from sapwood.tasks.roles.pruning import candidates
from sapwood.tasks.roles.views import Candidate, Parse, View
from sapwood.trees.propositions import Argument, Proposition, RoleSentence

if TYPE_CHECKING:
    from sapwood.tasks.roles.labeler import RoleLabeler

__all__ = ["Predicates", "label_parses", "role_scores"]

Predicates = Sequence[int] | Mapping[int, str] | None
"""Which words of a sentence are predicates, perhaps with their base forms; None if they are to be found."""


def label_parses(
    labeler: RoleLabeler, sentences: Sequence[Sentence], parses: Sequence[Parse], predicates: Sequence[Predicates]
) -> list[RoleSentence]:
    """Label sentences; if the labeler has a network, the parses must have been encoded."""
    views = [_views(labeler, parse, given) for parse, given in zip(parses, predicates, strict=True)]
    every = [view for some in views for view in some]
    senses = [""] * len(every) if labeler.senses_ is None else labeler.senses_.choose(every)
    arguments = _arguments(labeler, every)
    known = labeler.lexicon_
    labeled, left = [], iter(zip(every, senses, arguments, strict=True))
    for sentence, some, given in zip(sentences, views, predicates, strict=True):
        made = []
        for view, sense, found in islice(left, len(some)):
            roleset = sense or known.roleset(view.lemma)
            meant = tuple(
                replace(one, meaning=known.meaning(roleset, one.role))
                for one in sorted(found, key=lambda one: one.first)
            )
            if given is None and not known.auxiliaries and known.helps(roleset, meant):
                continue
            guessed, said = not known.knows(view.lemma), known.meaning(roleset)
            made.append(Proposition(view.predicate, view.lemma, meant, roleset, guessed, said))
        labeled.append(RoleSentence(sentence.words, tuple(made), sentence.tree, how=sentence.how))
    return labeled


def _views(labeler: RoleLabeler, parse: Parse, predicates: Predicates) -> list[View]:
    """Return the views from the predicates of a sentence."""
    known = labeler.lexicon_
    found: Iterable[int]
    if predicates is None:
        found = find_predicates(parse.at, auxiliaries=known.auxiliaries, prenominal=known.prenominal, nouns=known.nouns)
    else:
        found = sorted(set(predicates))
    views = []
    for word in found:
        if isinstance(word, bool) or not isinstance(word, (int, np.integer)) or not 0 <= word < len(parse.words):
            raise DataError(f"there is no word {word!r}; the sentence has {len(parse.words)}, counted from 0.")
        given = predicates[word] if isinstance(predicates, Mapping) else ""
        views.append(parse.view(int(word), given or known.lemma(parse.words[word], parse.tags[word])))
    return views


def _arguments(labeler: RoleLabeler, views: Sequence[View]) -> list[list[Argument]]:
    """Return the arguments of each predicate."""
    made: list[list[Argument]] = []
    rows: list[Candidate] = []
    of_views: list[int] = []
    for view in views:
        ruled, nodes = _by_rule(labeler, view)
        rows += [(view, node) for node in nodes]
        of_views += [len(made)] * len(nodes)
        made.append(ruled)
    if not rows:
        return made
    values = [describe(*row, labeler.features) for row in rows]
    likely = labeler.identifier_.log_probabilities(rows, values)
    kept = np.flatnonzero(np.exp(likely[:, 1]) > labeler.threshold).tolist()
    if not kept:
        return made
    chosen, described = [rows[k] for k in kept], [values[k] for k in kept]
    scores = role_scores(labeler, chosen, described, likely[kept])
    rules = Constraints(labeler.roles_)
    for number, group in groupby(range(len(kept)), key=lambda at: of_views[kept[at]]):
        some = list(group)
        part = slice(some[0], some[-1] + 1)
        made[number] += _chosen(labeler, rules, chosen[part], described[part], scores[part])
    return made


def _by_rule(labeler: RoleLabeler, view: View) -> tuple[list[Argument], list[int]]:
    """Return the arguments that follow from a rule, and the candidates beside these."""
    at, parse, word = view.at, view.parse, view.predicate
    made = [Argument("V", word, word, at.tag(word), 1.0)]
    nodes = candidates(at, word, labeler.pruning)
    if labeler.rules:
        fixed = {node: ruled for node in nodes if (ruled := role_by_rule(parse, word, node))}
        made += [Argument(role, at.first[node], at.last[node], node, 1.0) for node, role in fixed.items()]
        taken = {at.first[node] for node in fixed}
        nodes = [n for n in nodes if not any(at.first[n] <= one <= at.last[n] for one in taken)]
    return made, nodes


def _chosen(
    labeler: RoleLabeler,
    rules: Constraints,
    rows: Sequence[Candidate],
    values: Values,
    scores: NDArray[np.float64],
) -> list[Argument]:
    """Return the best arguments of one predicate among its candidates."""
    if labeler.context_ is not None:
        scores = labeler.context_.mixed(scores, labeler.context_weight, rows, values)
    scores[:, 0] += labeler.null_offset
    view = rows[0][0]
    first, last = view.at.first, view.at.last
    spans = [(first[node], last[node]) for _, node in rows]
    legal = labeler.lexicon_.legal(view.lemma, labeler.min_seen)
    made = []
    for (_, node), role, row in zip(rows, rules.choose(scores, spans, legal=legal), scores, strict=True):
        if role is not None:
            score = float(np.exp(row[1 + rules.labels.index(role)]))
            made.append(Argument(role, first[node], last[node], node, score))
    return made


def role_scores(
    labeler: RoleLabeler, rows: Sequence[Candidate], values: Values | None, likely: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return log-probabilities of no role and of each role, from those of being no argument and being one."""
    roles = labeler.classifier_.log_probabilities(rows, values)
    return np.column_stack([likely[:, 0], likely[:, 1:] + roles])
