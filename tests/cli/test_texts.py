"""Raw text from the shell: split, parsed with a model, and handed to the models of the tasks."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.parse import PCFGParser
from sapwood.parse.flat import flat_tree
from sapwood.tasks.frames import FrameLabeler, FrameParser
from sapwood.tasks.frames.loading import nursery_frames
from sapwood.tasks.questions import QuestionClassifier, plain_kernel
from sapwood.tasks.roles import RoleLabeler


@pytest.fixture(scope="module")
def corpus():
    return nursery.generate(size=400)


@pytest.fixture(scope="module")
def parser(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "parser.sap"
    sw.save(PCFGParser().fit([one.tree for one in corpus.sentences]), path)
    return str(path)


@pytest.fixture(scope="module")
def text(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "text.txt"
    words = corpus.sentences[0].tree.leaves()
    path.write_text("  " + " ".join(words[:-1]) + words[-1] + "\n\n" + " ".join(words[:-1]) + " " + words[-1] + "\n")
    return path


def test_frames_of_text_have_places_in_the_text(corpus, parser, text, tmp_path, capsys):
    lexicon, data = nursery_frames(corpus)
    model = FrameParser(labeler=FrameLabeler(bits=18, epochs=3, alpha=0.3))
    path = tmp_path / "frames.sap"
    sw.save(model.fit(data, lexicon=lexicon), path)
    assert main(["predict", str(path), str(text), "--parser", parser]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 2
    assert rows[0]["tokens"] == rows[1]["tokens"] == list(corpus.sentences[0].tree.leaves())
    assert rows[0]["frames"]
    written = text.read_text()
    for row in rows:
        for frame in row["frames"]:
            for role in frame["roles"]:
                first, last = role["characters"]
                assert written[first : last + 1] == role["text"]


def test_roles_of_text(corpus, parser, text, tmp_path, capsys):
    path = tmp_path / "roles.sap"
    sw.save(RoleLabeler().fit(corpus.role_sentences()[:200]), path)
    assert main(["predict", str(path), str(text), "--parser", parser]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["words"] for row in rows] == [list(corpus.sentences[0].tree.leaves())] * 2


def test_questions_without_trees_are_parsed(corpus, parser, tmp_path, capsys):
    asked = [one for one in corpus.sentences if one.label is not None]
    model = QuestionClassifier(plain_kernel()).fit([one.tree for one in asked], [one.label[0] for one in asked])
    path, data = tmp_path / "questions.sap", tmp_path / "questions.txt"
    sw.save(model, path)
    data.write_text("".join(" ".join(one.tree.leaves()) + "\n" for one in asked[:5]))
    assert main(["predict", str(path), str(data)]) == 0
    assert capsys.readouterr().out.count("unparsed") == 5
    assert main(["predict", str(path), str(data), "--parser", parser]) == 0
    assert "unparsed" not in capsys.readouterr().out


def test_classifiers_of_trees_take_labelled_text(corpus, parser, tmp_path, capsys):
    asked = [one for one in corpus.sentences if one.label is not None][:60]
    lines = [f"{one.label[0]}\t{' '.join(one.tree.leaves())}" for one in asked]
    data, model = tmp_path / "train.tsv", str(tmp_path / "trees.sap")
    data.write_text("\n".join(lines) + "\n")
    assert main(["train", "trees", str(data), "-o", model, "--parser", parser]) == 0
    capsys.readouterr()
    assert main(["evaluate", model, str(data), "--parser", parser, "--json", "-"]) == 0
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


def test_commands_that_take_trees_take_text_with_a_parser(corpus, parser, text, tmp_path, capsys):
    assert main(["kernel", str(text), "--kernel", "SubsetTree().normalized()", "--parser", parser]) == 0
    assert capsys.readouterr().out == "1.0\t1.0\n1.0\t1.0\n"
    assert main(["show", str(text), "--parser", parser]) == 0
    assert "# 1 of 2" in capsys.readouterr().out
    assert main(["kernel", str(text), "--kernel", "SubsetTree()", "--parser", str(text)]) == 1
    assert "is not a Sapwood file" in capsys.readouterr().err


def test_models_keep_the_parser_they_were_trained_with(corpus, parser, text, tmp_path, capsys):
    data, model = str(tmp_path / "roles.jsonl"), str(tmp_path / "roles.sap")
    gold = corpus.role_sentences()[:200]
    # Some sentences have no trees: these are parsed.
    corpora.role_lines.write([replace(one, tree=None) if at % 3 == 0 else one for at, one in enumerate(gold)], data)
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
    assert main(["evaluate", model, data, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["f1"] > 0.9


def test_text_without_a_parser_is_named(corpus, text, tmp_path, capsys):
    path = tmp_path / "roles.sap"
    sw.save(RoleLabeler().fit(corpus.role_sentences()[:50]), path)
    assert main(["predict", str(path), str(text)]) == 2
    assert "is text, and the model has no parser of its own; give one with --parser" in capsys.readouterr().err
    assert main(["predict", str(path), str(text), "--parser", str(path)]) == 1
    assert "not a parser" in capsys.readouterr().err


def test_rerankers_and_attachments_take_text(corpus, parser, text, tmp_path, capsys):
    bank = tmp_path / "gold.mrg"
    sw.write_trees([one.tree for one in corpus.sentences[:40]], bank)
    model = str(tmp_path / "parses.sap")
    assert main(["train", "ranking", str(bank), "-o", model, "--parser", parser, "--epochs", "1"]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(text)]) == 0
    trees = [sw.Tree.fromstring(line) for line in capsys.readouterr().out.splitlines()]
    assert [tree.leaves() for tree in trees] == [corpus.sentences[0].tree.leaves()] * 2
    assert main(["evaluate", model, str(bank)]) == 0
    assert "oracle" in capsys.readouterr().out
    model = str(tmp_path / "attach.sap")
    options = ["--of", "attachments", "--epochs", "1"]
    assert main(["train", "ranking", str(bank), "-o", model, *options]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(text), "--parser", parser]) == 0
    assert capsys.readouterr().out.startswith("1\t")


@pytest.mark.parametrize("command", ["parse", "predict"])
def test_stopped_runs_over_text_go_on(command, corpus, parser, tmp_path, capsys, monkeypatch):
    words = [" ".join(one.tree.leaves()) for one in corpus.sentences]
    data, out, whole = tmp_path / "long.txt", tmp_path / "out.txt", tmp_path / "whole.txt"
    data.write_text("\n\n".join(words))
    if command == "parse":
        arguments = ["parse", parser, str(data), "--format", "jsonl"]
    else:
        model = str(tmp_path / "roles.sap")
        sw.save(RoleLabeler(parser=parser).fit(corpus.role_sentences()[:50]), model)
        arguments = ["predict", model, str(data)]
    assert main([*arguments, "--output", str(whole)]) == 0

    parse, calls, allowed = PCFGParser.parse_nbest_batch, [], 3

    def counting(self, *given, **options):
        calls.append(None)
        if len(calls) > allowed:
            raise KeyboardInterrupt
        return parse(self, *given, **options)

    monkeypatch.setattr(PCFGParser, "parse_nbest_batch", counting)
    assert main([*arguments, "--output", str(out)]) == 130
    assert "go on with --resume" in capsys.readouterr().err
    assert not out.exists()
    calls.clear()
    allowed = 100
    assert main([*arguments, "--output", str(out), "--resume"]) == 0
    # What was done is not parsed again.
    assert len(calls) == -(-len(words) // 64) - 3
    assert out.read_bytes() == whole.read_bytes()
    # Another parser or format is another run.
    allowed = 3
    calls.clear()
    out.unlink()
    assert main([*arguments, "--output", str(out)]) == 130
    calls.clear()
    form = ["--format", "mrg" if command == "parse" else "text"]
    assert main([*arguments, *form, "--output", str(out), "--resume"]) == 1
    assert "another model, input or format" in capsys.readouterr().err
    # So is another text in the same file, whether it differs in what is done or is shorter than that.
    allowed = 100
    for other, message in ((["Rain fell .", *words[1:]], "over another input"), (words[:9], "there are only 9")):
        data.write_text("\n\n".join(other))
        assert main([*arguments, "--output", str(out), "--resume"]) == 1
        assert message in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")
def test_ctrl_c(corpus, parser, tmp_path):
    data, out, whole = tmp_path / "long.txt", tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    data.write_text("\n\n".join(" ".join(one.words) for one in corpus.sentences * 5))
    command = ["parse", parser, str(data), "--format", "jsonl", "--threads", "1", "--output"]
    process = subprocess.Popen(
        [sys.executable, "-m", "sapwood.cli", *command, str(out)], stderr=subprocess.PIPE, text=True
    )
    draft = tmp_path / ".out.jsonl.draft"
    while process.poll() is None and not (draft.exists() and draft.stat().st_size):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert process.returncode == 130
    assert told == f"sapwood: stopped; what is done is kept, go on with --resume: {out}\nsapwood: interrupted\n"
    assert not out.exists()
    assert main([*command, str(out), "--resume"]) == 0
    assert main([*command, str(whole)]) == 0
    assert out.read_bytes() == whole.read_bytes()
    assert [json.loads(line)["name"] for line in whole.read_text().splitlines()] == [
        str(number) for number in range(1, 2001)
    ]


def test_answers_are_counted_by_lines(corpus, parser, tmp_path, capsys, monkeypatch):
    """A run over lines goes on after the last line that was written, not after the last few hundred."""
    asked = [one for one in corpus.sentences if one.label is not None]
    model = QuestionClassifier(plain_kernel(), parser=parser).fit(
        [one.tree for one in asked[:50]], [one.label[0] for one in asked[:50]]
    )
    path, data, out = str(tmp_path / "questions.sap"), tmp_path / "ask.txt", tmp_path / "out.txt"
    sw.save(model, path)
    lines = [" ".join(one.words) for one in corpus.sentences] + [""] + ["Who barked ?"]
    data.write_text("\n".join(lines) + "\n")
    assert main(["predict", path, str(data)]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == len(lines)
    assert printed.out.splitlines()[-2].endswith("\tunparsed")
    decide, calls = QuestionClassifier.decision_function, []

    def once(self, X):
        calls.append(len(X))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return decide(self, X)

    monkeypatch.setattr(QuestionClassifier, "decision_function", once)
    assert main(["predict", path, str(data), "--output", str(out)]) == 130
    capsys.readouterr()
    assert main(["predict", path, str(data), "--output", str(out), "--resume"]) == 0
    assert calls == [256, len(lines) - 256, len(lines) - 256]
    assert f"{len(lines):,} answered" in capsys.readouterr().err
    assert out.read_text() == printed.out


@pytest.fixture(scope="module")
def roles(corpus, parser, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("models") / "roles.sap")
    sw.save(RoleLabeler(parser=parser).fit(corpus.role_sentences()[:100]), path)
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--margins"], "--margins: a RoleLabeler has no margins"),
        (["--format", "html", "--resume", "--output", "OUT"], "--resume: a page is made as a whole"),
        (["--resume"], "name it with --output"),
        (["--format", "latex"], "--format must be one of"),
    ],
)
def test_options_are_not_ignored(options, message, roles, text, tmp_path, capsys):
    options = [str(tmp_path / "out") if one == "OUT" else one for one in options]
    assert main(["predict", roles, str(text), *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("beginning", ["The", "(Reuters) The", "{Applause} The", "(in the house) the"])
def test_text_is_told_by_its_beginning(beginning, packed, roles, tmp_path, capsys):
    path = tmp_path / ("text.txt.gz" if packed else "text.txt")
    content = f"{beginning} dog chased the cat .".encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    assert main(["predict", roles, str(path)]) == 0
    (row,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert row["words"][-5:] == ["dog", "chased", "the", "cat", "."]
    assert row["offsets"][-1] == [len(content) - 1, len(content)]


@pytest.mark.parametrize("tree", ["(S (NP (NN Rain)) (VP (VBD fell)))", "( (S (NN Rain) (VBD fell)))", "(UH Yes)"])
def test_trees_are_told_by_their_beginning(tree, roles, tmp_path, capsys):
    path = tmp_path / "trees.mrg"
    path.write_text(tree)
    assert main(["predict", roles, str(path)]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["words"] in (["Rain", "fell"], ["Yes"])


def test_a_parser_takes_the_place_of_trees(corpus, parser, roles, tmp_path, capsys):
    """What is given as --parser is used, and not passed over because the file has trees."""
    gold = [replace(one, tree=flat_tree(one.words)) for one in corpus.role_sentences()[200:260]]
    data = str(tmp_path / "flat.jsonl")
    corpora.role_lines.write(gold, data)
    scores = []
    for options in ([], ["--parser", parser]):
        assert main(["evaluate", roles, data, "--json", "-", *options]) == 0
        scores.append(json.loads(capsys.readouterr().out)["f1"])
    assert scores[0] < 0.5 < 0.8 < scores[1]
    assert main(["predict", roles, data, "--parser", parser]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert not any(row["tree"].startswith("(X ") for row in rows)


def test_a_parser_that_has_no_use_is_refused(corpus, parser, tmp_path, capsys):
    bank, model = str(tmp_path / "gold.mrg"), str(tmp_path / "attach.sap")
    sw.write_trees([one.tree for one in corpus.sentences[:40]], bank)
    options = ["--of", "attachments", "--epochs", "1", "-o", model]
    assert main(["train", "ranking", bank, *options]) == 0
    for command in ("predict", "evaluate"):
        assert main([command, model, bank, "--parser", parser]) == 2
        assert "--parser: " in capsys.readouterr().err
    # A model that was trained with a parser parses by itself, little by little.
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(" ".join(one.words) for one in corpus.sentences[:70]))
    assert main(["train", "ranking", str(text), *options, "--parser", parser]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(text)]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [int(row[0]) for row in rows] == sorted(int(row[0]) for row in rows)
    assert int(rows[-1][0]) > 64


def test_unknown_tags_are_found_by_line(parser, tmp_path, capsys):
    data = tmp_path / "tagged.txt"
    data.write_text("the/DT dog/NN\n" * 70 + "\nthe/DT dog/FOO\n")
    assert main(["parse", parser, str(data), "--tagged"]) == 1
    assert f"{data}:72: 'dog/FOO' has a tag that the parser has not learnt" in capsys.readouterr().err


def test_output_in_another_encoding(parser, tmp_path):
    told = subprocess.run(
        [sys.executable, "-m", "sapwood.cli", "parse", parser],
        input="The dog 😀 barked.".encode(),
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert told.returncode == 1
    assert told.stderr.decode().startswith("sapwood: standard output is in ascii, which has no '\\U0001f600'")
