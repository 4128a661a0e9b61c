"""Pieces of HTML for notebooks and for pages that stand alone. Everything that is shown as text is escaped here.

Pages ask for nothing from outside, follow the reader's wish for light or dark, and can be printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from sapwood.palette import FONT, colour, palette_css

__all__ = ["fragment_table", "page", "panel"]

_STYLE = f"""{palette_css()}
body {{ font-family: {FONT}; line-height: 1.5; margin: 2em;
  background: {colour("paper")}; color: {colour("ink")}; }}
h1, h2, h3 {{ line-height: 1.2; }}
table {{ border-collapse: collapse; margin: 0.5em 0; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 0.2em 0.8em; text-align: left; border-bottom: 1px solid {colour("line")}; }}
th {{ color: {colour("muted")}; font-weight: 600; }}
.number, .sapwood td:first-child, .sapwood th:first-child {{ text-align: right; }}
code, pre {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; font-size: 0.9em; }}
pre {{ overflow-x: auto; }}
.sapwood {{ margin-bottom: 2em; overflow-x: auto; }}
@media print {{ body {{ margin: 0; background: none; }}
  svg, tr, figure {{ break-inside: avoid; }} h2, h3 {{ break-after: avoid; }} }}
"""


def panel(title: str, pieces: Iterable[str]) -> str:
    """Put a title over pieces of HTML.

    >>> panel("a < b", ["<p>text</p>"])
    '<div class="sapwood"><strong>a &lt; b</strong><p>text</p></div>'
    """
    return f'<div class="sapwood"><strong>{escape(title)}</strong>{"".join(pieces)}</div>'


def fragment_table(rows: Sequence[tuple[float, object, str]], rest: Sequence[tuple[float, str]] = ()) -> str:
    """List fragments with their weights.

    Parameters
    ----------
    rows : sequence of (weight, fragment, note)
        One line each.
    rest : sequence of (weight, text)
        Lines at the end that are no fragments.
    """
    if not rows and not rest:
        return "<p>no fragments</p>"
    lines = [
        f"<tr><td>{weight:.6g}</td><td><code>{escape(_short(str(fragment)))}</code></td><td>{escape(note)}</td></tr>"
        for weight, fragment, note in rows
    ]
    lines += [f"<tr><td>{weight:.6g}</td><td><em>{escape(text)}</em></td><td></td></tr>" for weight, text in rest]
    return f"<table><tr><th>weight</th><th>fragment</th><th></th></tr>{''.join(lines)}</table>"


def page(title: str, pieces: Iterable[str], *, style: str = "") -> str:
    """Make a page that needs nothing else to be shown.

    Parameters
    ----------
    title : str
        The title of the page and its first line.
    pieces : iterable of str
        Finished HTML.
    style : str
        More style rules.

    Examples
    --------
    >>> page("A & B", ["<p>text</p>"]).splitlines()[0]
    '<!DOCTYPE html>'
    """
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{chr(10).join(pieces)}\n</body></html>\n"
    )


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:297]}..."
