"""Pairs of sentences as rows of numbers: tree kernels over a grid of decays beside measures of shared words.

All kernel values are normalised, k(a, b)/√(k(a, a)·k(b, b)), and computed pair by pair; no Gram matrix is ever made.
What is learnt in ``fit`` is how rare words are, a grammar, and a word similarity where it learns from data.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sapwood import settings
from sapwood.callers import levels_to_user
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.kernels.base import Kernel
from sapwood.kernels.data import join
from sapwood.kernels.flat import Linear
from sapwood.kernels.grammar_driven import GrammarDriven
from sapwood.kernels.semantic import SemanticSubsetTree
from sapwood.kernels.syntactic import PartialTree, SubsetTree, Subtree, check_decay
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.pairs.lexical import LEXICAL_NAMES, Rarity, lexical_features, words_of
from sapwood.tasks.pairs.loosened import loosened_grammar, loosened_kernel
from sapwood.tasks.pairs.reading import as_pairs
from sapwood.trees.array import TreeArray
from sapwood.trees.grammar import Grammar
from sapwood.trees.transforms import lowercase_leaves
from sapwood.words.base import WordSimilarity
from sapwood.words.forms import Folded
from sapwood.words.latent import Latent

__all__ = ["DECAYS", "GROUPS", "POST_DECAYS", "PairFeatures"]

POST_DECAYS = (1.0, 0.8, 0.5, 0.2, 0.1, 0.05)
"""The decays of the blog post "Syntactic Tree Kernels" (2017); it lists 0.2 twice."""

DECAYS = (1.0, 0.8, 0.5, 0.4, 0.2, 0.1, 0.05, 0.02)
"""Those, the usual 0.4 that it lacks, and 0.02, for which its second 0.2 may have been meant."""

GROUPS = ("lexical", "subtree", "subset", "subset_words", "partial", "semantic", "grammar", "loosened")
"""Groups of features: shared words; ST, SST, SST with a bag of words, PTK, SSTK; and the grammar-driven kernel with the
grammar of the training trees and with one that is lenient about articles and agreement."""


class PairFeatures(TransformerMixin, BaseEstimator):
    """Numbers that say how alike two sentences are, in words, in syntax and in meaning.

    Parameters
    ----------
    groups : sequence of str
        Which groups of features, of ``GROUPS``.
    decays : sequence of float
        λ of ST, SST and SST with words.
    coarse_decays : sequence of float
        λ of the kernels that take longer: PTK, SSTK and the grammar-driven ones.
    similarity : WordSimilarity, optional
        How alike words are to the semantic group. Default: latent semantics of the training sentences, in lower case.
    lowercase : bool
        Whether kernels see words in lower case.

    Attributes
    ----------
    rarity_ : Rarity
        How rare words are in the training sentences.
    similarity_ : WordSimilarity or None
        The similarity with what it has learnt.
    grammar_, loosened_grammar_ : Grammar or None
        The grammars of the training trees.
    n_features_out_ : int

    Notes
    -----
    Pairs are given as ``as_pairs`` takes them. The order within a pair does not matter to any feature. A sentence
    without words is 0 with everything, and marked by the feature ``lexical__empty``.

    Examples
    --------
    >>> pairs = [("(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"), ("(NP (NN dog))", "(NP (NN dog))")]
    >>> features = PairFeatures(groups=("subset",), decays=(1.0, 0.4)).fit(pairs)
    >>> features.get_feature_names_out().tolist()
    ['subset__1.0', 'subset__0.4']
    >>> features.transform(pairs).round(3)
    array([[0.5  , 0.606],
           [1.   , 1.   ]])
    """

    rarity_: Rarity
    similarity_: WordSimilarity | None
    grammar_: Grammar | None
    loosened_grammar_: Grammar | None
    n_features_out_: int

    def __init__(
        self,
        groups: Sequence[str] = GROUPS,
        *,
        decays: Sequence[float] = DECAYS,
        coarse_decays: Sequence[float] = (0.8, 0.4, 0.1),
        similarity: WordSimilarity | None = None,
        lowercase: bool = True,
    ) -> None:
        self.groups = groups
        self.decays = decays
        self.coarse_decays = coarse_decays
        self.similarity = similarity
        self.lowercase = lowercase

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training pairs; targets are not looked at.

        Parameters
        ----------
        X : Examples or sequence of pairs
            See ``as_pairs``.
        y : ignored
        """
        self._check()
        members = self._members(X)
        if not len(members):
            raise DataError("there is nothing to learn from: X has no examples.")
        sentences = members.leaves()
        self.rarity_ = Rarity.learn([[word.lower() for word in words_of(words)] for words in sentences])
        self.similarity_ = self.grammar_ = self.loosened_grammar_ = None
        if "semantic" in self.groups:
            similarity = Folded(Latent(dimensions=50)) if self.similarity is None else self.similarity
            # A sentence without words teaches nothing, and latent semantics wants some.
            texts = [words for words in sentences if words]
            if not texts:
                raise DataError("the training pairs hold no words, so there is nothing to learn word meaning from.")
            self.similarity_ = similarity.bind(lambda: texts)
        if "grammar" in self.groups:
            self.grammar_ = Grammar.from_trees(members)
        if "loosened" in self.groups:
            self.loosened_grammar_ = loosened_grammar(members)
        self.n_features_out_ = len(self.get_feature_names_out())
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return one row per pair and one column per feature.

        Parameters
        ----------
        X : Examples or sequence of pairs
            See ``as_pairs``.
        """
        check_is_fitted(self)
        members = self._members(X)
        half = len(members) // 2
        columns: list[NDArray[np.float64]] = []
        if "lexical" in self.groups:
            words = [words_of(leaves) for leaves in members.leaves()]
            columns.append(lexical_features(words[:half], words[half:], self.rarity_))
        kernels = self._kernels()
        if self.lowercase and kernels:
            members = lowercase_leaves(members)
        with settings.progress_bar(len(kernels), "Pair features") as progress:
            for done, (name, kernel) in enumerate(kernels):
                columns.append(_normalized(name, kernel, members)[:, None])
                if progress is not None:
                    progress(done + 1)
        return np.hstack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the name of every column: group, two underscores, and the measure or decay."""
        self._check()
        names = [f"lexical__{name}" for name in LEXICAL_NAMES] if "lexical" in self.groups else []
        for group, decays in self._grid():
            names += ["semantic__words"] if group == "semantic" else []
            names += [f"{group}__{float(decay):g}" if decay != 1 else f"{group}__1.0" for decay in decays]
        return np.array(names, dtype=object)

    def _members(self, X: Any) -> TreeArray:
        """Return the first members of all pairs and, after them, the second ones."""
        pairs = as_pairs(X)
        joined = join(pairs["first"], pairs["second"])
        assert isinstance(joined, TreeArray)
        return joined

    def _grid(self) -> list[tuple[str, Sequence[float]]]:
        fine = ("subtree", "subset", "subset_words")
        return [
            (group, self.decays if group in fine else self.coarse_decays)
            for group in GROUPS
            if group in self.groups and group != "lexical"
        ]

    def _kernels(self) -> list[tuple[str, Kernel]]:
        """Return the kernels behind the columns, those of the lexical group left out."""
        found: list[Kernel] = []
        for group, decays in self._grid():
            if group == "semantic":
                assert self.similarity_ is not None
                found.append(Linear(words=self.similarity_))
            found += [self._kernel(group, float(decay)) for decay in decays]
        names = self.get_feature_names_out().tolist()
        return list(zip(names[len(names) - len(found) :], found, strict=True))

    def _kernel(self, group: str, decay: float) -> Kernel:
        match group:
            case "subtree":
                return Subtree(decay=decay)
            case "subset" | "subset_words":
                return SubsetTree(decay=decay, bag_of_words=group == "subset_words")
            case "partial":
                return PartialTree(decay=decay)
            case "semantic":
                assert self.similarity_ is not None
                return SemanticSubsetTree(self.similarity_, decay=decay)
            case "grammar":
                return GrammarDriven(self.grammar_, decay=decay)
            case _:
                return loosened_kernel(self.loosened_grammar_, decay=decay)

    def _check(self) -> None:
        if isinstance(self.groups, str) or not self.groups:
            raise ParameterError(f"groups must list some of {', '.join(GROUPS)}; got {self.groups!r}.")
        for group in self.groups:
            if group not in GROUPS:
                raise ParameterError(f"there is no group {group!r} of features; there are {', '.join(GROUPS)}.")
        for name in ("decays", "coarse_decays"):
            values = getattr(self, name)
            if isinstance(values, (str, float, int)) or not len(values) or len(set(values)) < len(values):
                raise ParameterError(f"{name} must list different numbers in (0, 1], got {values!r}.")
            for value in values:
                check_decay(value, name)
        if self.similarity is not None and not isinstance(self.similarity, WordSimilarity):
            raise ParameterError(
                f"similarity must be a word similarity from sapwood.words or None, got {self.similarity!r}."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def _normalized(name: str, kernel: Kernel, members: TreeArray) -> NDArray[np.float64]:
    """Divide by both self-kernels; members without words, which share nothing even with themselves, are 0."""
    half = len(members) // 2
    values, diagonal = kernel._pairwise_and_diag(members)
    # The roots first: a product of two self-kernels may be too large where neither is.
    scale = np.sqrt(diagonal[:half]) * np.sqrt(diagonal[half:])
    broken = np.flatnonzero(~np.isfinite(values) | ~np.isfinite(scale))
    if len(broken):
        warnings.warn(
            f"the feature {name} is too large for {len(broken)} of {half} pairs, pair {broken[0]} first, and taken as "
            "0 there; leave out large decays or split long texts.",
            stacklevel=levels_to_user(),
        )
        values[broken] = 0.0
        scale[broken] = 0.0
    result = np.zeros(half)
    np.divide(values, scale, out=result, where=scale > 0)
    return result


_LEARNT = {"similarity_": "semantic", "grammar_": "grammar", "loosened_grammar_": "loosened"}


def write_unfitted(features: PairFeatures, writer: Writer) -> dict[str, Any]:
    """Describe the parameters for a model file."""
    similarity = None if features.similarity is None else writer.part(features.similarity)
    return {**writer.parameters(features, ("similarity",)), "similarity": similarity}


def read_unfitted(data: dict[str, Any], reader: Reader) -> PairFeatures:
    """Make what ``write_unfitted`` has described."""
    plain = {name: value for name, value in data.items() if name != "similarity"}
    similarity = None if data["similarity"] is None else reader.part(data["similarity"], WordSimilarity)
    features: PairFeatures = reader.make(PairFeatures, {"params": plain}, similarity=similarity)
    return features


def _write(features: PairFeatures, writer: Writer) -> dict[str, Any]:
    check_is_fitted(features)
    counts = features.rarity_.counts
    learnt = {name: getattr(features, name) for name in _LEARNT}
    return {
        "params": write_unfitted(features, writer),
        "words": list(counts),
        "counts": writer.array(np.fromiter(counts.values(), dtype=np.int64, count=len(counts))),
        "sentences": features.rarity_.sentences,
        "learnt": {name: None if part is None else writer.part(part) for name, part in learnt.items()},
    }


def _read(data: dict[str, Any], reader: Reader) -> PairFeatures:
    features = read_unfitted(data["params"], reader)
    words, sentences = reader.texts(data["words"]), reader.count(data["sentences"])
    counts = reader.indices(data["counts"], sentences + 1, np.int64, count=len(words)).tolist()
    if 0 in counts:
        raise reader.fail("a word is never counted")
    features.rarity_ = Rarity(dict(zip(words, counts, strict=True)), sentences)
    for name, group in _LEARNT.items():
        part = data["learnt"][name]
        if (part is None) == (group in features.groups):
            raise reader.fail(f"what was learnt for the group {group!r} does not fit the parameters")
        kind = WordSimilarity if group == "semantic" else Grammar
        setattr(features, name, None if part is None else reader.part(part, kind))
    features.n_features_out_ = len(features.get_feature_names_out())
    return features


register("PairFeatures", PairFeatures, _write, _read)
