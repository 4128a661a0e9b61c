"""``sapwood roles`` and ``sapwood frames``: text from anywhere, what ``predict`` writes, lines that fit a terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.cli import main
from sapwood.cli.inputs import GivenText, text_or_name, text_sentences
from sapwood.corpora import nursery
from sapwood.parse import PCFGParser
from sapwood.tasks.frames import FrameLabeler, FrameParser, nursery_frames
from sapwood.tasks.roles import RoleLabeler

TEXT = "The dog chased the cat. Anna fed the old horse in the garden."


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    corpus = nursery.generate(size=300)
    parser = PCFGParser().fit([one.tree for one in corpus.sentences])
    sw.save(parser, folder / "parser.sap")
    sw.save(RoleLabeler(parser=parser).fit(corpus.role_sentences()), folder / "roles.sap")
    sw.save(RoleLabeler().fit(corpus.role_sentences()[:200]), folder / "bare.sap")
    lexicon, data = nursery_frames(corpus)
    frames = FrameParser(labeler=FrameLabeler(bits=16, epochs=2), parser=parser).fit(data[:200], lexicon=lexicon)
    sw.save(frames, folder / "frames.sap")
    return folder


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_roles_are_listed_under_the_sentence(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "roles", "The dog chased the cat.", "--model", str(models / "roles.sap"))
    assert out == "The dog chased the cat.\n\n  chase.01\n    A0  The dog\n    V   chased\n    A1  the cat\n\n"


def test_frames_are_listed_under_the_sentence(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "frames", "Anna fed the horse.", "--model", str(models / "frames.sap"))
    ((frame,),) = (one.frames for one in sw.load(models / "frames.sap").parse_text("Anna fed the horse."))
    assert frame.fillers
    lines = out.splitlines()
    assert lines[0] == "Anna fed the horse."
    assert lines[2] == f"  {frame.frame}"
    assert sorted(line.split()[0] for line in lines[3:-1]) == sorted(["*", *(one.role for one in frame.fillers)])
    found = json.loads(
        shown(capsys, "frames", "Anna fed it.", "--model", str(models / "frames.sap"), "--format", "jsonl", "--margins")
    )
    assert all("margin" in role for frame in found["frames"] for role in frame["roles"])


@pytest.mark.parametrize("form", ["jsonl", "allennlp", "conll", "props", "conll09", "text", "brackets", "html"])
def test_a_file_standard_input_and_an_argument_are_one_text(
    form: str, models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    asked = ["--model", str(models / "roles.sap"), "--format", form]
    given = shown(capsys, "roles", TEXT, *asked)
    assert given == shown(capsys, "roles", str(tmp_path / "text.txt"), *asked)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert given == shown(capsys, "roles", *asked)
    # What predict writes of the same text is the same.
    text = str(tmp_path / "text.txt")
    assert given == shown(capsys, "predict", str(models / "roles.sap"), text, "--format", form)
    assert main(["roles", TEXT, *asked, "-q", "-o", str(tmp_path / "out")]) == 0
    assert given == (tmp_path / "out").read_text()


def test_columns_and_json_read_back_as_what_the_labeler_returns(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = sw.load(models / "roles.sap").label_text(TEXT)
    asked = ["--model", str(models / "roles.sap"), "--format"]
    records = [json.loads(line) for line in shown(capsys, "roles", TEXT, *asked, "allennlp").splitlines()]
    assert records == [corpora.allennlp.to_json(one) for one in found]
    assert list(corpora.propbank_columns.read(io.StringIO(shown(capsys, "roles", TEXT, *asked, "conll")))) == found
    for back, one in zip(
        corpora.conll05.read(io.StringIO(shown(capsys, "roles", TEXT, *asked, "props"))), found, strict=True
    ):
        assert [p.arguments for p in back.propositions] == [p.arguments for p in one.propositions]


def test_every_line_is_a_sentence_on_request(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "The dog chased\n\nthe cat. Anna fed the horse.\n"
    (tmp_path / "lines.txt").write_text(text)
    name = str(tmp_path / "lines.txt")
    assert [len(one) for one in text_sentences(name)] == [3, 3, 5]
    sentences = list(text_sentences(name, lines=True))
    assert sentences == [["The", "dog", "chased"], ["the", "cat", ".", "Anna", "fed", "the", "horse", "."]]
    assert all(text[word.begin : word.end] == word for one in sentences for word in one)
    asked = ["roles", name, "--model", str(models / "roles.sap"), "--lines", "--format", "jsonl"]
    assert [json.loads(line)["words"] for line in shown(capsys, *asked).splitlines()] == sentences


def test_arguments_are_text_where_they_have_blanks_and_name_no_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my text.txt").write_text("x")
    assert isinstance(text_or_name("Dogs bark."), GivenText)
    assert isinstance(text_or_name("Who saw [it]? " + "a" * 5000 + ".zip"), GivenText)
    for name in ("-", "my text.txt", "my*.txt"):
        assert not isinstance(text_or_name(name), GivenText)


def test_a_word_that_is_no_file_is_not_taken_for_text(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["roles", "stroy.txt"])
    assert caught.value.code == 2
    assert "there is no file 'stroy.txt'; text of a single word goes to standard input" in capsys.readouterr().err


def test_lines_fit_eighty_columns(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "The " + "very old and very tired " * 8 + "dog chased the cat that Anna fed in the garden."
    for command in ("roles", "frames"):
        out = shown(capsys, command, long, "--model", str(models / f"{command}.sap"))
        assert out.count("\n") >= 5
        assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["roles", TEXT, "--model", "{}/frames.sap"], 1, "holds a FrameParser, not a model of roles"),
        (["frames", TEXT, "--model", "{}/parser.sap"], 1, "holds a PCFGParser, not a model of frames"),
        (["roles", TEXT, "--model", "{}/none.sap"], 1, "none.sap: no such file"),
        (["roles", TEXT, "--model", "{}/bare.sap"], 2, "the model has no parser of its own"),
        (["roles", "(S (NN it) (VBZ rains))", "--lines", "--model", "{}/roles.sap"], 2, "--lines: "),
        (["roles", TEXT, "--resume", "--model", "{}/roles.sap"], 2, "--resume goes on with a file"),
        (["frames", TEXT, "--margins", "--model", "{}/frames.sap"], 2, "only JSON lines have room"),
    ],
)
def test_what_cannot_be_is_said(
    arguments: list[str], code: int, message: str, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([one.format(models) if one.startswith("{}") else one for one in arguments]) == code
    assert message in capsys.readouterr().err


def test_trees_and_another_parser(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = "(S (NP (DT The) (NN dog)) (VP (VBD chased) (NP (DT the) (NN cat))))"
    asked = ["--model", str(models / "bare.sap"), "--format", "brackets"]
    assert shown(capsys, "roles", tree, *asked) == "chase.01: [A0 The dog] [V chased] [A1 the cat]\n"
    assert "[A0 The dog]" in shown(capsys, "roles", TEXT, *asked, "--parser", str(models / "parser.sap"))


@pytest.mark.parametrize("command", ["roles", "frames"])
def test_text_in_another_encoding(
    command: str, models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "José chased the cat."
    (tmp_path / "latin.txt").write_bytes(text.encode("latin-1"))
    asked = ["--model", str(models / f"{command}.sap"), "--format", "jsonl"]
    given = shown(capsys, command, text, *asked)
    assert main([command, str(tmp_path / "latin.txt"), *asked]) == 1
    assert "pass --encoding, such as --encoding latin-1" in capsys.readouterr().err
    assert given == shown(capsys, command, str(tmp_path / "latin.txt"), *asked, "--encoding", "latin-1")
    # Text that is an argument has the encoding of the terminal.
    assert given == shown(capsys, command, text, *asked, "--encoding", "latin-1")
    model = [str(models / f"{command}.sap"), str(tmp_path / "latin.txt"), "--format", "jsonl"]
    assert given == shown(capsys, "predict", *model, "--encoding", "latin-1")
