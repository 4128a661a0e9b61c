"""Labelled spans under the words of a sentence, as text for the terminal and as SVG.

Made for anything that names stretches of a sentence: frames and their roles, predicates and their arguments, chunks,
named entities. A layer is one analysis, such as one frame: a title, the words it is about, and spans that have names.
Knows words and positions, and nothing of what the labels mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sapwood.draw.picture import Picture
from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.palette import FONT, GREY, colour, paint, text_width
from sapwood.penn import written_word

__all__ = ["LabeledSpan", "SpanLayer", "check_layers", "span_svg", "span_text", "spread"]

# Sizes of words and labels in pixels, and between words.
_WORD, _LABEL, _SPACE = 14, 12, 7.0
_QUIET = f"fill:{colour('muted')}"


@dataclass(frozen=True)
class LabeledSpan:
    """A label, the first and last word that it covers, counted from 0, and perhaps a note on what it means here."""

    label: str
    first: int
    last: int
    note: str = ""


@dataclass(frozen=True)
class SpanLayer(HtmlTable):
    """One analysis: its title, its spans, the words it is about (a frame's target), perhaps what the title means."""

    title: str
    spans: Sequence[LabeledSpan]
    marked: Sequence[int] = ()
    note: str = ""


def span_text(words: Sequence[str], layers: Sequence[SpanLayer], *, width: int = 100) -> str:
    """Draw spans under a sentence, one line per layer, or more where spans of a layer overlap.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    layers : sequence of SpanLayer
        What to draw under it. Marked words are shown as ``^^^`` with the title behind the line.
    width : int
        A sentence longer than this is broken, and its spans with it.

    Examples
    --------
    >>> layer = SpanLayer("Giving", [LabeledSpan("Donor", 0, 0), LabeledSpan("Recipient", 2, 3)], marked=[1])
    >>> print(span_text(["Kim", "gave", "the", "dog", "bones"], [layer]))
    Kim     gave the     dog bones
    [Donor] ^^^^ [Recipient]        Giving
    """
    check_layers(words, layers)
    words = [written_word(word) for word in words]
    lanes = [(layer, lane) for layer in layers for lane in _lanes_of_text(layer)]
    sizes = [max(1, len(word)) for word in words]
    for _, lane in lanes:
        for span in lane:
            # A label needs room: its span's first word is widened, so that the rest stays close together.
            needed = len(span.label) + 2 - sum(sizes[span.first : span.last + 1]) - (span.last - span.first)
            sizes[span.first] += max(0, needed)
    blocks = []
    for begin, end in _breaks(sizes, width):
        starts, at = {}, 0
        for word in range(begin, end):
            starts[word] = at
            at += sizes[word] + 1
        lines = [" ".join(words[word].ljust(sizes[word]) for word in range(begin, end)).rstrip()]
        shown = set()
        for layer, lane in lanes:
            row = [" "] * at
            marked = [word for word in layer.marked if begin <= word < end and not _covers(lane, layer.marked)]
            for word in marked:
                row[starts[word] : starts[word] + len(words[word])] = "^" * len(words[word])
            drawn = bool(marked)
            for span in lane:
                first, last = max(span.first, begin), min(span.last, end - 1)
                if first > last:
                    continue
                drawn = True
                length = starts[last] + (sizes[last] if last > first or first == span.first else 0) - starts[first]
                length = max(length, starts[last] + len(words[last]) - starts[first])
                inner = span.label[: max(0, length - 2)].center(length - 2, "-") if length > 2 else ""
                left, right = "[" if first == span.first else "<", "]" if last == span.last else ">"
                row[starts[first] : starts[first] + length] = f"{left}{inner}{right}"[:length]
            if drawn:
                title = "" if id(layer) in shown else layer.title
                shown.add(id(layer))
                lines.append(f"{''.join(row)}{title}".rstrip())
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def span_svg(words: Sequence[str], layers: Sequence[SpanLayer], *, width: float = 760.0) -> Picture:
    """Draw spans under a sentence as SVG; a label has the same color in every picture, and notes show on hovering.

    Parameters
    ----------
    words : sequence of str
        The sentence; words that the Penn Treebank spells in its own way are drawn as they stand in texts.
    layers : sequence of SpanLayer
        What to draw under it, one line each, or more where spans of a layer overlap. Marked words are underlined.
    width : float
        A sentence wider than so many pixels is broken, and its spans with it.

    Examples
    --------
    >>> picture = span_svg(["Kim", "ran"], [SpanLayer("Motion", [LabeledSpan("Theme", 0, 0)], marked=[1])])
    >>> picture.startswith("<svg"), picture.count("<line"), picture.count("<text")
    (True, 1, 4)
    """
    check_layers(words, layers)
    words = [written_word(word) for word in words]
    lanes = [(number, layer, lane) for number, layer in enumerate(layers) for lane in spread(layer)]
    marked = {word for layer in layers for word in layer.marked}
    # Marked words are bold, and wider by about a seventh.
    sizes = [
        max(8.0, text_width(word, _WORD) * (1.15 if number in marked else 1.0)) for number, word in enumerate(words)
    ]
    for _, _, lane in lanes:
        for span in lane:
            # A label needs room: its span's first word is widened, so that the rest stays close together.
            room = sum(sizes[span.first : span.last + 1]) + _SPACE * (span.last - span.first)
            sizes[span.first] += max(0.0, text_width(span.label, _LABEL) + 14 - room)
    left = max((text_width(layer.title, _LABEL) for layer in layers), default=0.0) + 20
    lines = _breaks([size + _SPACE for size in sizes], max(width - left, 120.0))
    for begin, end in lines:
        for span in (span for _, _, lane in lanes for span in lane):
            first, last = max(span.first, begin), min(span.last, end - 1)
            if first <= last:
                # A part of a span that is broken needs room for the label, too.
                room = sum(sizes[first : last + 1]) + _SPACE * (last - first)
                sizes[first] += max(0.0, text_width(_named(span, first), _LABEL) + 14 - room)
    parts: list[str] = []
    top, right = 0.0, 60.0
    for begin, end in lines:
        starts, at = {}, left
        for word in range(begin, end):
            weight = ' font-weight="700"' if word in marked else ""
            parts.append(f'<text x="{at:.1f}" y="{top + 18:.1f}"{weight}>{escape(words[word])}</text>')
            starts[word] = at
            at += sizes[word] + _SPACE
        right, y = max(right, at), top + 28
        seen: set[int] = set()
        for number, layer, lane in lanes:
            drawn = _lane(layer, lane, words, starts, sizes, y, bars=number not in seen)
            if not drawn:
                continue
            if number not in seen:
                title = f"{_hover(layer.note)}{escape(layer.title)}"
                drawn.append(f'<text x="4" y="{y + 14:.1f}" font-size="{_LABEL}" style="{_QUIET}">{title}</text>')
            seen.add(number)
            parts += drawn
            y += 27
        top = y + 10
    height = max(top, 24.0)
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:.0f}" height="{height:.0f}" role="img" '
        f'viewBox="0 0 {right:.0f} {height:.0f}" font-family="{FONT}" font-size="{_WORD}" fill="currentColor" '
        f'style="max-width:100%;height:auto;min-width:{0.7 * right:.0f}px">'
        f"<title>{escape(' '.join(words))}</title>{''.join(parts)}</svg>"
    )


