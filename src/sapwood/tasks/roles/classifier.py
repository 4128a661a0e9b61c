"""Roles of given arguments, by kernels: the hybrid of path and constituent, grammar-driven or not, and flat features.

After Zhang et al. (2007). Kernels have names, which tables and model files use; each is built from the public algebra
and can be replaced by any other kernel on the same views.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_amount, check_choice, check_seed, check_share
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.kernels import PENN_TAG_SETS, GrammarDriven, PartialTree, Polynomial, SubsetTree
from sapwood.kernels.base import Kernel
from sapwood.layouts import part_of, register_estimator
from sapwood.learn.calibration import (
    CALIBRATION,
    HasProbabilities,
    calibrate,
    check_fitting,
    check_probability,
    held_out_margins,
)
from sapwood.learn.context_training import ContextTraining
from sapwood.learn.explain import Explanation
from sapwood.learn.svm import KernelSVC
from sapwood.penn import VERB_TAGS
from sapwood.registry import Reader
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.tasks.roles.context import CONTEXT_ROLES, UsesContext
from sapwood.tasks.roles.feature_sets import describe
from sapwood.trees.grammar import Grammar
from sapwood.words.encoder.needed import ENCODER_SPEC

__all__ = ["ROLE_KERNELS", "RoleClassifier", "role_kernel"]

ROLE_KERNELS = {
    "truncated": "subset trees of the path without its siblings, and of the constituent",
    "plain": "subset trees of the path with its siblings, and of the constituent",
    "nodes": "the same with tags that may stand for each other",
    "substructures": "the same with optional children",
    "both": "the same with both",
    "verb tags": "the same with both, verb tags among those that may stand for each other",
    "flat": "flat features in a polynomial of degree 2",
    "composite": "both, and flat",
    "composite plain": "plain, and flat",
    "composite verb tags": "verb tags, and flat",
    "paf": "subset trees of the predicate-argument portion",
    "partial": "partial trees of the path with its siblings, and of the constituent",
}
"""The kernels that have a name, and what they see."""

FLAT_KERNEL = Polynomial(degree=2, constant=10.0)
"""The kernel of flat features. The constant weighs single features against pairs: with some fifty features, of which
twenty or so are shared, pairs would drown them at 1. It was chosen on development data of the English Web Treebank."""


def role_kernel(
    name: str,
    grammar: Grammar | None = None,
    *,
    theta: float = 0.6,
    gamma: float = 0.1,
    decay: float = 0.4,
    deletion: float = 0.6,
    mutation: float = 0.3,
) -> Kernel:
    """Build a kernel by its name.

    Parameters
    ----------
    name : str
        One of ``ROLE_KERNELS``.
    grammar : Grammar, optional
        The rules of whole parses, for the grammar-driven ones.
    theta : float
        θ, the share of the path in the hybrid; the rest is the constituent's.
    gamma : float
        γ, the share of the hybrid in the composite; the rest is that of the flat features.
    decay, deletion, mutation : float
        λ, λ₁ and λ₂.

    Examples
    --------
    >>> role_kernel("plain")
    0.6 * SubsetTree(decay=0.4).normalized().on('siblings') + 0.4 * SubsetTree(decay=0.4).normalized().on('constituent')
    """
    check_choice(name, "kernel", ROLE_KERNELS)
    for value, what in ((theta, "theta"), (gamma, "gamma")):
        check_share(value, what)
    mixture = {"theta": theta, "gamma": gamma, "decay": decay, "deletion": deletion, "mutation": mutation}
    made = [
        one.normalized().on(view) if weight == 1 else weight * one.normalized().on(view)
        for weight, one, view in kernel_summands(name, grammar, **mixture)
    ]
    return reduce(operator.add, made)


def kernel_summands(
    name: str,
    grammar: Grammar | None = None,
    *,
    theta: float = 0.6,
    gamma: float = 0.1,
    decay: float = 0.4,
    deletion: float = 0.6,
    mutation: float = 0.3,
) -> list[tuple[float, Kernel, str]]:
    """Return what a named kernel adds up: weight, kernel before it is normalized, and view."""
    flat = (round(1 - gamma, 12), FLAT_KERNEL, "flat")
    if name == "flat":
        return [(1.0, FLAT_KERNEL, "flat")]
    if name.startswith("composite"):
        inner = name.removeprefix("composite").strip() or "both"
        trees = kernel_summands(inner, grammar, theta=theta, decay=decay, deletion=deletion, mutation=mutation)
        return [*((round(gamma * weight, 12), kernel, view) for weight, kernel, view in trees), flat]
    if name == "paf":
        return [(1.0, SubsetTree(decay=decay), "paf")]
    tree: Kernel
    if name in ("truncated", "plain"):
        tree = SubsetTree(decay=decay)
    elif name == "partial":
        tree = PartialTree(decay=decay, depth_decay=0.4)
    else:
        tree = GrammarDriven(
            grammar,
            decay=decay,
            deletion=0.0 if name == "nodes" else deletion,
            mutation=0.0 if name == "substructures" else mutation,
            mutation_sets=PENN_TAG_SETS + ((VERB_TAGS,) if name == "verb tags" else ()),
        )
    path_view = "path" if name == "truncated" else "siblings"
    return [(theta, tree, path_view), (round(1 - theta, 12), tree, "constituent")]


def default_c(name: str) -> float:
    """Return C: the paper's for trees, and a higher one for flat features, which say more about each argument."""
    return 10.0 if name == "flat" or name.startswith("composite") else 2.4


