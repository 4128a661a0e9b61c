"""Reports of copies for reading: text for terminals, and a page, with what is shared marked in both sources."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from sapwood.draw.html import page

if TYPE_CHECKING:
    from sapwood.search.clones import Clone, CloneReport, CodeUnit

__all__ = ["clone_page", "clone_text"]

_STYLE = """.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1em; }
.pair pre { max-height: 40em; overflow: auto; } mark { background: rgba(90, 160, 90, 0.3); color: inherit; }
@media (max-width: 50em) { .pair { grid-template-columns: 1fr; } }"""


def clone_text(report: CloneReport, sources: int) -> str:
    """Write a report as lines; the sources of the first few copies follow, shared lines with a bar."""
    lines = [_counts(report)]
    for number, clone in enumerate(report.clones):
        lines += [f"{clone.kind:<12} {clone.similarity:.2f}  {clone.first}", f"{'':<18} {clone.second}"]
        if number < sources:
            for unit, marks in ((clone.first, clone.first_marks), (clone.second, clone.second_marks)):
                lines += ["", f"  {unit}", *_barred(unit, marks)]
            lines.append("")
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


def clone_page(report: CloneReport, most: int) -> str:
    """Write a report as a page."""
    pieces = [f"<p>{_counts(report)}.</p>"]
    pieces += [f"<h2>{escape(one.kind)}, {one.similarity:.0%}</h2>{_pair(one)}" for one in report.clones[:most]]
    if len(report.clones) > most:
        pieces.append(f"<p>{len(report.clones) - most:,} more are not shown.</p>")
    pieces += [f"<p>{escape(note)}</p>" for note in report.notes]
    return page("Copies in source code", pieces, style=_STYLE)


def _counts(report: CloneReport) -> str:
    files = f"{report.files:,} {'file' if report.files == 1 else 'files'}"
    copies = f"{len(report.clones):,} {'copy' if len(report.clones) == 1 else 'copies'}"
    return f"{files}, {report.units:,} functions and blocks, {copies}"


def _pair(clone: Clone) -> str:
    sides = (
        f"<div><p><code>{escape(str(unit))}</code></p><pre>{_marked(unit, marks)}</pre></div>"
        for unit, marks in ((clone.first, clone.first_marks), (clone.second, clone.second_marks))
    )
    return f'<div class="pair">{"".join(sides)}</div>'


def _source(unit: CodeUnit) -> bytes:
    """Return the bytes of a file up to the end of a unit; nothing if it has gone or become shorter."""
    try:
        with open(unit.path, "rb") as stream:
            return stream.read(unit.end)
    except OSError:
        return b""


def _marked(unit: CodeUnit, marks: tuple[tuple[int, int], ...]) -> str:
    content = _source(unit)
    pieces, at = [], unit.start
    for start, end in marks:
        if start < at:
            continue
        shared = escape(content[start:end].decode("utf-8", "replace"))
        pieces += [escape(content[at:start].decode("utf-8", "replace")), f"<mark>{shared}</mark>"]
        at = end
    return "".join([*pieces, escape(content[at : unit.end].decode("utf-8", "replace"))])


def _barred(unit: CodeUnit, marks: tuple[tuple[int, int], ...]) -> list[str]:
    content = _source(unit)
    lines = []
    start = content.rfind(b"\n", 0, unit.start) + 1
    for number, line in enumerate(content[start:].split(b"\n"), unit.first_line):
        end = start + len(line)
        text = line.decode("utf-8", "replace").rstrip("\r")
        bar = "|" if text.strip() and any(a < end and b > start for a, b in marks) else " "
        lines.append(f"  {number:>5} {bar} {text}")
        start = end + 1
    return lines
