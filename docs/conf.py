"""How the site is built: ``make docs``. Pages are Markdown; the reference comes from docstrings; the gallery is run."""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from docutils import nodes

from site_parts import (
    PictureDirective,
    Sentences,
    first_sentence,
    homes,
    link_names,
    math_html,
    name_list,
    one_by_one,
    scrape,
    tidy_fields,
    trim_code,
    write_style,
)

project = "Sapwood"
author = "The Sapwood developers"
copyright = f"2026, {author}"
version = release = installed("sapwood")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
made = ("ipynb", "py", "zip", "md5", "json")
exclude_patterns = ["_build", *(f"{folder}/*.{kind}" for folder in ("gallery", "tutorials") for kind in made)]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

html_theme = "furo"
html_title = f"Sapwood {release}"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["sapwood.css"]
html_favicon = "../src/sapwood/explorer/page/icon.svg"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2d6a3e", "color-brand-content": "#2d6a3e"},
    "dark_css_variables": {"color-brand-primary": "#86c795", "color-brand-content": "#86c795"},
}

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# Types in docstrings are words ("array of shape (n,)"), and some words are names in several packages.
suppress_warnings = ["config.cache", "ref.python"]

napoleon_google_docstring = False
# Fields, not entries of their own: an attribute is documented once, by its property or by its class.
napoleon_use_ivar = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples", "../tutorials"],
    "gallery_dirs": ["gallery", "tutorials"],
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"/plot_",
    "image_scrapers": (scrape,),
    "reset_modules": (),
    "capture_repr": ("_repr_html_", "__repr__"),
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1,
}

linkcheck_ignore = [r"http://localhost.*", r"http://127\.0\.0\.1.*"]

# What libraries below say to each other is not about these pages.
warnings.filterwarnings("ignore", category=DeprecationWarning)

# One page of the reference per package, from the names in its __all__.
PACKAGES = (
    "sapwood",
    "sapwood.trees",
    "sapwood.kernels",
    "sapwood.words",
    "sapwood.words.encoder",
    "sapwood.learn",
    "sapwood.decode",
    "sapwood.parse",
    "sapwood.parse.incremental",
    "sapwood.corpora",
    "sapwood.corpora.brown",
    "sapwood.corpora.conll05",
    "sapwood.corpora.conll09",
    "sapwood.corpora.conllu",
    "sapwood.corpora.corenlp",
    "sapwood.corpora.framenet",
    "sapwood.corpora.kelp",
    "sapwood.corpora.labeled",
    "sapwood.corpora.nbest",
    "sapwood.corpora.nursery",
    "sapwood.corpora.pairs",
    "sapwood.corpora.parsed_texts",
    "sapwood.corpora.propbank",
    "sapwood.corpora.propbank_columns",
    "sapwood.corpora.questions",
    "sapwood.corpora.role_lines",
    "sapwood.corpora.text_pairs",
    "sapwood.corpora.tree_pairs",
    "sapwood.metrics",
    "sapwood.search",
    "sapwood.draw",
    "sapwood.tasks",
    "sapwood.tasks.questions",
    "sapwood.tasks.pairs",
    "sapwood.tasks.roles",
    "sapwood.tasks.frames",
    "sapwood.tasks.attachment",
    "sapwood.tasks.reranking",
    "sapwood.tasks.spacy",
    "sapwood.scale",
    "sapwood.experiments",
    "sapwood.report",
    "sapwood.errors",
    # Left out where there is no PyTorch, without which it cannot be imported.
    *(["sapwood.torch"] if find_spec("torch") is not None else []),
)


def _home(package: str, name: str) -> str:
    """Return the package in which a name is documented: the first that has it, the package itself last."""
    value = getattr(importlib.import_module(package), name)
    for other in (*PACKAGES[1:], PACKAGES[0]):
        module = importlib.import_module(other)
        if name in module.__all__ and getattr(module, name) is value:
            return other
    return package


def _reference(package: str) -> str:
    """Write the page of one package: what its docstring says, then every public name."""
    module = importlib.import_module(package)
    lines = [package, "=" * len(package), "", f".. module:: {package}", "", inspect.getdoc(module) or "", ""]
    public = [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]
    listed = [name for name in public if inspect.isroutine(value := getattr(module, name)) or inspect.isclass(value)]
    lines += name_list(package, [(name, _home(package, name)) for name in listed])
    for name in public:
        value, home = getattr(module, name), _home(package, name)
        if home != package:
            if name not in listed:
                lines += [f"``{name}``", f"    See :py:obj:`{home}.{name}`.", ""]
        elif inspect.isclass(value):
            # The methods of a tree are written in several modules.
            inherited = ["   :inherited-members:"] if name == "Tree" else []
            lines += [f".. autoclass:: {package}.{name}", *inherited, ""]
        elif callable(value) and hasattr(value, "__name__"):
            lines += [f".. autofunction:: {package}.{name}", ""]
        else:
            lines += [f".. py:data:: {package}.{name}", "   :no-index-entry:", ""]
    return "\n".join(lines)


def _write_reference() -> None:
    folder = Path(__file__).parent / "api"
    folder.mkdir(exist_ok=True)
    for package in PACKAGES:
        page = folder / f"{package}.rst"
        text = _reference(package)
        # Untouched where nothing has changed, so that a second build is quick.
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


_write_reference()
write_style(Path(__file__).parent / "_static")


def _skip(app: object, what: str, name: str, obj: object, skip: bool, options: object) -> bool | None:
    """Leave out what scikit-learn adds to every estimator for metadata routing; its own pages say what that does."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def complete_contents(text: str, pages: list[str]) -> str:
    """Put the pages that the contents do not name yet in the place of the line that says ``(other pages)``."""
    named = set(text.split())
    others = [page for page in sorted(pages) if page not in named and page != "index"]
    return text.replace("(other pages)\n", "".join(f"{page}\n" for page in others))


def _read(app: object, name: str, source: list[str]) -> None:
    if name == "index":
        pages = [page.stem for page in Path(__file__).parent.glob("*.md")]
        source[0] = complete_contents(source[0], pages)
    elif name == "api":
        rows = [f"| [{one}](api/{one}.rst) | {first_sentence(importlib.import_module(one))} |\n" for one in PACKAGES]
        source[0] = source[0].replace("(all packages)\n", "".join(rows))


def setup(app: object) -> None:
    """Tell Sphinx what to leave out and what to add."""
    app.connect("autodoc-skip-member", _skip)  # type: ignore[attr-defined]
    sentences = Sentences()
    # Before and after Napoleon, which has the usual priority of 500.
    app.connect("autodoc-process-docstring", one_by_one, priority=400)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", sentences.keep, priority=450)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", sentences.put_back, priority=550)  # type: ignore[attr-defined]
    app.connect("source-read", _read)  # type: ignore[attr-defined]
    app.connect("env-before-read-docs", lambda app, env, pages: setattr(env, "sapwood_homes", homes(PACKAGES)))  # type: ignore[attr-defined]
    app.connect("doctree-read", tidy_fields)  # type: ignore[attr-defined]
    app.connect("doctree-read", trim_code)  # type: ignore[attr-defined]
    app.connect("doctree-resolved", link_names)  # type: ignore[attr-defined]
    app.add_directive("picture", PictureDirective)  # type: ignore[attr-defined]
    app.add_node(nodes.math, override=True, html=(math_html, None))  # type: ignore[attr-defined]
    app.add_node(nodes.math_block, override=True, html=(math_html, None))  # type: ignore[attr-defined]
