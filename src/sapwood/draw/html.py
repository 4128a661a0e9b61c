"""Pieces of HTML for notebooks and for pages that stand alone. Everything that is shown as text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["fragment_table", "page", "panel"]

_STYLE = """
body { font-family: system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; margin: 0.5em 0; }
th, td { padding: 0.15em 0.8em; text-align: left; }
td:first-child, th:first-child { text-align: right; font-variant-numeric: tabular-nums; }
.sapwood { margin-bottom: 2em; overflow-x: auto; }
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


def page(title: str, pieces: Iterable[str]) -> str:
    """Make a page that needs nothing else to be shown.

    >>> page("A & B", ["<p>text</p>"]).splitlines()[0]
    '<!DOCTYPE html>'
    """
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n{chr(10).join(pieces)}\n</body></html>\n"
    )


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:297]}..."
