"""Raw text from the shell: split, parsed with a model, and handed to the models of the tasks."""

from __future__ import annotations

import json

import pytest

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.corpora.nursery.roles import role_sentences
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelSVC
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


def test_what_takes_trees_says_so(garden, parser, text, tmp_path, capsys):
    asked = [one for one in garden.sentences if one.label is not None][:50]
    trees = sw.TreeArray([one.tree for one in asked])
    model = KernelSVC(SubsetTree()).fit(trees, [one.label[0] for one in asked])
    path = tmp_path / "trees.sap"
    sw.save(model, path)
    assert main(["predict", str(path), str(text), "--parser", parser]) == 2
    assert "takes trees, not text" in capsys.readouterr().err
    assert main(["predict", str(path), str(text), "--parser", str(path)]) == 2
    roles = tmp_path / "roles.sap"
    sw.save(RoleLabeler().fit(role_sentences(garden)[:50]), roles)
    assert main(["predict", str(roles), str(text), "--parser", str(path)]) == 1
    assert "not a parser" in capsys.readouterr().err
