"""Roles and frames as tables of pandas: one row per argument, with its place in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sapwood.errors import DataError, ParameterError
from sapwood.parse.tokenizing import Token
from sapwood.trees.propositions import RoleSentence

if TYPE_CHECKING:
    import pandas

    from sapwood.tasks.frames.results import FrameSentence

__all__ = ["to_frame"]

_COLUMNS = (
    "text", "sentence", "predicate", "sense", "predicate_begin", "predicate_end", "role", "argument", "begin", "end",
    "first", "last", "score", "how",
)  # fmt: skip
_NUMBERS = ("predicate_begin", "predicate_end", "begin", "end", "first", "last")


def to_frame(results: Iterable[Any], texts: Iterable[str] | None = None) -> pandas.DataFrame:
    """Return a table of what was found, one row per argument.

    Parameters
    ----------
    results : iterable
        ``RoleSentence`` or ``FrameSentence`` objects, or one list of them per text, as ``label_text`` and
        ``parse_text`` give.
    texts : iterable of str, optional
        The texts that the lists are for. Arguments are then quoted as they stand there; where it is a column of a
        table, its index is what ``text`` holds, so that the rows can be joined to that table.

    Returns
    -------
    pandas.DataFrame
        ``text`` and ``sentence`` say where: the number or index of the text, and the number of the sentence in it.
        ``predicate`` is the word, ``sense`` its roleset or frame, ``role`` and ``argument`` what was found;
        ``begin`` and ``end`` are places in the text, in characters, missing for words that are from no text; ``first``
        and ``last`` count words. ``score`` is the probability of a role or the margin of a filler. A predicate without
        arguments has one row, without a role.

    Examples
    --------
    >>> from sapwood.trees import Argument, Proposition, RoleSentence
    >>> from sapwood.parse import tokenize
    >>> proposition = Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1)), "bark.01")
    >>> found = RoleSentence(tuple(tokenize("Dogs bark.")), (proposition,))
    >>> to_frame([[found]], texts=["Dogs bark."])[["sense", "role", "argument", "begin", "end"]].values.tolist()
    [['bark.01', 'A0', 'Dogs', 0, 4]]
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise ParameterError("to_frame needs pandas, which is not installed: pip install pandas.") from None
    names = list(getattr(texts, "index", ())) if hasattr(texts, "iloc") else None
    given = None if texts is None else list(texts)
    rows: list[tuple[Any, ...]] = []
    for number, (name, sentences) in enumerate(_by_text(results, given, names)):
        text = None if given is None else given[number]
        for at, sentence in enumerate(sentences):
            rows += [(name, at, *row, sentence.how) for row in _rows(sentence, text)]
    table = pandas.DataFrame(rows, columns=list(_COLUMNS))
    return table.astype(dict.fromkeys(_NUMBERS, "Int64") | {"score": "Float64"})


def _by_text(
    results: Iterable[Any], texts: list[str] | None, names: list[Any] | None
) -> Iterator[tuple[Any, list[Any]]]:
    """Yield what each text is called, with its sentences; without lists, each sentence is a text of its own."""
    count = 0
    for number, one in enumerate(results):
        sentences = list(one) if isinstance(one, (list, tuple)) else [one]
        for sentence in sentences:
            if not (isinstance(sentence, RoleSentence) or hasattr(sentence, "frames")):
                raise DataError(
                    f"result {number} holds a {type(sentence).__name__}; expected a RoleSentence, a FrameSentence, or "
                    "one list of these per text."
                )
        if texts is not None and number >= len(texts):
            raise DataError(f"there are more results than texts, of which there are {len(texts):,}.")
        yield (number if names is None else names[number]), sentences
        count += 1
    if texts is not None and count < len(texts):
        raise DataError(f"there are {len(texts):,} texts, but {count:,} results; give one for each.")


def _rows(sentence: RoleSentence | FrameSentence, text: str | None) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of each argument from ``predicate`` to ``score``."""
    words, places = _words(sentence)
    for head, sense, arguments in _predicates(sentence):
        begin, end = _place(places, min(head), max(head))
        lead = (_quoted(words, text, begin, end, min(head), max(head)), sense, begin, end)
        if not arguments:
            yield (*lead, None, None, None, None, None, None, None)
        for role, first, last, score in arguments:
            begin, end = _place(places, first, last)
            yield (*lead, role, _quoted(words, text, begin, end, first, last), begin, end, first, last, score)


def _words(sentence: RoleSentence | FrameSentence) -> tuple[tuple[str, ...], list[tuple[int, int]] | None]:
    """Return the words, and where they begin and end if they are from a text."""
    if isinstance(sentence, RoleSentence):
        tokens = [word for word in sentence.words if isinstance(word, Token)]
        whole = len(tokens) == len(sentence.words)
        return sentence.words, [(token.begin, token.end) for token in tokens] if whole else None
    # Here the end is the last character, and not what follows it.
    return tuple(sentence.parse.words), [(first, last + 1) for first, last in sentence.parse.offsets]


def _predicates(
    sentence: RoleSentence | FrameSentence,
) -> Iterator[tuple[tuple[int, ...], str, list[tuple[str, int, int, float | None]]]]:
    """Yield the words, the sense and the arguments of each predicate."""
    if isinstance(sentence, RoleSentence):
        for one in sentence.propositions:
            roles = [(part.role, part.first, part.last, part.score) for part in one.roles]
            yield (one.predicate,), one.roleset or one.lemma, roles
        return
    for target in sentence.frames:
        fillers: list[tuple[str, int, int, float | None]] = [
            (part.role, part.first, part.last, part.margin) for part in target.fillers
        ]
        yield target.tokens, target.frame, fillers


def _place(places: list[tuple[int, int]] | None, first: int, last: int) -> tuple[int | None, int | None]:
    return (None, None) if places is None else (places[first][0], places[last][1])


def _quoted(words: tuple[str, ...], text: str | None, begin: int | None, end: int | None, first: int, last: int) -> str:
    return " ".join(words[first : last + 1]) if text is None or begin is None else text[begin:end]