def views_of(name: str) -> list[str]:
    """Return the views that a named kernel looks at."""
    return list(dict.fromkeys(view for _, _, view in kernel_summands(name)))


class RoleClassifier(UsesContext, HasProbabilities, ClassifierMixin, SequenceInput, BaseEstimator):
    """Classifies given arguments with a kernel: one SVM per role, the largest margin wins.

    Parameters
    ----------
    kernel : str
        One of ``ROLE_KERNELS``.
    theta, gamma, decay, deletion, mutation
        As for ``role_kernel``.
    features : str
        The set of flat features: ``basic``, ``full`` or ``rich``.
    C : float, optional
        C of the SVM. By default 2.4 for trees, and 10 for kernels with flat features.
    min_count : int
        How often a production must occur in training parses to be a rule of the grammar.
    svm_params : mapping, optional
        Further parameters of ``KernelSVC``, such as ``{"class_weight": "balanced"}``.
    encoder : Encoder, path or str, optional
        A pretrained encoder for words in context, its folder or its name (``"minilm"``): a network over its states and
        the flat features is learnt beside the SVM. Needs ``pip install 'sapwood[encoder]'``, and training
        ``'sapwood[train]'`` too.
    context_weight : float
        How much of the network's log-probabilities is added to the margins.
    random_state : int
        Seed of the network.
    probability : bool or {"sigmoid", "temperature", "isotonic"}
        Whether to learn how margins become probabilities; see ``KernelSVC``. With an encoder the network, too, is
        trained five times more.

    Attributes
    ----------
    classes_ : array of str
        The roles.
    svm_ : KernelSVC
        The trained SVM.
    context_ : ContextRoles or None
        The network; None without an encoder.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> arguments = RoleArguments.from_sentences(nursery.generate(size=120).role_sentences())
    >>> classifier = RoleClassifier("both").fit(arguments[:200], arguments.labels[:200])
    >>> bool(classifier.score(arguments[200:], arguments.labels[200:]) > 0.8)
    True
    """

    classes_: NDArray[Any]
    svm_: KernelSVC

    def __init__(
        self,
        kernel: str = "composite",
        *,
        theta: float = 0.6,
        gamma: float = 0.1,
        decay: float = 0.4,
        deletion: float = 0.6,
        mutation: float = 0.3,
        features: str = "full",
        C: float | None = None,
        min_count: int = 1,
        svm_params: Mapping[str, Any] | None = None,
        encoder: Any = None,
        context_weight: float = 0.3,
        random_state: int = 0,
        probability: bool | str = False,
    ) -> None:
        self.kernel = kernel
        self.theta = theta
        self.gamma = gamma
        self.decay = decay
        self.deletion = deletion
        self.mutation = mutation
        self.features = features
        self.C = C
        self.min_count = min_count
        self.svm_params = svm_params
        self.encoder = encoder
        self.context_weight = context_weight
        self.random_state = random_state
        self.probability = probability

    @all_or_nothing
    def fit(self, X: RoleArguments, y: Any = None) -> Self:
        """Train on arguments.

        Parameters
        ----------
        X : RoleArguments
            Training arguments.
        y : array of str, optional
            Their roles; by default those that they carry.
        """
        arguments = _checked(X)
        if not len(arguments):
            raise DataError("there are no arguments; give sentences with trees and propositions.")
        labels = arguments.labels if y is None else np.asarray(y)
        check_choice(self.kernel, "kernel", ROLE_KERNELS)
        check_amount(self.context_weight, "context_weight")
        check_probability(self.probability)
        encoder = self._open_encoder()
        grammar = None
        if any(isinstance(one, GrammarDriven) for _, one, _ in kernel_summands(self.kernel)):
            grammar = Grammar.from_trees(arguments.trees(), min_count=self.min_count)
        mixture = {name: getattr(self, name) for name in ("theta", "gamma", "decay", "deletion", "mutation")}
        kernel = role_kernel(self.kernel, grammar, **mixture)
        try:
            C = default_c(self.kernel) if self.C is None else self.C
            probability = self.probability if encoder is None else False
            svm = KernelSVC(kernel, C=C, **{"probability": probability, **(self.svm_params or {})})
        except TypeError as error:
            raise ParameterError(f"svm_params holds what KernelSVC does not take: {error}.") from None
        self.svm_ = svm.fit(self._examples(arguments), labels)
        self.classes_ = self.svm_.classes_
        if encoder is not None:
            rows = arguments.candidates
            values = [describe(*row, self.features) for row in rows]
            setting = ContextTraining(seed=check_seed(self.random_state))
            self._learn_context(encoder, rows, labels.tolist(), values, setting)
        self.calibration_ = self.svm_.calibration_
        if encoder is not None and self.probability:
            targets = np.searchsorted(self.classes_, labels)
            make = lambda: clone(self).set_params(probability=False)  # noqa: E731
            margins = held_out_margins(make, lambda data, some, _: data[some], arguments, labels, self.classes_)
            self.calibration_ = calibrate(margins, targets, method=self.probability)
        return self

    def decision_function(self, X: RoleArguments) -> NDArray[np.float64]:
        """Return the margin of each role for each argument."""
        check_is_fitted(self)
        margins = self.svm_.decision_function(self._examples(X))
        if self.context_ is None or not len(X):
            return margins
        self._encode(X.parses())
        context = self.context_weight * self.context_.log_probabilities(X.candidates)
        return margins + (context[:, 1] - context[:, 0] if margins.ndim == 1 else context)

    def predict(self, X: RoleArguments) -> NDArray[Any]:
        """Return the role of each argument."""
        margins = self.decision_function(X)
        chosen = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def explain(self, argument: RoleArguments, *, label: Any = None, top: int = 10) -> Explanation:
        """Say which nodes, fragments and features the margin of a role comes from; see ``KernelSVC.explain``.

        Parameters
        ----------
        argument : RoleArguments of one argument
            Such as ``arguments[3:4]``. What a network adds to the margins is not explained.
        label : str, optional
            The role to argue for; by default the likeliest by the SVM.
        top : int
            How many of the heaviest fragments to find.
        """
        check_is_fitted(self)
        if len(_checked(argument)) != 1:
            raise DataError(f"explain takes one argument, got {len(argument)}; pass arguments[i:i+1].")
        return self.svm_.explain(self._examples(argument), label=label, top=top)

    def score(self, X: RoleArguments, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of arguments whose role is right; without ``y``, the right roles are those they carry."""
        return float(super().score(X, _checked(X).labels if y is None else y, sample_weight))

    def _examples(self, X: RoleArguments) -> Any:
        return _checked(X).examples(views_of(self.kernel), features=self.features)


def _checked(X: Any) -> RoleArguments:
    if not isinstance(X, RoleArguments):
        raise DataError(f"expected RoleArguments, got {type(X).__name__}; make them with RoleArguments.from_sentences.")
    return X


def _take_classes(classifier: RoleClassifier, reader: Reader) -> None:
    check_choice(classifier.kernel, "kernel", ROLE_KERNELS)
    classifier.classes_ = classifier.svm_.classes_
    classifier._check_context(classifier.classes_.tolist(), reader)
    check_fitting(classifier, reader)


# Files of the first versions call the SVM a machine.
register_estimator(
    RoleClassifier,
    fitted={
        "svm_": part_of(KernelSVC).at("machine"),
        "context_": CONTEXT_ROLES,
        "_spec": ENCODER_SPEC.at("encoder"),
        "calibration_": CALIBRATION,
    },
    without=["encoder"],
    finish=_take_classes,
)
