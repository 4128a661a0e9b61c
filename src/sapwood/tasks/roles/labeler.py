"""The labeller: sentences or trees in, propositions out, by pruning, identification, classification and inference.

Its models are linear, over flat features and perhaps fragments of trees, so its cost does not grow with what it was
trained on. Classification of given arguments with exact kernels is in ``classifier``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sapwood.callers import levels_to_user
from sapwood.draw import fragment_table, panel
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.metrics import score_roles
from sapwood.parse.base import Sentence
from sapwood.parse.parameter import PARSER, as_parser
from sapwood.parse.reading import read_examples, read_text
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.roles.classifier import RoleClassifier
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.exact import KernelRoles
from sapwood.tasks.roles.feature_sets import describe, feature_names
from sapwood.tasks.roles.inference import Constraints
from sapwood.tasks.roles.linear import LinearRoles
from sapwood.tasks.roles.predicates import VERBAL_TAGS, Lexicon, find_predicates, is_auxiliary
from sapwood.tasks.roles.pruning import candidates
from sapwood.tasks.roles.views import Candidate, Parse
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Argument, Proposition, RoleSentence
from sapwood.trees.tree import Tree

__all__ = ["RoleExplanation", "RoleLabeler"]

_NOT, _YES = "no argument", "argument"
# Sentences without trees that are parsed together.
_BATCH = 64
_DENIALS = frozenset(["not", "n't", "nt"])


@dataclass(frozen=True)
class RoleExplanation:
    """Why an argument got its role: features with weights that add up to the margin.

    Attributes
    ----------
    role : str
        The role argued for.
    margin, bias : float
        The margin of the role, and the part of it that no feature is behind.
    features : tuple of (str, float)
        Every feature that was there, heaviest first.
    """

    role: str
    margin: float
    bias: float
    features: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        lines = [f"margin of {self.role} {self.margin:.4f} = {self.bias:.4f} (bias) + {self.margin - self.bias:.4f}"]
        return "\n".join(lines + [f"{weight:+9.4f}  {name}" for name, weight in self.features[:12]])

    def _repr_html_(self) -> str:
        rows = [(weight, name, "") for name, weight in self.features[:12]]
        title = f"margin of {self.role} {self.margin:.4f}"
        return panel(title, [fragment_table(rows, [(self.bias, "bias")])])


class RoleLabeler(BaseEstimator):
    """Finds predicates and labels their arguments.

    Parameters
    ----------
    features : str
        The set of flat features: ``basic``, ``full`` or ``linear`` (full and conjunctions).
    fragments : mapping of str to float, optional
        Kinds of portions whose fragments are features too, with their weights: ``{"path+siblings": 1.0}``.
    max_fragments : int
        Most fragments per kind.
    identification_C, classification_C : float
        Prices of training errors in the two stages.
    nouns : bool
        Whether nouns and adjectives are predicates too, those that mostly are in the training data.
    rules : bool
        Whether modal verbs before a verb are always AM-MOD, and *not* always AM-NEG, as CoNLL systems have it.
    min_seen : int
        How often a predicate must have been seen before numbered roles that none of its senses ever had are ruled out.
    threshold : float
        Candidates less likely than this to be arguments are not looked at again.
    classifier : RoleClassifier, optional
        Classifies with exact kernels instead of the linear model: more memory and time for, perhaps, better roles.
    parser : parser, callable or path, optional
        Turns words and text into trees: a parser of ``sapwood.parse``, a function from a list of words to a tree, or
        the path of a model file. Needed for whatever has no tree.
    random_state : int
        Seed of the solvers.

    Attributes
    ----------
    lexicon_ : Lexicon
        What was learnt about predicates.
    roles_ : list of str
        The roles it knows.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> from sapwood.corpora.nursery.roles import role_sentences
    >>> sentences = role_sentences(nursery.grow(size=300))
    >>> labeler = RoleLabeler().fit(sentences[:250])
    >>> tree = Tree.fromstring("(S (NP (DT The) (NN dog)) (VP (VBD chased) (NP (DT the) (NN cat))) (. .))")
    >>> (proposition,) = labeler(tree)
    >>> proposition.lemma, [(a.role, a.span) for a in proposition.roles]
    ('chase', [('A0', (0, 1)), ('A1', (3, 4))])
    """

    lexicon_: Lexicon
    identifier_: LinearRoles
    classifier_: LinearRoles | KernelRoles
    identifying_: Encoder
    classifying_: Encoder
    roles_: list[str]

    def __init__(
        self,
        *,
        features: str = "linear",
        fragments: Mapping[str, float] | None = None,
        max_fragments: int = 20_000,
        identification_C: float = 0.03,
        classification_C: float = 0.05,
        nouns: bool = False,
        rules: bool = True,
        min_seen: int = 20,
        threshold: float = 0.03,
        classifier: RoleClassifier | None = None,
        parser: Any = None,
        random_state: int = 0,
    ) -> None:
        self.features = features
        self.fragments = fragments
        self.max_fragments = max_fragments
        self.identification_C = identification_C
        self.classification_C = classification_C
        self.nouns = nouns
        self.rules = rules
        self.min_seen = min_seen
        self.threshold = threshold
        self.classifier = classifier
        self.parser = parser
        self.random_state = random_state

    # --- training

    @all_or_nothing
    def fit(self, sentences: Iterable[RoleSentence], *, calibration: Iterable[RoleSentence] | None = None) -> Self:
        """Train on sentences with trees and propositions.

        Parameters
        ----------
        sentences : iterable of RoleSentence
            Gold propositions, with gold trees or with trees of the parser that will be used; sentences without a tree
            are parsed, if there is a parser, and left out otherwise, with a warning.
        calibration : iterable of RoleSentence, optional
            Held-out sentences on which margins become probabilities; by default every tenth of ``sentences``, which is
            then not trained on.
        """
        feature_names(self.features)
        known = self._with_trees(sentences)
        if calibration is None:
            known, held = [s for at, s in enumerate(known) if at % 10 != 9], known[9::10]
        else:
            held = self._with_trees(calibration)
        self.lexicon_ = Lexicon.learn(known)
        if not self.nouns:
            self.lexicon_.nouns = set()
        rows, labels = self._examples(known)
        if not any(label != _NOT for label in labels):
            raise DataError("there is nothing to learn: no sentence has a tree and an argument that is a constituent.")
        values = [describe(*row, self.features) for row in rows]
        self.identifying_ = self._encoder().fit(rows, values)
        X = self.identifying_.transform(rows, values)
        sides = [_NOT if label == _NOT else _YES for label in labels]
        if len(set(sides)) < 2:
            raise DataError("every candidate is an argument, so there is nothing to tell apart; give whole sentences.")
        self.identifier_ = LinearRoles(self.identification_C, self.random_state).fit(X, _flip(sides))
        del X
        chosen = [at for at, label in enumerate(labels) if label != _NOT]
        rows, values = [rows[at] for at in chosen], [values[at] for at in chosen]
        roles = [labels[at] for at in chosen]
        self.classifying_ = self._encoder()
        if self.classifier is not None:
            self.classifier_ = KernelRoles(self.classifier).fit(rows, roles)
        else:
            X = self.classifying_.fit(rows, values).transform(rows, values)
            self.classifier_ = LinearRoles(self.classification_C, self.random_state).fit(X, roles)
        self.roles_ = list(self.classifier_.classes)
        self._calibrate(held)
        return self

    def _with_trees(self, sentences: Iterable[RoleSentence]) -> list[RoleSentence]:
        """Return the sentences to learn from: those with a tree, and those that the parser finds one for."""
        if isinstance(sentences, (str, Tree, RoleSentence)) or not isinstance(sentences, Iterable):
            raise DataError(f"expected a list of RoleSentence objects, got a {type(sentences).__name__}.")
        given = list(sentences)
        for index, one in enumerate(given):
            if not isinstance(one, RoleSentence):
                raise DataError(
                    f"sentence {index} is a {type(one).__name__}; expected a RoleSentence with words, tree and "
                    "propositions, as read by sapwood.corpora."
                )
        if self.parser is None:
            known = [one for one in given if one.tree is not None]
            if known and len(known) < len(given):
                warnings.warn(
                    f"{len(given) - len(known):,} of {len(given):,} sentences have no tree, and there is no parser: "
                    "they are left out. Pass parser= to parse them.",
                    UserWarning,
                    stacklevel=levels_to_user(),
                )
            return known
        reading = read_examples([one.tree or list(one.words) for one in given], self.parser, what="sentence")
        reading.report(training=True, kept=False)
        return [
            replace(one, tree=found.tree, how=found.how)
            for one, each in zip(given, reading.examples, strict=True)
            for found in each
            if found.how != "flat"
        ]

    def _encoder(self) -> Encoder:
        return Encoder(self.features, fragments=self.fragments, max_fragments=self.max_fragments)

    def _examples(self, sentences: Sequence[RoleSentence]) -> tuple[list[Candidate], list[str]]:
        rows: list[Candidate] = []
        labels: list[str] = []
        for sentence in sentences:
            wanted = [p for p in sentence.propositions if self._trains(sentence, p)]
            if not wanted or sentence.tree is None:
                continue
            parse = Parse(_checked(sentence.tree, sentence.words))
            for proposition in wanted:
                truth = {argument.span: argument.role for argument in proposition.roles}
                view = parse.view(proposition.predicate, proposition.lemma)
                for node in candidates(parse.at, proposition.predicate):
                    span = parse.at.first[node], parse.at.last[node]
                    rows.append((view, node))
                    labels.append(truth.pop(span, _NOT))
        return rows, labels

    def _trains(self, sentence: RoleSentence, proposition: Proposition) -> bool:
        if not 0 <= proposition.predicate < len(sentence):
            raise DataError(
                f"{sentence.name or 'a sentence'}: the predicate {proposition.lemma!r} is word "
                f"{proposition.predicate}; there are {len(sentence)} words, counted from 0."
            )
        if self.nouns:
            return True
        assert sentence.tree is not None
        at = Positions(sentence.tree)
        return at.labels[at.tag(proposition.predicate)] in VERBAL_TAGS

    def _calibrate(self, held: Sequence[RoleSentence]) -> None:
        rows, labels = self._examples(held)
        if not rows:
            return
        sides = [_NOT if label == _NOT else _YES for label in labels]
        self.identifier_.calibrate(self.identifying_.transform(rows), _flip(sides))
        chosen = [at for at, label in enumerate(labels) if label != _NOT]
        if chosen:
            kept, roles = [rows[at] for at in chosen], [labels[at] for at in chosen]
            if isinstance(self.classifier_, KernelRoles):
                self.classifier_.calibrate(kept, roles)
            else:
                self.classifier_.calibrate(self.classifying_.transform(kept), roles)

    # --- labelling

    def __call__(
        self, sentence: Tree | str | Sequence[str], predicates: Sequence[int] | None = None
    ) -> list[Proposition]:
        """Return the propositions of one sentence; see ``label``."""
        return list(self.label(sentence, predicates).propositions)

    def label(self, sentence: Tree | str | Sequence[str], predicates: Sequence[int] | None = None) -> RoleSentence:
        """Label one sentence and give it back with its words and its tree.

        Parameters
        ----------
        sentence : Tree, text or list of words
            Text is split into words, and parsed with ``parser`` unless it is a tree in brackets; ``label_text`` takes
            text of several sentences.
        predicates : list of int, optional
            Which words are predicates; by default they are found.

        Raises
        ------
        DataError
            If it is not one sentence, has no parse, or a predicate lies outside of it.
        """
        check_is_fitted(self)
        return self._labelled(self._sentence(sentence), predicates)

    def label_text(self, text: str) -> list[RoleSentence]:
        """Split text into sentences and words, parse and label them.

        Returns
        -------
        list of RoleSentence
            Their words are ``sapwood.parse.Token`` objects, which know where they stand in the text.
        """
        check_is_fitted(self)
        return [self._labelled(one) for one in read_text(text, self.parser)]

    def predict(self, X: Iterable[Tree | str | Sequence[str]]) -> list[tuple[Proposition, ...]]:
        """Return the propositions of many sentences, each a tree, text of one sentence, or a list of words."""
        check_is_fitted(self)
        reading = read_examples(X, self.parser, what="sentence")
        found = reading.single("label_text")
        reading.report()
        return [self._labelled(one).propositions for one in found]

    def label_sentences(
        self, sentences: Iterable[RoleSentence], *, given_predicates: bool = True
    ) -> Iterator[RoleSentence]:
        """Yield sentences with predicted propositions instead of their own.

        Parameters
        ----------
        sentences : iterable of RoleSentence
            With trees, or with words alone if there is a parser.
        given_predicates : bool
            Whether the predicates and base forms of the sentences' own propositions are used, as CoNLL-2005 does;
            otherwise they are found.
        """
        check_is_fitted(self)
        source = iter(sentences)
        while batch := list(islice(source, _BATCH)):
            bare = [sentence.words for sentence in batch if sentence.tree is None]
            if bare and self.parser is None:
                raise ParameterError("words have no tree; give RoleLabeler a parser=, or sentences with trees.")
            parsed = as_parser(self.parser).parse_sentences(bare) if bare else iter(())
            for sentence in batch:
                if sentence.tree is None:
                    found = next(parsed)
                else:
                    found = Sentence(sentence.words, _checked(sentence.tree, sentence.words), sentence.how or "given")
                given = {one.predicate: one.lemma for one in sentence.propositions} if given_predicates else None
                yield replace(self._labelled(found, given), name=sentence.name)

    def score(self, sentences: Iterable[RoleSentence], y: object = None) -> float:
        """Return F1 of CoNLL-2005 for sentences with propositions, whose predicates are given."""
        gold = list(sentences)
        return score_roles(gold, self.label_sentences(gold)).overall.f1

    def _labelled(
        self, sentence: Sentence, predicates: Sequence[int] | Mapping[int, str] | None = None
    ) -> RoleSentence:
        made = tuple(self._propositions(Parse(sentence.tree), predicates))
        return RoleSentence(sentence.words, made, sentence.tree, how=sentence.how)

    def _sentence(self, sentence: Any) -> Sentence:
        (found,) = read_examples([sentence], self.parser, what="sentence").single("label_text")
        if found.how == "flat":
            raise DataError(f"{' '.join(found.words)[:60]!r} has no parse: {found.problem}.")
        return found

    def _propositions(
        self, parse: Parse, predicates: Sequence[int] | Mapping[int, str] | None
    ) -> Iterator[Proposition]:
        found: Iterable[int]
        if predicates is None:
            known = self.lexicon_
            found = find_predicates(
                parse.at, auxiliaries=known.auxiliaries, prenominal=known.prenominal, nouns=known.nouns
            )
        else:
            found = sorted(set(predicates))
        rules = Constraints(self.roles_)
        for word in found:
            if isinstance(word, bool) or not isinstance(word, (int, np.integer)) or not 0 <= word < len(parse.words):
                raise DataError(f"there is no word {word!r}; the sentence has {len(parse.words)}, counted from 0.")
            given = predicates[word] if isinstance(predicates, Mapping) else ""
            lemma = given or self.lexicon_.lemma(parse.words[word], parse.tags[word])
            roleset, guessed = self.lexicon_.roleset(lemma), not self.lexicon_.knows(lemma)
            arguments = self._arguments(parse, int(word), lemma, rules)
            yield Proposition(int(word), lemma, tuple(sorted(arguments, key=lambda one: one.first)), roleset, guessed)

    def _arguments(self, parse: Parse, word: int, lemma: str, rules: Constraints) -> list[Argument]:
        at = parse.at
        view = parse.view(word, lemma)
        made = [Argument("V", word, word, at.tag(word), 1.0)]
        nodes = candidates(at, word)
        if self.rules:
            ruled = {node: _by_rule(parse, word, node) for node in nodes}
            fixed = {node: role for node, role in ruled.items() if role}
            made += [Argument(role, at.first[node], at.last[node], node, 1.0) for node, role in fixed.items()]
            taken = {at.first[node] for node in fixed}
            nodes = [n for n in nodes if not any(at.first[n] <= one <= at.last[n] for one in taken)]
        if not nodes:
            return made
        rows: list[Candidate] = [(view, node) for node in nodes]
        values = [describe(view, node, self.features) for node in nodes]
        likely = self.identifier_.log_probabilities(self.identifying_.transform(rows, values))
        kept = np.flatnonzero(likely[:, 1] > np.log(self.threshold)).tolist()
        if not kept:
            return made
        roles = self._roles([rows[k] for k in kept], [values[k] for k in kept])
        scores = np.column_stack([likely[kept, 0], likely[kept, 1:] + roles])
        spans = [(at.first[nodes[k]], at.last[nodes[k]]) for k in kept]
        legal = self.lexicon_.legal(lemma, self.min_seen)
        for k, role, row in zip(kept, rules.choose(scores, spans, legal=legal), scores, strict=True):
            if role is not None:
                score = float(np.exp(row[1 + self.roles_.index(role)]))
                made.append(Argument(role, at.first[nodes[k]], at.last[nodes[k]], nodes[k], score))
        return made

    def _roles(self, rows: Sequence[Candidate], values: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each role for each candidate."""
        if isinstance(self.classifier_, KernelRoles):
            return self.classifier_.log_probabilities(rows)
        return self.classifier_.log_probabilities(self.classifying_.transform(rows, values))

    def explain(
        self, sentence: Tree | str, predicate: int, span: tuple[int, int], *, role: str | None = None
    ) -> RoleExplanation:
        """Say which features speak for and against a role of a constituent.

        Parameters
        ----------
        sentence : Tree or text
            The sentence.
        predicate : int
            The predicate's word.
        span : (int, int)
            First and last word of the argument, which must be a constituent.
        role : str, optional
            The role to argue for; by default the likeliest.
        """
        check_is_fitted(self)
        if isinstance(self.classifier_, KernelRoles):
            raise ParameterError(
                "this labeller classifies with kernels; explain with labeler.classifier_.classifier.machine_.explain."
            )
        parse = Parse(self._sentence(sentence).tree)
        nodes = parse.at.spanning(*span)
        if not nodes:
            raise DataError(f"words {span[0]} to {span[1]} are no constituent of the tree.")
        parse.at.tag(predicate)
        view = parse.view(predicate, self.lexicon_.lemma(parse.words[predicate], parse.tags[predicate]))
        X = self.classifying_.transform([(view, nodes[0])])
        margins = self.classifier_.margins(X)[0]
        if role is None:
            role = self.roles_[int(margins.argmax())] if len(self.roles_) > 2 else self.roles_[int(margins[0] > 0)]
        if role not in self.roles_:
            raise ParameterError(f"there is no role {role!r}; the roles are {', '.join(self.roles_)}.")
        two = len(self.roles_) == 2
        sign = -1.0 if two and role == self.roles_[0] else 1.0
        output = 0 if two else self.roles_.index(role)
        names = self.classifying_.names()
        weights = sign * X.data * self.classifier_.weights[X.indices, output]
        order = np.argsort(-np.abs(weights), kind="stable")
        return RoleExplanation(
            role,
            float(sign * margins[output]),
            float(sign * self.classifier_.bias[output]),
            tuple((names[int(X.indices[k])], float(weights[k])) for k in order),
        )


