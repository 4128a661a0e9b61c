"""The grammar-driven convolution kernel: shared fragments up to optional children and similar tags.

After Zhang et al., "A Grammar-driven Convolution Tree Kernel for Semantic Role Classification" (ACL 2007). Parameters
and checks are here, the arithmetic is native; rules are in ``sapwood.trees.Grammar``, word
similarities in ``sapwood.words``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sparse

from sapwood import _core
from sapwood.checks import check_choice, check_flag, check_share
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.base import Kernel
from sapwood.kernels.links import WordLinker, pack_links
from sapwood.kernels.native import Arguments, Columns, NativeTreeKernel, check_decay
from sapwood.penn import ADJECTIVE_TAGS, ADVERB_TAGS, NOUN_TAGS
from sapwood.trees.array import TreeArray
from sapwood.trees.grammar import Grammar
from sapwood.words.base import WordSimilarity

__all__ = ["PENN_TAG_SETS", "GrammarDriven", "WordKernel"]

PENN_TAG_SETS = (ADJECTIVE_TAGS, ADVERB_TAGS, (*NOUN_TAGS, "NAC", "NX"))
"""Penn tags that may stand for each other. Verb tags are left out on purpose: they tell active from passive."""


@runtime_checkable
class WordKernel(Protocol):
    """What ``lexical`` may be: something that compares two lists of words."""

    def matrix(self, words: Sequence[str], others: Sequence[str], /) -> Any:
        """Return a sparse matrix with one row per word and one column per other word."""


class GrammarDriven(NativeTreeKernel):
    """The grammar-driven kernel: fragments match up to optional children and mutated tags.

    Two phrases with the same label share λ·Σ λ₁^(deleted children)·∏(1 + what aligned children share), summed over the
    ways to reduce both productions to one rule of the grammar; two pre-terminals share λ·M(tag, tag)·σ(word, word).

    Parameters
    ----------
    grammar : Grammar, optional
        The rules. None: they are read off the training trees by ``bind``, which estimators call in ``fit``.
    decay : float
        λ, in (0, 1]: each production of a fragment multiplies its weight by this.
    deletion : float
        λ₁, in [0, 1]: the penalty for an optional child that is left out; 0 forbids it.
    mutation : float
        λ₂, in [0, 1]: the penalty for a tag that stands for another one; 0 forbids it.
    mutation_sets : sequence of sequences of str
        Tags that may stand for each other; no tag in two sets.
    lexical : {"exact", "ignore"} or word similarity
        What words under pre-terminals count: 1 if equal, always 1, or ``lexical.matrix(words, others)``.
    mutation_scope : {"deep", "root"}
        "deep": tags may mutate inside productions too. "root": only where two pre-terminals are compared by
        themselves, as the formulas are printed.
    duplicates : {"count", "canonical"}
        When several deletions leave the same rule: "count" adds them all up, "canonical" keeps the leftmost.
    normalize_mutation : bool
        Whether M is divided so that every tag is 1 with itself.

    Notes
    -----
    A node is a pre-terminal if its only child is a leaf and its own label is no left-hand side of the grammar. Any
    other leaf is a frontier label: it matches itself and nothing below it counts. It never mutates, but a pre-terminal
    may mutate into it. Nodes with a mark of the grammar (``-ARG``, ``-PRED``, ``-PATH``) are never deleted.

    With ``deletion=0``, ``mutation=0`` and ``lexical="exact"`` the values are those of ``SubsetTree``. The kernel is
    positive semi-definite for all options (with a word similarity: if that is).

    Examples
    --------
    >>> from sapwood.trees import Grammar
    >>> rules = Grammar([("NP", ["DT", "JJ", "NN"], 2), ("NP", ["DT", "NN"], 1)])
    >>> k = GrammarDriven(rules, decay=1.0, mutation=0.0)
    >>> red, plain = "(NP (DT a) (JJ red) (NN car))", "(NP (DT a) (NN car))"
    >>> k.set_params(deletion=0.0)(red, plain)  # the tags DT and NN only, as in SubsetTree
    2.0
    >>> k.set_params(deletion=0.5)(red, plain)  # NP -> DT [JJ] NN at half its weight, with or without each word
    4.0
    """

    leaves_out_children = True

    def __init__(
        self,
        grammar: Grammar | None = None,
        decay: float = 0.4,
        deletion: float = 0.6,
        mutation: float = 0.3,
        mutation_sets: Sequence[Sequence[str]] = PENN_TAG_SETS,
        lexical: str | WordKernel = "exact",
        mutation_scope: str = "deep",
        duplicates: str = "count",
        normalize_mutation: bool = False,
    ) -> None:
        self.grammar = grammar
        self.decay = decay
        self.deletion = deletion
        self.mutation = mutation
        self.mutation_sets = mutation_sets
        self.lexical = lexical
        self.mutation_scope = mutation_scope
        self.duplicates = duplicates
        self.normalize_mutation = normalize_mutation
        self._validate()

    def _validate(self) -> None:
        if self.grammar is not None and not isinstance(self.grammar, Grammar):
            raise ParameterError(
                f"grammar must be a Grammar or None, got {self.grammar!r}; Grammar.from_trees(trees) makes one."
            )
        check_decay(self.decay, "decay")
        check_share(self.deletion, "deletion")
        check_share(self.mutation, "mutation")
        _check_sets(self.mutation_sets)
        if self.lexical not in ("exact", "ignore") if isinstance(self.lexical, str) else not _compares(self.lexical):
            raise ParameterError(
                f"lexical must be 'exact', 'ignore' or a word similarity with a method matrix(words, others), "
                f"got {self.lexical!r}."
            )
        check_choice(self.mutation_scope, "mutation_scope", ("deep", "root"))
        check_choice(self.duplicates, "duplicates", ("count", "canonical"))
        check_flag(self.normalize_mutation, "normalize_mutation")

    def _bind(self, X: Any) -> Kernel:
        trees = self._trees(X)
        params = self.get_params(deep=False)
        if self.grammar is None:
            params["grammar"] = Grammar.from_trees(trees)
        if hasattr(self.lexical, "bind"):
            params["lexical"] = self.lexical.bind(trees.leaves)
        return type(self)(**params)

    def _rules(self) -> Grammar:
        if self.grammar is None:
            raise ParameterError(
                "this GrammarDriven kernel has no grammar yet: give it one with grammar=Grammar.from_trees(trees), or "
                "let it learn one with kernel.bind(X)."
            )
        return self.grammar

    @property
    def compares_words_by_equality(self) -> bool:
        """Whether no word similarity is asked."""
        return isinstance(self.lexical, str)

    # A word similarity may be negative.
    never_negative = compares_words_by_equality

    def ignores_words(self, parents: frozenset[str]) -> bool:
        """Return whether ``lexical`` says so and none of the nodes is a phrase, under which a leaf is no word."""
        if not isinstance(self.lexical, str) or self.lexical != "ignore":
            return False
        rules = self._rules()
        return not any(rules._bare(label) in rules.phrasal_labels for label in parents)

    def _reserved_labels(self) -> set[str]:
        rules = [[left, *right] for left, right, *_ in self._rules().rules]
        return {label for labels in (*self.mutation_sets, *rules) for label in labels}

    def _native(self) -> _core.grammar.GrammarDriven:
        return _core.grammar.GrammarDriven(
            self._rules()._native,
            [list(tags) for tags in self.mutation_sets],
            float(self.decay),
            float(self.deletion),
            float(self.mutation),
            self.lexical if isinstance(self.lexical, str) else "similar",
            self.mutation_scope == "deep",
            self.duplicates == "canonical",
            bool(self.normalize_mutation),
        )

    def _columns(self, trees: TreeArray) -> _Reductions:
        return _Reductions(self._rules(), self.lexical, trees)

    _rows = NativeTreeKernel._native_rows
    _attribution = NativeTreeKernel._searched


class _Reductions(Columns):
    """What the grammar says of the columns, and how similar any words are to theirs."""

    def __init__(self, rules: Grammar, lexical: str | WordKernel, trees: TreeArray) -> None:
        super().__init__(trees)
        self._rules, self._lexical = rules, lexical
        self.side = (*self.side, rules._side(trees))
        self._linker: WordLinker | None = None
        if not isinstance(lexical, str):
            self._labels, self._words = rules._native.words(trees._arena, trees._as_bags())
            # Similarities of our own need to look at the words of the columns only once.
            if isinstance(lexical, WordSimilarity) and self._words:
                self._linker = WordLinker(lexical.against(self._words), self._labels)

    def rows(self, trees: TreeArray) -> tuple[Arguments, Arguments]:
        side = self.side if trees is self.trees else (trees._arena, trees._as_bags(), self._rules._side(trees))
        return side, (self.links(trees),)

    def links(self, trees: TreeArray) -> _core.grammar.WordLinks | None:
        """Compare the words of rows with those of the columns, where a similarity does that."""
        similarity = self._lexical
        if isinstance(similarity, str):
            return None
        labels, words = self._rules._native.words(trees._arena, trees._as_bags())
        others = self._words
        if self._linker is not None and words:
            return self._linker(labels, words, check=False)
        # Trees without words need no similarity.
        asked = bool(words and others)
        similar = sparse.csr_array(
            similarity.matrix(words, others) if asked else (len(words), len(others)), dtype=np.float64
        )
        if similar.shape != (len(words), len(others)):
            raise DataError(
                f"{similarity!r} compared {len(words)} words with {len(others)} and gave a matrix of shape "
                f"{similar.shape}."
            )
        if not np.isfinite(similar.data).all():
            raise DataError(f"{similarity!r} gave a similarity that is NaN or infinite; repair it first.")
        return pack_links(labels, self._labels, similar)


def _compares(value: object) -> bool:
    return isinstance(value, WordKernel) and not isinstance(value, type)


def _check_sets(sets: object) -> None:
    problem = "mutation_sets must list sets of tags, such as (('NN', 'NNS'), ('JJ', 'JJR', 'JJS'))"
    if isinstance(sets, str) or not isinstance(sets, Iterable):
        raise ParameterError(f"{problem}; got {sets!r}.")
    home: dict[str, int] = {}
    for number, tags in enumerate(sets):
        if isinstance(tags, str) or not isinstance(tags, Iterable):
            raise ParameterError(f"{problem}; set {number} is {tags!r}.")
        for tag in tags:
            if not isinstance(tag, str) or not tag:
                raise ParameterError(f"{problem}; set {number} holds {tag!r}.")
            if tag in home:
                where = "twice" if home[tag] == number else f"in the sets {home[tag]} and {number}"
                raise ParameterError(f"the tag {tag!r} stands {where} of mutation_sets; a tag may be in one set only.")
            home[tag] = number
