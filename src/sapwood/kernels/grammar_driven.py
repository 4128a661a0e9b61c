"""The grammar-driven convolution kernel: shared fragments up to optional children and similar tags.

After Zhang et al., "A Grammar-driven Convolution Tree Kernel for Semantic Role Classification" (ACL 2007). Parameters
and checks are here, the arithmetic is native; what is grammatical is the business of ``sapwood.trees.Grammar``, and how
alike words are that of ``sapwood.words``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sparse

from sapwood import _core, settings
from sapwood.checks import check_choice, check_flag, check_share
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.attribution import SEARCH_LIMIT, Attribution, Differences, Searched
from sapwood.kernels.base import Expansion, Kernel, Matrix
from sapwood.kernels.links import WordLinker, pack_links
from sapwood.kernels.syntactic import _trees, check_decay
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


class GrammarDriven(Kernel):
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
        λ₁, in [0, 1]: the price of an optional child that is left out; 0 forbids it.
    mutation : float
        λ₂, in [0, 1]: the price of a tag that stands for another one; 0 forbids it.
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
    >>> k.set_params(deletion=0.5)(red, plain)  # NP -> DT [JJ] NN at half price, with or without each word
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
        trees = _trees(X, self)
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

    def _linker(self, columns: TreeArray) -> Callable[[TreeArray], _core.grammar.WordLinks | None]:
        """Return what compares the words of rows with those of columns, where a similarity does that."""
        similarity = self.lexical
        if isinstance(similarity, str):
            return lambda rows: None
        native = self._rules()._native
        other_numbers, others = native.words(columns._arena, columns._as_bags())
        # Similarities of our own need to look at the words of the columns only once.
        linker = None
        if isinstance(similarity, WordSimilarity) and others:
            linker = WordLinker(similarity.against(others), other_numbers)

        def link(rows: TreeArray) -> _core.grammar.WordLinks:
            numbers, words = native.words(rows._arena, rows._as_bags())
            if linker is not None and words:
                return linker(numbers, words, check=False)
            # A similarity is not troubled with trees that hold no words.
            asked = bool(words and others)
            alike = sparse.csr_array(
                similarity.matrix(words, others) if asked else (len(words), len(others)), dtype=np.float64
            )
            if alike.shape != (len(words), len(others)):
                raise DataError(
                    f"{similarity!r} compared {len(words)} words with {len(others)} and gave a matrix of shape "
                    f"{alike.shape}."
                )
            if not np.isfinite(alike.data).all():
                raise DataError(f"{similarity!r} gave a similarity that is NaN or infinite; repair it first.")
            return pack_links(numbers, other_numbers, alike)

        return link

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        rows = _trees(X, self)
        columns = rows if Y is None else _trees(Y, self)
        rules = self._rules()
        K = np.empty((len(rows), len(columns)))
        other = None if Y is None else columns
        with settings.progress_bar(len(rows), "Gram matrix") as progress:
            self._native().gram(
                rows._arena,
                rows._as_bags(),
                rules._side(rows),
                None if other is None else other._arena,
                None if other is None else other._as_bags(),
                None if other is None else rules._side(other),
                self._linker(columns)(rows),
                K,
                settings.threads(),
                progress,
            )
        return K

    def _diag(self, X: Any) -> Matrix:
        return self._self_values(*self._prepare(X))

    def _pairwise(self, X: Any) -> Matrix:
        return self._pair_values(*self._prepare(X))

    def _pairwise_and_diag(self, X: Any) -> tuple[Matrix, Matrix]:
        prepared = self._prepare(X)
        return self._pair_values(*prepared), self._self_values(*prepared)

    def _prepare(self, X: Any) -> tuple[TreeArray, _core.grammar.Side, _core.grammar.WordLinks | None]:
        """Return trees, what the grammar says of them, and how alike their words are."""
        trees = _trees(X, self)
        return trees, self._rules()._side(trees), self._linker(trees)(trees)

    def _self_values(self, trees: TreeArray, side: _core.grammar.Side, links: _core.grammar.WordLinks | None) -> Matrix:
        values = np.empty(len(trees))
        self._native().diagonal(trees._arena, trees._as_bags(), side, links, values, settings.threads())
        return values

    def _pair_values(self, trees: TreeArray, side: _core.grammar.Side, links: _core.grammar.WordLinks | None) -> Matrix:
        values = np.empty(len(trees) // 2)
        with settings.progress_bar(len(values), "Pairs") as progress:
            self._native().pairs(trees._arena, trees._as_bags(), side, links, values, settings.threads(), progress)
        return values

    def _rows(self, X: Any, Y: Any, factors: Matrix, cache_bytes: int) -> Any:
        rows, columns = _trees(X, self), _trees(Y, self)
        rules = self._rules()
        return self._native().rows(
            rows._arena,
            rows._as_bags(),
            rules._side(rows),
            columns._arena,
            columns._as_bags(),
            rules._side(columns),
            self._linker(columns)(rows),
            factors,
            cache_bytes,
        )

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        support = _trees(X, self)
        rules = self._rules()
        links = self._linker(support)
        model = self._native().fragments(
            support._arena, support._as_bags(), rules._side(support), np.ascontiguousarray(weights)
        )

        def search(combination: Matrix, top: int, element: TreeArray | None, pairs: bool) -> _core.explain.Found:
            return model.heaviest(
                combination,
                None if element is None else element._arena,
                None if element is None else element._as_bags(),
                None if element is None else rules._side(element),
                links(support if element is None else element),
                pairs,
                top,
                SEARCH_LIMIT,
            )

        return Searched(Differences(self._expansion(X, weights)), search)

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        support = _trees(X, self)
        rules = self._rules()
        links = self._linker(support)
        model = self._native().model(
            support._arena, support._as_bags(), rules._side(support), np.ascontiguousarray(weights)
        )

        def evaluate(Y: Any) -> Matrix:
            rows = _trees(Y, self)
            result = np.empty((len(rows), weights.shape[1]))
            with settings.progress_bar(len(rows), "Scores") as progress:
                model.evaluate(
                    rows._arena,
                    rows._as_bags(),
                    rules._side(rows),
                    links(rows),
                    result,
                    settings.threads(),
                    progress,
                )
            return result

        return evaluate


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