def _flip(sides: Sequence[str]) -> list[str]:
    """Name the sides so that "argument" sorts last and its margin is the positive one."""
    return ["1" if side == _YES else "0" for side in sides]


def _checked(tree: Tree, words: Sequence[str]) -> Tree:
    if tree.leaves() != tuple(words):
        leaves = tree.leaves()
        at = next(
            (k for k, (a, b) in enumerate(zip(leaves, words, strict=False)) if a != b), min(len(leaves), len(words))
        )
        raise DataError(
            f"the leaves of the tree are not the words: they differ from word {at} on ({len(leaves)} leaves, "
            f"{len(words)} words)."
        )
    return tree


def _by_rule(parse: Parse, predicate: int, node: int) -> str:
    """Return the role that a single word gets without being asked: modal verbs and *not* in the predicate's chain."""
    at = parse.at
    if not at.is_tag(node) or parse.tags[predicate] not in VERBAL_TAGS or is_auxiliary(at, predicate):
        return ""
    word = at.first[node]
    above = at.parent[node]
    chain = at.tag(predicate)
    # The chain of verb phrases from the predicate upwards, as far as it is not broken by another phrase.
    while at.parent[chain] >= 0 and at.labels[at.parent[chain]] in ("VP", "SQ", "SINV"):
        chain = at.parent[chain]
        if chain == above:
            if at.labels[node] == "MD" and word < predicate:
                return "AM-MOD"
            if parse.lower[word] in _DENIALS and at.labels[node] == "RB":
                return "AM-NEG"
            return ""
    return ""


