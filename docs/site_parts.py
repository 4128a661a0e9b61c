"""What the site adds to Sphinx: pictures drawn by Sapwood, formulas as MathML, and links from names in prose.

Everything is in the pages themselves: nothing is asked from other sites.
"""

from __future__ import annotations

import importlib
import inspect
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from latex2mathml.converter import convert

import pictures
from sapwood.palette import FONT, color_css

NAME = re.compile(r"(?:sw\.|sapwood\.)?((?:[a-z_]+\.)*([A-Za-z_]\w*))(?:\(.*\))?", flags=re.DOTALL)


class PictureDirective(Directive):
    """``{picture} name``: what ``pictures.py`` draws under that name, and the block's text as its caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture as it is, so that it follows the theme of the page."""
        figure = nodes.container(classes=["sapwood-figure"])
        figure += nodes.raw("", f'<div class="sapwood-picture">{pictures.draw(self.arguments[0])}</div>', format="html")
        if self.content:
            caption = nodes.container(classes=["sapwood-caption"])
            self.state.nested_parse(self.content, self.content_offset, caption)
            figure += caption
        return [figure]


def math_html(translator: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers show by themselves."""
    block = isinstance(node, nodes.math_block)
    shown = convert(node.astext(), display="block" if block else "inline")
    translator.body.append(f'<div class="math">{shown}</div>' if block else shown)
    raise nodes.SkipNode


def homes(packages: tuple[str, ...]) -> dict[str, str]:
    """Return every public name that stands for one thing only, and for no method, with its full name."""
    found: dict[str, set[str]] = {}
    methods: set[str] = set()
    for package in (*packages[1:], packages[0]):
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            methods |= set(dir(value)) if inspect.isclass(value) else set()
            if (inspect.isclass(value) or inspect.isfunction(value)) and not any(
                getattr(importlib.import_module(home.rpartition(".")[0]), name) is value for home in found.get(name, ())
            ):
                found.setdefault(name, set()).add(f"{package}.{name}")
    return {name: next(iter(places)) for name, places in found.items() if len(places) == 1 and name not in methods}


def named(literal: str, known: dict[str, str]) -> str | None:
    """Return the full name of what a piece of code in prose names, if it is a public name and no method.

    >>> named("learn.KernelSVC(C=1)", {"KernelSVC": "sapwood.learn.KernelSVC"})
    'sapwood.learn.KernelSVC'
    >>> named("clf.tune", {"tune": "sapwood.tasks.questions.tune"})
    """
    match = NAME.fullmatch(literal)
    whole = known.get(match[2]) if match else None
    return whole if match and whole and whole.endswith(f".{match[1]}") else None


def link_names(app: Any, doctree: nodes.document, page: str) -> None:
    """Link names in prose, such as ``KernelSVC`` or ``KernelSVC(C=1)``, with their entries in the reference."""
    if page.startswith("api"):
        return
    known = app.env.sapwood_homes
    objects = app.env.get_domain("py").objects
    for literal in list(doctree.findall(nodes.literal)):
        whole = named(literal.astext(), known)
        if whole is None or whole not in objects or isinstance(literal.parent, nodes.reference):
            continue
        entry = objects[whole]
        address = f"{app.builder.get_relative_uri(page, entry.docname)}#{entry.node_id}"
        reference = nodes.reference("", "", internal=True, refuri=address, reftitle=whole)
        literal.replace_self(reference)
        reference += literal


def tidy_fields(app: Any, doctree: nodes.document) -> None:
    """Call attributes by their name, and take words in types for words: every class has a capital, *shape* is none."""
    from sphinx.addnodes import pending_xref

    for name in doctree.findall(nodes.field_name):
        if name.astext() == "Variables":
            name.children = [nodes.Text("Attributes")]
    for reference in list(doctree.findall(pending_xref)):
        if reference.get("reftype") == "class" and reference.get("reftarget", "").islower():
            reference.replace_self(reference.children)


def trim_code(app: Any, doctree: nodes.document) -> None:
    """Leave out the empty line that ends the output of a session in its source, and color indented sessions, too."""
    for block in doctree.findall(nodes.literal_block):
        if block.astext().startswith(">>> "):
            block["language"] = "pycon"
        if block.rawsource == block.astext() and block.astext().endswith("\n"):
            block.rawsource = block.astext().rstrip("\n")
            block.children = []
            block += nodes.Text(block.rawsource)


def one_by_one(app: Any, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    """Give each of several attributes that a docstring describes in one line an entry of its own.

    >>> lines = ["Attributes", "----------", "value, bias : float", "    Numbers.", "label : str"]
    >>> one_by_one(None, "class", "", None, None, lines)
    >>> lines[2:]
    ['value : float', '    Numbers.', 'bias : float', '    Numbers.', 'label : str']
    """
    if what != "class" or "Attributes" not in lines:
        return
    first = lines.index("Attributes") + 2
    last = next((at - 1 for at in range(first, len(lines)) if lines[at] and not lines[at].strip("-")), len(lines))
    made: list[str] = []
    at = first
    while at < last:
        end = next((next_ for next_ in range(at + 1, last) if lines[next_][:1].strip()), last)
        names, colon, kind = lines[at].partition(" : ")
        for one in names.split(", ") if colon else [names]:
            made += [f"{one}{colon}{kind}", *lines[at + 1 : end]]
        at = end
    lines[first:last] = made


class Sentences:
    """Keeps the docstrings of properties from being read as a type, a colon and a description."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def keep(self, app: Any, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
        """Remember a docstring before it is rewritten."""
        self.kept = list(lines)

    def put_back(self, app: Any, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
        """Take the rewritten docstring of a property back, if it has no sections."""
        if what == "property" and not any(set(line) == {"-"} for line in self.kept):
            lines[:] = self.kept


def first_sentence(value: object) -> str:
    """Return the first line of a docstring, or nothing."""
    return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")


def name_list(package: str, names: list[tuple[str, str]]) -> list[str]:
    """Write one line per name, with a link and what it is, as reStructuredText."""
    if not names:
        return []
    lines = [".. list-table::", "   :widths: 30 70", "   :class: sapwood-names", ""]
    for name, home in names:
        value = getattr(importlib.import_module(package), name)
        lines += [f"   * - :py:obj:`{name} <{home}.{name}>`", f"     - {first_sentence(value)}"]
    return [*lines, ""]


def write_style(folder: Path) -> None:
    """Write the style of pictures and cards, with the colors of everything else that Sapwood draws."""
    light, dark = color_css(0), color_css(1)
    text = f"""body {{ {light} }}
@media screen and (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{ {dark} }} }}
@media screen {{ body[data-theme="dark"] {{ {dark} }} }}
.sapwood-figure {{ margin: 1.2rem 0; }}
.sapwood-picture {{ overflow-x: auto; font-family: {FONT}; }}
.sapwood-picture, .sapwood {{ color: var(--sw-ink); }}
.sapwood-caption {{ color: var(--color-foreground-secondary); font-size: 0.9em; }}
.sd-card .sapwood-figure {{ margin: 0 0 0.6rem; }}
.sd-card .sapwood-picture svg {{ min-width: 0 !important; max-height: 12.5rem; }}
.sd-card {{ background: var(--color-card-background); }}
.sd-card-text {{ color: var(--color-foreground-primary); }}
div.math {{ margin: 0.8rem 0; padding: 0.4rem 0; overflow-x: auto; overflow-y: hidden; font-size: 1.1em; }}
munderover > :last-child {{ padding-bottom: 0.3em; }}
msqrt > :first-child {{ padding-top: 0.15em; }}
.sapwood {{ overflow-x: auto; }}
.sapwood table {{ margin-left: 0; }}
.sapwood td + td, .sapwood th + th {{ text-align: left !important; }}
@media screen {{ .output_subarea {{ margin-bottom: 1rem; }} }}
.highlight .nn {{ text-decoration: none !important; }}
@media (min-width: 63em) and (max-width: 82em), (min-width: 97em) {{ .content {{ width: 52em; }} }}
.sphx-glr-thumbnails {{ grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); }}
.sphx-glr-thumbcontainer {{ background: var(--sw-card); border-color: var(--sw-line); box-shadow: none;
  align-items: stretch; }}
.sphx-glr-thumbcontainer img {{ height: 8rem; width: 100%; max-width: none; max-height: none; object-fit: contain; }}
.sphx-glr-thumbnail-title {{ font-size: 0.95em; line-height: 1.3; }}
.sphx-glr-download-link-note, article section > br {{ display: none; }}
.sphx-glr-script-out .highlight pre {{ max-height: none; background: var(--color-code-background); }}
div.sphx-glr-download {{ margin: 0.4rem 0; text-align: left; }}
div.sphx-glr-download a {{ background: none; border: 0; padding: 0; font-weight: normal; color: var(--color-link); }}
div.sphx-glr-download a:hover {{ background: none; box-shadow: none; text-decoration: underline; }}
div.sphx-glr-download code.download {{ font: inherit; color: inherit; padding: 0; }}
@media (max-width: 46em) {{
  table.docutils {{ font-size: 0.85em; }}
  table.docutils td, table.docutils th {{ padding: 0.2rem 0.35rem; }}
  .sphx-glr-thumbnails {{ grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); }}
}}
table.sapwood-names {{ width: 100%; }}
.sapwood-search {{ display: flex; gap: 0.5rem; margin: 1rem 0; }}
.sapwood-search input {{ flex: 1; min-width: 0; font: inherit; padding: 0.4rem 0.6rem; color: var(--sw-ink);
  background: var(--sw-card); border: 1px solid var(--sw-muted); border-radius: 4px; }}
.sapwood-search input::placeholder {{ color: var(--sw-muted); opacity: 1; }}
.sapwood-search button {{ font: inherit; padding: 0.4rem 1rem; color: var(--sw-paper); background: var(--sw-accent);
  border: 0; border-radius: 4px; cursor: pointer; }}
#search-results h2 {{ margin-top: 0.5rem; }}
article .reference code {{ color: var(--color-link); }}
@media print {{
  .skip-to-content, .copybtn, .headerlink, .sapwood-search, .related-pages, .sphx-glr-footer, .sphx-glr-signature,
  .content-icon-container, footer
    {{ display: none !important; }}
  h1, h2, h3, h4, caption, .sd-card-title, .rubric, dt {{ break-after: avoid; }}
  p:has(+ [class*="highlight-"]), p:has(+ .sapwood-figure) {{ break-after: avoid; }}
  .sapwood-figure, .sapwood-picture, .sd-card, tr, figure, .admonition, .sphx-glr-thumbcontainer
    {{ break-inside: avoid; }}
  .sd-container-fluid, .sd-row {{ display: block !important; }}
  .sd-col {{ width: 100% !important; }}
  p, pre {{ orphans: 3; widows: 3; }}
  pre, table, ul, ol, dl {{ break-inside: auto !important; }}
  html, body, .page, .main, .content, .article-container
    {{ display: block !important; height: auto !important; min-height: 0 !important; padding-bottom: 0 !important;
      overflow: visible !important; }}
  .content {{ width: auto !important; padding: 0 0.5rem !important; }}
  article :last-child {{ margin-bottom: 0 !important; }}
  .highlight pre {{ white-space: break-spaces; overflow: visible !important; overflow-wrap: anywhere; }}
  .highlight, .sphx-glr-script-out .highlight {{ overflow: visible !important; }}
  .sphx-glr-script-out, .highlight pre {{ color: #000 !important; background: #f4f4f1 !important; }}
  p:has(+ .table-wrapper), thead {{ break-after: avoid; }}
  table.docutils {{ font-size: 0.8em; }}
  table.docutils td, table.docutils th {{ padding: 0.1rem 0.3rem; overflow-wrap: anywhere; }}
  table.docutils code, table.docutils .pre, .genindextable a {{ white-space: normal; overflow-wrap: anywhere; }}
  article img {{ max-height: 15cm; width: auto; }}
  article, .table-wrapper, .sapwood-picture, .sapwood, div.math {{ overflow: visible !important; }}
  .sapwood-picture svg, .sapwood svg {{ max-width: 100%; min-width: 0 !important; height: auto; }}
}}
"""
    path = folder / "sapwood.css"
    folder.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def scrape(block: Any, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Keep the picture that a cell of an example ends with, for the thumbnail; the page shows it anyway."""
    value = variables["example_globals"].get("___")
    text = value._repr_svg_() if hasattr(value, "_repr_svg_") else ""
    if not text and hasattr(value, "_repr_html_"):
        found = re.search("<svg.*?</svg>", value._repr_html_(), flags=re.DOTALL)
        text = found[0] if found else ""
    if text:
        path = Path(next(variables["image_path_iterator"])).with_suffix(".svg")
        path.write_text(pictures.alone(text), encoding="utf-8")
    return ""


def described(package: str) -> str:
    """Return the heading of a package in the list of all names."""
    return escape(first_sentence(importlib.import_module(package)))
