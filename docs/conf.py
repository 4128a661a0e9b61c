"""How the site is built: ``make docs``. Pages are Markdown; the reference comes from docstrings; the gallery is run."""

from __future__ import annotations

import importlib
import inspect
import warnings
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path

project = "Sapwood"
author = "The Sapwood developers"
copyright = f"2026, {author}"
version = release = installed("sapwood")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.zip", "gallery/*.md5", "gallery/*.json"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

html_theme = "furo"
html_title = f"Sapwood {release}"
html_static_path: list[str] = []
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2f6b3c", "color-brand-content": "#2f6b3c"},
    "dark_css_variables": {"color-brand-primary": "#8fd19e", "color-brand-content": "#8fd19e"},
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
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "image_scrapers": (),
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
    "sapwood.draw",
    "sapwood.tasks.questions",
    "sapwood.tasks.pairs",
    "sapwood.tasks.roles",
    "sapwood.tasks.frames",
    "sapwood.tasks.attachment",
    "sapwood.tasks.reranking",
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
    for name in module.__all__:
        value, home = getattr(module, name), _home(package, name)
        if inspect.ismodule(value):
            continue
        if home != package:
            lines += [f"``{name}``", f"    See :py:obj:`{home}.{name}`.", ""]
        elif inspect.isclass(value):
            lines += [f".. autoclass:: {package}.{name}", ""]
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


def setup(app: object) -> None:
    """Tell Sphinx what to leave out and what to add."""
    app.connect("autodoc-skip-member", _skip)  # type: ignore[attr-defined]
    app.connect("source-read", _read)  # type: ignore[attr-defined]
