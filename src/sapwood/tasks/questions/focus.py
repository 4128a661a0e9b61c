"""What a question asks about: its question word and its focus, found by rule in a constituent tree.

The focus is the noun whose kind is the kind of the answer: *country* in "Which country ...", *capital* in "What is the
capital of ...". Only reading it off a tree is here; trees for kernels are built from it in ``shapes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sapwood.notebook import HtmlTable
from sapwood.penn import NOUN_TAGS, QUESTION_TAGS
from sapwood.trees.heads import bare_label
from sapwood.trees.tree import Tree
from sapwood.words.lemmas import lemma

__all__ = ["Focus", "find_focus"]

# Nouns that only lead to the one that matters, as in "what kind of animal".
_THROUGH = frozenset(["kind", "type", "sort", "name", "brand", "breed", "variety"])
_QUESTION_WORDS = frozenset(["what", "which", "who", "whom", "whose", "when", "where", "why", "how"])
_NOUN_PHRASES = frozenset(["NP", "NX", "NML", "NAC", "WHNP", "QP"])


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
    """

    word: str
    head: str | None
    modifiers: tuple[str, ...] = ()
    position: int | None = None


class _Token:
    """A word, its tag and its place."""

    __slots__ = ("position", "tag", "word")

    def __init__(self, word: str, tag: str, position: int) -> None:
        self.word, self.tag, self.position = word, tag, position


class _Node:
    """A constituent with the tokens under it; built once, so that spans need no further search."""

    __slots__ = ("children", "end", "label", "start")

    def __init__(self, label: str, start: int) -> None:
        self.label, self.start, self.end = label, start, start
        self.children: list[_Node] = []


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
    Focus(word='what', head='animal', modifiers=(), position=3)
    >>> find_focus(Tree.fromstring("(SBARQ (WHADJP (WRB How) (JJ tall)) (SQ (VBZ is) (NP (PRP he))))")).word
    'how_tall'
    """
    tokens, root = _read(tree)
    if not tokens:
        return Focus("", None)
    asked = _question_word(tokens)
    if asked is None:
        # An order ("Name a ...") or a question without a question word: its first noun phrase is the focus.
        phrase = _first_noun_phrase(root, 1, tokens)
        return _focus(tokens[0].word.lower(), phrase, tokens)
    word = asked.word.lower()
    after = asked.position + 1
    if word == "how" and after < len(tokens):
        degree = tokens[after]
        if degree.tag.startswith(("JJ", "RB")) or degree.word.lower() in ("many", "much"):
            word = f"how_{degree.word.lower()}"
            after += 1
    phrase = _question_phrase(root, asked.position)
    if phrase is not None and _has_noun(phrase, tokens, after):
        return _focus(word, phrase, tokens, after)
    start = max(after, phrase.end if phrase is not None else 0)
    noun_phrase = _first_noun_phrase(root, start, tokens)
    if noun_phrase is None and not any(token.tag in NOUN_TAGS for token in tokens[start:]):
        # The question word comes last ("... is called what ?"): what is called so is the focus.
        return _focus(word, _first_noun_phrase(root, 0, tokens), tokens)
    return _focus(word, noun_phrase, tokens, start)


def _question_word(tokens: Sequence[_Token]) -> _Token | None:
    """Return the word that asks: one that also joins clauses ("the man who ...") only if no other does."""
    words = [token for token in tokens if token.word.lower() in _QUESTION_WORDS]
    if words and words[0].position > 0:
        # "The man who ... is called what ?" asks with its last one, "In which city ..." with its first.
        early = [token for token in words if token.position <= 3 and token.word.lower() not in ("who", "whom", "whose")]
        return early[0] if early else words[-1]
    return words[0] if words else next((token for token in tokens if token.tag in QUESTION_TAGS), None)


def _read(tree: Tree) -> tuple[list[_Token], _Node]:
    """List the tokens and copy the constituents with their spans, without recursion."""
    tokens: list[_Token] = []
    root = _Node(bare_label(tree.label), 0)
    if tree.is_leaf:
        return [_Token(tree.label, "", 0)], root
    stack = [(iter(tree.children), root, len(tree.children) == 1)]
    while stack:
        waiting, node, single = stack[-1]
        for child in waiting:
            kids = child.children
            if not kids:
                # A leaf beside constituents is a word whose tag is not known.
                tokens.append(_Token(child.label, node.label if single else "", len(tokens)))
                continue
            below = _Node(bare_label(child.label), len(tokens))
            node.children.append(below)
            if len(kids) == 1 and not kids[0].children:
                tokens.append(_Token(kids[0].label, below.label, len(tokens)))
                below.end = len(tokens)
                continue
            stack.append((iter(kids), below, len(kids) == 1))
            break
        else:
            node.end = len(tokens)
            stack.pop()
    return tokens, root


def _question_phrase(root: _Node, position: int) -> _Node | None:
    """Return the largest WH phrase that starts with the question word, or holds it early on ("in what city")."""
    found, node = None, root
    while True:
        if node.label.startswith("WH"):
            return node
        below = next((child for child in node.children if child.start <= position < child.end), None)
        if below is None:
            return found
        node = below


def _has_noun(phrase: _Node, tokens: Sequence[_Token], start: int) -> bool:
    return any(token.tag in NOUN_TAGS for token in tokens[max(phrase.start, start) : phrase.end])


def _first_noun_phrase(root: _Node, start: int, tokens: Sequence[_Token]) -> _Node | None:
    """Return the first noun phrase that begins at or after a token and holds a noun."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.end <= start:
            continue
        if node.label in _NOUN_PHRASES and node.start >= start and _has_noun(node, tokens, start):
            return node
        stack.extend(reversed(node.children))
    return None


