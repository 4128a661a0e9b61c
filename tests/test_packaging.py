"""What leads to an installation: the recipe for conda, modules that other systems lack, and the first notebook."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

import sapwood as sw
from paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def bare(requirement: str) -> str:
    return requirement.replace(" ", "")


def test_the_recipe_for_conda_says_what_the_package_says() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == PROJECT["version"] == sw.__version__
    needed = {bare(one) for one in PROJECT["dependencies"]} | {f"python{PROJECT['requires-python']}"}
    assert {bare(one) for one in recipe["requirements"]["run"]} == needed
    builders = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert {bare(one) for one in builders} <= {bare(one) for one in recipe["requirements"]["host"]}
    scripts = [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    assert recipe["about"]["license"] == PROJECT["license"]
    assert (ROOT / recipe["about"]["license_file"]).exists()


@pytest.mark.slow
def test_all_modules_can_be_imported_without_those_of_posix(
    fresh: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    """As on Windows, where nothing else was tried."""
    done = fresh(
        """
        import importlib, pkgutil, sys
        for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "syslog"):
            sys.modules[name] = None
        import sapwood
        failed = []
        for module in pkgutil.walk_packages(sapwood.__path__, "sapwood."):
            if module.name.endswith("__main__") or module.name == "sapwood.torch":
                continue
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                failed.append(f"{module.name}: {error}")
        print(failed)
        """,
        timeout=300,
    )
    assert done.stdout.strip().endswith("[]"), done.stdout + done.stderr


@pytest.mark.slow
def test_the_first_notebook_runs() -> None:
    notebook = json.loads((ROOT / "tutorials" / "try-it.ipynb").read_text())
    names: dict[str, Any] = {}
    shown = []
    for cell in notebook["cells"]:
        assert cell["source"], "a cell is empty"
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [], "clear the outputs, which would be from another version"
        lines = [line for line in cell["source"] if not line.lstrip().startswith("%pip")]
        text = "".join(lines)
        if "find_spec" in text and "%pip" in "".join(cell["source"]):
            text = "import importlib.util\n"
        *before, last = text.splitlines(keepends=True)
        exec("".join(before), names)
        try:
            shown.append(eval(last, names))
        except SyntaxError:
            exec(last, names)
    assert [type(value).__name__ for value in shown[:3]] == ["Tree", "KernelExplanation", "Matches"]
    assert names["grid"].score(names["X"][100:], names["y"][100:]) > 0.8
    drawn = ("_repr_html_", "_repr_svg_", "_repr_mimebundle_")
    plain = [value for value in shown if value is not None and not any(hasattr(value, name) for name in drawn)]
    assert all(isinstance(value, str) for value in plain), plain
