"""The grammar of the nursery: from who did what to whom, to sentences with their trees.

A construction is a tree with slots. Leaves that begin with ``$`` are filled with phrases, or vanish if the event has
none; ``VP:finite``, ``VP:base`` and ``VP:passive`` put the right form of the verb in front of what they hold. So the
same event can be told or asked for in many ways, and it stays known which words fill which slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from sapwood.corpora.nursery.lexicon import Noun, Verb
from sapwood.trees.tree import Tree

__all__ = ["CONSTRUCTIONS", "Event", "Phrase", "Realization", "realize"]

_REST = "$recipient $instrument $place $time"
CONSTRUCTIONS: Mapping[str, str] = {
    "active": f"(S $agent (VP:finite $theme {_REST}) (. .))",
    "fronted": "(S $time (, ,) $agent (VP:finite $theme $recipient $instrument $place) (. .))",
    "dative": "(S $agent (VP:finite $receiver $theme $instrument $place $time) (. .))",
    "passive": "(S $theme (VP:passive $recipient (PP (IN by) $agent) $instrument $place $time) (. .))",
    "who": f"(SBARQ (WHNP (WP Who)) (SQ (VP:finite $theme {_REST})) (. ?))",
    "which agent": f"(SBARQ (WHNP (WDT Which) $kind) (SQ (VP:finite $theme {_REST})) (. ?))",
    "which theme": f"(SBARQ (WHNP (WDT What) $kind) (SQ $do $agent (VP:base {_REST})) (. ?))",
    "passive theme": f"(SBARQ (WHNP (WDT Which) $kind) (SQ (VP:passive (PP (IN by) $agent) {_REST})) (. ?))",
    "what": f"(SBARQ (WHNP (WP What)) (SQ $do $agent (VP:base {_REST})) (. ?))",
    "name the": f"(S (VP (VB Name) (NP (NP (DT the) $kind) (SBAR (WHNP (WDT that)) (S $agent (VP:finite {_REST}))))) "
    "(. .))",
    "whom": "(SBARQ (WHPP (TO To) (WHNP (WP whom))) (SQ $do $agent (VP:base $theme $instrument $place $time)) (. ?))",
    "where": "(SBARQ (WHADVP (WRB Where)) (SQ $do $agent (VP:base $theme $recipient $instrument $time)) (. ?))",
    "in which place": "(SBARQ (WHPP (IN In) (WHNP (WDT which) $kind)) "
    "(SQ $do $agent (VP:base $theme $recipient $instrument $time)) (. ?))",
    "when": "(SBARQ (WHADVP (WRB When)) (SQ $do $agent (VP:base $theme $recipient $instrument $place)) (. ?))",
    "what year": "(SBARQ (WHPP (IN In) (WHNP (WDT what) (NN year))) "
    "(SQ $do $agent (VP:base $theme $recipient $instrument $place)) (. ?))",
    "how many": f"(SBARQ (WHNP (WHADJP (WRB How) (JJ many)) $counted) (SQ $do $agent (VP:base {_REST})) (. ?))",
    "why": f"(SBARQ (WHADVP (WRB Why)) (SQ $do $agent (VP:base $theme {_REST})) (. ?))",
    "what reason": "(SBARQ (WHPP (IN For) (WHNP (WDT what) (NN reason))) "
    f"(SQ $do $agent (VP:base $theme {_REST})) (. ?))",
    "how": "(SBARQ (WHADVP (WRB How)) (SQ $do $agent (VP:base $theme $recipient $place $time)) (. ?))",
    "with what": "(SBARQ (WHPP (IN With) (WHNP (WDT what) $kind)) "
    "(SQ $do $agent (VP:base $theme $recipient $place $time)) (. ?))",
}
"""Ways to tell or ask about an event, each a tree with slots."""


@dataclass(frozen=True)
class Phrase:
    """What a noun phrase says, before it is one.

    Attributes
    ----------
    noun : Noun
        Its head.
    word : str
        The synonym used.
    determiner : str
        Empty for names and bare plurals.
    modifiers : tuple of (str, str)
        Words with tags between determiner and head.
    plural : bool
        Whether the head is.
    inside : tuple of (str, Phrase)
        A preposition and its phrase that belong to this one: the low attachment.
    also : Phrase, optional
        A second conjunct.
    """

    noun: Noun
    word: str
    determiner: str = "the"
    modifiers: tuple[tuple[str, str], ...] = ()
    plural: bool = False
    inside: tuple[str, Phrase] | None = None
    also: Phrase | None = None

    def head(self) -> Tree:
        """Return the noun with its tag."""
        if self.noun.name:
            return Tree("NNP", [self.word])
        return Tree("NNS" if self.plural else "NN", [self.word])

    def tree(self) -> Tree:
        """Return the noun phrase."""
        words = [Tree("DT", [self.determiner])] if self.determiner else []
        words += [Tree(tag, [word]) for word, tag in self.modifiers]
        built = Tree("NP", [*words, self.head()])
        if self.also is not None:
            built = Tree("NP", [built, Tree("CC", ["and"]), self.also.tree()])
        if self.inside is not None:
            preposition, phrase = self.inside
            built = Tree("NP", [built, Tree("PP", [Tree("IN", [preposition]), phrase.tree()])])
        return built

    @property
    def third_singular(self) -> bool:
        """Whether the verb after it takes -s."""
        return not self.plural and self.also is None


@dataclass(frozen=True)
class Event:
    """Who did what to whom, with what, where and when.

    Attributes
    ----------
    verb : Verb
        What was done.
    tense : str
        ``past``, ``present`` or ``future``.
    negated : bool
        Whether it was not.
    slots : mapping of str to Phrase
        ``agent`` and ``theme``, perhaps ``recipient``, ``instrument`` and ``place``.
    prepositions : mapping of str to str
        Those of ``place`` and ``time``.
    time : str
        A day, a year, or empty.
    """

    verb: Verb
    slots: Mapping[str, Phrase]
    tense: str = "past"
    negated: bool = False
    prepositions: Mapping[str, str] = field(default_factory=dict)
    time: str = ""


@dataclass(frozen=True)
class Realization:
    """A sentence made from an event.

    Attributes
    ----------
    tree : Tree
        Its gold tree.
    predicate : int
        The position of the main verb among the words.
    spans : dict of str to (int, int)
        First and last position of the words that fill each slot, prepositions included.
    """

    tree: Tree
    predicate: int
    spans: Mapping[str, tuple[int, int]]


def realize(event: Event, construction: str, *, kind: Phrase | None = None) -> Realization:
    """Tell or ask about an event in one way.

    Parameters
    ----------
    event : Event
        What happened.
    construction : str
        A name in ``CONSTRUCTIONS``.
    kind : Phrase, optional
        What a question asks for by name: the *animal* of "What animal did she see?"
    """
    fillers = _fillers(event, kind)
    finished: list[_Part] = []
    stack: list[tuple[Tree, bool]] = [(_template(construction), False)]
    while stack:
        node, ready = stack.pop()
        if node.is_leaf:
            slot = node.label.removeprefix("$")
            if slot == node.label:
                finished.append(_Part(node))
            else:
                finished.append(_Part(fillers[slot], slot) if slot in fillers else _Part(None))
        elif not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))
        else:
            parts = finished[len(finished) - len(node.children) :]
            del finished[len(finished) - len(node.children) :]
            label, _, form = node.label.partition(":")
            finished.append(_verb_phrase(event, form, parts) if form else _joined(label, parts))
    (whole,) = finished
    assert whole.tree is not None
    tree = _capitalised(whole.tree)
    return Realization(tree, whole.verb, {slot: span for slot, span in whole.spans.items() if slot in _SLOTS})


@cache
def _template(construction: str) -> Tree:
    return Tree.fromstring(CONSTRUCTIONS[construction])


_SLOTS = ("agent", "theme", "recipient", "instrument", "place", "time")


class _Part:
    """A piece of a sentence: its tree, and where its slots and its verb stand in it."""

    def __init__(self, tree: Tree | None, slot: str = "") -> None:
        self.tree, self.verb = tree, -1
        self.size = 0 if tree is None else len(tree.leaves())
        name = "recipient" if slot == "receiver" else slot
        self.spans: dict[str, tuple[int, int]] = {name: (0, self.size - 1)} if slot and tree is not None else {}


def _joined(label: str, parts: Iterable[_Part]) -> _Part:
    kept = [part for part in parts if part.tree is not None]
    whole = _Part(Tree(label, [part.tree for part in kept if part.tree is not None]))
    start = 0
    for part in kept:
        whole.spans |= {slot: (first + start, last + start) for slot, (first, last) in part.spans.items()}
        if part.verb >= 0:
            whole.verb = part.verb + start
        start += part.size
    return whole


def _word(tag: str, word: str, *, main: bool = False) -> _Part:
    part = _Part(Tree(tag, [word]))
    part.verb = 0 if main else -1
    return part


def _verb_phrase(event: Event, form: str, parts: list[_Part]) -> _Part:
    verb = event.verb
    if form == "passive":
        auxiliary = {"past": ("VBD", "was"), "present": ("VBZ", "is"), "future": ("MD", "will")}[event.tense]
        subject = event.slots["theme"]
        if not subject.third_singular and event.tense != "future":
            auxiliary = {"past": ("VBD", "were"), "present": ("VBP", "are")}[event.tense]
        inner = _joined("VP", [_word("VBN", verb.participle, main=True), *parts])
        if event.tense == "future":
            inner = _joined("VP", [_word("VB", "be"), inner])
        denial = [_word("RB", "not")] if event.negated else []
        return _joined("VP", [_word(*auxiliary), *denial, inner])
    base = _joined("VP", [_word("VB", verb.base, main=True), *parts])
    if form == "base":
        return base
    if event.tense == "future" or event.negated:
        auxiliary = ("MD", "will") if event.tense == "future" else _do(event)
        denial = [_word("RB", "not")] if event.negated else []
        return _joined("VP", [_word(*auxiliary), *denial, base])
    finite = {
        "past": ("VBD", verb.past),
        "present": ("VBZ", verb.present) if event.slots["agent"].third_singular else ("VBP", verb.base),
    }[event.tense]
    return _joined("VP", [_word(*finite, main=True), *parts])


def _do(event: Event) -> tuple[str, str]:
    if event.tense == "future":
        return "MD", "will"
    if event.tense == "past":
        return "VBD", "did"
    return ("VBZ", "does") if event.slots["agent"].third_singular else ("VBP", "do")


def _fillers(event: Event, kind: Phrase | None) -> dict[str, Tree]:
    slots = event.slots
    fillers = {
        "agent": slots["agent"].tree(),
        "theme": slots["theme"].tree(),
        "do": Tree(_do(event)[0], [_do(event)[1]]),
    }
    if "recipient" in slots:
        fillers["receiver"] = slots["recipient"].tree()
        fillers["recipient"] = Tree("PP", [Tree("TO", ["to"]), fillers["receiver"]])
    for slot, preposition in (("instrument", "with"), ("place", event.prepositions.get("place", "in"))):
        if slot in slots:
            fillers[slot] = Tree("PP", [Tree("IN", [preposition]), slots[slot].tree()])
    if event.time:
        tag = "CD" if event.time.isdigit() else "NNP"
        preposition = "in" if event.time.isdigit() else "on"
        fillers["time"] = Tree("PP", [Tree("IN", [preposition]), Tree("NP", [Tree(tag, [event.time])])])
        if event.time == "yesterday":
            fillers["time"] = Tree("NP", [Tree("NN", ["yesterday"])])
    if kind is not None:
        fillers["kind"] = kind.head()
    theme = slots["theme"]
    counted = Tree("NNS", [theme.noun.plural])
    fillers["counted"] = counted
    return fillers


def _capitalised(tree: Tree) -> Tree:
    """Write the first word with a capital."""
    path = []
    node = tree
    while node.children:
        path.append(node)
        node = node.children[0]
    built = Tree(node.label[0].upper() + node.label[1:])
    for parent in reversed(path):
        built = Tree(parent.label, [built, *parent.children[1:]])
    return built