def _focus(word: str, phrase: _Node | None, tokens: Sequence[_Token], start: int = 0) -> Focus:
    if phrase is None:
        # Flat trees have no phrases: the first run of nouns has to do.
        head = next((t for t in tokens[start:] if t.tag in NOUN_TAGS), None)
        if head is None:
            return Focus(word, None)
        while head.position + 1 < len(tokens) and tokens[head.position + 1].tag in NOUN_TAGS:
            head = tokens[head.position + 1]
        return _named(word, head, tokens, start)
    while True:
        head = _head(phrase, tokens, start, asking=phrase.label.startswith("WH"))
        if head is None:
            return Focus(word, None)
        name = lemma(head.word, head.tag)
        following = _complement(phrase, head, tokens) if name in _THROUGH else None
        if following is None:
            return _named(word, head, tokens, start)
        phrase, start = following, following.start


def _named(word: str, head: _Token, tokens: Sequence[_Token], start: int) -> Focus:
    modifiers: list[str] = []
    at = head.position - 1
    while at >= start and (tokens[at].tag in NOUN_TAGS or tokens[at].tag.startswith("JJ")) and len(modifiers) < 3:
        modifiers.append(lemma(tokens[at].word, tokens[at].tag))
        at -= 1
    return Focus(word, lemma(head.word, head.tag), tuple(reversed(modifiers)), head.position)


def _has_possessive(phrase: _Node, tokens: Sequence[_Token]) -> bool:
    return any(token.tag == "POS" for token in tokens[phrase.start : phrase.end])


def _head(phrase: _Node, tokens: Sequence[_Token], start: int, *, asking: bool) -> _Token | None:
    """Return the last noun of the first simple noun phrase; of possessor and possessed, the one that is asked for."""
    node = phrase
    while True:
        inner = [c for c in node.children if c.label in _NOUN_PHRASES and c.end > start and _has_noun(c, tokens, start)]
        if not inner:
            break
        # A possessor ("the city 's mayor") is a noun phrase too, but not the one that is meant.
        first = inner[0]
        if tokens[first.end - 1].tag == "POS" and not asking:
            rest = [t for t in tokens[first.end : node.end] if t.tag in NOUN_TAGS]
            if rest:
                return _last_of_run(rest)
        if asking and first.start <= node.start + 1 and _has_possessive(first, tokens):
            node = first
            continue
        own = [c for c in node.children if c.label in NOUN_TAGS and c.start >= max(first.end, start)]
        if own:
            return tokens[own[-1].start]
        node = first
    nouns = [t for t in tokens[max(node.start, start) : node.end] if t.tag in NOUN_TAGS]
    if asking:
        # In "what state 's largest city" it is the state that is asked for.
        owner = next((t.position for t in tokens[node.start : node.end] if t.tag == "POS"), node.end)
        nouns = [t for t in nouns if t.position < owner] or nouns
    stop = next((c.start for c in node.children if c.label in ("PP", "SBAR", "VP", "S", "CC", ",")), node.end)
    before = [t for t in nouns if t.position < stop]
    if before:
        return before[-1]
    return nouns[0] if nouns else None


def _last_of_run(nouns: list[_Token]) -> _Token:
    last = nouns[0]
    for token in nouns[1:]:
        if token.position != last.position + 1:
            break
        last = token
    return last


def _complement(phrase: _Node, head: _Token, tokens: Sequence[_Token]) -> _Node | None:
    """Return the noun phrase of an *of* that follows the head inside or right after its phrase."""
    if head.position + 1 >= len(tokens) or tokens[head.position + 1].word.lower() not in ("of", "for"):
        return None
    stack = [phrase]
    while stack:
        node = stack.pop()
        if node.label in _NOUN_PHRASES and node.start == head.position + 2 and _has_noun(node, tokens, node.start):
            return node
        stack.extend(reversed(node.children))
    return None
