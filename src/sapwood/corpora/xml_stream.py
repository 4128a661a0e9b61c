"""XML files read as a stream of elements, with nothing in them that a corpus does not need.

A document type with its entities is refused, since the only use an annotated text could have for it is to do harm; so
nothing is ever expanded or fetched. What the elements mean belongs to the readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from sapwood.errors import FormatError
from sapwood.sources import Stream

__all__ = ["Element", "elements"]

_CHUNK = 1 << 16
# Annotated texts nest half a dozen elements; a file far beyond that was made to exhaust something.
_DEEPEST = 256


@dataclass(slots=True)
class Element:
    """An element with what is in it, and where it begins."""

    name: str
    attributes: dict[str, str]
    place: tuple[str, int, int]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, name: str) -> list[Element]:
        """Return the children of this name."""
        return [child for child in self.children if child.name == name]

    def fault(self, reason: str) -> FormatError:
        """Make the error to raise when the element is not what it should be."""
        return FormatError(*self.place, reason)

    def number(self, name: str) -> int:
        """Return an attribute that must be a whole number."""
        value = self.attributes.get(name, "")
        if not value.isascii() or not value.removeprefix("-").isdigit() or len(value) > 18:
            raise self.fault(f"expected a whole number as {name!r}, found {value[:40]!r}")
        return int(value)

    def needed(self, name: str) -> str:
        """Return an attribute that must be there."""
        value = self.attributes.get(name)
        if not value:
            raise self.fault(f"an element without the attribute {name!r}")
        return value


def elements(
    stream: Stream,
    root: str,
    name: str,
    *,
    skip: Callable[[str, dict[str, str]], bool] = lambda name, attributes: False,
) -> Iterator[Element]:
    """Yield the elements of one name, each when it is complete; everything outside of them is passed over.

    Parameters
    ----------
    stream : Stream
        As ``sources.open_all`` gives it.
    root : str
        What the outermost element must be called.
    name : str
        Which elements to yield.
    skip : callable
        What inside of them is left out.

    Raises
    ------
    FormatError
        With file, line and column: broken or truncated XML, another root, a document type, or elements nested without
        end.

    Examples
    --------
    >>> import io
    >>> from sapwood.sources import open_all
    >>> for stream in open_all(io.BytesIO(b'<frame name="Giving"><FE name="Donor"/></frame>')):
    ...     for element in elements(stream, "frame", "frame"):
    ...         print(element.attributes, [child.needed("name") for child in element.all("FE")])
    {'name': 'Giving'} ['Donor']
    """
    # Namespaces are declared but never used for anything in these files, so names are taken as written.
    parser = expat.ParserCreate()
    parser.buffer_text = True
    collector = _Collector(parser, stream.name, root, name, skip)
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = collector.refuse
    parser.StartElementHandler = collector.start
    parser.EndElementHandler = collector.end
    parser.CharacterDataHandler = collector.characters
    try:
        while piece := stream.read(_CHUNK):
            parser.Parse(piece.encode() if isinstance(piece, str) else piece, False)
            yield from collector.take()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        cut = error.code in _TRUNCATED
        reason = expat.errors.messages.get(error.code, "broken XML")
        advice = "the file is cut off or empty; fetch it again" if cut else "mend the file or fetch it again"
        raise FormatError(stream.name, error.lineno, error.offset + 1, f"broken XML ({reason}); {advice}") from None
    except (LookupError, ValueError) as error:
        # An encoding that the file names and nobody knows.
        if isinstance(error, FormatError):
            raise
        raise FormatError(stream.name, 1, 1, f"broken XML ({error}); convert the file to UTF-8") from None
    yield from collector.take()


class _Collector:
    """Builds the elements that are wanted while a file is parsed."""

    def __init__(
        self, parser: Any, file: str, root: str, name: str, skip: Callable[[str, dict[str, str]], bool]
    ) -> None:
        self._parser, self._file, self._root, self._name, self._skip = parser, file, root, name, skip
        self._depth = self._skipped = 0
        self._open: list[Element] = []
        self._ready: list[Element] = []

    def take(self) -> list[Element]:
        ready, self._ready = self._ready, []
        return ready

    def refuse(self, *_: object) -> None:
        raise self._fault("a document type (<!DOCTYPE ...>) is not allowed here; remove it, with its entities")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._fault(f"elements nested more than {_DEEPEST} deep")
        if self._depth == 1 and name != self._root:
            raise self._fault(f"the file holds no <{self._root}> but <{name[:40]}>; name the files of that kind")
        if self._skipped or (not self._open and name != self._name):
            return
        if self._skip(name, attributes):
            self._skipped = self._depth
            return
        element = Element(name, attributes, self._place())
        if self._open:
            self._open[-1].children.append(element)
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._depth -= 1
        if self._skipped:
            self._skipped = 0 if self._depth < self._skipped else self._skipped
        elif self._open:
            element = self._open.pop()
            if not self._open:
                self._ready.append(element)

    def characters(self, data: str) -> None:
        if self._open and not self._skipped:
            self._open[-1].text += data

    def _place(self) -> tuple[str, int, int]:
        return self._file, self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _fault(self, reason: str) -> FormatError:
        return FormatError(*self._place(), reason)


_TRUNCATED = tuple(
    expat.errors.codes[name]
    for name in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
