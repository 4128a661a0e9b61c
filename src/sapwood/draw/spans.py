"""Labelled spans under the words of a sentence, as text for the terminal and as SVG.

Made for anything that names stretches of a sentence: frames and their roles, predicates and their arguments, chunks,
named entities. A layer is one analysis, such as one frame: a title, the words it is about, and spans that have names.
Knows words and positions, and nothing of what the labels mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sapwood.draw.palette import colour
from sapwood.draw.picture import Picture
from sapwood.errors import DataError
from sapwood.notebook import HtmlTable

__all__ = ["LabeledSpan", "SpanLayer", "check_layers", "span_svg", "span_text", "spread"]


@dataclass(frozen=True)
class LabeledSpan:
    """A label and the first and last word that it covers, counted from 0."""

    label: str
    first: int
    last: int


@dataclass(frozen=True)
class SpanLayer(HtmlTable):
    """One analysis: its title, the words it is about (a frame's target, a predicate), and its spans."""

    title: str
    spans: Sequence[LabeledSpan]
    marked: Sequence[int] = ()


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


def span_svg(words: Sequence[str], layers: Sequence[SpanLayer]) -> Picture:
    """Draw spans under a sentence as SVG, one colour per layer.

    Examples
    --------
    >>> picture = span_svg(["Kim", "ran"], [SpanLayer("Motion", [LabeledSpan("Theme", 0, 0)], marked=[1])])
    >>> picture.startswith("<svg"), picture.count("<line"), picture.count("<text")
    (True, 1, 4)
    """
    check_layers(words, layers)
    lanes = [(number, layer, lane) for number, layer in enumerate(layers) for lane in spread(layer)]
    unit = 8.0
    sizes = [max(1, len(word)) * unit for word in words]
    for _, _, lane in lanes:
        for span in lane:
            room = sum(sizes[span.first : span.last + 1]) + unit * (span.last - span.first)
            sizes[span.first] += max(0.0, len(span.label) * 6.5 - room)
    starts, at = [], 10.0
    for size in sizes:
        starts.append(at)
        at += size + unit
    titles = max((len(layer.title) for layer in layers), default=0)
    width, height = at + titles * 7.0 + 20.0, 30.0 + 26.0 * len(lanes)
    marked = {word for layer in layers for word in layer.marked}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="13" fill="currentColor">'
        f"<title>{escape(' '.join(words))}</title>"
    ]
    for number, word in enumerate(words):
        weight = ' font-weight="bold"' if number in marked else ""
        parts.append(f'<text x="{starts[number]:.1f}" y="18"{weight}>{escape(word)}</text>')
    seen: set[int] = set()
    for row, (number, layer, lane) in enumerate(lanes):
        shade, y = colour(number), 30.0 + 26.0 * row
        for place in layer.marked:
            size = len(words[place]) * unit
            parts.append(
                f'<rect x="{starts[place]:.1f}" y="{y:.1f}" width="{size:.1f}" height="4" style="fill:{shade}"/>'
            )
        for span in lane:
            x, end = starts[span.first], starts[span.last] + sizes[span.last]
            parts.append(
                f'<line x1="{x:.1f}" y1="{y + 2:.1f}" x2="{end:.1f}" y2="{y + 2:.1f}" '
                f'style="stroke:{shade};stroke-width:2"/>'
                f'<text x="{x:.1f}" y="{y + 16:.1f}" font-size="11" style="fill:{shade}">'
                f"{escape(span.label)}</text>"
            )
        if number not in seen:
            seen.add(number)
            parts.append(f'<text x="{at + 4:.1f}" y="{y + 8:.1f}" style="fill:{shade}">{escape(layer.title)}</text>')
    return Picture("".join([*parts, "</svg>"]))


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


def _breaks(sizes: Sequence[int], width: int) -> list[tuple[int, int]]:
    """Return where lines begin and end."""
    found, begin, used = [], 0, 0
    for word, size in enumerate(sizes):
        if word > begin and used + size > width:
            found.append((begin, word))
            begin, used = word, 0
        used += size + 1
    return [*found, (begin, len(sizes))] if sizes else []
