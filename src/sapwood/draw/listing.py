"""Labeled spans as a list under the sentence, one per line: for readers of long sentences, on a terminal.

The counterpart of ``spans``, which draws them, and of ``inline``, which puts them into the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap

from sapwood.draw.spans import LabeledSpan, SpanLayer, check_layers
from sapwood.penn import written_word

__all__ = ["span_list", "written"]

# Columns for notes at most, so that the words keep the larger part of a line.
_NOTES = 28


def span_list(words: Sequence[str], layers: Sequence[SpanLayer], *, width: int = 80) -> str:
    """Write a sentence, and under it each layer with its spans, in the order of their first words.

    Parameters
    ----------
    words : sequence of str
        The sentence; words that know their places are put together as they stand in the text.
    layers : sequence of SpanLayer
        What to list; marked words get a line of their own, with a star.
    width : int
        Lines are broken between words to fit this many columns.

    Examples
    --------
    >>> layer = SpanLayer("Giving", [LabeledSpan("Donor", 0, 0, "who gives"), LabeledSpan("Theme", 2, 3)], marked=[1])
    >>> print(span_list(["Kim", "gave", "old", "bones", "."], [layer]))
    Kim gave old bones .
    <BLANKLINE>
      Giving
        Donor  Kim        who gives
        *      gave
        Theme  old bones
    """
    check_layers(words, layers)
    blocks = [wrap(written(words), width) or [""]]
    for layer in layers:
        heading = f"{layer.title}: {layer.note}" if layer.note else layer.title
        blocks.append(wrap(heading, width, initial_indent="  ", subsequent_indent="    ") + _rows(words, layer, width))
    return "\n\n".join("\n".join(block) for block in blocks)


def _rows(words: Sequence[str], layer: SpanLayer, width: int) -> list[str]:
    marked = [LabeledSpan("*", first, last) for first, last in _runs(layer.marked)]
    spans = sorted([*layer.spans, *marked], key=lambda one: (one.first, -one.last))
    texts = [written(words[one.first : one.last + 1]) for one in spans]
    label = max((len(one.label) for one in spans), default=0)
    note = min(_NOTES, max((len(one.note) for one in spans), default=0))
    # Three columns: a margin of four, and two between them.
    room = max(10, width - 4 - label - 2 - (note + 2 if note else 0))
    size = min(room, max(map(len, texts), default=0))
    lines = []
    for one, text in zip(spans, texts, strict=True):
        rows = zip_longest([one.label], wrap(text, size), wrap(one.note, note) if one.note else [], fillvalue="")
        lines += [f"    {name:{label}}  {part:{size}}  {said}".rstrip() for name, part, said in rows]
    return lines


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Join places that follow each other."""
    found: list[tuple[int, int]] = []
    for at in sorted(places):
        if found and found[-1][1] == at - 1:
            found[-1] = (found[-1][0], at)
        else:
            found.append((at, at))
    return found


def written(words: Sequence[str]) -> str:
    """Put words together: with blanks where their places in the text leave some, or everywhere if these are not known.

    >>> written(["-LRB-", "`", "yes", "'", "-RRB-"])
    "( ' yes ' )"
    """
    text: list[str] = []
    end = None
    for word in words:
        begin = getattr(word, "begin", None)
        if text and (begin is None or begin != end):
            text.append(" ")
        text.append(written_word(word))
        end = getattr(word, "end", None)
    return "".join(text)
