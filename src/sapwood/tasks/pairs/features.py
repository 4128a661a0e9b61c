"""Pairs of sentences as rows of numbers: tree kernels over a grid of decays beside measures of shared words.

All kernel values are normalised, k(a, b)/√(k(a, a)·k(b, b)), and computed pair by pair; no Gram matrix is ever made.
What is learnt in ``fit`` is how rare words are, a grammar, and a word similarity where it learns from data. With an
encoder, words are compared in context, too: by their vectors alone, and inside of trees.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sapwood import settings
from sapwood.callers import levels_to_user
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.kernels.base import Kernel
from sapwood.kernels.data import join
from sapwood.kernels.flat import Linear
from sapwood.kernels.grammar_driven import GrammarDriven
from sapwood.kernels.native import check_decay
from sapwood.kernels.semantic import SemanticSubsetTree
from sapwood.kernels.syntactic import PartialTree, SubsetTree, Subtree
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.pairs.context import CONTEXT_NAMES, context_features
from sapwood.tasks.pairs.lexical import LEXICAL_NAMES, Rarity, lexical_features, words_of
from sapwood.tasks.pairs.reading import read_pair_trees
from sapwood.tasks.pairs.relaxed import relaxed_grammar, relaxed_kernel
from sapwood.trees.array import TreeArray
from sapwood.trees.grammar import Grammar
from sapwood.trees.transforms import map_leaves
from sapwood.words.base import WordSimilarity
from sapwood.words.contextual import Contextual
from sapwood.words.encoder import Encoder, EncoderSpec
from sapwood.words.encoder.needed import ENCODER_SPEC, UsesEncoder
from sapwood.words.forms import Folded
from sapwood.words.latent import Latent

__all__ = ["CONTEXT_GROUPS", "DECAYS", "GROUPS", "PairFeatures"]

Matrix = NDArray[np.float64]
_Kind = tuple[str, Callable[[Any, float], Kernel]]

DECAYS = (1.0, 0.8, 0.5, 0.4, 0.2, 0.1, 0.05, 0.02)

# The kernel of each group of features at one decay, and the parameter that lists its decays. The grammar-driven kernel
# is there twice: with the grammar of the training trees, and with one that is lenient about articles and agreement.
_KERNELS: dict[str, _Kind] = {
    "subtree": ("decays", lambda fitted, decay: Subtree(decay=decay)),
    "subset": ("decays", lambda fitted, decay: SubsetTree(decay=decay)),
    "subset_words": ("decays", lambda fitted, decay: SubsetTree(decay=decay, bag_of_words=True)),
    "partial": ("coarse_decays", lambda fitted, decay: PartialTree(decay=decay)),
    "semantic": ("coarse_decays", lambda fitted, decay: SemanticSubsetTree(fitted.similarity_, decay=decay)),
    "grammar": ("coarse_decays", lambda fitted, decay: GrammarDriven(fitted.grammar_, decay=decay)),
    "relaxed": ("coarse_decays", lambda fitted, decay: relaxed_kernel(fitted.relaxed_grammar_, decay=decay)),
}

# The same for trees with vectors on their leaves: words count five times, which was best in cross-validation.
_IN_CONTEXT: dict[str, _Kind] = {
    "context_trees": (
        "coarse_decays",
        lambda fitted, decay: SemanticSubsetTree(Contextual(sharpness=8.0), decay=decay, leaf_weight=5.0),
    ),
}

GROUPS = ("lexical", *_KERNELS)
CONTEXT_GROUPS = ("context", *_IN_CONTEXT)
"""The groups that need an encoder."""

# The last layer was best in cross-validation: it knows most of the whole sentence.
_LAYERS = (-1,)
# Pairs whose vectors are in memory at a time.
_BLOCK = 1024


class PairFeatures(UsesEncoder, TransformerMixin, SequenceInput, BaseEstimator):
    """Numbers that say how alike two sentences are, in words, in syntax and in meaning.

    Parameters
    ----------
    groups : sequence of str, optional
        Which groups of features: ``lexical`` (shared words), ``subtree``, ``subset``, ``subset_words``, ``partial``,
        ``semantic`` (kernels of trees), ``grammar`` and ``relaxed`` (the grammar-driven kernel), and with an encoder
        ``context`` (vectors of words in context) and ``context_trees`` (SSTK with such words). Default: all.
    decays : sequence of float
        λ of ST, SST and SST with words.
    coarse_decays : sequence of float
        λ of the kernels that take longer: PTK, SSTK with and without context, and the grammar-driven ones.
    similarity : WordSimilarity, optional
        How alike words are to the semantic group. Default: latent semantics of the training sentences, in lower case.
    lowercase : bool
        Whether kernels see words in lower case; encoders see them as they are.
    encoder : Encoder, path or str, optional
        A pretrained encoder for words in context, its folder or its name (``"minilm"``); a folder or name is opened
        with its last layer and the mean of the pieces of a word. Model files hold its name and digest, not its weights.
        Needs ``pip install 'sapwood[encoder]'``.

    Attributes
    ----------
    rarity_ : Rarity
        How rare words are in the training sentences.
    similarity_ : WordSimilarity or None
        The similarity with what it has learnt.
    grammar_, relaxed_grammar_ : Grammar or None
        The grammars of the training trees.
    n_features_out_ : int

    Notes
    -----
    A pair has two members: text, a list of words, a tree, or a list of trees; ``Examples`` with the views ``first`` and
    ``second`` hold many. Text gets flat trees, with a warning. The order within a pair does not matter to any feature.
    A sentence without words is 0 with everything, and marked by the feature ``lexical__empty``.

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
    relaxed_grammar_: Grammar | None
    n_features_out_: int

    def __init__(
        self,
        groups: Sequence[str] | None = None,
        *,
        decays: Sequence[float] = DECAYS,
        coarse_decays: Sequence[float] = (0.8, 0.4, 0.1),
        similarity: WordSimilarity | None = None,
        lowercase: bool = True,
        encoder: Any = None,
    ) -> None:
        self.groups = groups
        self.decays = decays
        self.coarse_decays = coarse_decays
        self.similarity = similarity
        self.lowercase = lowercase
        self.encoder = encoder

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training pairs; targets are not looked at.

        Parameters
        ----------
        X : Examples or sequence of pairs
        y : ignored
        """
        self._forget_encoder()
        self._check()
        encoder = self._context()
        self._spec = None if encoder is None else encoder.spec
        members = self._members(X)
        if not len(members):
            raise DataError("there is nothing to learn from: X has no examples.")
        sentences = members.leaves()
        self.rarity_ = Rarity.learn([[word.lower() for word in words_of(words)] for words in sentences])
        self.similarity_ = self.grammar_ = self.relaxed_grammar_ = None
        if "semantic" in self._groups:
            similarity = Folded(Latent(dimensions=50)) if self.similarity is None else self.similarity
            # A sentence without words teaches nothing, and latent semantics wants some.
            texts = [words for words in sentences if words]
            if not texts:
                raise DataError("the training pairs hold no words, so there is nothing to learn word meaning from.")
            self.similarity_ = similarity.bind(lambda: texts)
        if "grammar" in self._groups:
            self.grammar_ = Grammar.from_trees(members)
        if "relaxed" in self._groups:
            self.relaxed_grammar_ = relaxed_grammar(members)
        self.n_features_out_ = len(self.get_feature_names_out())
        return self

    def transform(self, X: Any) -> Matrix:
        """Return one row per pair and one column per feature."""
        check_is_fitted(self)
        members = self._members(X)
        half = len(members) // 2
        columns: list[Matrix] = []
        if "lexical" in self._groups:
            words = [words_of(leaves) for leaves in members.leaves()]
            columns.append(lexical_features(words[:half], words[half:], self.rarity_))
        kernels = list(self._kernels(_KERNELS))
        spelled = map_leaves(members, str.lower) if self.lowercase and kernels else members
        with settings.progress_bar(len(kernels), "Pair features", "kernels") as progress:
            for done, (name, make) in enumerate(kernels):
                columns.append(_normalized(name, make(), spelled)[:, None])
                if progress is not None:
                    progress(done + 1)
        encoder = self._context()
        if encoder is not None:
            columns.append(self._in_context(members, encoder))
        return np.hstack(columns)

    def _in_context(self, members: TreeArray, encoder: Encoder) -> Matrix:
        """Return the columns that need vectors, which are in memory for some pairs at a time."""
        half = len(members) // 2
        rows: list[Matrix] = []
        for begin in range(0, max(half, 1), _BLOCK):
            chosen = np.arange(begin, min(begin + _BLOCK, half))
            some = members[np.concatenate([chosen, chosen + half])]
            leaves = some.leaves()
            vectors = list(encoder.encode_batch(leaves))
            columns: list[Matrix] = []
            if "context" in self._groups:
                sentences = list(zip(leaves, vectors, strict=True))
                columns.append(context_features(sentences[: len(chosen)], sentences[len(chosen) :], self.rarity_))
            if "context_trees" in self._groups:
                trees = some.with_vectors(vectors)
                columns += [
                    _normalized(name, make(), trees, begin)[:, None] for name, make in self._kernels(_IN_CONTEXT)
                ]
            rows.append(np.hstack(columns))
        return np.vstack(rows)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the name of every column: group, two underscores, and the measure or decay."""
        self._check()
        names = [f"lexical__{name}" for name in LEXICAL_NAMES] if "lexical" in self._groups else []
        names += [name for name, _ in self._kernels(_KERNELS)]
        names += [f"context__{name}" for name in CONTEXT_NAMES] if "context" in self._groups else []
        names += [name for name, _ in self._kernels(_IN_CONTEXT)]
        return np.array(names, dtype=object)

    @property
    def _groups(self) -> Sequence[str]:
        """The groups that are there: by default all that can be."""
        if self.groups is not None:
            return self.groups
        return (*GROUPS, *CONTEXT_GROUPS) if self._has_encoder else GROUPS

    @property
    def _has_encoder(self) -> bool:
        return self.encoder is not None or getattr(self, "_spec", None) is not None

    def _context(self) -> Encoder | None:
        """Return the encoder, opened, if a group needs it."""
        if not any(group in self._groups for group in CONTEXT_GROUPS):
            return None
        return self._encoder(pieces="mean", layers=_LAYERS)

    def _members(self, X: Any) -> TreeArray:
        """Return the first members of all pairs and, after them, the second ones."""
        found = read_pair_trees(X)
        found.report()
        joined = join(found.pairs["first"], found.pairs["second"])
        assert isinstance(joined, TreeArray)
        return joined

    def _kernels(self, kinds: dict[str, _Kind]) -> Iterator[tuple[str, Callable[[], Kernel]]]:
        """Yield the name of every column of some groups, and what makes its kernel once this is fitted."""
        for group, (decays, make) in kinds.items():
            if group not in self._groups:
                continue
            if group == "semantic":
                yield "semantic__words", lambda: Linear(words=self.similarity_)
            for decay in map(float, getattr(self, decays)):
                yield f"{group}__{decay:g}" if decay != 1 else f"{group}__1.0", partial(make, self, decay)

    def _check(self) -> None:
        known = (*GROUPS, *CONTEXT_GROUPS)
        if isinstance(self.groups, str) or not self._groups:
            raise ParameterError(f"groups must list some of {', '.join(known)}; got {self.groups!r}.")
        for group in self._groups:
            if group not in known:
                raise ParameterError(f"there is no group {group!r} of features; there are {', '.join(known)}.")
            if group in CONTEXT_GROUPS and not self._has_encoder:
                raise ParameterError(f'the group {group!r} needs an encoder; pass encoder=, such as encoder="minilm".')
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


