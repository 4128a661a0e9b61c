"""What AllenNLP's role labeler prints: JSON lines with ``words`` and ``verbs``, each with ``description`` and ``tags``.

Roles have PropBank's long form, words are spelled as in text. Trees, base forms, rolesets and scores have no place in
this format; ``role_lines`` keeps them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sapwood.errors import DataError
from sapwood.lazy import public_names
from sapwood.penn import BRACKETS, written_word
from sapwood.sources import Sources
from sapwood.text_files import Line, lines
from sapwood.trees.propositions import Argument, Proposition, RoleSentence, long_role, short_role
from sapwood.writing import write_text

__all__ = ["read", "to_json", "write"]

__dir__ = public_names(__name__)


def read(source: Sources, *, encoding: str = "utf-8") -> Iterator[RoleSentence]:
    """Yield sentences from JSON lines, as ``allennlp predict --output-file`` writes them.

    Brackets among the words get the treebank's spelling. The base form of a predicate is not in the file: its form in
    small letters stands for it.

    Examples
    --------
    >>> import io
    >>> text = '{"verbs": [{"verb": "bark", "tags": ["B-ARG0", "B-V"]}], "words": ["Dogs", "bark"]}'
    >>> (proposition,) = next(read(io.StringIO(text))).propositions
    >>> proposition.lemma, [(one.role, one.span) for one in proposition.arguments]
    ('bark', [('A0', (0, 0)), ('V', (1, 1))])
    """
    for line in lines(source, encoding=encoding):
        if line.text.strip():
            yield _sentence(line)


def write(sentences: Iterable[RoleSentence], path: str | os.PathLike[str]) -> None:
    """Write sentences, one per line."""
    write_text(path, map(sentence_text, sentences))


def to_json(sentence: RoleSentence) -> dict[str, Any]:
    """Return one sentence in the shape that AllenNLP's predictor returns.

    Predicates that are nouns or adjectives are listed among the ``verbs`` too, where the labeler finds such.

    Raises
    ------
    DataError
        If arguments of one predicate overlap, since each word has one tag.

    Examples
    --------
    >>> p = Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1), Argument("AM-TMP", 2, 3)))
    >>> (verb,) = to_json(RoleSentence(("Dogs", "bark", "at", "night", "."), (p,)))["verbs"]
    >>> verb["description"]
    '[ARG0: Dogs] [V: bark] [ARGM-TMP: at night] .'
    >>> verb["tags"]
    ['B-ARG0', 'B-V', 'B-ARGM-TMP', 'I-ARGM-TMP', 'O']
    """
    words = [written_word(word) for word in sentence.words]
    return {"verbs": [_verb(one, words) for one in sentence.propositions], "words": words}


def sentence_text(sentence: RoleSentence) -> str:
    """Return one sentence as a line of JSON, its end included."""
    return json.dumps(to_json(sentence), ensure_ascii=False) + "\n"


def _verb(proposition: Proposition, words: list[str]) -> dict[str, Any]:
    at = proposition.predicate
    if not 0 <= at < len(words):
        raise DataError(f"the predicate {proposition.lemma!r} is word {at}; the sentence has {len(words)} words.")
    arguments = [replace(one, role=long_role(one.role)) for one in proposition.arguments]
    # The place of the predicate is in its tag alone, so it must have one.
    if not any(one.first <= at <= one.last for one in arguments):
        arguments.append(Argument("V", at, at))
    arguments.sort(key=lambda one: one.first)
    tags = replace(proposition, arguments=tuple(arguments)).tags(len(words))
    pieces, done = [], 0
    for one in arguments:
        pieces += words[done : one.first]
        pieces.append(f"[{one.role}: {' '.join(words[one.first : one.last + 1])}]")
        done = one.last + 1
    return {"verb": words[at], "description": " ".join([*pieces, *words[done:]]), "tags": tags}


def _sentence(line: Line) -> RoleSentence:
    record = line.json()
    try:
        words, verbs = record["words"], [(one["verb"], one["tags"]) for one in record["verbs"]]
    except (KeyError, TypeError) as error:
        raise line.fault(f"expected words, and verbs with verb and tags ({error})") from None
    texts = [words, *(tags for _, tags in verbs)]
    if not all(isinstance(some, list) and all(isinstance(one, str) for one in some) for some in texts):
        raise line.fault("expected words and tags as lists of text")
    propositions = [_proposition(line, words, verb, tags) for verb, tags in verbs]
    propositions.sort(key=lambda one: one.predicate)
    return RoleSentence(tuple(BRACKETS.get(word, word) for word in words), tuple(propositions))


def _proposition(line: Line, words: list[str], verb: Any, tags: list[str]) -> Proposition:
    if len(tags) != len(words):
        raise line.fault(f"the verb {verb!r} has {len(tags)} tags for {len(words)} words")
    arguments: list[Argument] = []
    for at, tag in enumerate(tags):
        kind, _, name = tag.partition("-")
        role = short_role(name)
        if kind == "B" and role:
            arguments.append(Argument(role, at, at))
        elif kind == "I" and arguments and (arguments[-1].role, arguments[-1].last) == (role, at - 1):
            arguments[-1] = replace(arguments[-1], last=at)
        elif tag != "O":
            before = tags[at - 1] if at else "nothing"
            raise line.fault(f"word {at} has the tag {tag!r} after {before!r}; expected BIO tags")
    tagged = [one.first for one in arguments if one.role == "V"]
    same = [at for at, word in enumerate(words) if word == verb]
    # A model may leave its verb without a tag, or tag another word too; then the verb itself says where it is.
    places = [at for at in tagged if at in same] or tagged or same
    if not tagged and len(places) != 1:
        raise line.fault(f"the verb {verb!r} has no tag B-V, and is {len(places)} of the words; expected one")
    return Proposition(places[0], words[places[0]].lower(), tuple(arguments))
