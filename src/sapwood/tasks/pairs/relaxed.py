"""A grammar that does not mind missing articles and wrong agreement, and the kernel that goes with it.

"What is best way to learn" and "What is the best way to learn", "How do it work" and "How does it work" are one
question each to a reader, but share no clause to a kernel that wants productions to be the same. Here determiners may
be left out of every phrase, tags may change number and person, and words that differ in such an ending are nearly the
same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sapwood.errors import ParameterError
from sapwood.kernels.grammar_driven import GrammarDriven
from sapwood.penn import ADJECTIVE_TAGS, ADVERB_TAGS, NOUN_TAGS
from sapwood.trees.array import TreeArray
from sapwood.trees.grammar import Grammar, Rule
from sapwood.words.forms import Inflected

__all__ = ["relaxed_grammar", "relaxed_kernel"]

# Penn tags that learners of English often mix up: number of nouns, agreement and form of verbs, degree.
_TAG_SETS = (
    ADJECTIVE_TAGS,
    ADVERB_TAGS,
    NOUN_TAGS[:2],
    NOUN_TAGS[2:],
    ("VB", "VBP", "VBZ"),
    ("VBD", "VBN"),
)


def relaxed_grammar(
    trees: TreeArray | Sequence[Any], *, optional: Sequence[str] = ("DT",), min_count: int = 1
) -> Grammar:
    """Read a grammar off trees in which some tags are optional wherever they are not the head.

    Every rule is there as it was seen and once more without its optional children, as if that had been seen, too; a
    single child may be what is left. Nothing else can be deleted.

    Parameters
    ----------
    trees : TreeArray or list of trees
        Where the rules come from.
    optional : sequence of str
        Labels that may be missing: Penn's determiners by default.
    min_count : int
        How often a production must occur to become a rule.

    Examples
    --------
    >>> grammar = relaxed_grammar(["(NP (DT the) (JJ best) (NN way))"])
    >>> grammar.reductions("NP", ["DT", "JJ", "NN"])
    [('JJ', 'NN')]
    >>> grammar.reductions("NP", ["DT", "NN"])  # without the article no such phrase was seen
    []
    """
    labels = frozenset([optional] if isinstance(optional, str) else optional)
    if isinstance(optional, str) or not labels or not all(isinstance(label, str) and label for label in labels):
        raise ParameterError(f"optional must list labels such as 'DT', got {optional!r}.")
    seen = Grammar.from_trees(trees, min_count=min_count)
    rules: list[Rule] = list(seen.rules)
    counts = list(seen.counts)
    known = {(lhs, rhs) for lhs, rhs, _ in rules}
    for lhs, rhs, head in seen.rules:
        kept = [k for k, label in enumerate(rhs) if label not in labels or k == head]
        shorter = lhs, tuple(rhs[k] for k in kept)
        if shorter not in known:
            known.add(shorter)
            rules.append((*shorter, kept.index(head)))
            counts.append(1)
    return Grammar(
        rules, seen.heads, counts=counts, deletable=labels, min_children=1, phrasal_labels=seen.phrasal_labels
    )


def relaxed_kernel(
    grammar: Grammar | None = None, *, decay: float = 0.4, deletion: float = 0.8, mutation: float = 0.5
) -> GrammarDriven:
    """Return a grammar-driven kernel that is lenient about articles and agreement.

    Parameters
    ----------
    grammar : Grammar, optional
        Usually from ``relaxed_grammar``.
    decay, deletion, mutation : float
        As for ``GrammarDriven``; higher than its defaults, since such mistakes should cost little.

    Examples
    --------
    >>> right, wrong = "(NP (DT the) (JJ best) (NNS ways))", "(NP (JJ best) (NN way))"
    >>> kernel = relaxed_kernel(relaxed_grammar([right, wrong])).normalized()
    >>> from sapwood.kernels import SubsetTree
    >>> round(kernel(right, wrong), 2), round(SubsetTree().normalized()(right, wrong), 2)
    (0.54, 0.21)
    """
    return GrammarDriven(
        grammar,
        decay=decay,
        deletion=deletion,
        mutation=mutation,
        mutation_sets=_TAG_SETS,
        lexical=Inflected(0.8),
        normalize_mutation=True,
    )
