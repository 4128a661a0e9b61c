"""Propositions as JSON lines: one sentence per line, with words, tree and arguments. Nothing is lost but comments."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from sapwood.errors import BracketError
from sapwood.sources import Sources
from sapwood.text_files import Line, lines
from sapwood.trees.propositions import Argument, Proposition, RoleSentence
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["read", "write"]


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
            "arguments": [
                {"role": each.role, "first": each.first, "last": each.last}
                | ({} if each.node is None else {"node": each.node})
                | ({} if each.score is None else {"score": round(each.score, 6)})
                for each in one.arguments
            ],
        }
        for one in sentence.propositions
    ]
    return json.dumps(record, ensure_ascii=False) + "\n"


def _sentence(line: Line) -> RoleSentence:
    record = line.json()
    try:
        words = tuple(_text(word) for word in record["words"])
        tree = None if record.get("tree") is None else Tree.fromstring(record["tree"])
        propositions = tuple(
            Proposition(
                int(one["predicate"]),
                _text(one["lemma"]),
                tuple(
                    Argument(_text(a["role"]), int(a["first"]), int(a["last"]), a.get("node"), a.get("score"))
                    for a in one["arguments"]
                ),
                _text(one.get("roleset", "")),
                _flag(one.get("guessed", False)),
            )
            for one in record["propositions"]
        )
    except BracketError as error:
        raise line.fault(f"the tree cannot be read: {error.reason}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise line.fault(f"expected words and propositions with predicate, lemma and arguments ({error})") from None
    for one in propositions:
        if not 0 <= one.predicate < len(words):
            raise line.fault(f"a predicate is word {one.predicate}, but the sentence has {len(words)} words")
        for each in one.arguments:
            if not 0 <= each.first <= each.last < len(words):
                raise line.fault(f"{each.role} covers words {each.first} to {each.last} of {len(words)}")
    if tree is not None and tree.leaves() != words:
        raise line.fault("the leaves of the tree are not the words")
    return RoleSentence(words, propositions, tree, _text(record.get("name", "")), _text(record.get("how", "")))


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"guessed is {value!r}, not true or false")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
