"""Trees from XML and HTML."""

from __future__ import annotations

import html
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from sapwood import Tree
from sapwood.errors import ParameterError, TreeError


def as_xml(tree: Tree) -> str:
    """Write a tree over words as elements and text, with a blank between words."""
    if tree.is_leaf:
        return f"<{tree.label}/>"
    inner = " ".join(escape(child.label) if child.is_leaf else as_xml(child) for child in tree.children)
    return f"<{tree.label}>{inner}</{tree.label}>"


@given(strategies.internal_trees(8))
def test_elements_and_words(tree: Tree) -> None:
    text = as_xml(tree)
    assert Tree.from_xml(text) == tree
    assert Tree.from_xml(text.encode()) == tree
    assert Tree.from_xml(ElementTree.fromstring(text)) == tree


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")))
def test_text_and_attributes_of_any_kind(text: str) -> None:
    document = f"<a b={quoteattr(text)}>{escape(text)}</a>"
    words = text.split()
    expected = Tree("a", [Tree("@b", [" ".join(words)] if words else []), *words])
    assert Tree.from_xml(document) == expected
    assert Tree.from_html(f'<a b="{html.escape(text)}">{html.escape(text)}</a>') == expected


def test_options() -> None:
    text = '<p class="lead">An  old<b/><!-- no --> oak</p>'
    assert str(Tree.from_xml(text)) == "(p (@class lead) An old b oak)"
    assert Tree.from_xml(text, text="whole", attributes=False) == Tree("p", ["An old", "b", "oak"])
    assert Tree.from_xml(text, text="drop", attributes=False) == Tree("p", ["b"])
    for read in (Tree.from_xml, Tree.from_html):
        with pytest.raises(ParameterError, match="text must be one of"):
            read(text, text="letters")
    element = ElementTree.fromstring(
        "<a><!--x-->y</a>", ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    )
    assert Tree.from_xml(element) == Tree("a", ["y"])


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<ul><li>elm<li>old <b>oak</b></ul>", "(ul (li elm) (li old (b oak)))"),
        ("<p>a<p>b<div>c</div>", "(html (p a) (p b) (div c))"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "(table (tr (td 1) (td 2)) (tr (td 3)))"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "(ul (li a (ul (li b))) (li c))"),
        ("<dl><dt>a<dd>b<dt>c</dl>", "(dl (dt a) (dd b) (dt c))"),
        ("<!DOCTYPE html><html><head><title>t</title><body>x", "(html (head (title t)) (body x))"),
        ("a <br> b", "(html a br b)"),
        ("<img src=x><i>y</b></i>", "(html (img (@src x)) (i y))"),
        ("<b>a<i>b</b>c", "(html (b a (i b)) c)"),
        ("<script>if (a < b) {}</script>", "(script)"),
        ("<input disabled>", "(input @disabled)"),
        ("<p>1 &lt; 2 &amp; 3</p>", "(p 1 < 2 & 3)"),
        (b"<p>\xc3\xa9</p>", "(p é)"),
        ("just text", "(html just text)"),
    ],
)
def test_html(page: Any, expected: str) -> None:
    assert str(Tree.from_html(page)) == expected


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "declares entities"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "declares entities"),
        ("<a>&x;</a>", "undefined entity"),
        ("<a>", "line 1, column 4: no element found"),
        ("<a></b>", "mismatched tag"),
        ("", "no element"),
        ("\ud800", "not valid XML"),
        (3, "expected XML text"),
        (b'<?xml version="1.0" encoding="nope"?><a/>', "unknown encoding|cannot be decoded"),
    ],
)
def test_what_xml_refuses(source: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        Tree.from_xml(source)


def test_bombs() -> None:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    with pytest.raises(TreeError, match="declares entities"):
        Tree.from_xml(f'<!DOCTYPE x [<!ENTITY a0 "ha">{entities}]><x>&a11;</x>')
    assert Tree.from_xml("<a>" * 5000 + "</a>" * 5000).height() == 4999
    with pytest.raises(TreeError, match="1,000 levels"):
        Tree.from_html("<b>" * 5000)
    with pytest.raises(TreeError, match="no element and no text"):
        Tree.from_html("<!-- nothing -->")
    with pytest.raises(TreeError, match="expected HTML as text"):
        Tree.from_html(None)  # type: ignore[arg-type]
