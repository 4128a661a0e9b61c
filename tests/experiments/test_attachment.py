"""The experiment on attachment, on trees that the nursery grows: every table comes, and twice the same."""

from __future__ import annotations

import pytest

from sapwood.corpora import nursery
from sapwood.errors import DataError
from sapwood.experiments import EXPERIMENTS, Setting, run
from sapwood.experiments.attachment import curves, pictures, subsets
from sapwood.tasks.attachment import AttachmentRanker


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    trees = [str(one.tree) for one in nursery.generate(size=300).sentences]
    for path in ("treebank/combined/wsj_0001.mrg", "ewt-propbank/train.trees", "ewt-propbank/test.trees"):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text("\n".join(f"( {tree})" for tree in trees[: 120 if "test" in path else None]))
    return place


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Only the folder of the test counts, whatever is on the machine, and passes are few."""
    monkeypatch.setattr("sapwood.corpora.catalog.nltk_search_path", list)
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    monkeypatch.setattr(subsets, "_SIZE", 20)
    monkeypatch.setattr(subsets, "_SUBSETS", 2)
    monkeypatch.setattr(subsets, "_NETWORK_EPOCHS", 3)
    monkeypatch.setattr(subsets, "_KERNELS", ((0.5, 1), (0.5, 3)))
    monkeypatch.setattr(subsets, "_NETWORKS", ((0.002, 0.0), (0.002, 1.0)))
    monkeypatch.setattr(pictures, "_ITERATIONS", 2)
    monkeypatch.setattr(pictures, "_EPOCHS", 2)
    monkeypatch.setattr(curves, "_SIZES", (30,))
    monkeypatch.setattr(curves, "_PASSES", ((100, 1, 2),))
    monkeypatch.setattr(curves, "_LATER_PASSES", (1, 2))
    monkeypatch.setattr(curves, "_BLOCK", 100)


def test_every_table_comes_and_learning_helps(folder):
    tables = {table.name: table for table in run("attachment", Setting(data=folder))}
    assert tuple(tables) == EXPERIMENTS["attachment"].tables
    rows = {row[0]: row for row in tables["subsets"].rows}
    baseline, kernel = rows["most frequent path, lowest anchor"], rows["kernel"]
    assert kernel[-2] < baseline[-2]
    assert kernel[-2] == pytest.approx((kernel[1] + kernel[2]) / 2)
    # The same models are shown from three sides.
    assert {row[0]: row for row in tables["states"].rows}["kernel"] == kernel
    losses = {row[:2]: row for row in tables["losses"].rows}
    assert losses["setwise", "sets"][4] == kernel[-2]
    assert losses["setwise", "sets"][2] == rows["network"][-2]
    assert len(tables["iterations"].rows) == 2
    assert sum(row[-1] == "right" for row in tables["pca"].rows) == 1
    curve = tables["curve"].rows
    # The sample and the web treebank, less what is held out.
    most = 300 + 300 + 120 - 144 - 72
    assert [row[:2] for row in curve[2:]] == [(name, size) for name in ("kernel", "network") for size in (30, most)]
    assert curve[0][-1] == pytest.approx(sum(curve[0][2:-1]))
    # The same sentences; only phrases are flat.
    flat = tables["curve-flat"].rows
    assert [row[:2] for row in flat] == [row[:2] for row in curve]
    assert flat[1:] != curve[1:]
    assert tables["cost"].rows[0][3] is None
    assert tables["cost"].rows[1][3] is not None
    assert all(0 <= row[-1] <= 100 for row in curve)


def test_a_table_alone_is_the_same_as_among_others(folder):
    (alone,) = run("attachment", Setting(data=folder, tables=("subsets",)))
    again = next(iter(run("attachment", Setting(data=folder, tables=("subsets", "losses")))))
    assert alone.to_json() == again.to_json()


def test_a_stopped_run_goes_on_from_the_cache(folder, tmp_path, monkeypatch):
    wanted = ("iterations", "pca", "subsets", "states", "curve")
    setting = Setting(data=folder, cache=tmp_path, tables=wanted)
    stopped, done = run("attachment", setting), []
    for table in stopped:
        done.append(table.to_json())
        if table.name == "states":
            break
    trained = []
    fit, part = AttachmentRanker.fit, AttachmentRanker.partial_fit
    monkeypatch.setattr(AttachmentRanker, "fit", lambda self, *a, **k: (trained.append(self), fit(self, *a, **k))[1])
    monkeypatch.setattr(AttachmentRanker, "partial_fit", lambda self, *a: (trained.append(self), part(self, *a))[1])
    again = [table.to_json() for table in run("attachment", setting)]
    assert again[: len(done)] == done
    # Two learners per size.
    assert len({id(model) for model in trained}) == 4
    trained.clear()
    assert [table.to_json() for table in run("attachment", setting)] == again
    assert not trained
    for file in tmp_path.glob("attachment-*.json"):
        file.write_text("{")
    with pytest.raises(DataError, match=r"attachment-.*\.json: no results are in this file .*remove it"):
        next(iter(run("attachment", setting)))


def test_missing_and_small_data_is_named(tmp_path):
    with pytest.raises(DataError, match="'penn-sample' was not found"):
        next(iter(run("attachment", Setting(data=tmp_path))))
    (tmp_path / "treebank/combined").mkdir(parents=True)
    (tmp_path / "treebank/combined/wsj_0001.mrg").write_text("(S (NP (DT the) (NN dog)))")
    with pytest.raises(DataError, match="needs at least 20"):
        next(iter(run("attachment", Setting(data=tmp_path))))
