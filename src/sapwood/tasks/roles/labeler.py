"""The role labeler: sentences in, propositions out, by pruning, identification, classification and inference.

Its models are linear, over flat features and perhaps fragments of trees, so its cost does not grow with what it was
trained on. Classification of given arguments with exact kernels is in ``classifier``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_choice, check_seed, check_share, is_finite
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.layouts import Field, register_estimator
from sapwood.learn.context_training import ContextTraining
from sapwood.learn.explain import Explanation
from sapwood.metrics import score_roles
from sapwood.parse.base import Sentence
from sapwood.parse.parameter import PARSER, as_parser
from sapwood.parse.reading import Reading, check_listed, read_examples, read_text
from sapwood.settings import counted, stage
from sapwood.tasks.inputs import in_batches
from sapwood.tasks.roles.classifier import RoleClassifier
from sapwood.tasks.roles.context import CONTEXT_ROLES, UsesContext
from sapwood.tasks.roles.encoding import Encoder as Columns
from sapwood.tasks.roles.exact import KernelRoles
from sapwood.tasks.roles.explanation import RoleExplanation
from sapwood.tasks.roles.feature_sets import describe, feature_names
from sapwood.tasks.roles.labeling import Predicates, label_parses, role_scores
from sapwood.tasks.roles.lexicon import LEXICON, PredicateLexicon
from sapwood.tasks.roles.linear import LinearRoles
from sapwood.tasks.roles.pruning import PRUNINGS
from sapwood.tasks.roles.senses import SENSES, PredicateSenses
from sapwood.tasks.roles.stages import CLASSIFIER, IDENTIFIER, check_stages
from sapwood.tasks.roles.training import check_words, labeled_candidates, sides_of, stages_of, with_trees
from sapwood.tasks.roles.views import Candidate, Parse, parses_of
from sapwood.trees.propositions import RoleSentence
from sapwood.words.encoder.needed import ENCODER_SPEC

__all__ = ["RoleLabeler"]

# There are several times as many candidates as arguments, so fewer passes do.
_EPOCHS = 3


class RoleLabeler(UsesContext, SequenceInput, BaseEstimator):
    """Finds predicates and labels their arguments.

    ``label`` takes one sentence, ``label_text`` text of several, ``predict`` a list of sentences, ``label_sentences`` a
    stream of any length. A sentence is a tree, a tree in brackets, a list of words, text, or a ``RoleSentence``.

    Parameters
    ----------
    features : str
        The set of flat features: ``basic``, ``full`` or ``linear`` (full and conjunctions).
    fragments : mapping of str to float, optional
        Kinds of portions whose fragments are features too, with their weights: ``{"path+siblings": 1.0}``.
    max_fragments : int
        Most fragments per kind.
    identification_C, classification_C : float
        Weight of training errors in the two stages, as C of an SVM.
    nouns : bool
        Whether nouns and adjectives are predicates too, those that mostly are in the training data.
    rules : bool
        Whether modal verbs before a verb are always AM-MOD, and *not* always AM-NEG, as CoNLL systems have it.
    min_seen : int
        How often a predicate must have been seen before numbered roles that none of its senses ever had are ruled out.
    threshold : float
        Candidates less likely than this to be arguments are dropped before classification.
    pruning : {"narrow", "wide"}
        Which constituents are looked at: wide finds more arguments in the trees of a parser, if it is trained on such
        trees; see ``sapwood.tasks.roles.candidates``.
    null_offset : float
        What is added to the log-probability that a candidate is no argument: below 0, more arguments are found. Choose
        it on held-out sentences.
    classifier : RoleClassifier, optional
        Classifies with exact kernels instead of the linear model: more memory and time for, perhaps, better roles.
    parser : parser, callable or path, optional
        Turns words and text into trees: a parser of ``sapwood.parse``, a function from a list of words to a tree, or
        the path of a model file, whose most probable trees (``tree="best"``) are then taken. Needed for whatever has no
        tree.
    encoder : Encoder, path or str, optional
        A pretrained encoder for words in context, its folder or its name (``"minilm"``): a network over its states of
        predicate, head, content word, first and last word is learnt beside the linear models. Needs
        ``pip install 'sapwood[encoder]'``, and training ``'sapwood[train]'`` too.
    context_weight : float
        The share of the network in the scores, the rest being that of the linear models.
    random_state : int
        Seed of the solvers.

    Attributes
    ----------
    context_ : ContextRoles or None
        The network; None without an encoder.
    lexicon_ : PredicateLexicon
        What was learnt about predicates.
    senses_ : PredicateSenses or None
        What chooses among several senses of a predicate; without it each has the sense that was seen most often.
    roles_ : list of str
        The roles it knows.
    language : str or None
        The language it is for; with ``"en"``, which models of an English package have, ``label_text`` warns of
        sentences that do not look English. None where that is not known.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> sentences = nursery.generate(size=300).role_sentences()
    >>> labeler = RoleLabeler().fit(sentences[:250])
    >>> found = labeler.label("(S (NP (DT The) (NN dog)) (VP (VBD chased) (NP (DT the) (NN cat))) (. .))")
    >>> found.propositions[0].lemma, [(a.role, a.span) for a in found.propositions[0].roles]
    ('chase', [('A0', (0, 1)), ('A1', (3, 4))])
    """

    language: str | None = None
    lexicon_: PredicateLexicon
    senses_: PredicateSenses | None
    identifier_: LinearRoles
    classifier_: LinearRoles | KernelRoles

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
        pruning: str = "narrow",
        null_offset: float = 0.0,
        classifier: RoleClassifier | None = None,
        parser: Any = None,
        encoder: Any = None,
        context_weight: float = 0.6,
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
        self.pruning = pruning
        self.null_offset = null_offset
        self.classifier = classifier
        self.parser = parser
        self.encoder = encoder
        self.context_weight = context_weight
        self.random_state = random_state

    @property
    def roles_(self) -> list[str]:
        """The roles it knows."""
        check_is_fitted(self, "classifier_")
        return self.classifier_.classes

    # --- training

    @all_or_nothing
    def fit(
        self,
        X: Iterable[RoleSentence],
        y: None = None,
        *,
        calibration: Iterable[RoleSentence] | None = None,
        start: RoleLabeler | None = None,
    ) -> Self:
        """Train on sentences with trees and propositions.

        Parameters
        ----------
        X : iterable of RoleSentence
            Gold propositions, with gold trees or with trees of the parser that will be used; sentences without a tree
            are parsed, if there is a parser, and left out otherwise, with a warning.
        y : ignored
            The sentences hold their propositions.
        calibration : iterable of RoleSentence, optional
            Held-out sentences on which margins become probabilities; by default every tenth of ``X``, which is then not
            trained on. What goes on from ``start`` keeps the probabilities of that.
        start : RoleLabeler, optional
            A trained labeler to go on from, such as one that is to be adapted to a few hundred sentences of another
            kind: what it knows is kept, and these sentences say where it is wrong for them. One without an encoder.
        """
        self._check()
        before = stages_of(self, start)
        encoder = self._open_encoder()
        known = with_trees(X, self.parser)
        if calibration is not None or start is not None:
            held = [] if calibration is None else with_trees(calibration, self.parser)
        else:
            known, held = [s for at, s in enumerate(known) if at % 10 != 9], known[9::10]
        seed = check_seed(self.random_state)
        learnt = None if start is None else start.senses_
        with stage("Learning predicates and their senses"):
            own = PredicateLexicon.learn(known)
            self.lexicon_ = own if start is None else start.lexicon_.joined(own)
            if not self.nouns:
                self.lexicon_.nouns = set()
            self.senses_ = PredicateSenses.learn(known, seed=seed) if learnt is None else learnt.checked(known)
        rows, labels = labeled_candidates(known, nouns=self.nouns, pruning=self.pruning)
        if not any(labels):
            raise DataError("there is nothing to learn: no sentence has a tree and an argument that is a constituent.")
        if all(labels):
            raise DataError("every candidate is an argument, so there is nothing to tell apart; give whole sentences.")
        counting = counted(rows, len(rows), "Describing candidates", "candidates")
        values = [describe(*row, self.features) for row in counting]
        chosen = [at for at, label in enumerate(labels) if label]
        picked = [rows[at] for at in chosen], [labels[at] for at in chosen], [values[at] for at in chosen]
        with stage("Learning to find arguments"):
            self.identifier_ = self._linear(self.identification_C).fit(rows, sides_of(labels), values, before[0])
        with stage("Learning roles"):
            second = self._linear(self.classification_C) if self.classifier is None else KernelRoles(self.classifier)
            self.classifier_ = second.fit(*picked, before[1])
        if encoder is not None:
            setting = ContextTraining(seed=seed, epochs=_EPOCHS)
            self._learn_context(encoder, rows, labels, values, setting)
        with stage("Turning scores into probabilities"):
            self._calibrate(*labeled_candidates(held, nouns=self.nouns, pruning=self.pruning))
        return self

    def _check(self) -> None:
        feature_names(self.features)
        check_choice(self.pruning, "pruning", PRUNINGS)
        check_share(self.threshold, "threshold")
        check_share(self.context_weight, "context_weight")
        if not is_finite(self.null_offset):
            raise ParameterError(f"null_offset must be a finite number, got {self.null_offset!r}.")

    def _linear(self, C: float) -> LinearRoles:
        columns = Columns(self.features, fragments=self.fragments, max_fragments=self.max_fragments)
        return LinearRoles(columns, C, self.random_state)

    def _calibrate(self, rows: Sequence[Candidate], labels: Sequence[str]) -> None:
        if not rows:
            return
        self.identifier_.calibrate(rows, sides_of(labels))
        chosen = [at for at, label in enumerate(labels) if label]
        if chosen:
            self.classifier_.calibrate([rows[at] for at in chosen], [labels[at] for at in chosen])
        if self.context_ is not None:
            self._encode(parses_of(rows))
            scores = role_scores(self, rows, None, self.identifier_.log_probabilities(rows))
            self.context_.calibrate(scores, self.context_weight, rows, labels)

    # --- labeling

    def label(self, sentence: Any, predicates: Sequence[int] | Mapping[int, str] | None = None) -> RoleSentence:
        """Label one sentence.

        Parameters
        ----------
        sentence : Tree, text, list of words or RoleSentence
            Text is split into words, and parsed with ``parser`` unless it is a tree in brackets.
        predicates : list of int or mapping of int to str, optional
            Which words are predicates, perhaps with their base forms; by default they are found.

        Raises
        ------
        DataError
            If it is not one sentence, has no parse, or a predicate lies outside of it.
        """
        check_is_fitted(self)
        (found,) = self._labeled([self._sentence(sentence)], [predicates])
        return found

    def label_text(self, text: str) -> list[RoleSentence]:
        """Split text into sentences and words, parse and label them.

        Returns
        -------
        list of RoleSentence
            Their words are ``sapwood.parse.Token`` objects, which know where they stand in the text.
        """
        check_is_fitted(self)
        sentences = read_text(text, self._reader(), self.language)
        return list(self._labeled(sentences, repeat(None)))

    def predict(self, X: Iterable[Any], *, given_predicates: bool = False) -> list[RoleSentence]:
        """Label a list of sentences; warns of those that the parser finds no tree for.

        Parameters
        ----------
        X : iterable
            Each element is one sentence, as ``label`` takes it.
        given_predicates : bool
            Whether the predicates and base forms of the propositions in ``RoleSentence`` objects are used, as
            CoNLL-2005 does; otherwise predicates are found.
        """
        check_is_fitted(self)
        check_listed(X, "sentence")
        sentences = list(X)
        reading = self._read(sentences)
        reading.report()
        return list(self._label_all(sentences, reading, given_predicates))

    def label_sentences(self, sentences: Iterable[Any], *, given_predicates: bool = False) -> Iterator[RoleSentence]:
        """Label sentences as they come, a few at a time; see ``predict``.

        A sentence that the parser finds no tree for has ``how="flat"``.
        """
        check_is_fitted(self)
        check_listed(sentences, "sentence")
        batches = in_batches(sentences)
        return (one for batch in batches for one in self._label_all(batch, self._read(batch), given_predicates))

    def score(self, X: Iterable[RoleSentence], y: None = None) -> float:
        """Return F1 of CoNLL-2005 for sentences with propositions, whose predicates are given."""
        gold = list(X)
        return score_roles(gold, self.label_sentences(gold, given_predicates=True)).overall.f1

    def _read(self, sentences: Sequence[Any]) -> Reading:
        def example(one: Any) -> Any:
            if not isinstance(one, RoleSentence):
                return one
            if one.tree is None:
                return list(one.words)
            check_words(one.tree, one.words)
            return Sentence(one.words, one.tree, one.how or "given")

        return read_examples([example(one) for one in sentences], self._reader(), what="sentence")

    def _reader(self) -> Any:
        """Return the parser; one that is given by its name or path makes its most probable trees.

        On development data of the English Web Treebank, the English labeler has an F1 of 73.0 on those, and of 72.1 on
        the trees with the fewest expected errors.
        """
        if not isinstance(self.parser, (str, os.PathLike)):
            return self.parser
        parser = as_parser(self.parser)
        return parser.set_params(tree="best") if "tree" in parser.get_params(deep=False) else parser

    def _sentence(self, sentence: Any) -> Sentence:
        (found,) = self._read([sentence]).single("label_text")
        if found.how == "flat":
            raise DataError(f"{' '.join(found.words)[:60]!r} has no parse: {found.problem}.")
        return found

    def _label_all(self, sentences: Sequence[Any], reading: Reading, given_predicates: bool) -> Iterator[RoleSentence]:
        given = [self._given(one) for one in sentences] if given_predicates else repeat(None)
        for sentence, found in zip(sentences, self._labeled(reading.single("label_text"), given), strict=True):
            yield replace(found, name=sentence.name) if isinstance(sentence, RoleSentence) else found

    @staticmethod
    def _given(sentence: Any) -> dict[int, str]:
        if not isinstance(sentence, RoleSentence):
            raise DataError(f"given_predicates needs RoleSentence objects, got a {type(sentence).__name__}.")
        return {one.predicate: one.lemma for one in sentence.propositions}

    def _labeled(self, sentences: Iterable[Sentence], predicates: Iterable[Predicates]) -> Iterator[RoleSentence]:
        for batch in in_batches(zip(sentences, predicates, strict=False)):
            some, given = zip(*batch, strict=True)
            parses = [Parse(one.tree) for one in some]
            self._encode(parses)
            yield from label_parses(self, some, parses, given)

    def explain(
        self, sentence: Any, predicate: int, span: tuple[int, int], *, role: str | None = None
    ) -> RoleExplanation | Explanation:
        """Show what speaks for and against a role of a constituent: features, or with kernels nodes and fragments.

        Parameters
        ----------
        sentence : Tree, text, list of words or RoleSentence
            The sentence.
        predicate : int
            The predicate's word.
        span : (int, int)
            First and last word of the argument, which must be a constituent.
        role : str, optional
            The role to explain; by default the likeliest.
        """
        check_is_fitted(self)
        parse = Parse(self._sentence(sentence).tree)
        nodes = parse.at.spanning(*span)
        if not nodes:
            raise DataError(f"words {span[0]} to {span[1]} are no constituent of the tree.")
        parse.at.tag(predicate)
        view = parse.view(predicate, self.lexicon_.lemma(parse.words[predicate], parse.tags[predicate]))
        if role is not None and role not in self.roles_:
            raise ParameterError(f"there is no role {role!r}; the roles are {', '.join(self.roles_)}.")
        return self.classifier_.explain((view, nodes[0]), role)


register_estimator(
    RoleLabeler,
    parameters={
        "parser": PARSER,
        "classifier": Field(lambda value, writer: {}, lambda data, reader: None, spread=True),
    },
    fitted={
        "lexicon_": LEXICON,
        "senses_": SENSES,
        "identifier_": IDENTIFIER,
        "classifier_": CLASSIFIER,
        "context_": CONTEXT_ROLES,
        "_spec": ENCODER_SPEC.at("encoder"),
    },
    without=["encoder"],
    finish=check_stages,
)
