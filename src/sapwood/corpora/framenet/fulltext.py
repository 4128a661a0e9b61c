"""FrameNet's full-text annotation: sentences, the words that evoke frames, and the spans that fill their roles.

Reads the files ``fulltext/*.xml`` of FrameNet 1.5 and 1.7. Positions are those of characters in the sentence, the last
one included, as the files have them. Only the first rank of each layer is read; a second rank holds alternative
analyses of the same words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from sapwood.corpora.xml_stream import XmlHandler, read_xml
from sapwood.notebook import HtmlTable
from sapwood.sources import Sources, open_all

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


def sentences_in(stream: object) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of one opened file."""
    handler = _FullTextFile(PurePosixPath(str(getattr(stream, "name", ""))).stem)
    for _ in read_xml(stream, handler):
        yield from handler.take()
    if not handler.seen:
        raise handler.fault("the file holds no <fullTextAnnotation>; name the files of the folder 'fulltext'")


class _FullTextFile(XmlHandler):
    """Collects sentences; everything outside them is passed over."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self._document = document
        self.seen = False
        self._ready: list[AnnotatedSentence] = []
        self._id = ""
        self._in_text = False
        self._pieces: list[str] = []
        self._text = ""
        self._tokens: dict[Span, str] = {}
        self._targets: list[FrameTarget] = []
        self._set: dict[str, str] | None = None
        self._layer = ""
        self._spans: list[Span] = []
        self._fillers: list[Filler] = []
        self._null: list[tuple[str, str]] = []

    def take(self) -> list[AnnotatedSentence]:
        ready, self._ready = self._ready, []
        return ready

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "label":
            if self._layer:
                self._label(attributes)
        elif name == "layer":
            # Only three layers are wanted, and they hold a tenth of the labels.
            kind = attributes.get("name", "")
            self._layer = kind if kind in ("Target", "FE", "PENN") and attributes.get("rank", "1") == "1" else ""
        elif name == "annotationSet":
            if self._set is not None:
                raise self.fault("an <annotationSet> inside another; mend the file or fetch it again")
            self._set = attributes
            self._spans, self._fillers, self._null = [], [], []
        elif name == "text":
            self._in_text, self._pieces = True, []
        elif name == "sentence":
            self._id = self.needed(attributes, "ID")
            self._text, self._tokens, self._targets = "", {}, []
        elif name == "fullTextAnnotation":
            self.seen = True

    def text(self, data: str) -> None:
        if self._in_text:
            self._pieces.append(data)

    def end(self, name: str) -> None:
        if name == "layer":
            self._layer = ""
        elif name == "text":
            self._in_text, self._text = False, "".join(self._pieces)
        elif name == "annotationSet":
            assert self._set is not None
            if self._spans and self._set.get("frameName"):
                self._targets.append(
                    FrameTarget(
                        self._set["frameName"],
                        tuple(sorted(self._spans)),
                        tuple(self._fillers),
                        tuple(self._null),
                        self._set.get("luName", ""),
                        self._set.get("status") != "UNANN",
                    )
                )
            self._set = None
        elif name == "sentence":
            offsets = sorted(self._tokens)
            tags = tuple(self._tokens[span] for span in offsets)
            self._ready.append(
                AnnotatedSentence(self._document, self._id, self._text, tuple(offsets), tags, tuple(self._targets))
            )

    def _label(self, attributes: dict[str, str]) -> None:
        if "start" not in attributes:
            # Without positions it is a role that is understood but not expressed.
            if self._layer == "FE" and "itype" in attributes:
                self._null.append((self.needed(attributes, "name"), attributes["itype"]))
            return
        start, end = self.number(attributes, "start"), self.number(attributes, "end")
        if not 0 <= start <= end < len(self._text):
            raise self.fault(
                f"the span from {start} to {end} lies outside the sentence, which has {len(self._text)} characters"
            )
        if self._layer == "PENN":
            self._tokens[start, end] = attributes.get("name", "")
        elif self._layer == "Target":
            self._spans.append((start, end))
        else:
            self._fillers.append(Filler(self.needed(attributes, "name"), start, end))
