"""Propositions as JSON lines: one sentence per line, with words, tree and arguments. Nothing is lost but comments."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from sapwood.errors import BracketError
from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.text_files import Line, lines
from sapwood.trees.propositions import Argument, Proposition, RoleSentence
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["read", "write"]

__dir__ = public_names(__name__)


def read(source: Sources, *, encoding: str = "utf-8") -> Iterator[RoleSentence]:
    """Yield sentences from JSON lines.

    Examples
    --------
    >>> import io
    >>> text = '{"words": ["dogs", "bark"], "propositions": [{"predicate": 1, "lemma": "bark", "arguments": []}]}'
    >>> next(read(io.StringIO(text))).propositions[0].lemma
    'bark'
    """
    for line in lines(source, encoding=encoding):
        if line.text.strip():
            yield _sentence(line)


def write(sentences: Iterable[RoleSentence], path: str | os.PathLike[str]) -> None:
    """Write sentences."""
    write_text(path, map(sentence_text, sentences))


def sentence_text(sentence: RoleSentence) -> str:
    """Return one sentence as a line of JSON, its end included."""
    record: dict[str, Any] = {"words": list(sentence.words)}
    if sentence.name:
        record["name"] = sentence.name
    # Words that a tokenizer has cut out of a text know where they stand in it.
    if all(hasattr(word, "begin") for word in sentence.words):
        record["offsets"] = [[getattr(word, "begin"), getattr(word, "end")] for word in sentence.words]  # noqa: B009
    if sentence.tree is not None:
        record["tree"] = str(sentence.tree)
    if sentence.how in ("fallback", "pieces", "flat"):
        record["how"] = sentence.how
    record["propositions"] = [
        {
            "predicate": one.predicate,
            "lemma": one.lemma,
            **({"roleset": one.roleset} if one.roleset else {}),
            **({"guessed": True} if one.guessed else {}),
            **({"meaning": one.meaning} if one.meaning else {}),
            "arguments": [
                {"role": each.role, "first": each.first, "last": each.last}
                | ({} if each.node is None else {"node": each.node})
                | ({} if each.score is None else {"score": round(each.score, 6)})
                | ({"meaning": each.meaning} if each.meaning else {})
                for each in one.arguments
            ],
        }
        for one in sentence.propositions
    ]
    return json.dumps(record, ensure_ascii=False) + "\n"


def _sentence(line: Line) -> RoleSentence:
    record = line.json()
    try:
        words = tuple(_typed({"a word": word}, "a word", str) for word in record["words"])
        tree = None if record.get("tree") is None else Tree.fromstring(_typed(record, "tree", str))
        propositions = tuple(map(_proposition, record["propositions"]))
        name, how = _typed(record, "name", str, ""), _typed(record, "how", str, "")
    except BracketError as error:
        raise line.fault(f"the tree cannot be read: {error.reason}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise line.fault(f"expected words and propositions with predicate, lemma and arguments ({error})") from None
    for one in propositions:
        if not 0 <= one.predicate < len(words):
            raise line.fault(f"a predicate is word {one.predicate}, but the sentence has {len(words)} words")
        for each in one.arguments:
            if not 0 <= each.first <= each.last < len(words):
                raise line.fault(f"{each.role} covers words {each.first} to {each.last} of {len(words)}")
    if tree is not None and tree.leaves() != words:
        raise line.fault("the leaves of the tree are not the words")
    return RoleSentence(words, propositions, tree, name, how)


def _proposition(record: dict[str, Any]) -> Proposition:
    return Proposition(
        _typed(record, "predicate", int),
        _typed(record, "lemma", str),
        tuple(map(_argument, record["arguments"])),
        _typed(record, "roleset", str, ""),
        _typed(record, "guessed", bool, False),
        _typed(record, "meaning", str, ""),
    )


def _argument(record: dict[str, Any]) -> Argument:
    node = None if record.get("node") is None else _typed(record, "node", int)
    score = None if record.get("score") is None else _typed(record, "score", float)
    places = _typed(record, "first", int), _typed(record, "last", int)
    return Argument(_typed(record, "role", str), *places, node, score, _typed(record, "meaning", str, ""))


_KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _typed(record: dict[str, Any], key: str, kind: type, *default: Any) -> Any:
    value = record.get(key, *default) if default else record[key]
    # In Python, true and false are numbers too, and whole numbers are not of the type of others.
    given = float if kind is float and type(value) is int else type(value)
    if given is not kind:
        raise TypeError(f"{key} is {str(value)[:40]!r}, not {_KINDS[kind]}")
    return value
