"""Sections of finished tables, figures and texts on one page: contents, cards, timings.

How a table or a figure looks by itself is theirs to say (``_repr_html_``); this module says where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from sapwood.draw import Bar, bar_chart
from sapwood.draw.html import page
from sapwood.experiments.figures import Figure, Part
from sapwood.experiments.tables import Table
from sapwood.palette import colour

__all__ = ["Section", "report_page"]

# Tables with more columns or more characters than this get the whole width.
_NARROW = 6
_SHORT = 60

_STYLE = f"""
body {{ max-width: 76rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }}
h1 {{ font-size: 2.1rem; margin: 0.5rem 0; color: {colour("accent")}; }}
h2 {{ font-size: 1.5rem; margin: 3rem 0 0.3rem; padding-top: 0.8rem; border-top: 2px solid {colour("accent")}; }}
h3 {{ font-size: 1rem; margin: 0 0 0.6rem; }}
a {{ color: {colour("accent")}; }}
nav ul {{ list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.5rem; }}
nav a {{ display: block; padding: 0.3rem 0.8rem; border-radius: 1rem; background: {colour("shade")};
  text-decoration: none; }}
nav a:focus-visible, nav a:hover {{ outline: 2px solid {colour("accent")}; }}
.lead {{ font-size: 1.1rem; max-width: 48rem; }}
.about {{ color: {colour("muted")}; max-width: 48rem; margin-top: 0; }}
dl {{ display: flex; flex-wrap: wrap; gap: 0.4rem 2rem; margin: 1rem 0; }}
dl div {{ display: flex; gap: 0.5rem; }}
dt {{ color: {colour("muted")}; }}
dd {{ margin: 0; }}
.cards {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(32rem, 100%), 1fr)); gap: 1rem;
  align-items: start; }}
.card {{ background: {colour("card")}; border: 1px solid {colour("line")}; border-radius: 0.6rem; padding: 1rem;
  margin: 0; overflow-x: auto; min-width: 0; }}
.wide {{ grid-column: 1 / -1; }}
.card > svg:not(.sapwood-tree) {{ max-width: 100%; height: auto; }}
.card table {{ width: 100%; margin: 0; }}
.card th, .card td {{ padding: 0.25em 0.5em; }}
.card td:first-child, .card th:first-child {{ padding-left: 0; }}
.card > table td:first-child {{ white-space: nowrap; }}
caption {{ font-weight: 600; padding-bottom: 0.4rem; }}
.card .sapwood {{ margin: 0; }}
.note, figcaption p {{ color: {colour("muted")}; font-size: 0.9rem; margin: 0.4rem 0 0; }}
.pair {{ display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; }}
.pair > div {{ min-width: 0; overflow-x: auto; padding: 0 0.6rem; }}
pre {{ margin: 0; line-height: 1.35; }}
footer {{ margin-top: 3rem; color: {colour("muted")}; font-size: 0.9rem; }}
@media (max-width: 40rem) {{
  .card {{ padding: 0.7rem; }}
  .card table {{ font-size: 0.8rem; }}
  .card th, .card td {{ padding: 0.25em 0.3em; }}
  .card > table td:first-child {{ white-space: normal; }}
  caption {{ max-width: calc(100vw - 4rem); }}
}}
@media print {{
  body {{ max-width: none; padding: 0; font-size: 10pt; }}
  nav {{ display: none; }}
  h2 {{ margin-top: 1.2rem; break-after: avoid; }}
  .about {{ break-after: avoid; break-inside: avoid; }}
  .cards {{ display: block; }}
  .card {{ border: none; padding: 0.4rem 0; overflow: visible; }}
  .card:not(.wide), .card .sapwood, .card h3, .pair {{ break-inside: avoid; }}
  .wide {{ break-inside: auto; }}
  caption, .card h3 {{ break-after: avoid; }}
  figcaption {{ break-before: avoid; }}
  .card:not(.wide) svg {{ max-height: 6.5cm; }}
  .card svg {{ max-width: 100%; max-height: 9cm; min-width: 0 !important; height: auto; }}
  .sapwood, .pair > div {{ overflow: visible; }}
  .pair {{ flex-wrap: nowrap; }}
}}
"""


@dataclass
class Section:
    """One section of a report.

    Parameters
    ----------
    title : str
        Its heading.
    about : str
        A sentence or two on what it shows.
    parts : list
        Tables, figures and texts, in order.
    seconds : float, optional
        How long it took.
    """

    title: str
    about: str = ""
    parts: list[Part] = field(default_factory=list)
    seconds: float | None = None


def report_page(title: str, sections: Sequence[Section], *, lead: str = "", facts: Mapping[str, str] = {}) -> str:
    """Put sections on one page that needs nothing else to be shown.

    Parameters
    ----------
    title : str
        The title of the page.
    sections : sequence of Section
        What it holds. Sections with ``seconds`` are compared in a chart at the end.
    lead : str
        A few words before everything else.
    facts : mapping of str to str
        What must be known to repeat it: version, machine, seed, date.

    Examples
    --------
    >>> text = report_page("Trees", [Section("One", "About", ["(NN dog)"], 1.5)], facts={"seed": "0"})
    >>> "<h2>One</h2>" in text, "(NN dog)" in text, "http" in text.replace("http://www.w3.org/2000/svg", "")
    (True, True, False)
    """
    timed = [section for section in sections if section.seconds is not None]
    pieces = [f'<p class="lead">{escape(lead)}</p>'] if lead else []
    if facts:
        listed = "".join(f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in facts.items())
        pieces.append(f"<dl>{listed}</dl>")
    names = [section.title for section in sections] + (["Timings"] if timed else [])
    links = "".join(f'<li><a href="#{_anchor(name)}">{escape(name)}</a></li>' for name in names)
    pieces.append(f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main>')
    pieces += [_section(section) for section in sections]
    if timed:
        bars = [Bar(section.title, section.seconds or 0.0) for section in timed]
        total = sum(bar.value for bar in bars)
        chart = bar_chart("Seconds per section", bars, label="seconds of wall-clock time", decimals=1)
        figure = Figure(f"Seconds per section, {total:.1f} in all", chart)
        pieces.append(_section(Section("Timings", "How long each section took on this machine.", [figure])))
    pieces.append("</main>")
    return page(title, pieces, style=_STYLE)


def _section(section: Section) -> str:
    cards = "\n".join(_card(part) for part in section.parts)
    about = f'<p class="about">{escape(section.about)}</p>' if section.about else ""
    # Not an id on the heading: a browser would then hide its upper border when it jumps there.
    return (
        f'<section id="{_anchor(section.title)}"><h2>{escape(section.title)}</h2>{about}'
        f'<div class="cards">{cards}</div></section>'
    )


def _card(part: Part) -> str:
    if isinstance(part, str):
        return f'<div class="card"><pre>{escape(part)}</pre></div>'
    wide = part.wide if isinstance(part, Figure) else len(part.columns) > _NARROW or sum(part.widths()) > _SHORT
    kind = ' class="card wide"' if wide else ' class="card"'
    if isinstance(part, Table):
        return f"<div{kind}>{part._repr_html_()}</div>"
    notes = "".join(f"<p>{escape(note)}</p>" for note in part.notes)
    return f"<figure{kind}><h3>{escape(part.title)}</h3>{part.picture}<figcaption>{notes}</figcaption></figure>"


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