def _write(labeler: RoleLabeler, writer: Writer) -> dict[str, Any]:
    check_is_fitted(labeler)
    kernels = isinstance(labeler.classifier_, KernelRoles)
    return {
        "params": writer.parameters(labeler, ("parser", "classifier")),
        "parser": PARSER.write(labeler.parser, writer),
        "lexicon": labeler.lexicon_.to_json(),
        "identifying": labeler.identifying_.write(writer),
        "identifier": labeler.identifier_.write(writer),
        "classifying": None if kernels else labeler.classifying_.write(writer),
        "kernels": kernels,
        "classifier": labeler.classifier_.write(writer),
    }


def _read(data: dict[str, Any], reader: Reader) -> RoleLabeler:
    # Files of the first version hold no parser.
    labeler: RoleLabeler = reader.make(RoleLabeler, data, parser=PARSER.read(data.get("parser"), reader))
    labeler.lexicon_ = Lexicon.from_json(data["lexicon"])
    labeler.identifying_ = Encoder.read(data["identifying"], reader)
    labeler.identifier_ = LinearRoles.read(data["identifier"], labeler.identifying_.total, reader)
    if data["kernels"]:
        labeler.classifying_ = labeler._encoder()
        labeler.classifier_ = KernelRoles.read(data["classifier"], reader)
        labeler.classifier = RoleClassifier(**labeler.classifier_.classifier.get_params(deep=False))
    else:
        labeler.classifying_ = Encoder.read(data["classifying"], reader)
        labeler.classifier_ = LinearRoles.read(data["classifier"], labeler.classifying_.total, reader)
    labeler.roles_ = list(labeler.classifier_.classes)
    return labeler


register("RoleLabeler", RoleLabeler, _write, _read)
