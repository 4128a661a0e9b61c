"""The experiment on frames, with the nursery in the place of FrameNet."""

from __future__ import annotations

import json

import pytest
from sklearn.base import clone

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import DataError
from sapwood.experiments import Setting, frame_context, frames, run
from sapwood.tasks.frames import FrameCorpus, FrameLabeler, nursery_frames
from tiny_encoders import make_encoder


@pytest.fixture
def corpus(monkeypatch):
    lexicon, data = nursery_frames(nursery.generate(size=600))
    made = FrameCorpus(lexicon, data[:60], data[60:90], data[90:150], {"train": 0, "dev": 0, "test": 0}, False)
    monkeypatch.setattr(frames, "_corpus", lambda setting: made)
    small = {name: clone(model).set_params(bits=16, epochs=2) for name, model in frames.MODELS.items()}
    monkeypatch.setattr(frames, "MODELS", small)
    monkeypatch.setattr(frames, "_PENALTIES", (0.3, 1.0))
    monkeypatch.setattr(frame_context, "_ENCODER", "no-such-encoder")
    return made


def test_every_table_is_made_and_exact_decoding_keeps_all_constraints(corpus, tmp_path):
    with sw.options(threads=1):
        tables = {table.name: table for table in run("frames", Setting(cache=tmp_path))}
    assert list(tables) == [
        "tuning", "gold", "coverage", "faithful", "best", "pieces", "convergence", "penalty", "identification",
    ]  # fmt: skip
    for table in tables.values():
        json.dumps(table.to_json())
    for name in ("faithful", "best", "pieces"):
        rows = {row[0]: row for row in tables[name].rows}
        assert len(rows) == 9 + (name != "faithful")
        assert all(row[7:10] == (0, 0, 0) for title, row in rows.items() if "exact" in title)
        for exact in ("AD3, exact", "Sapwood, exact"):
            assert rows[exact][3] == pytest.approx(rows["HiGHS, exact"][3], abs=1.0)
    for _, _, roles, in_pieces, plain, more, of_pieces, candidates, all_candidates in tables["coverage"].rows:
        assert roles > 0
        assert 0 < plain <= more <= 100
        assert candidates <= all_candidates
        # The nursery has no filler in several pieces.
        assert in_pieces == of_pieces == 0
    for name in ("best", "pieces"):
        assert tables[name].notes[-1].startswith("Sapwood, exact: 100.0 % proven best;")
    assert "; 0 roles in several pieces, 0 of them right." in tables["best"].notes[-1]
    steps = tables["convergence"].rows
    if steps and steps[-1][2] == steps[-1][2]:
        # The bound never rises, and at the end both methods are close to the optimum.
        assert steps[-1][2] <= steps[0][2] + 1e-9
    # A second run finds the models in the cache.
    again = list(run("frames", Setting(cache=tmp_path, tables=("best",))))
    assert len(again) == 1


@pytest.mark.slow
def test_words_in_context(corpus, tmp_path, monkeypatch):
    for package in ("torch", "onnx", "onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make_encoder(tmp_path / "tiny", "bert")
    monkeypatch.setattr(frame_context, "_ENCODER", str(tmp_path / "tiny"))
    monkeypatch.setattr(frame_context, "_LAYERS", (1, 2))
    monkeypatch.setattr(frame_context, "_SAMPLES", 50)
    monkeypatch.setattr(frame_context, "_NETWORKS", 2)
    names = ("pieces", "context-tuning", "context")
    with sw.options(threads=1):
        tables = {table.name: table for table in run("frames", Setting(cache=tmp_path, tables=names))}
    assert list(tables) == list(names)
    assert [row[0] for row in tables["context-tuning"].rows] == list(frame_context._WEIGHTS)
    rows = {row[:3]: row[3:] for row in tables["context"].rows}
    assert len(rows) == 12
    for (*_, decoding), cells in rows.items():
        assert decoding == "local" or cells[6:] == (0, 0, 0)
    best = max(row[-1] for row in tables["context-tuning"].rows)
    assert (
        f"weight {next(row[0] for row in tables['context-tuning'].rows if row[-1] == best):g},"
        in (tables["context-tuning"].notes[0])
    )
    assert sum("F1 [" in note for note in tables["context"].notes) == 4
    # A second run takes the networks from the cache, and finds the same without the table that chooses.
    monkeypatch.setattr(
        frame_context,
        "_CHOSEN",
        {
            "log-linear model": frame_context._Chosen(0.0, frames.MODELS["pieces"].null_offset, 0.3),
            "network": frame_context._Chosen(1.0, 0.0, 0.3),
            "both": frame_context._Chosen(0.5, 0.0, 0.3),
        },
    )
    (again,) = run("frames", Setting(cache=tmp_path, tables=("context",)))
    assert "The networks come from the cache." in again.notes
    exact = {row[0]: row for row in tables["pieces"].rows}["Sapwood, exact"]
    likeliest = next(row for row in again.rows if row[:3] == ("log-linear model", "likeliest", "exact"))
    assert likeliest[3:] == pytest.approx(exact[1:10])


def test_missing_data_says_what_to_get(tmp_path, monkeypatch):
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    with pytest.raises(DataError, match="'framenet' was not found"):
        list(run("frames", Setting(data=tmp_path)))


def test_the_models_of_the_tables_are_the_papers_and_the_best():
    assert frames.MODELS["faithful"].spans == "dependency"
    assert frames.MODELS["faithful"].templates == "semafor"
    assert frames.MODELS["best"].get_params()["templates"] == FrameLabeler().templates == "extended"
