"""XML files read as a stream of elements, with nothing in them that a corpus does not need.

A document type with its entities is refused, since the only use an annotated text could have for it is to do harm; so
nothing is ever expanded or fetched. What the elements mean belongs to the readers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from sapwood.errors import FormatError

__all__ = ["XmlHandler", "read_xml"]

_CHUNK = 1 << 16
# Annotated texts nest half a dozen elements; a file far beyond that was made to exhaust something.
_DEEPEST = 256


class XmlHandler:
    """What a reader does with the elements of one file; the methods that it does not need do nothing."""

    def __init__(self) -> None:
        self._parser: Any = None
        self._name = ""
        self._depth = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, data: str) -> None:
        """Some text, perhaps not all of it at once."""

    def fault(self, reason: str) -> FormatError:
        """Make the error to raise when the place being read is not what it should be."""
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        return FormatError(self._name, line, column, reason)

    def number(self, attributes: dict[str, str], name: str) -> int:
        """Return an attribute that must be a whole number."""
        value = attributes.get(name, "")
        if not value.isascii() or not value.removeprefix("-").isdigit() or len(value) > 12:
            raise self.fault(f"expected a whole number as {name!r}, found {value[:40]!r}")
        return int(value)

    def needed(self, attributes: dict[str, str], name: str) -> str:
        """Return an attribute that must be there."""
        value = attributes.get(name)
        if not value:
            raise self.fault(f"an element without the attribute {name!r}")
        return value


def read_xml(stream: Any, handler: XmlHandler) -> Iterator[None]:
    """Feed a file to a handler piece by piece, so that what it has finished can be taken in between.

    Parameters
    ----------
    stream : binary stream
        As ``sources.open_all`` gives it.
    handler : XmlHandler
        What to do with the elements.

    Raises
    ------
    FormatError
        With file, line and column: broken or truncated XML, a document type, or elements nested without end.

    Examples
    --------
    >>> import io
    >>> from sapwood.sources import open_all
    >>> class Names(XmlHandler):
    ...     def start(self, name, attributes):
    ...         print(name, attributes)
    >>> for stream in open_all(io.BytesIO(b'<frame name="Giving"/>')):
    ...     for _ in read_xml(stream, Names()):
    ...         pass
    frame {'name': 'Giving'}
    """
    # Namespaces are declared but never used for anything in these files, so names are taken as written.
    parser = expat.ParserCreate()
    parser.buffer_text = True
    handler._parser, handler._name, handler._depth = parser, stream.name, 0

    def refuse(*_: object) -> None:
        raise handler.fault("a document type (<!DOCTYPE ...>) is not allowed here; remove it, with its entities")

    def start(name: str, attributes: dict[str, str]) -> None:
        handler._depth += 1
        if handler._depth > _DEEPEST:
            raise handler.fault(f"elements nested more than {_DEEPEST} deep")
        handler.start(name, attributes)

    def end(name: str) -> None:
        handler._depth -= 1
        handler.end(name)

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.text
    try:
        while piece := stream.read(_CHUNK):
            parser.Parse(piece.encode() if isinstance(piece, str) else piece, False)
            yield
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        cut = error.code in (expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS], *_TRUNCATED)
        reason = expat.errors.messages.get(error.code, "broken XML")
        advice = "the file is cut off or empty; fetch it again" if cut else "mend the file or fetch it again"
        raise FormatError(stream.name, error.lineno, error.offset + 1, f"broken XML ({reason}); {advice}") from None
    except (LookupError, ValueError) as error:
        # An encoding that the file names and nobody knows.
        if isinstance(error, FormatError):
            raise
        raise FormatError(stream.name, 1, 1, f"broken XML ({error}); convert the file to UTF-8") from None
    yield


_TRUNCATED = tuple(
    expat.errors.codes[name]
    for name in (
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