def _normalized(name: str, kernel: Kernel, members: TreeArray, begin: int = 0) -> Matrix:
    """Divide by both self-kernels; members without words, which share nothing even with themselves, are 0.

    In what is told, pairs are numbered from ``begin``.
    """
    half = len(members) // 2
    values, diagonal = kernel._pairwise_and_diag(members)
    # The roots first: a product of two self-kernels may be too large where neither is.
    scale = np.sqrt(diagonal[:half]) * np.sqrt(diagonal[half:])
    broken = np.flatnonzero(~np.isfinite(values) | ~np.isfinite(scale))
    if len(broken):
        warnings.warn(
            f"the feature {name} is too large for {len(broken)} of {half} pairs, pair {begin + broken[0]} first, and "
            "taken as 0 there; leave out large decays or split long texts.",
            stacklevel=levels_to_user(),
        )
        values[broken] = 0.0
        scale[broken] = 0.0
    result = np.zeros(half)
    np.divide(values, scale, out=result, where=scale > 0)
    return result


_LEARNT = {"similarity_": "semantic", "grammar_": "grammar", "relaxed_grammar_": "relaxed"}


def write_unfitted(features: PairFeatures, spec: EncoderSpec | None, writer: Writer) -> dict[str, Any]:
    """Describe the parameters for a model file; the encoder by what a fitted object remembers of it."""
    similarity = None if features.similarity is None else writer.part(features.similarity)
    described = {**writer.parameters(features, ("similarity", "encoder")), "similarity": similarity}
    return described if spec is None else {**described, "encoder": ENCODER_SPEC.write(spec, writer)}


