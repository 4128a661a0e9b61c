"""FrameNet's full-text annotation: sentences, the words that evoke frames, and the spans that fill their roles.

Reads the files ``fulltext/*.xml`` of FrameNet 1.5 and 1.7. Positions are those of characters in the sentence, the last
one included, as the files have them. Only the first rank of each layer is read; a second rank holds alternative
analyses of the same words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from sapwood.corpora.xml_stream import Element, elements
from sapwood.notebook import HtmlTable
from sapwood.sources import Sources, Stream, open_all

__all__ = ["AnnotatedSentence", "Filler", "FrameTarget", "read_fulltext", "sentences_in"]

Span = tuple[int, int]


@dataclass(frozen=True, order=True)
class Filler:
    """A span that fills a role: its name, and the first and last character, both included."""

    role: str
    start: int
    end: int


@dataclass(frozen=True)
class FrameTarget(HtmlTable):
    """Words that evoke a frame, and what fills its roles in the sentence.

    Attributes
    ----------
    frame : str
        Name of the frame.
    spans : tuple of (int, int)
        Where the words stand; more than one span where other words stand between them ("*give* it *up*").
    fillers : tuple of Filler
        Overt roles. The same role comes more than once if it is filled by several spans.
    null : tuple of (str, str)
        Roles that are understood though not expressed, and how: ``CNI``, ``DNI``, ``INI`` or ``INC``.
    lexical_unit : str
        Such as ``give.v``.
    annotated : bool
        False where the frame is given and nobody has marked its roles (status ``UNANN``).
    """

    frame: str
    spans: tuple[Span, ...]
    fillers: tuple[Filler, ...] = ()
    null: tuple[tuple[str, str], ...] = ()
    lexical_unit: str = ""
    annotated: bool = True


@dataclass(frozen=True)
class AnnotatedSentence(HtmlTable):
    """A sentence with the frames in it.

    Attributes
    ----------
    document, id : str
        Where it comes from; together they are unique.
    text : str
        Its characters, to which all positions refer.
    offsets : tuple of (int, int)
        First and last character of each token; empty if the sentence was not tokenised.
    tags : tuple of str
        FrameNet's own part-of-speech tags, one per token.
    targets : tuple of FrameTarget
        In the order of the file.
    """

    document: str
    id: str
    text: str
    offsets: tuple[Span, ...] = ()
    tags: tuple[str, ...] = ()
    targets: tuple[FrameTarget, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens as text."""
        return tuple(self.text[start : end + 1] for start, end in self.offsets)


def read_fulltext(source: Sources) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of full-text files one by one.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Also members of archives: ``"fndata-1.5-core.tar.xz/fndata-1.5/fulltext/*.xml"``.

    Raises
    ------
    FormatError
        With file, line and column: broken or truncated XML, a document type, or a span outside its sentence.

    Examples
    --------
    >>> import io
    >>> text = b'''<fullTextAnnotation><sentence ID="7"><text>Rain fell</text>
    ... <annotationSet frameName="Motion" luName="fall.v" status="MANUAL">
    ... <layer rank="1" name="Target"><label start="5" end="8" name="Target"/></layer>
    ... <layer rank="1" name="FE"><label start="0" end="3" name="Theme"/></layer>
    ... </annotationSet></sentence></fullTextAnnotation>'''
    >>> next(read_fulltext(io.BytesIO(text))).targets[0].fillers
    (Filler(role='Theme', start=0, end=3),)
    """
    for stream in open_all(source):
        yield from sentences_in(stream)


def sentences_in(stream: Stream) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of one opened file."""
    document = PurePosixPath(stream.name).stem
    for element in elements(stream, "fullTextAnnotation", "sentence", skip=_is_other_layer):
        yield _sentence(document, element)


def _is_other_layer(name: str, attributes: dict[str, str]) -> bool:
    # Only three layers are wanted, and they hold a tenth of the labels.
    return name == "layer" and (
        attributes.get("name") not in ("Target", "FE", "PENN") or attributes.get("rank", "1") != "1"
    )


def _sentence(document: str, element: Element) -> AnnotatedSentence:
    id, text = element.needed("ID"), "".join(child.text for child in element.all("text"))
    tokens: dict[Span, str] = {}
    targets: list[FrameTarget] = []
    for annotation in element.all("annotationSet"):
        for nested in annotation.all("annotationSet"):
            raise nested.fault("an <annotationSet> inside another; mend the file or fetch it again")
        spans: list[Span] = []
        fillers: list[Filler] = []
        null: list[tuple[str, str]] = []
        for layer in annotation.all("layer"):
            kind = layer.attributes["name"]
            for label in layer.all("label"):
                if "start" not in label.attributes:
                    # Without positions it is a role that is understood but not expressed.
                    if kind == "FE" and "itype" in label.attributes:
                        null.append((label.needed("name"), label.attributes["itype"]))
                    continue
                start, end = _span(label, text)
                if kind == "PENN":
                    tokens[start, end] = label.attributes.get("name", "")
                elif kind == "Target":
                    spans.append((start, end))
                else:
                    fillers.append(Filler(label.needed("name"), start, end))
        facts = annotation.attributes
        if spans and facts.get("frameName"):
            unit, annotated = facts.get("luName", ""), facts.get("status") != "UNANN"
            target = (facts["frameName"], tuple(sorted(spans)), tuple(fillers), tuple(null), unit, annotated)
            targets.append(FrameTarget(*target))
    offsets = tuple(sorted(tokens))
    return AnnotatedSentence(document, id, text, offsets, tuple(tokens[span] for span in offsets), tuple(targets))


def _span(label: Element, text: str) -> Span:
    start, end = label.number("start"), label.number("end")
    if not 0 <= start <= end < len(text):
        raise label.fault(f"the span from {start} to {end} lies outside the sentence, which has {len(text)} characters")
    return start, end
