"""A classifier of questions: text or trees in, labels out, by an SVM with any kernel on the views of a question."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sapwood.callers import levels_to_user
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.choice import KERNEL, ChoosesKernel
from sapwood.kernels.flat import Linear
from sapwood.kernels.semantic import SemanticSubsetTree, SmoothedPartialTree
from sapwood.kernels.syntactic import PartialTree, SubsetTree
from sapwood.learn.calibration import HasProbabilities
from sapwood.learn.explain import Explanation, ModelFragments
from sapwood.learn.svm import KernelSVC
from sapwood.parse.parameter import PARSER
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.questions.reading import EMPTY, QuestionReading, read_question_trees
from sapwood.tasks.questions.views import VIEWS, question_views
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples
from sapwood.words.base import WordSimilarity
from sapwood.words.contextual import Contextual
from sapwood.words.encoder import Encoder
from sapwood.words.encoder.needed import ENCODER_SPEC, UsesEncoder
from sapwood.words.forms import Tagged
from sapwood.words.table import Table
from sapwood.words.wordnet import WordNet

__all__ = ["QuestionClassifier", "contextual_kernel", "plain_kernel", "semantic_kernel"]


def semantic_kernel(similarity: WordSimilarity | None = None) -> Kernel:
    """Return the best combination found by cross-validation on TREC: similar words in both kinds of trees, and words.

    Parameters
    ----------
    similarity : WordSimilarity, optional
        Of lemmas; by default WordNet's nouns, Lin's weights, all senses.

    Examples
    --------
    >>> from sapwood.words import Table
    >>> kernel = semantic_kernel(Table({("nation", "country"): 0.9}))
    """
    words = WordNet(weights="lin", senses="all") if similarity is None else similarity
    return (
        SemanticSubsetTree(words, decay=0.2, leaf_weight=2.0).normalized().on("focus")
        + SmoothedPartialTree(Tagged(words), lexical="all").normalized().on("lexical")
        + 0.5 * Linear().normalized().on("words")
    )


def contextual_kernel(similarity: WordSimilarity | None = None, *, view: str = "focus") -> Kernel:
    """Return the best combination found by cross-validation on TREC for questions with an encoder.

    Words in context in focus trees, similar words in lexical trees, and words.

    Parameters
    ----------
    similarity : WordSimilarity, optional
        Of lemmas in lexical trees; as for ``semantic_kernel``.
    view : str
        The view of the focus trees with vectors.
    """
    words = WordNet(weights="lin", senses="all") if similarity is None else similarity
    return (
        2.0 * SemanticSubsetTree(Contextual(), decay=0.2, leaf_weight=2.0).normalized().on(view)
        + SmoothedPartialTree(Tagged(words), lexical="all").normalized().on("lexical")
        + 0.5 * Linear().normalized().on("words")
    )


def plain_kernel() -> Kernel:
    """Return the same combination without any knowledge of words."""
    return (
        SubsetTree(decay=0.2).normalized().on("focus")
        + PartialTree().normalized().on("lexical")
        + 0.5 * Linear().normalized().on("words")
    )


class QuestionClassifier(UsesEncoder, HasProbabilities, ChoosesKernel, ClassifierMixin, SequenceInput, BaseEstimator):
    """Predict what kind of answer a question asks for.

    Questions are text, lists of words, trees in brackets, ``Tree`` objects, NLTK trees or ``Question`` objects (of
    ``corpora.questions``), mixed as you like; ``Examples`` with views of one's own are taken as they are.

    Parameters
    ----------
    kernel : Kernel, str or callable, optional
        A kernel, or its expression as text, on the views ``focus``, ``lexical``, ``words`` and ``tree``, or without
        views on focus trees; with an encoder also on ``vectors``, and trees have vectors on their leaves. By default
        ``semantic_kernel()``; where WordNet is not installed, ``plain_kernel()``, with a warning; with an encoder
        ``contextual_kernel()``.
    C : float
        Inverse of the strength of regularization.
    class_weight : dict, "balanced" or None
        Factors of C per class.
    parser : parser, callable or path, optional
        Turns text into trees: a parser of ``sapwood.parse``, a function from a list of words to a tree, or the path of
        a model file. Text that is not parsed is classified by a flat tree all the same, with a warning; ``unparsed``
        says which. If no training question can be parsed, ``fit`` raises.
    encoder : Encoder, path or str, optional
        A pretrained encoder for words in context, its folder or its name (``"minilm"``); a folder or name is opened
        with its next to last layer and the mean of the pieces of a word. Model files hold its name and digest, not its
        weights. Needs ``pip install 'sapwood[encoder]'``.
    tol : float
        Stopping tolerance of the solver.
    probability : bool or {"sigmoid", "temperature", "isotonic"}
        Whether to learn how margins become probabilities; see ``KernelSVC``.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    svm_ : KernelSVC
        One class against the rest.
    unparsed_ : array of bool
        Which training questions have flat trees.

    Examples
    --------
    >>> from sapwood.kernels import SubsetTree
    >>> from sapwood.parse import FlatParser
    >>> questions = ["Who ran ?", "Who wrote it ?", "Where is it ?", "Where did he live ?"]
    >>> clf = QuestionClassifier(SubsetTree(decay=0.2).normalized(), parser=FlatParser())
    >>> clf.fit(questions, ["HUM", "HUM", "LOC", "LOC"]).predict(["Where does she work ?", "Who fell ?"]).tolist()
    ['LOC', 'HUM']
    """

    classes_: NDArray[Any]
    svm_: KernelSVC
    unparsed_: NDArray[np.bool_]

    def __init__(
        self,
        kernel: Any = None,
        *,
        C: float = 10.0,
        class_weight: dict[Any, float] | str | None = None,
        parser: Any = None,
        encoder: Any = None,
        tol: float = 1e-3,
        probability: bool | str = False,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.class_weight = class_weight
        self.parser = parser
        self.encoder = encoder
        self.tol = tol
        self.probability = probability

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on questions and their labels.

        Parameters
        ----------
        X : list of questions, TreeArray or Examples
        y : array of labels
            One per question, at least two different ones; coarse or fine.
        sample_weight : array of float, optional
            Factors of C per question.
        """
        self._forget_encoder()
        kernel = self._chosen_kernel()
        data, unparsed = self._read(X, kernel, training=True)
        svm = KernelSVC(kernel, C=self.C, class_weight=self.class_weight, tol=self.tol, probability=self.probability)
        self.svm_ = svm.fit(data, y, sample_weight=sample_weight)
        self.classes_ = self.svm_.classes_
        self.unparsed_ = unparsed
        encoder = self._context()
        self._spec = None if encoder is None else encoder.spec
        return self

    @property
    def calibration_(self) -> Any:
        """How margins become probabilities."""
        return self.svm_.calibration_

    def _default_kernel(self) -> Kernel:
        return _usable_kernel(in_context=self.encoder is not None)

    def _context(self) -> Encoder | None:
        return self._encoder(pieces="mean", layers=(-2,))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the largest margin for each question."""
        data = self._data(X)
        return self.svm_.predict(data)

    def decision_function(self, X: Any) -> Matrix:
        """Return the margins: one number per question for two classes, else one per question and class."""
        data = self._data(X)
        return self.svm_.decision_function(data)

    def unparsed(self, X: Any) -> NDArray[np.bool_]:
        """Return which questions would be classified by a flat tree."""
        return self._reading(X).unparsed

    def explain(self, question: Any, *, label: Any = None, top: int = 10) -> Explanation:
        """Say which nodes and fragments of a question's trees a decision comes from; see ``KernelSVC.explain``."""
        data = self._data(question if isinstance(question, (Examples, TreeArray)) else [question])
        return self.svm_.explain(data, label=label, top=top)

    def fragments(self, label: Any = None, *, top: int = 20) -> ModelFragments:
        """Return the fragments with the largest weights for or against a class."""
        check_is_fitted(self)
        return self.svm_.fragments(label, top=top)

    def _data(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._read(X, self.svm_.kernel_, training=False)[0]

    def _reading(self, X: Any) -> QuestionReading:
        if isinstance(X, Examples):
            raise DataError("Examples are taken as they are: whether they were parsed is not known here.")
        return read_question_trees(X, self.parser)

    def _read(self, X: Any, kernel: Kernel, *, training: bool) -> tuple[Any, NDArray[np.bool_]]:
        if isinstance(X, Examples):
            return X, np.zeros(len(X), dtype=np.bool_)
        reading = self._reading(X)
        reading.report(training=training)
        if training:
            empty = next((at for at, tree in enumerate(reading.trees) if tree is EMPTY), None)
            if empty is not None:
                raise DataError(f"question {empty} is empty; there is nothing to learn from it. Leave it out.")
        wanted = kernel.views()
        unknown = sorted(wanted - set(VIEWS))
        if unknown:
            raise ParameterError(
                f"the kernel is on the view {unknown[0]!r}, which questions do not have; they have {', '.join(VIEWS)}. "
                "Pass Examples with views of your own."
            )
        names = [name for name in VIEWS if name in wanted]
        views = question_views(reading.trees, names or ["focus"], encoder=self._context())
        return views if names else views["focus"], reading.unparsed


def _usable_kernel(*, in_context: bool) -> Kernel:
    words = WordNet(weights="lin", senses="all")
    try:
        words("dog", "cat")
    except DataError as error:
        chosen = "contextual_kernel(Table({}))" if in_context else "plain_kernel()"
        warnings.warn(
            f"words are compared as strings only, because {error} Pass kernel={chosen} to do so on purpose.",
            stacklevel=levels_to_user(),
        )
        return contextual_kernel(Table({})) if in_context else plain_kernel()
    return contextual_kernel(words) if in_context else semantic_kernel(words)


def _write(classifier: QuestionClassifier, writer: Writer) -> dict[str, Any]:
    check_is_fitted(classifier)
    return {
        "kernel": KERNEL.write(classifier.kernel, writer),
        "parser": PARSER.write(classifier.parser, writer),
        **({} if classifier._spec is None else {"encoder": ENCODER_SPEC.write(classifier._spec, writer)}),
        "unparsed": writer.array(classifier.unparsed_.astype(np.uint8)),
        "machine": writer.part(classifier.svm_),
    }


def _read_back(data: dict[str, Any], reader: Reader) -> QuestionClassifier:
    svm = reader.part(data["machine"], KernelSVC)
    classifier = QuestionClassifier(
        KERNEL.read(data["kernel"], reader),
        C=svm.C,
        class_weight=svm.class_weight,
        parser=PARSER.read(data["parser"], reader),
        tol=svm.tol,
        probability=svm.probability,
    )
    classifier.svm_, classifier.classes_ = svm, svm.classes_
    classifier._spec = ENCODER_SPEC.read(data.get("encoder"), reader)
    classifier.unparsed_ = reader.array(data["unparsed"], np.uint8, 1).astype(np.bool_)
    return classifier


register("QuestionClassifier", QuestionClassifier, _write, _read_back)