def _lane(
    layer: SpanLayer,
    lane: Sequence[LabeledSpan],
    words: Sequence[str],
    starts: dict[int, float],
    sizes: Sequence[float],
    y: float,
    *,
    bars: bool,
) -> list[str]:
    """Draw what of one row of spans stands in one line of the sentence."""
    parts = []
    for word in layer.marked if bars else ():
        if word in starts and not _covers(lane, [word]):
            wide = text_width(words[word], _WORD)
            parts.append(
                f'<rect x="{starts[word]:.1f}" y="{y + 8:.1f}" width="{wide:.1f}" height="4" rx="2" '
                f'style="fill:{colour(GREY)}"/>'
            )
    for span in lane:
        inside = [word for word in range(span.first, span.last + 1) if word in starts]
        if not inside:
            continue
        x, end = starts[inside[0]], starts[inside[-1]] + sizes[inside[-1]]
        shade = colour(paint(span.label))
        parts.append(
            f'<g>{_hover(span.note)}<rect x="{x:.1f}" y="{y:.1f}" width="{end - x:.1f}" height="20" rx="4" '
            f'style="fill:{shade};fill-opacity:.17"/><line x1="{x:.1f}" y1="{y + 20:.1f}" x2="{end:.1f}" '
            f'y2="{y + 20:.1f}" style="stroke:{shade};stroke-width:2"/><text x="{x + 6:.1f}" y="{y + 14.5:.1f}" '
            f'font-size="{_LABEL}" font-weight="600">{escape(_named(span, inside[0]))}</text></g>'
        )
    return parts


def _named(span: LabeledSpan, first: int) -> str:
    """Return the label for the part of a span that begins at a word."""
    return span.label if first == span.first else f"… {span.label}"


def _hover(note: str) -> str:
    return f"<title>{escape(note)}</title>" if note else ""


def check_layers(words: Sequence[str], layers: Sequence[SpanLayer]) -> None:
    """Refuse spans and marks outside the sentence."""
    for layer in layers:
        for span in layer.spans:
            if not 0 <= span.first <= span.last < len(words):
                raise DataError(
                    f"the span {span.label!r} from {span.first} to {span.last} does not fit a sentence of "
                    f"{len(words)} words."
                )
        for word in layer.marked:
            if not 0 <= word < len(words):
                raise DataError(f"the marked word {word} does not fit a sentence of {len(words)} words.")


def spread(layer: SpanLayer) -> list[list[LabeledSpan]]:
    """Spread the spans of a layer over as few lines as it takes to keep them apart."""
    lanes: list[list[LabeledSpan]] = [[]]
    for span in sorted(layer.spans, key=lambda span: (span.first, span.last)):
        for lane in lanes:
            if not lane or lane[-1].last < span.first:
                lane.append(span)
                break
        else:
            lanes.append([span])
    return lanes


def _lanes_of_text(layer: SpanLayer) -> list[list[LabeledSpan]]:
    """Spread the spans, with a line for the marked words alone where every other has a span over one of them."""
    lanes = spread(layer)
    return [[], *lanes] if all(_covers(lane, layer.marked) for lane in lanes) else lanes


def _covers(lane: Sequence[LabeledSpan], marked: Sequence[int]) -> bool:
    return any(span.first <= word <= span.last for span in lane for word in marked)


def _breaks(sizes: Sequence[float], width: float) -> list[tuple[int, int]]:
    """Return where lines begin and end."""
    found, begin, used = [], 0, 0.0
    for word, size in enumerate(sizes):
        if word > begin and used + size > width:
            found.append((begin, word))
            begin, used = word, 0
        used += size + 1
    return [*found, (begin, len(sizes))] if sizes else []
