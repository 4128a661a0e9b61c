"""Pages on paper: PDF files made by the browser, and what is wrong with them, read by poppler's ``pdftotext``."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

from explorer.browser import LOOKS, Page

HEADINGS = """[...document.querySelectorAll('h1, h2, h3, h4, caption')]
  .map((one) => one.innerText.replace(/[¶#]/g, '').trim()).filter((one) => one)"""
# A4 without the margins that browsers leave, in pixels.
PAPER_WIDTH = 717
_PAGE = re.compile(r'<page width="([\d.]+)" height="([\d.]+)">(.*?)</page>', re.DOTALL)
_LINE = re.compile(r'<line xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</line>', re.DOTALL)
_WORD = re.compile(r"<word [^>]*>(.*?)</word>", re.DOTALL)


def print_page(page: Page, path: Path) -> None:
    """Save a page as PDF, A4, as a reader prints it."""
    found = page.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, displayHeaderFooter=False)
    path.write_bytes(base64.b64decode(found["data"]))


def paper_faults(page: Page, path: Path) -> list[str]:
    """Say what is wrong on paper: what is cut off or covered, headings at the end of a page, text over its edge.

    Parameters
    ----------
    page : Page
        The page, in a window of the width of the paper.
    path : Path
        What was printed of it; it is read where there is ``pdftotext``.
    """
    page.prefer("dark", media="print")
    said = page.run(LOOKS)
    headings = page.run(HEADINGS)
    if shutil.which("pdftotext") is None:
        return said
    command = ["pdftotext", "-bbox-layout", str(path), "-"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    known = {_plain(one) for one in headings}
    pages = _PAGE.findall(text)
    for number, (width, _, body) in enumerate(pages, start=1):
        lines = [
            (float(low), float(left), float(right), " ".join(unescape(word) for word in _WORD.findall(words)))
            for left, _, right, low, words in _LINE.findall(body)
        ]
        if not lines:
            said.append(f"page {number} of {len(pages)} is empty")
            continue
        said += [f"page {number}: over the edge: {one[3]}" for one in lines if one[1] < -1 or one[2] > float(width) + 1]
        # A heading, and not two lines of what it is about.
        ends = sorted(lines)[-2:] if number < len(pages) else []
        said += [f"page {number} ends with a heading: {one[3]}" for one in ends if _begins(one[3], known)]
    return said


def _begins(line: str, headings: set[str]) -> bool:
    """Whether a line is a heading, or the first line of a long one."""
    plain = _plain(line)
    return plain in headings or (len(plain) > 30 and any(one.startswith(plain) for one in headings))


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()
