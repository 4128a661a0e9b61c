"""What the site is built from, without building it: examples run, every page and every public name has its place."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import runpy
import sys

import pytest

import sapwood as sw
from explorer.browser import Browser, find_chromium
from paths import ROOT

EXAMPLES = sorted(path for folder in ("examples", "tutorials") for path in (ROOT / folder).glob("plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_a_title_and_cells(path):
    text = path.read_text(encoding="utf-8")
    title, rule = re.match(r'"""\n(.+)\n(=+)\n', text).groups()
    assert len(rule) == len(title)
    assert "\n# %%\n" in text
    # Some cell ends with something that draws itself: the picture in the gallery.
    cells = [ast.parse(cell) for cell in text.split("\n# %%\n")]
    shown = [cell.body[-1] for cell in cells if cell.body and isinstance(cell.body[-1], ast.Expr)]
    assert any(not ast.unparse(one).startswith(("print(", "'")) for one in shown), "no cell ends with a picture"


@pytest.fixture(scope="module")
def conf():
    """The configuration of the site, without writing the reference."""
    for package in ("docutils", "latex2mathml"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        text = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8").replace("\n_write_reference()\n", "\n")
        names = {"__name__": "conf", "__file__": str(ROOT / "docs" / "conf.py")}
        exec(compile(text, "conf.py", "exec"), names)
        return names
    finally:
        sys.path.remove(str(ROOT / "docs"))


def test_every_public_name_is_in_the_reference(conf):
    pages = {package: conf["_reference"](package) for package in conf["PACKAGES"]}
    for package, page in pages.items():
        module = importlib.import_module(package)
        for name in module.__all__:
            if type(getattr(module, name)) is type(sys):
                continue
            assert re.search(
                rf"(:: {re.escape(package)}\.{name}$)|(``{name}``)|(:py:obj:`{name} <)", page, flags=re.MULTILINE
            ), (
                package,
                name,
            )


def public_values(package: str) -> list[object]:
    module = importlib.import_module(package)
    return [getattr(module, name) for name in getattr(module, "__all__", [])]


def test_names_in_prose_are_told_from_methods_and_commands(conf):
    known = conf["homes"](conf["PACKAGES"])
    named = sys.modules["site_parts"].named
    for literal, whole in (
        ("KernelSVC(C=1)", "sapwood.learn.KernelSVC"),
        ("learn.KernelSVC", "sapwood.learn.KernelSVC"),
        ("sw.save(model, path)", "sapwood.save"),
        ("find_clones", "sapwood.search.find_clones"),
        ("tune", "sapwood.tasks.questions.tune"),
        ("predict", None),
        ("labeler.predict", None),
        ("clf.tune(X)", None),
        ("evaluate", None),
        ("sklearn.SVC", None),
    ):
        assert named(literal, known) == whole, literal


def test_attributes_in_one_line_have_entries_of_their_own(conf):
    before = ["What it is.", "", "Attributes", "----------"]
    after = ["    Its class,", "", "    or none.", "", "Examples", "--------", "a, b : no attribute"]
    lines = [*before, "value, bias : float", "label : object", *after]
    conf["one_by_one"](None, "class", "name", None, None, lines)
    assert lines == [*before, "value : float", "bias : float", "label : object", *after]


def test_every_package_is_in_the_reference(conf):
    packages = [module.name for module in pkgutil.walk_packages(sw.__path__, "sapwood.") if module.ispkg]
    # A package that only leads to others, such as sapwood.tasks, has no page of its own.
    public = {name for name in packages if any(not inspect.ismodule(value) for value in public_values(name))}
    # Commands, native code, and what only experiments and the nursery use among themselves, are no interface.
    inner = re.compile(r"sapwood\.(cli|_core|explorer)\b|sapwood\.experiments\.|sapwood\.corpora\.nursery")
    missing = {package for package in public - set(conf["PACKAGES"]) if not inner.match(package)}
    assert not missing, f"name these in PACKAGES of docs/conf.py: {sorted(missing)}"


def test_every_page_is_in_the_contents_once(conf):
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [page.stem for page in (ROOT / "docs").glob("*.md")]
    whole = conf["complete_contents"](text, [*pages, "a-new-page"])
    lists = "\n".join(re.findall(r"```{toctree}\n(.*?)```", whole, flags=re.DOTALL))
    named = [line for line in lists.splitlines() if re.fullmatch(r"[a-z/-]+", line)]
    assert sorted(named) == sorted(
        [*(page for page in pages if page != "index"), "a-new-page", "gallery/index", "tutorials/index"]
    )


@pytest.mark.slow
def test_the_search_of_the_site_finds_what_researchers_look_for():
    site = ROOT / "docs" / "_build" / "html"
    program = find_chromium()
    if program is None or not (site / "searchindex.js").is_file():
        pytest.skip("needs Chromium and the site; make docs builds it")
    browser = Browser(program)
    try:
        for asked, title in (
            ("SRL", "Semantic role labeling (SRL)"),
            ("frame-semantic parsing", "Frame-semantic parsing"),
            ("GTK", "Grammar-driven tree kernel (GTK)"),
            ("lambda", "Glossary of terms and symbols"),
        ):
            page = browser.open(f"{(site / 'search.html').as_uri()}?q={asked.replace(' ', '+')}")
            page.wait("document.body.innerText.includes('Search finished')", seconds=60)
            titles = page.run("[...document.querySelectorAll('ul.search li a')].map(e => e.textContent)")
            assert title in titles[:5], (asked, titles[:5])
    finally:
        browser.close()
