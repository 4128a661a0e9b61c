"""Put the figures of ``results/*.json`` into the pages: the README and ``docs/*.md``.

A page keeps a template in an HTML comment, and what is made of it right behind::

    <!--= {questions/test|bag of words|micro-F1} -->87.4<!--/-->

    <!--=
    | decoding | F1 |
    |---|---|
    {frames/faithful|*|strategy; F1}
    | the paper | 64.43 |
    -->
    | decoding | F1 |
    ...

    <!--/-->

``{EXPERIMENT/TABLE...}`` in a template is one of:

``|ROW|COLUMN; COLUMN``
    Cells of a row, with ``|`` between them. A row is named by its first cell, or by its first cells with ``;`` between
    them.
``|*|COLUMN; COLUMN``
    All rows of these columns as lines of a Markdown table; ``**`` gives the heads, too. No column means all.
``~PATTERN``
    What the group of a regular expression finds in the title or the notes.
nothing
    The table as ``sapwood experiment`` prints it.

A column may end in ``:1``, the number of decimals, or ``:p``, a probability; a space at the end of its name, which
tells it from another, is written ``␣``. Everything else in a template, such as the figures of a paper, is copied.

``python results/render.py`` (``make tables``) writes the pages again; the tests fail where one differs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from sapwood.experiments.record import read_results
from sapwood.experiments.tables import Cell, Table

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_TEMPLATE = re.compile(r"<!--=(.*?)-->(.*?)<!--/-->", re.DOTALL)
_PLACE = re.compile(r"\{([a-z]+)/([^|}~]+)(?:\|([^|}]+)\|([^}]*)|~([^}]+))?\}")


class Results:
    """The tables of a folder, and which of them have been asked for."""

    def __init__(self, folder: Path = ROOT / "results") -> None:
        self.tables = {
            f"{path.stem}/{name}": table
            for path in sorted(folder.glob("*.json"))
            for name, (table, _) in read_results(path).items()
        }
        self.shown: set[str] = set()

    def page(self, text: str) -> str:
        """Render all templates of a page."""
        rest = _TEMPLATE.sub("", text)
        if "<!--=" in rest or "<!--/-->" in rest:
            raise ValueError("a template without its end <!--/-->, or the other way round")
        return _TEMPLATE.sub(lambda found: self._rendered(found, text), text)

    def _rendered(self, found: re.Match[str], text: str) -> str:
        template = found[1]
        body = _PLACE.sub(self._placed, template.strip())
        if left := re.search(r"\{[^}]*/[^}]*\}", body):
            raise ValueError(f"{left[0]}: expected {{experiment/table|row|columns}}")
        if template.startswith("\n"):
            return f"<!--={template}-->\n{body}\n\n<!--/-->"
        if found.start() == 0 or text[found.start() - 1] == "\n":
            # Markdown would take the whole line for HTML.
            raise ValueError(f"{template.strip()}: a figure in a sentence must not begin a line")
        return f"<!--={template}-->{body}<!--/-->"

    def _placed(self, found: re.Match[str]) -> str:
        name = f"{found[1]}/{found[2]}"
        if name not in self.tables:
            raise ValueError(f"{found[0]}: there is no table {name} in results/")
        table = self.tables[name]
        self.shown.add(name)
        if found[5]:
            return _noted(table, found[5])
        return str(table) if found[3] is None else "\n".join(_cells(table, found[3], found[4]))


def _noted(table: Table, pattern: str) -> str:
    matches = [match for text in (table.title, *table.notes) if (match := re.search(pattern, text))]
    if len(matches) != 1:
        raise ValueError(f"{pattern}: found {len(matches)} times in the title and notes of {table.name}, expected once")
    return str(matches[0][1])


def _cells(table: Table, row: str, columns: str) -> Iterator[str]:
    chosen = [_column(table, one.strip()) for one in columns.split(";")] if columns.strip() else []
    chosen = chosen or [(at, "") for at in range(len(table.columns))]
    if row in ("*", "**"):
        if row == "**":
            yield _line([table.columns[at].strip() for at, _ in chosen])
            yield "|" + "---|" * len(chosen)
        yield from (_line([_cell(table, at, each[at], form) for at, form in chosen]) for each in table.rows)
        return
    keys = [key.strip() for key in row.split(";")]
    rows = [each for each in table.rows if [_cell(table, at, each[at], "") for at in range(len(keys))] == keys]
    if len(rows) != 1:
        raise ValueError(f"{table.name}: {len(rows)} rows are called {row!r}, expected one")
    yield " | ".join(_cell(table, at, rows[0][at], form) for at, form in chosen)


def _column(table: Table, text: str) -> tuple[int, str]:
    """Return the place of a column and how it is to be written."""
    name, _, form = text.rpartition(":") if re.search(r":(\d|p)$", text) else (text, "", "")
    names = [one.rstrip() + "␣" * (len(one) - len(one.rstrip())) for one in table.columns]
    if name not in names:
        raise ValueError(f"{table.name}: there is no column {name!r}, only {', '.join(names)}")
    return names.index(name), form


def _cell(table: Table, at: int, value: Cell, form: str) -> str:
    if not isinstance(value, float):
        return table.cell(table.columns[at], value)
    if form == "p":
        return "< 0.0001" if value < 0.0001 else f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"
    return (f"{value:,.{form}f}" if form else table.cell(table.columns[at], value)).replace("-", "−")


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Write all pages again, and name those that have changed."""
    results = Results()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        try:
            made = results.page(text)
        except ValueError as error:
            print(f"{page.relative_to(ROOT)}: {error}", file=sys.stderr)
            return 1
        if made != text:
            page.write_text(made, encoding="utf-8")
            print(page.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
