"""How alike the words of the nursery are: its synonyms, as a table that kernels can use."""

from __future__ import annotations

from itertools import combinations

from sapwood.corpora.nursery.lexicon import Lexicon
from sapwood.words import Folded, Table

__all__ = ["synonyms"]


def synonyms(words: Lexicon, alike: float = 0.6) -> Folded:
    """Return a similarity that knows the synonyms of the nursery, form by form, and nothing else.

    Parameters
    ----------
    words : Lexicon
        Where the synonyms stand.
    alike : float
        How alike two of them are.

    Examples
    --------
    >>> from sapwood.corpora.nursery import lexicon
    >>> similarity = synonyms(lexicon())
    >>> similarity("dog", "hound"), similarity("dog", "cat")
    (0.6, 0.0)
    """
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for noun in words.nouns.values():
        groups.setdefault(noun.synonyms, []).append((noun.singular, noun.plural))
    for verb in words.verbs.values():
        groups.setdefault(verb.synonyms, []).append((verb.base, verb.present, verb.past, verb.participle))
    groups |= {pair: [(pair[0],), (pair[1],)] for pair in words.same_adjectives.items()}
    entries = {
        (one, other): alike
        for forms in groups.values()
        for first, second in combinations(forms, 2)
        for one, other in zip(first, second, strict=True)
        if one != other
    }
    return Folded(Table(entries))
