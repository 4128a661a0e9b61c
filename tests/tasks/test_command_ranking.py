"""``sapwood train ranking`` and what its models answer, on the nursery."""

from __future__ import annotations

import io
import json

import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import nursery

TREES = [
    "( (S (NP (PRP I)) (VP (VBD saw) (NP (NN men) (PP (IN of))))))",
    "( (S (NP (PRP I)) (VP (VBD saw) (NP (NN it)) (PP (IN by)))))",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("ranking")
    lists = nursery.generate(size=120).forests(limit=5)
    corpora.nbest.write(lists[:80], place / "train.jsonl")
    corpora.nbest.write(lists[80:], place / "test.jsonl")
    (place / "train.mrg").write_text("\n".join([TREES[0]] * 4 + [TREES[1]]))
    return place


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["kernel", "network", "kernel --consensus 2", "network --averaging 0"])
def test_parses_are_reranked(folder, tmp_path, capsys, learner):
    model = str(tmp_path / "model.sap")
    train = [
        "train",
        "ranking",
        str(folder / "train.jsonl"),
        "-o",
        model,
        "--learner",
        *learner.split(),
        "--epochs",
        "2",
    ]
    assert main(train) == 0
    assert "80 n-best lists" in capsys.readouterr().out
    assert main(["evaluate", model, str(folder / "test.jsonl"), "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["sentences"] == 40
    assert result["first choice"]["F1"] < result["chosen"]["F1"] <= result["oracle"]["F1"] == 1.0
    assert main(["evaluate", model, str(folder / "test.jsonl")]) == 0
    assert "oracle" in capsys.readouterr().out
    assert main(["predict", model, str(folder / "test.jsonl"), "--output", str(tmp_path / "out.mrg")]) == 0
    lines = (tmp_path / "out.mrg").read_text().splitlines()
    lists = list(sw.corpora.nbest.read(folder / "test.jsonl"))
    chosen = sw.load(model).predict(lists)
    assert lines == [str(one.parses[int(at)]) for one, at in zip(lists, chosen, strict=True)]
    assert main(["predict", model, str(folder / "test.jsonl"), "--margins"]) == 0
    assert [int(line.split("\t")[1]) for line in capsys.readouterr().out.splitlines()] == chosen.tolist()


def test_words_are_attached(folder, tmp_path, capsys):
    model, data = str(tmp_path / "model.sap"), str(folder / "train.mrg")
    train = ["train", "ranking", data, "-o", model, "--of", "attachments", "--specialize", "--recombine"]
    assert main([*train, "--reduction", "1"]) == 0
    assert "5 sentences" in capsys.readouterr().out
    assert main(["evaluate", model, data, "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["error"] == 0.2
    assert result["classes"] == {"preposition": {"forests": 5, "wrong": 1}}
    assert main(["evaluate", model, data]) == 0
    assert "preposition" in capsys.readouterr().out
    assert main(["predict", model, data, "--margins"]) == 0
    first = capsys.readouterr().out.splitlines()[0].split("\t")
    assert first[:4] == ["1", "4", "IN", "NP ↓ PP ↓ IN"]


def test_training_goes_on_from_a_checkpoint_to_the_same_model(folder, tmp_path, capsys, monkeypatch):
    data, kept = str(folder / "train.jsonl"), tmp_path / "state.sap"
    more = ["--learner", "network", "--epochs", "3"]
    assert main(["train", "ranking", data, "-o", str(tmp_path / "whole.sap"), *more]) == 0
    # A checkpoint after every epoch, and an interruption in the second.
    from sapwood.resuming import CheckpointFile

    written = []
    write = CheckpointFile.write

    def stop(self, values, arrays):
        write(self, values, arrays)
        written.append(values)
        if len(written) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(CheckpointFile, "wanted", property(lambda self: self._path is not None))
    monkeypatch.setattr(CheckpointFile, "write", stop)
    resumed = ["train", "ranking", data, "-o", str(tmp_path / "resumed.sap"), *more, "--checkpoint", str(kept)]
    assert main(resumed) != 0
    assert kept.exists()
    assert not (tmp_path / "resumed.sap").exists()
    assert main(resumed) == 0
    one, two = sw.load(tmp_path / "whole.sap"), sw.load(tmp_path / "resumed.sap")
    assert one.ranker_.weights_.tobytes() == two.ranker_.weights_.tobytes()
    capsys.readouterr()
    # The checkpoint of another training is not taken for one's own.
    assert main([*resumed[:-4], "--epochs", "4", "--checkpoint", str(kept)]) != 0
    assert "belongs to a run with other data or parameters" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--learner", "network", "--kernel", "SubsetTree()"], "a network has no kernel"),
        (["--learner", "network", "--loss", "top"], "a network has no loss 'top'"),
        (["--validation", "x"], "a kernel does not stop early"),
        (["--kernel", "Nothing()"], "Nothing"),
        (["--of", "attachments", "--consensus", "2"], "there is no consensus"),
        (["--recombine"], "parses have no connection paths"),
        (["--learner", "network", "--averaging", "-1"], "averaging must be a finite number"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(folder, tmp_path, capsys, arguments, message):
    out = tmp_path / "model.sap"
    assert main(["train", "ranking", str(folder / "train.jsonl"), "-o", str(out), *arguments]) != 0
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_data_of_the_wrong_kind_is_refused(folder, tmp_path, capsys, monkeypatch):
    out = str(tmp_path / "model.sap")
    assert main(["train", "ranking", str(folder / "train.mrg"), "-o", out]) != 0
    assert "train.mrg:1" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["train", "ranking", "-", "-o", out]) != 0
    assert ": is empty" in capsys.readouterr().err
    assert main(["train", "ranking", "-", "-o", out, "--of", "attachments"]) != 0
    assert ": holds no tree" in capsys.readouterr().err
