"""Trees from XML and HTML, by the parsers of the standard library.

An element is a node, an attribute a node ``@name`` over its value, text leaves. Nothing is expanded or fetched.
"""

from __future__ import annotations

from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any
from xml.parsers import expat

from sapwood.checks import check_choice
from sapwood.errors import TreeError
from sapwood.trees.tree import Tree

__all__ = ["from_html", "from_xml"]

_TEXT = ("words", "whole", "drop")

# Elements that never have an end tag.
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
# Browsers stop at about half of this.
_DEEPEST_HTML = 1000
# Whose text is no text.
_SILENT = frozenset({"script", "style"})
# A start tag ends the open elements of the first set, if there are any above which none of the second stands.
_BLOCKS = (
    *(
        "address",
        "article",
        "aside",
        "blockquote",
        "details",
        "div",
        "dl",
        "fieldset",
        "figure",
        "footer",
        "form",
        "h1",
    ),
    *("h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul"),
)
_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu"})),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), frozenset({"dl"}))),
    **dict.fromkeys(("td", "th"), (frozenset({"td", "th"}), frozenset({"tr", "table"}))),
    "tr": (frozenset({"tr"}), frozenset({"tbody", "thead", "tfoot", "table"})),
    **dict.fromkeys(("tbody", "tfoot"), (frozenset({"tbody", "thead"}), frozenset({"table"}))),
    "option": (frozenset({"option"}), frozenset({"select", "datalist", "optgroup"})),
    "body": (frozenset({"head"}), frozenset({"html"})),
    **dict.fromkeys(_BLOCKS, (frozenset({"p"}), frozenset({"button", "td", "th", "li", "div", "object"}))),
}


class _Builder:
    """Takes start tags, end tags and text; keeps what is open."""

    def __init__(self, text: str, attributes: bool) -> None:
        check_choice(text, "text", _TEXT)
        self._text, self._attributes = text, attributes
        self.open: list[tuple[str, list[Tree]]] = []
        self.roots: list[Tree] = []
        self._waiting: list[str] = []

    def start(self, name: str, attributes: Iterable[tuple[str, str | None]]) -> None:
        self.flush()
        kids: list[Tree] = []
        if self._attributes:
            for key, value in attributes:
                kids.append(Tree(f"@{key}", [" ".join(value.split())] if value and value.strip() else ()))
        self.open.append((name, kids))

    def end(self) -> None:
        self.flush()
        name, kids = self.open.pop()
        (self.open[-1][1] if self.open else self.roots).append(Tree(name, kids))

    def data(self, text: str) -> None:
        self._waiting.append(text)

    def flush(self) -> None:
        """Make leaves of the text since the last tag."""
        words = "".join(self._waiting).split() if self._text != "drop" else []
        self._waiting.clear()
        if words:
            kids = self.open[-1][1] if self.open else self.roots
            kids.extend(map(Tree, words) if self._text == "words" else [Tree(" ".join(words))])


def from_xml(source: Any, *, text: str, attributes: bool) -> Tree:
    """Build a tree from XML; see ``Tree.from_xml``."""
    builder = _Builder(text, attributes)
    if hasattr(source, "tag") and hasattr(source, "attrib"):
        _walk(source, builder)
        return builder.roots[0]
    if not isinstance(source, (str, bytes, bytearray)):
        raise TreeError(
            f"expected XML text or an element of xml.etree.ElementTree, got {type(source).__name__}; for a file, write "
            "Tree.from_xml(open(path, 'rb').read())."
        )
    # Text has an encoding no longer, whatever its first line says; half a surrogate pair is no character in any.
    parser = expat.ParserCreate("utf-8" if isinstance(source, str) else None)
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else bytes(source)
    parser.ordered_attributes = True
    parser.StartElementHandler = lambda name, given: builder.start(name, zip(given[::2], given[1::2], strict=True))
    parser.EndElementHandler = lambda name: builder.end()
    parser.CharacterDataHandler = builder.data

    def refuse(*_declaration: object) -> None:
        raise TreeError(
            f"the XML declares entities (line {parser.CurrentLineNumber}), which are not expanded; replace them by "
            "what they stand for."
        )

    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise TreeError(
            f"not valid XML, line {error.lineno}, column {error.offset + 1}: {expat.ErrorString(error.code)}; "
            "Tree.from_html takes pages that are not strict."
        ) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, TreeError):
            raise
        raise TreeError(f"the XML cannot be decoded: {error}.") from None
    return builder.roots[0]


def _walk(root: Any, builder: _Builder) -> None:
    """Hand an element over, which may be nested without bounds."""
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        element, done = stack.pop()
        if done or not isinstance(element.tag, str):
            # Comments and processing instructions have functions for names, and no end.
            if done:
                builder.end()
            if element is not root and element.tail:
                builder.data(element.tail)
            elif element is root and not done:
                raise TreeError("the element is a comment or a processing instruction; pass the document's root.")
            continue
        builder.start(element.tag, element.attrib.items())
        if element.text:
            builder.data(element.text)
        stack.append((element, True))
        stack.extend((child, False) for child in reversed(list(element)))


def from_html(source: str | bytes, *, text: str, attributes: bool) -> Tree:
    """Build a tree from HTML; see ``Tree.from_html``."""
    if isinstance(source, (bytes, bytearray)):
        source = bytes(source).decode("utf-8", "replace")
    if not isinstance(source, str):
        raise TreeError(
            f"expected HTML as text, got {type(source).__name__}; for a file, write "
            "Tree.from_html(open(path, 'rb').read())."
        )
    builder = _Builder(text, attributes)
    page = _Page(builder)
    page.feed(source)
    page.close()
    while builder.open:
        builder.end()
    builder.flush()
    roots = builder.roots
    if not roots:
        raise TreeError("the HTML holds no element and no text, so there is no tree.")
    return roots[0] if len(roots) == 1 else Tree("html", roots)


class _Page(HTMLParser):
    """Hands events over, with the end tags that HTML lets one leave out."""

    def __init__(self, builder: _Builder) -> None:
        super().__init__(convert_charrefs=True)
        self._builder = builder

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _ENDS:
            self._close(*_ENDS[tag])
        if len(self._builder.open) >= _DEEPEST_HTML:
            raise TreeError(f"the HTML is nested more than {_DEEPEST_HTML:,} levels deep (line {self.getpos()[0]}).")
        self._builder.start(tag, attrs)
        if tag in _VOID:
            self._builder.end()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._builder.end()

    def handle_endtag(self, tag: str) -> None:
        # An end tag without a start tag means nothing.
        if tag not in _VOID:
            self._close(frozenset({tag}), frozenset())

    def handle_data(self, data: str) -> None:
        if not (self._builder.open and self._builder.open[-1][0] in _SILENT):
            self._builder.data(data)

    def _close(self, names: frozenset[str], within: frozenset[str]) -> None:
        """End the innermost open element of these names with all that is open in it, unless it is beyond a border."""
        opened = self._builder.open
        for level in range(len(opened) - 1, -1, -1):
            if opened[level][0] in names:
                while len(opened) > level:
                    self._builder.end()
                return
            if opened[level][0] in within:
                return
