"""The page of a report: complete, alone in the world, safe with hostile text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from sapwood.experiments.figures import Figure
from sapwood.experiments.tables import Table
from sapwood.report import Section, report_page


class _Outline(HTMLParser):
    """Collects what matters: tags that must be closed, links, ids."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        names = dict(attrs)
        self.links += [names[key] for key in ("href", "src", "srcset", "action") if key in names]
        if "id" in names:
            self.ids.append(names["id"])
        if tag not in ("meta", "br", "img", "link", "input", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(text: str) -> _Outline:
    parser = _Outline()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser


TABLE = Table("t", "A <b> table", ("name", "value"), [("x & y", 0.5), ("z", None)], notes=["a <note>"])


def test_everything_is_on_the_page_and_links_lead_somewhere():
    sections = [
        Section("First task", "what it is", [TABLE, "plain <text>"], 1.25),
        Section("Second task", parts=[Figure("A figure", "<svg></svg>", "text", ["noted"], wide=True)], seconds=2.0),
    ]
    text = report_page("A <report>", sections, lead="lead & more", facts={"seed": "0"})
    page = outline(text)
    assert page.links == ["#first-task", "#second-task", "#timings"]
    assert page.ids == ["first-task", "second-task", "timings"]
    for shown in ("A &lt;b&gt; table", "x &amp; y", "plain &lt;text&gt;", "noted", "lead &amp; more", "3.2 in all"):
        assert shown in text
    assert "A &lt;report&gt;" in text


def test_nothing_is_asked_of_the_network():
    text = report_page("t", [Section("s", "a", [TABLE], 1.0)])
    assert "script" not in outline(text).seen
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/)", text)


def test_pages_can_be_printed_and_read_in_the_dark():
    text = report_page("t", [])
    assert "@media print" in text
    assert "prefers-color-scheme:dark" in text
    assert "Timings" not in text


def test_tables_with_long_names_get_the_whole_width():
    short, long = (Table("t", "T", ("kernel", "accuracy"), [("x" * size, 0.5)]) for size in (10, 80))
    assert 'class="card wide"' not in report_page("t", [Section("s", parts=[short])])
    assert 'class="card wide"' in report_page("t", [Section("s", parts=[long])])
