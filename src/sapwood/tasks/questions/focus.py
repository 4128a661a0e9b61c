"""What a question asks about: its question word and its focus, found by rule in a constituent tree.

The focus is the noun whose kind is the kind of the answer: *country* in "Which country ...", *capital* in "What is the
capital of ...". Only reading it off a tree is here; trees for kernels are built from it in ``shapes``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sapwood.notebook import HtmlTable
from sapwood.penn import NOUN_TAGS, QUESTION_TAGS
from sapwood.trees.heads import bare_label
from sapwood.trees.positions import Positions
from sapwood.trees.tree import Tree
from sapwood.words.lemmas import lemma

__all__ = ["Focus", "QuestionTree", "find_focus", "focus_of"]

# Nouns that only lead to the one that matters, as in "what kind of animal".
_THROUGH = frozenset(["kind", "type", "sort", "name", "brand", "breed", "variety"])
_QUESTION_WORDS = frozenset(["what", "which", "who", "whom", "whose", "when", "where", "why", "how"])
_NOUN_PHRASES = frozenset(["NP", "NX", "NML", "NAC", "WHNP", "QP"])
# What follows the head of a simple noun phrase.
_ENDS = ("PP", "SBAR", "VP", "S", "CC", ",")


@dataclass(frozen=True)
class Focus(HtmlTable):
    """What a question asks about.

    Attributes
    ----------
    word : str
        The question word in lower case, *how* joined with what it asks the degree of (``how_many``); the first word
        where there is no question word.
    head : str or None
        The lemma of the focus.
    modifiers : tuple of str
        The lemmas right before the head that name it together with it, nearest last.
    position : int or None
        Which word of the question the head is, from 0.
    asked : int
        Which word of the question the question word is, or the first part of it.
    """

    word: str
    head: str | None
    modifiers: tuple[str, ...] = ()
    position: int | None = None
    asked: int = 0


class QuestionTree(Positions):
    """A constituent tree read once: its places, their labels without function tags, its words and their tags."""

    __slots__ = ("bare", "tags", "words")

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self.bare = [bare_label(at) if below else at for at, below in zip(self.labels, self.children, strict=True)]
        self.words = [self.labels[leaf] for leaf in self.leaves]
        # A leaf beside constituents is a word whose tag is not known.
        above = [self.parent[leaf] for leaf in self.leaves]
        self.tags = [self.bare[tag] if tag >= 0 and len(self.children[tag]) == 1 else "" for tag in above]

    def end(self, node: int) -> int:
        """Return the word right after a constituent."""
        return self.last[node] + 1

    def below(self, node: int) -> list[int]:
        """Return the constituents right below one."""
        return [child for child in self.children[node] if self.children[child]]

    def nouns(self, start: int, end: int | None = None) -> list[int]:
        """Return which words of a range are nouns."""
        stop = len(self.words) if end is None else end
        return [word for word in range(start, stop) if self.tags[word] in NOUN_TAGS]


def find_focus(tree: Tree) -> Focus:
    """Find question word and focus.

    The focus is the head of the question phrase ("which *country*"), else of the first noun phrase after the verb
    ("what is the *capital* of"), looking through "kind of", "type of" and "name of".

    Parameters
    ----------
    tree : Tree
        A constituent tree with Penn labels. Other trees give what can be told from their words.

    Examples
    --------
    >>> phrase = "(WHNP (WDT What) (NN kind) (PP (IN of) (NP (NN animal))))"
    >>> find_focus(Tree.fromstring(f"(SBARQ {phrase} (SQ (VBZ is) (NP (NNP Babar))))"))
    Focus(word='what', head='animal', modifiers=(), position=3, asked=0)
    >>> find_focus(Tree.fromstring("(SBARQ (WHADJP (WRB How) (JJ tall)) (SQ (VBZ is) (NP (PRP he))))")).word
    'how_tall'
    """
    return focus_of(QuestionTree(tree))


def focus_of(tree: QuestionTree) -> Focus:
    """Find question word and focus in a tree that has been read."""
    words = [word.lower() for word in tree.words]
    asked = _question_word(tree, words)
    found = _focus_after(tree, words, asked)
    return found if asked is None else replace(found, asked=asked)


def _focus_after(tree: QuestionTree, words: Sequence[str], asked: int | None) -> Focus:
    if asked is None:
        # An order ("Name a ...") or a question without a question word: its first noun phrase is the focus.
        return _focus(words[0], tree, _first_noun_phrase(tree, 1), 0)
    word = words[asked]
    after = asked + 1
    if (
        word == "how"
        and after < len(words)
        and (tree.tags[after].startswith(("JJ", "RB")) or words[after] in ("many", "much"))
    ):
        word = f"how_{words[after]}"
        after += 1
    phrase = _question_phrase(tree, asked)
    if phrase is not None and _has_noun(tree, phrase, after):
        return _focus(word, tree, phrase, after)
    start = max(after, tree.end(phrase) if phrase is not None else 0)
    noun_phrase = _first_noun_phrase(tree, start)
    if noun_phrase is None and not tree.nouns(start):
        # The question word comes last ("... is called what ?"): what is called so is the focus.
        return _focus(word, tree, _first_noun_phrase(tree, 0), 0)
    return _focus(word, tree, noun_phrase, start)


def _question_word(tree: QuestionTree, words: Sequence[str]) -> int | None:
    """Return the word that asks: one that also joins clauses ("the man who ...") only if no other does."""
    found = [at for at, word in enumerate(words) if word in _QUESTION_WORDS]
    if found and found[0] > 0:
        # "The man who ... is called what ?" asks with its last one, "In which city ..." with its first.
        early = [at for at in found if at <= 3 and words[at] not in ("who", "whom", "whose")]
        return early[0] if early else found[-1]
    return found[0] if found else next((at for at, tag in enumerate(tree.tags) if tag in QUESTION_TAGS), None)


def _question_phrase(tree: QuestionTree, asked: int) -> int | None:
    """Return the largest WH phrase that starts with the question word, or holds it early on ("in what city")."""
    node: int | None = 0
    while node is not None and not tree.bare[node].startswith("WH"):
        node = next((child for child in tree.below(node) if tree.first[child] <= asked < tree.end(child)), None)
    return node


def _has_noun(tree: QuestionTree, phrase: int, start: int) -> bool:
    return bool(tree.nouns(max(tree.first[phrase], start), tree.end(phrase)))


def _noun_phrases(tree: QuestionTree, top: int) -> Iterator[int]:
    """Yield the noun phrases within a constituent, in the order of the text, larger ones first."""
    for node in range(top, len(tree)):
        # Places are numbered in pre-order: what follows the last one within is outside.
        if tree.first[node] > tree.last[top]:
            break
        if tree.children[node] and tree.bare[node] in _NOUN_PHRASES:
            yield node


def _first_noun_phrase(tree: QuestionTree, start: int) -> int | None:
    """Return the first noun phrase that begins at or after a word and holds a noun."""
    phrases = (node for node in _noun_phrases(tree, 0) if tree.first[node] >= start)
    return next((node for node in phrases if _has_noun(tree, node, start)), None)


def _focus(word: str, tree: QuestionTree, phrase: int | None, start: int) -> Focus:
    if phrase is None:
        # Flat trees have no phrases: take the first run of nouns.
        nouns = tree.nouns(start)
        return _named(word, tree, _last_of_run(nouns), start) if nouns else Focus(word, None)
    while True:
        head = _head(tree, phrase, start)
        if head is None:
            return Focus(word, None)
        through = lemma(tree.words[head], tree.tags[head]) in _THROUGH
        following = _complement(tree, phrase, head) if through else None
        if following is None:
            return _named(word, tree, head, start)
        phrase, start = following, tree.first[following]


def _named(word: str, tree: QuestionTree, head: int, start: int) -> Focus:
    first = head
    while first > start and first > head - 3 and tree.tags[first - 1].startswith(("NN", "JJ")):
        first -= 1
    *modifiers, name = (lemma(tree.words[at], tree.tags[at]) for at in range(first, head + 1))
    return Focus(word, name, tuple(modifiers), head)


def _head(tree: QuestionTree, phrase: int, start: int) -> int | None:
    """Return the last noun of the first simple noun phrase; of possessor and possessed, the one that is asked for."""
    node, asking = phrase, tree.bare[phrase].startswith("WH")
    while True:
        below = tree.below(node)
        inner = [c for c in below if tree.bare[c] in _NOUN_PHRASES and _has_noun(tree, c, start)]
        if not inner:
            break
        first = inner[0]
        # A possessor ("the city 's mayor") is a noun phrase too, but not the one that is meant.
        if tree.tags[tree.last[first]] == "POS" and not asking:
            rest = tree.nouns(tree.end(first), tree.end(node))
            if rest:
                return _last_of_run(rest)
        possessive = "POS" in tree.tags[tree.first[first] : tree.end(first)]
        if not (asking and tree.first[first] <= tree.first[node] + 1 and possessive):
            after = max(tree.end(first), start)
            own = [tree.first[c] for c in below if tree.bare[c] in NOUN_TAGS and tree.first[c] >= after]
            if own:
                return own[-1]
        node = first
    begin, end = tree.first[node], tree.end(node)
    nouns = tree.nouns(max(begin, start), end)
    if asking:
        # In "what state 's largest city" it is the state that is asked for.
        owner = next((at for at in range(begin, end) if tree.tags[at] == "POS"), end)
        nouns = [at for at in nouns if at < owner] or nouns
    stop = next((tree.first[c] for c in tree.below(node) if tree.bare[c] in _ENDS), end)
    before = [at for at in nouns if at < stop]
    return before[-1] if before else (nouns[0] if nouns else None)


def _last_of_run(nouns: Sequence[int]) -> int:
    """Return the last of the words that follow each other from the first one on."""
    return next((at for at, after in pairwise([*nouns, -1]) if after != at + 1))


def _complement(tree: QuestionTree, phrase: int, head: int) -> int | None:
    """Return the noun phrase of an *of* that follows the head inside its phrase."""
    if head + 1 >= len(tree.words) or tree.words[head + 1].lower() not in ("of", "for"):
        return None
    phrases = (node for node in _noun_phrases(tree, phrase) if tree.first[node] == head + 2)
    return next((node for node in phrases if _has_noun(tree, node, head + 2)), None)
