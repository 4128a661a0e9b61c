"""Every block of code in the README and the docs is run, and its output compared with what the page shows.

A page is read from top to bottom and its blocks are run in that order, in a folder of their own:

- Python sessions (``>>>``), fenced or indented, as doctests that share their names; none may be hidden in a comment,
  so that a reader who copies a page from top to bottom into an empty folder gets the same;
- commands (fences named ``console``, lines after ``$``). What is shown below a command is compared, ``...`` stands for
  anything; a command that shows nothing only has to succeed. One that shows ``sapwood: `` has to fail.

A comment right before a block says what it needs: ``<!-- needs: trec-trees -->``, a corpus of the catalog, or
``<!-- needs: package spacy -->``; the block runs where that is found. ``<!-- not run: why -->`` is for what cannot end
or must not be done here. Blocks named ``text`` hold output that a long run printed, and other named ones no code.
Whatever is left over, such as Python without ``>>>``, is refused: no block is skipped in silence.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from paths import DATA, ROOT
from sapwood.corpora.catalog import CATALOG, data_folders, find

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts and "gallery" not in page.parts]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NOT_CODE = {
    "text",
    "json",
    "toml",
    "bibtex",
    "{toctree}",
    "{eval-rst}",
    "{include}",
    "{raw}",
    "{image}",
    "{math}",
    "{picture}",
    "{gallery-cards}",
}
MARK = re.compile(r"<!-- (needs|not run): (.+?) -->")


@dataclass(frozen=True)
class Block:
    """A block: its kind (session, console, none, or why it is refused), its text, its line, and its mark."""

    kind: str
    text: str
    line: int
    mark: tuple[str, str] | None


def blocks(text: str) -> list[Block]:
    """Cut a page into its blocks of code."""
    lines = text.splitlines()
    found: list[Block] = []
    mark: tuple[str, str] | None = None
    at = 0
    while at < len(lines):
        line = lines[at]
        marked = MARK.fullmatch(line.strip())
        fence = re.match(r"(`{3,})\s*(\S*)", line)
        start = at + 1
        if marked:
            mark = (marked[1], marked[2])
            at += 1
            continue
        if line.strip() == "<!--":
            at = next((n for n in range(start, len(lines)) if lines[n].strip() == "-->"), len(lines))
            body = lines[start:at]
            at += 1
            if any(part.startswith(">>>") for part in body):
                found.append(Block("hidden from readers, who could not repeat what follows", "", start, mark))
            continue
        if fence:
            at = next((n for n in range(start, len(lines)) if lines[n].startswith(fence[1])), len(lines))
            body = lines[start:at]
            at += 1
            found.append(Block(_kind(fence[2], body), "\n".join(body) + "\n", start, mark))
        elif line.startswith("    ") and not lines[at - 1].strip():
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            body = [part[4:] for part in lines[start - 1 : at]]
            # Lists have indented paragraphs too; a session or a command shows itself.
            if any(part.startswith(">>>") for part in body):
                found.append(Block("session", "\n".join(body) + "\n", start - 1, mark))
            elif any(part.startswith(("$ ", "sapwood ")) for part in body):
                found.append(Block("commands in an indented block; use ```console", "\n".join(body), start - 1, mark))
        else:
            at += 1
        if line.strip():
            mark = None
    return found


def _kind(language: str, body: list[str]) -> str:
    if any(part.startswith(">>>") for part in body):
        return "session"
    if language == "console":
        return "console"
    if language in NOT_CODE:
        return "none"
    if not language:
        return "a block without a language; name it console, pycon or text"
    return f"{language} without >>>, which is not run"


def missing(mark: tuple[str, str] | None) -> str | None:
    """Say what a block lacks, if anything."""
    if mark is None:
        return None
    kind, what = mark
    if kind == "not run":
        return what
    for one in what.split(", "):
        if one.startswith("package "):
            if importlib.util.find_spec(one.removeprefix("package ")) is None:
                return one
        elif find(data_folders(), names=[one])[0].path is None:
            return f"the corpus {one}"
    return None


def run_console(block: Block, page: Path) -> list[str]:
    """Run the commands of a block; return what went wrong."""
    faults = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        shown = shown.strip("\n")
        place = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {command}"],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "PATH": os.pathsep.join(place), "COLUMNS": "80", "PYTHONWARNINGS": "ignore"},
        )
        where = f"{page.name}:{block.line}: $ {command}"
        fails = "sapwood: " in shown
        if (done.returncode != 0) != fails:
            faults.append(f"{where}\nreturned {done.returncode}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
        elif shown:
            printed = done.stdout + (done.stderr if fails else "")
            if not doctest.OutputChecker().check_output(shown + "\n", printed, FLAGS):
                faults.append(f"{where}\nexpected:\n{shown}\ngot:\n{printed}")
    return faults


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_give_the_output_shown(page, tmp_path, monkeypatch):
    # Pages may write files; they do so where nothing is lost.
    monkeypatch.chdir(tmp_path)
    if DATA.is_dir():
        monkeypatch.setenv("SAPWOOD_DATA", str(DATA))
    names: dict[str, object] = {"__name__": "__main__"}
    faults: list[str] = []
    for block in blocks(page.read_text(encoding="utf-8")):
        if missing(block.mark) is not None or block.kind == "none":
            continue
        if block.kind == "session":
            test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
            told: list[str] = []
            runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
            # A fresh copy would forget what the blocks before have defined.
            runner.run(test, out=told.append, clear_globs=False)
            names.update(test.globs)
            faults += ["".join(told)] if runner.failures else []
        elif block.kind == "console":
            faults += run_console(block, page)
    assert not faults, "\n\n".join(faults)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_block_is_skipped_in_silence(page):
    known = {corpus.name for corpus in CATALOG}
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.name}:{block.line}"
        refused = block.kind not in ("session", "console", "none")
        assert not (refused and (block.mark is None or block.mark[0] != "not run")), f"{where}: {block.kind}"
        if block.mark is not None and block.mark[0] == "needs":
            for one in block.mark[1].split(", "):
                assert one.startswith("package ") or one in known, f"{where}: there is no corpus {one!r}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        # Links to other sites are for make links, and the gallery is there once the site is built.
        if not re.match(r"[a-z]+:|gallery/|tutorials/", target):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_picture_is_what_sapwood_draws(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import picture

    assert (ROOT / "docs" / "picture.svg").read_text(encoding="utf-8") == picture.picture()


class TestTheReaderOfPages:
    """The checks above would prove nothing if blocks were overlooked."""

    def test_kinds(self):
        page = "a\n```pycon\n>>> 1\n1\n```\n```console\n$ true\n```\n\n    >>> 2\n    2\n\n"
        page += "```python\nx\n```\n```text\ny\n```\n"
        assert [block.kind for block in blocks(page)] == [
            "session",
            "console",
            "session",
            "python without >>>, which is not run",
            "none",
        ]

    def test_marks_belong_to_the_next_block_only(self):
        page = "<!-- needs: quora -->\n```console\n$ true\n```\nmore\n```console\n$ false\n```\n"
        assert [block.mark for block in blocks(page)] == [("needs", "quora"), None]
        assert missing(("needs", "package nosuchpackage")) == "package nosuchpackage"
        assert missing(("needs", "package doctest")) is None

    @pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
    def test_wrong_output_is_noticed(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (good,) = blocks("```console\n$ echo one two\none ...\n```\n")
        (bad,) = blocks("```console\n$ echo one\ntwo\n```\n")
        (broken,) = blocks("```console\n$ false\n```\n")
        assert run_console(good, ROOT) == []
        assert len(run_console(bad, ROOT)) == len(run_console(broken, ROOT)) == 1
