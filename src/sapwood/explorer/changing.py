"""Two versions of a sentence, or one sentence under two models: what changes. And what each word is good for.

Both sides are answered as in ``analyzing``. What can change are parts of these answers: a class, a role of a predicate,
a role of a frame, a node of a parse. Parts of the two sides are the same if they cover the same words, where words of
the two sentences are matched in order, and words that only one of them has are left out.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any, NamedTuple

from sapwood.errors import DataError
from sapwood.explorer import requests
from sapwood.explorer.analyzing import Query, analyze, kind_of
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder
from sapwood.explorer.reading import Sentence, parser_of, read_sentence
from sapwood.explorer.requests import Request
from sapwood.parse import BaseParser
from sapwood.trees import Tree
from sapwood.trees.positions import Positions

__all__ = ["change", "differences", "remove_words", "without"]


class Part(NamedTuple):
    """A part of an answer: in which layer it is, its label, and the words that it covers."""

    layer: str
    label: str
    words: tuple[int, ...]


def change(models: ModelFolder, request: Request, limits: Limits) -> dict[str, Any]:
    """Answer a request with ``text`` and ``model``, and ``second`` or ``second_model`` or both.

    What is not given for the second side is that of the first. Optional: ``parser``, for both.
    """
    text, model = requests.text(request, "text"), requests.text(request, "model")
    second = requests.text(request, "second", text) or text
    other = requests.text(request, "second_model", model) or model
    shared = {"parser": requests.text(request, "parser", "")}
    sides = []
    for name, asked in (("first", {"text": text, "model": model}), ("second", {"text": second, "model": other})):
        try:
            sides.append(analyze(models, {**shared, **asked}, limits))
        except ValueError as error:
            raise DataError(f"{name} side: {error}") from None
    first, last = sides
    notes = []
    if _sort(first) != _sort(last):
        notes.append(f"A {first['kind']} and a {last['kind']} answer different questions: nothing can be matched.")
    return {"sides": sides, "differences": differences(first, last), "notes": notes}


def without(models: ModelFolder, request: Request, limits: Limits) -> dict[str, Any]:
    """Answer a request with ``text`` and ``model``: what happens to the answer when each word is removed.

    Where text was typed, what is left is parsed again; of a tree that was typed, the word is cut off.
    """
    name, parser = requests.text(request, "model"), requests.text(request, "parser", "")
    kind, model = kind_of(models, name), models[name]
    own = name if isinstance(model, BaseParser) else parser
    whole = read_sentence(requests.text(request, "text"), models, limits, parser=own, model=model)
    count = len(whole.words)
    if count < 2:
        raise DataError("the sentence has one word only; there is nothing left when it is removed.")
    shorter = [tuple(word for number, word in enumerate(whole.words) if number != gone) for gone in range(count)]
    trees: list[Tree | None] = [None] * count
    if whole.given and whole.tree is not None:
        trees = [remove_words(whole.tree, {gone}) for gone in range(count)]
    elif whole.tree is not None:
        found = parser_of(models, own, model)[1]
        assert found is not None
        trees = [one.tree for one in found.parse_sentences(shorter)]

    def answered(words: tuple[str, ...], tree: Tree | None) -> dict[str, Any]:
        sentence = Sentence(words, tree, given=whole.given, parser=whole.parser)
        answer = kind.answer(model, Query(sentence, {"explain": False, "parser": parser}, models, limits))
        return {"words": list(words), "kind": kind.title, **answer}

    before = answered(whole.words, whole.tree)
    rows = []
    for gone, (words, tree) in enumerate(zip(shorter, trees, strict=True)):
        after = answered(words, tree)
        changes = differences(before, after, gone=gone)
        rows.append({"word": whole.words[gone], "differences": changes, **_amount(before, after, len(changes))})
    chosen = before["classes"][0]["label"] if "classes" in before else None
    return {"words": list(whole.words), "label": chosen, "rows": rows, "notes": whole.notes}


def _amount(before: dict[str, Any], after: dict[str, Any], count: int) -> dict[str, Any]:
    """Return how much a change is: of the margin of the class that was chosen, of a number, or the number of parts."""
    if "classes" in before:
        label, margin = before["classes"][0]["label"], before["classes"][0]["margin"]
        now = next(one["margin"] for one in after["classes"] if one["label"] == label)
        return {"change": now - margin, "now": after["classes"][0]["label"]}
    if "value" in before:
        return {"change": after["value"] - before["value"], "now": f"{after['value']:.3f}"}
    return {"change": count, "now": None}


def remove_words(tree: Tree, gone: set[int]) -> Tree:
    """Return a tree without some of its words, and without the nodes that cover nothing else.

    >>> str(remove_words(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD ran)))"), {0, 2}))
    '(S (NP (NN dog)))'
    """
    at = Positions(tree)
    built: dict[int, Tree] = {}
    for node in range(len(at) - 1, -1, -1):
        if not at.children[node]:
            if at.first[node] not in gone:
                built[node] = Tree(at.labels[node])
        elif kept := [built[child] for child in at.children[node] if child in built]:
            built[node] = Tree(at.labels[node], kept)
    if 0 not in built:
        raise DataError("nothing of the tree is left.")
    return built[0]


def differences(first: dict[str, Any], second: dict[str, Any], *, gone: int | None = None) -> list[dict[str, str]]:
    """List what only one of two answers has; what has the same label in both but other words has moved.

    Parameters
    ----------
    first, second : dict
        Answers of ``analyze``.
    gone : int, optional
        The word of the first sentence that the second lacks, where that is known.
    """
    if _sort(first) != _sort(second):
        return []
    if "classes" in first:
        before, after = (one["classes"][0]["label"] for one in (first, second))
        return [] if before == after else [{"layer": "", "label": "class", "before": before, "after": after}]
    left, right = _matched(first["words"], second["words"], gone)
    old, now = _parts(first, left), _parts(second, right)
    lost = {key: text for key, text in old.items() if key not in now}
    new = {key: text for key, text in now.items() if key not in old}
    found = []
    for key, text in lost.items():
        twin = next((one for one in new if one[:2] == key[:2]), None)
        found.append(_difference(key, text, "" if twin is None else new.pop(twin)))
    return found + [_difference(key, "", text) for key, text in new.items()]


def _difference(key: Part, before: str, after: str) -> dict[str, str]:
    return {"layer": key.layer, "label": key.label, "before": before, "after": after}


def _sort(answer: dict[str, Any]) -> str:
    return next((name for name in ("classes", "value", "layers", "parses") if name in answer), "")


def _matched(first: list[str], second: list[str], gone: int | None) -> tuple[list[int], list[int]]:
    """Return a number for every word of two sentences: the same for two that match, -1 for one that has no match."""
    if gone is not None:
        left = [-1 if number == gone else number for number in range(len(first))]
        return left, [number for number in range(len(first)) if number != gone]
    left, right = [-1] * len(first), [-1] * len(second)
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        # A word in the place of another one matches it.
        if kind == "equal" or (kind == "replace" and b - a == d - c):
            for step in range(b - a):
                left[a + step] = right[c + step] = a + step
    return left, right


def _parts(answer: dict[str, Any], numbers: list[int]) -> dict[Part, str]:
    """Return the parts of an answer with the words that they cover, as text; a number has none."""
    words = answer["words"]

    def covered(first: int, last: int) -> tuple[int, ...]:
        return tuple(number for number in numbers[first : last + 1] if number >= 0)

    def text(first: int, last: int) -> str:
        return " ".join(words[first : last + 1])

    found = {}
    for layer in answer.get("layers", []):
        title = layer["title"]
        found[Part(title, "", tuple(number for one in layer["marked"] for number in covered(one, one)))] = " ".join(
            words[one] for one in layer["marked"]
        )
        for span in layer["spans"]:
            key = Part(title, span["label"], covered(span["first"], span["last"]))
            found[key] = text(span["first"], span["last"])
    if answer.get("parses"):
        tree = answer["parses"][0]["tree"]
        for label, first, last in _nodes(tree):
            if words_ := covered(first, last):
                found[Part("", label, words_)] = text(first, last)
    return found


def _nodes(tree: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Return the nodes above the words of a tree, each with the first and last word that it covers."""
    labels, parents = tree["labels"], tree["parents"]
    inner = set(parents)
    first, last = [-1] * len(labels), [-1] * len(labels)
    word = 0
    for node in range(len(labels)):
        if node not in inner:
            above = node
            while above >= 0:
                first[above] = word if first[above] < 0 else first[above]
                last[above] = word
                above = parents[above]
            word += 1
    return [(labels[node], first[node], last[node]) for node in range(len(labels)) if node in inner]
