"""Models that are installed as packages: names that stand for files."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path

import pytest

import sapwood as sw
from sapwood import packages
from sapwood.corpora import nursery
from sapwood.errors import ModelFileError
from sapwood.parse import PCFGParser, as_parser
from sapwood.tasks.roles import RoleLabeler
from sapwood.trees import Tree


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of models for the language xx, with a parser, and an empty folder to be in."""
    folder = tmp_path / "installed/sapwood_xx"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    trees = [Tree.fromstring("(S (NP (NNS dogs)) (VP (VBP bark)))")] * 3
    sw.save(PCFGParser().fit(trees), folder / "parser.sap")
    _describe(folder)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    packages._read.cache_clear()
    return folder


def _describe(folder: Path, **changes: object) -> None:
    digest = hashlib.sha256((folder / "parser.sap").read_bytes()).hexdigest()
    about = {"version": "0.1.0", "sapwood": "0.1", "models": {"parser": {"file": "parser.sap", "sha256": digest}}}
    (folder / "models.json").write_text(json.dumps(about | changes))
    packages._read.cache_clear()


def test_names_stand_for_files(package: Path) -> None:
    for name in ("xx/parser", "xx"):
        assert isinstance(sw.load(name), PCFGParser)
        assert isinstance(as_parser(name), PCFGParser)
        # From then on, text in another language can be told of.
        assert sw.load(name).language == as_parser(name).language == "xx"
    assert sw.load(package / "parser.sap").language is None
    found = packages.find_package("xx")
    assert found is not None
    assert (found.folder, found.version) == (package, "0.1.0")
    assert packages.find_package("yy") is None


def test_a_file_of_the_same_name_comes_first_and_says_so(package: Path) -> None:
    Path("xx").mkdir()
    sw.save(sw.kernels.SubsetTree(), "xx/parser")
    with pytest.warns(UserWarning, match="xx/parser is taken for the file of that name"):
        assert sw.load("xx/parser") == sw.kernels.SubsetTree()


def test_what_is_missing_is_named(package: Path) -> None:
    with pytest.raises(ModelFileError, match=r"the package sapwood-xx has xx/parser\."):
        sw.load("xx/roles")
    with pytest.raises(ModelFileError, match=r"no such file .*sapwood-yy.*pip install \./models/yy"):
        sw.load("yy/roles")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sapwood": "7.0"}, r"sapwood-xx 0\.1\.0 is made for Sapwood 7\.0"),
        ({"models": {"parser": {}}}, "is damaged"),
        ({"models": {"parser": {"file": "../parser.sap", "sha256": ""}}}, "is damaged"),
        ({"models": 3}, "is damaged"),
    ],
)
def test_packages_that_do_not_fit_are_refused(package: Path, changes: dict[str, object], message: str) -> None:
    _describe(package, **changes)
    with pytest.raises(ModelFileError, match=message):
        sw.load("xx/parser")


@pytest.mark.slow
def test_saved_models_hold_the_name_of_the_parser(package: Path, tmp_path: Path) -> None:
    labeler = RoleLabeler(parser="xx").fit(nursery.generate(size=60).role_sentences())
    sw.save(labeler, tmp_path / "roles.sap")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = sw.load(tmp_path / "roles.sap")
    assert again.parser == "xx/parser"
    assert [str(word) for word in again.label("dogs bark").words] == ["dogs", "bark"]
    sw.save(PCFGParser().fit([Tree.fromstring("(S (NN rain))")]), package / "parser.sap")
    _describe(package)
    with pytest.warns(UserWarning, match="another version of xx/parser"):
        sw.load(tmp_path / "roles.sap")