def read_unfitted(data: dict[str, Any], reader: Reader) -> PairFeatures:
    """Make what ``write_unfitted`` has described; an encoder is there by its name."""
    plain = {name: value for name, value in data.items() if name not in ("similarity", "encoder")}
    if plain["groups"] is not None:
        # The first files have another name for the group "relaxed".
        plain["groups"] = tuple("relaxed" if group == "loosened" else group for group in plain["groups"])
    similarity = None if data["similarity"] is None else reader.part(data["similarity"], WordSimilarity)
    spec = ENCODER_SPEC.read(data.get("encoder"), reader)
    name = None if spec is None else spec.name
    features: PairFeatures = reader.make(PairFeatures, {"params": plain}, similarity=similarity, encoder=name)
    return features


def _write(features: PairFeatures, writer: Writer) -> dict[str, Any]:
    check_is_fitted(features)
    counts = features.rarity_.counts
    learnt = {name: getattr(features, name) for name in _LEARNT}
    return {
        "params": write_unfitted(features, features._spec, writer),
        "words": list(counts),
        "counts": writer.array(np.fromiter(counts.values(), dtype=np.int64, count=len(counts))),
        "sentences": features.rarity_.sentences,
        "learnt": {name: None if part is None else writer.part(part) for name, part in learnt.items()},
    }


def _read(data: dict[str, Any], reader: Reader) -> PairFeatures:
    features = read_unfitted(data["params"], reader)
    features._spec = ENCODER_SPEC.read(data["params"].get("encoder"), reader)
    words, sentences = reader.texts(data["words"]), reader.count(data["sentences"])
    counts = reader.indices(data["counts"], sentences + 1, np.int64, count=len(words)).tolist()
    if 0 in counts:
        raise reader.fail("a word is never counted")
    features.rarity_ = Rarity(dict(zip(words, counts, strict=True)), sentences)
    old = "loosened_grammar_" in data["learnt"]
    for name, group in _LEARNT.items():
        part = data["learnt"]["loosened_grammar_" if old and group == "relaxed" else name]
        if (part is None) == (group in features._groups):
            raise reader.fail(f"what was learnt for the group {group!r} does not fit the parameters")
        kind = WordSimilarity if group == "semantic" else Grammar
        setattr(features, name, None if part is None else reader.part(part, kind))
    features.n_features_out_ = len(features.get_feature_names_out())
    return features


register("PairFeatures", PairFeatures, _write, _read)
