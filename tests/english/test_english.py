"""The English models on texts of many kinds: their answers have the right form, whatever one thinks of them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import sapwood as sw
from sapwood.cli import main
from sapwood.contents import count_words, texts
from sapwood.errors import ModelFileError
from sapwood.explorer.model_folder import ModelFolder
from sapwood.packages import ModelPackage, find_package

TEXTS = sorted((Path(__file__).parent / "texts").glob("*.txt"))


@pytest.fixture(scope="session")
def package() -> ModelPackage:
    found = find_package("en")
    if found is None:
        pytest.skip("sapwood-en is not installed (pip install ./models/en)")
    return found


@pytest.fixture(scope="session")
def labeler(package: ModelPackage) -> Any:
    return sw.load("en/roles")


@pytest.fixture(scope="session")
def frames(package: ModelPackage) -> Any:
    return sw.load("en/frames")


@pytest.mark.slow
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_roles_and_frames_stand_where_the_text_says(path: Path, labeler: Any, frames: Any) -> None:
    text = path.read_text()
    sentences = labeler.label_text(text)
    end = 0
    for sentence in sentences:
        assert sentence.how == "parser"
        assert sentence.tree.leaves() == tuple(sentence.words)
        for word in sentence.words:
            assert end <= word.begin < word.end <= len(text)
            assert not text[end : word.begin].strip()
            end = word.end
        for one in sentence.propositions:
            assert one.roleset.startswith(f"{one.lemma}.") or not one.guessed
            spans = sorted(argument.span for argument in one.arguments)
            # Arguments of one predicate do not overlap, and each has a place in the sentence.
            assert all(first[1] < second[0] for first, second in pairwise(spans))
            assert all(0 <= first <= last < len(sentence.words) for first, last in spans)
            assert all(0 <= argument.score <= 1 for argument in one.arguments)
    assert not text[end:].strip()
    for found in frames.parse_text(text):
        for frame in found.frames:
            for filler in frame.fillers:
                assert 0 <= filler.start <= filler.end < len(text)
                assert text[filler.start : filler.end + 1].strip() == text[filler.start : filler.end + 1]


@pytest.mark.slow
def test_roles_stand_on_the_most_probable_trees(labeler: Any) -> None:
    text = "\n\n".join(path.read_text() for path in TEXTS)
    parser = sw.load("en/parser")
    expected = [one.tree for one in parser.parse_text(text)]
    best = [one.tree for one in parser.set_params(tree="best").parse_text(text)]
    assert [one.tree for one in labeler.label_text(text)] == best != expected


def test_what_everybody_expects(labeler: Any) -> None:
    (sentence,) = labeler.label_text("The dog chased the cat.")
    (one,) = sentence.propositions
    assert (one.roleset, one.guessed, one.meaning) == ("chase.01", False, "follow, pursue")
    found = {
        (argument.role, argument.meaning): " ".join(sentence.words[argument.first : argument.last + 1])
        for argument in one.roles
    }
    assert found == {("A0", "follower"): "The dog", ("A1", "thing followed"): "the cat"}


def test_frames_that_everybody_expects(frames: Any) -> None:
    text = "Anna gave Ben a book."
    (sentence,) = frames.parse_text(text)
    found = {
        one.frame: {filler.role: text[filler.start : filler.end + 1] for filler in one.fillers}
        for one in sentence.frames
    }
    assert found["Giving"] == {"Donor": "Anna", "Recipient": "Ben", "Theme": "a book"}


def test_commands_need_no_model(package: ModelPackage, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    assert main(["parse", "The dog barked."]) == 0
    tree = sw.Tree.fromstring(capsys.readouterr().out)
    assert tree.leaves() == ("The", "dog", "barked", ".")
    assert main(["roles", "The dog chased the cat.", "--format", "allennlp"]) == 0
    assert json.loads(capsys.readouterr().out)["verbs"][0]["verb"] == "chased"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"She sold her car.")))
    assert main(["frames", "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"] == ["She", "sold", "her", "car", "."]


def test_models_are_shown(package: ModelPackage, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "en/roles"]) == 0
    assert "RoleLabeler" in capsys.readouterr().out


def test_nobody_gets_the_trees_of_another_parser_where_the_encoder_is_missing(package: ModelPackage) -> None:
    parser = sw.load("en/parser-minilm")
    with pytest.raises(ModelFileError, match=r"encoder 'minilm' .* sapwood data get minilm"):
        parser.parse(["The", "dog", "ran"])
    with pytest.raises(ModelFileError, match="sapwood data get minilm"):
        sw.load("en/roles").set_params(parser="en/parser-minilm").label_text("The dog ran.")


def test_the_explorer_begins_with_the_parser_that_needs_nothing(package: ModelPackage) -> None:
    found = {entry.name: entry for entry in ModelFolder(package.folder)}
    assert next(name for name, one in found.items() if name.startswith("parser") and not one.fault) == "parser"
    assert "needs an encoder that is not here" in found["parser-minilm"].fault
    # What the page shows as Python loads the same model anywhere.
    assert found["roles"].source == "en/roles"


def test_no_sentences_are_shipped(package: ModelPackage) -> None:
    for name in package.models:
        for place, text in texts(package.path(name)):
            assert {"meanings", "lexicon", "units"} & {*place.split(".")} or count_words(text) <= 3, (name, place, text)


def test_files_are_small_and_what_the_list_says(package: ModelPackage) -> None:
    import hashlib

    files = {one["file"]: one["sha256"] for one in package.models.values()}
    assert sum((package.folder / file).stat().st_size for file in files) <= 25_000_000
    for file, digest in files.items():
        assert hashlib.sha256((package.folder / file).read_bytes()).hexdigest() == digest


def test_neither_pytorch_nor_wordnet_is_needed(package: ModelPackage, tmp_path: Path) -> None:
    code = (
        "import sys, sapwood as sw, sapwood.words.wordnet_files as files\n"
        "def missing(*_, **__): raise AssertionError('WordNet was asked for')\n"
        "files.find_wordnet = files.open_wordnet = missing\n"
        "assert sw.load('en/roles').label_text('It rains.')\n"
        "assert sw.load('en/frames').parse_text('She sold her car.')[0].frames\n"
        "assert not {'torch', 'nltk'} & {*sys.modules}\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=tmp_path)
