"""Raw text from the shell: split, parsed with a model, and handed to the models of the tasks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora import nursery, write_role_lines
from sapwood.corpora.nursery.roles import role_sentences
from sapwood.parse import PCFGParser
from sapwood.tasks.frames import FrameLabeler, FrameParser
from sapwood.tasks.frames.loading import nursery_frames
from sapwood.tasks.questions import QuestionClassifier, plain_kernel
from sapwood.tasks.roles import RoleLabeler


@pytest.fixture(scope="module")
def garden():
    return nursery.grow(size=400)


@pytest.fixture(scope="module")
def parser(garden, tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "parser.sap"
    sw.save(PCFGParser().fit([one.tree for one in garden.sentences]), path)
    return str(path)


@pytest.fixture(scope="module")
def text(garden, tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "text.txt"
    words = garden.sentences[0].tree.leaves()
    path.write_text("  " + " ".join(words[:-1]) + words[-1] + "\n\n" + " ".join(words[:-1]) + " " + words[-1] + "\n")
    return path


def test_frames_of_text_have_places_in_the_text(garden, parser, text, tmp_path, capsys):
    lexicon, data = nursery_frames(garden)
    model = FrameParser(labeler=FrameLabeler(bits=18, epochs=3, l2=0.3))
    path = tmp_path / "frames.sap"
    sw.save(model.fit(data, lexicon=lexicon), path)
    assert main(["predict", str(path), str(text), "--parser", parser]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 2
    assert rows[0]["tokens"] == rows[1]["tokens"] == list(garden.sentences[0].tree.leaves())
    assert rows[0]["frames"]
    written = text.read_text()
    for row in rows:
        for frame in row["frames"]:
            for role in frame["roles"]:
                first, last = role["characters"]
                assert written[first : last + 1] == role["text"]


def test_roles_of_text(garden, parser, text, tmp_path, capsys):
    path = tmp_path / "roles.sap"
    sw.save(RoleLabeler().fit(role_sentences(garden)[:200]), path)
    assert main(["predict", str(path), str(text), "--parser", parser]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["words"] for row in rows] == [list(garden.sentences[0].tree.leaves())] * 2


def test_questions_without_trees_are_parsed(garden, parser, tmp_path, capsys):
    asked = [one for one in garden.sentences if one.label is not None]
    model = QuestionClassifier(plain_kernel()).fit([one.tree for one in asked], [one.label[0] for one in asked])
    path, data = tmp_path / "questions.sap", tmp_path / "questions.txt"
    sw.save(model, path)
    data.write_text("".join(" ".join(one.tree.leaves()) + "\n" for one in asked[:5]))
    assert main(["predict", str(path), str(data)]) == 0
    assert capsys.readouterr().out.count("unparsed") == 5
    assert main(["predict", str(path), str(data), "--parser", parser]) == 0
    assert "unparsed" not in capsys.readouterr().out


def test_classifiers_of_trees_take_labelled_text(garden, parser, tmp_path, capsys):
    asked = [one for one in garden.sentences if one.label is not None][:60]
    lines = [f"{one.label[0]}\t{' '.join(one.tree.leaves())}" for one in asked]
    data, model = tmp_path / "train.tsv", str(tmp_path / "trees.sap")
    data.write_text("\n".join(lines) + "\n")
    assert main(["train", "trees", str(data), "-o", model, "--parser", parser]) == 0
    capsys.readouterr()
    assert main(["evaluate", model, str(data), "--parser", parser, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["count"] == 60
    assert scores["accuracy"] > 0.9
    (tmp_path / "ask.txt").write_text("\n".join(line.partition("\t")[2] for line in lines))
    assert main(["predict", model, str(tmp_path / "ask.txt"), "--parser", parser]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 60
    assert main(["explain", model, str(tmp_path / "ask.txt"), "--parser", parser, "--count", "1"]) == 0
    assert "score of" in capsys.readouterr().out
    assert main(["predict", model, str(tmp_path / "ask.txt")]) == 1
    assert "ask.txt:1:1:" in capsys.readouterr().err


def test_commands_that_take_trees_take_text_with_a_parser(garden, parser, text, tmp_path, capsys):
    assert main(["kernel", str(text), "--kernel", "SubsetTree().normalized()", "--parser", parser]) == 0
    assert capsys.readouterr().out == "1.0\t1.0\n1.0\t1.0\n"
    assert main(["show", str(text), "--parser", parser]) == 0
    assert "# 1 of 2" in capsys.readouterr().out
    assert main(["kernel", str(text), "--kernel", "SubsetTree()", "--parser", str(text)]) == 1
    assert "is not a Sapwood file" in capsys.readouterr().err


def test_models_keep_the_parser_they_were_trained_with(garden, parser, text, tmp_path, capsys):
    data, model = str(tmp_path / "roles.jsonl"), str(tmp_path / "roles.sap")
    gold = role_sentences(garden)[:200]
    # Some sentences have no trees: these are parsed.
    write_role_lines([replace(one, tree=None) if at % 3 == 0 else one for at, one in enumerate(gold)], data)
    assert main(["train", "roles", data, "-o", model, "--parser", parser]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(text)]) == 0
    own = capsys.readouterr().out
    assert main(["predict", model, str(text), "--parser", parser]) == 0
    assert capsys.readouterr().out == own
    rows = [json.loads(line) for line in own.splitlines()]
    written = text.read_text()
    for row in rows:
        assert [written[begin:end] for begin, end in row["offsets"]] == row["words"]
    assert main(["evaluate", model, data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["f1"] > 0.9


def test_text_without_a_parser_is_named(garden, text, tmp_path, capsys):
    path = tmp_path / "roles.sap"
    sw.save(RoleLabeler().fit(role_sentences(garden)[:50]), path)
    assert main(["predict", str(path), str(text)]) == 2
    assert "is text, and the model has no parser of its own; give one with --parser" in capsys.readouterr().err
    assert main(["predict", str(path), str(text), "--parser", str(path)]) == 1
    assert "not a parser" in capsys.readouterr().err


def test_rerankers_and_attachments_take_text(garden, parser, text, tmp_path, capsys):
    bank = tmp_path / "gold.mrg"
    sw.write_trees([one.tree for one in garden.sentences[:40]], bank)
    model = str(tmp_path / "parses.sap")
    assert main(["train", "ranking", str(bank), "-o", model, "--parser", parser, "--epochs", "1"]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(text)]) == 0
    trees = [sw.Tree.fromstring(line) for line in capsys.readouterr().out.splitlines()]
    assert [tree.leaves() for tree in trees] == [garden.sentences[0].tree.leaves()] * 2
    assert main(["evaluate", model, str(bank)]) == 0
    assert "oracle" in capsys.readouterr().out
    model = str(tmp_path / "attach.sap")
    options = ["--of", "attachments", "--epochs", "1"]
    assert main(["train", "ranking", str(bank), "-o", model, *options]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(text), "--parser", parser]) == 0
    assert capsys.readouterr().out.startswith("1\t")


@pytest.mark.parametrize("command", ["parse", "predict"])
def test_stopped_runs_over_text_go_on(command, garden, parser, tmp_path, capsys, monkeypatch):
    words = [" ".join(one.tree.leaves()) for one in garden.sentences]
    data, out, whole = tmp_path / "long.txt", tmp_path / "out.txt", tmp_path / "whole.txt"
    data.write_text("\n\n".join(words))
    if command == "parse":
        arguments = ["parse", parser, str(data), "--format", "jsonl"]
    else:
        model = str(tmp_path / "roles.sap")
        sw.save(RoleLabeler(parser=parser).fit(role_sentences(garden)[:50]), model)
        arguments = ["predict", model, str(data)]
    assert main([*arguments, "--out", str(whole)]) == 0

    parse, calls, allowed = PCFGParser.analyse, [], 3

    def counting(self, *given, **options):
        calls.append(None)
        if len(calls) > allowed:
            raise KeyboardInterrupt
        return parse(self, *given, **options)

    monkeypatch.setattr(PCFGParser, "analyse", counting)
    assert main([*arguments, "--out", str(out)]) == 130
    assert "go on with --resume" in capsys.readouterr().err
    assert not out.exists()
    calls.clear()
    allowed = 100
    assert main([*arguments, "--out", str(out), "--resume"]) == 0
    # What was done is not parsed again.
    assert len(calls) == -(-len(words) // 64) - 3
    first, second = ([json.loads(line) for line in path.read_text().splitlines()] for path in (out, whole))
    for row in (*first, *second):
        row.pop("name", None)
    assert first == second
    # Another parser or format is another run.
    allowed = 3
    calls.clear()
    out.unlink()
    assert main([*arguments, "--out", str(out)]) == 130
    calls.clear()
    form = ["--format", "mrg" if command == "parse" else "text"]
    assert main([*arguments, *form, "--out", str(out), "--resume"]) == 1
    assert "another model, input or format" in capsys.readouterr().err
