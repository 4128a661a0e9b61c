"""Shards of feature maps, and models trained from them: what one matrix and one fit would give, part by part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from distributed import Client
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize

import sapwood as sw
from sapwood import resuming
from sapwood.cli import main
from sapwood.corpora.sampled import sample_labeled
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.kernels import FragmentMap, HashedFragmentMap, LandmarkMap, SubsetTree
from sapwood.scale import ShardClassifier, Shards, in_parts, map_to_shards

TREES, LABELS = sample_labeled(600, seed=7, classes=3)
HASHED = HashedFragmentMap(max_size=2, n_features=4096)


def parts(size: int = 100) -> Iterator[Any]:
    return in_parts(TREES, LABELS, size=size)


def test_parts() -> None:
    found = list(in_parts((str(tree) for tree in TREES[:25]), iter(range(25)), size=10))
    assert [len(trees) for trees, _ in found] == [10, 10, 5]
    assert np.concatenate([labels for _, labels in found if labels is not None]).tolist() == list(range(25))
    assert [len(trees) for trees, _ in in_parts(TREES[:25], size=10)] == [10, 10, 5]
    assert list(in_parts([], size=10)) == []
    with pytest.raises(DataError, match="at least 20 trees but only 15 labels"):
        list(in_parts(TREES[:25], range(15), size=10))
    with pytest.raises(DataError, match="25 trees but more labels"):
        list(in_parts(TREES[:25], range(26), size=10))
    with pytest.raises(ParameterError, match="size must be an integer of at least 1"):
        list(in_parts(TREES, size=0))


@pytest.mark.parametrize("mapping", [HASHED, FragmentMap(max_size=2, min_df=3).fit(TREES)], ids=["hashed", "learnt"])
def test_shards_are_the_rows_of_the_map(mapping: Any, client: Client, tmp_path: Path) -> None:
    here = map_to_shards(mapping, parts(), tmp_path / "here")
    there = map_to_shards(mapping, parts(), tmp_path / "there", client=client)
    assert here.computed == there.computed == len(here) == 6
    whole = mapping.transform(TREES)
    assert here.shape == whole.shape
    stacked = sparse.vstack([rows for rows, _ in here])
    assert (stacked != whole).nnz == 0
    assert np.concatenate([labels for _, labels in here]).tolist() == LABELS.tolist()
    for number in range(6):
        name = f"shard-{number:08d}.safetensors"
        assert (here.folder / name).read_bytes() == (there.folder / name).read_bytes()
    assert here.fingerprint == there.fingerprint
    assert here.classes.tolist() == ["a", "b", "c"]


def test_shards_of_landmarks(tmp_path: Path) -> None:
    mapping = LandmarkMap(SubsetTree(), n_components=20, random_state=0).fit(TREES)
    shards = map_to_shards(mapping, parts(), tmp_path / "shards")
    stacked = sparse.vstack([rows for rows, _ in shards])
    np.testing.assert_allclose(stacked.toarray(), mapping.transform(TREES), rtol=1e-9, atol=1e-9)
    assert ShardClassifier(alpha=1e-4).fit(shards).predict(TREES).shape == LABELS.shape


def test_workers_read_their_own_parts(client: Client, tmp_path: Path) -> None:
    def read(seed: int) -> Any:
        from sapwood.corpora.sampled import sample_labeled

        return sample_labeled(50, seed=seed)

    shards = map_to_shards(HASHED, range(4), tmp_path / "shards", read=read, client=client, dtype="float32")
    assert len(shards) == 4
    for seed, (rows, labels) in enumerate(shards):
        trees, expected = read(seed)
        assert labels is not None
        assert labels.tolist() == expected.tolist()
        assert rows.dtype == np.float32
        assert (rows != HASHED.transform(trees).astype(np.float32)).nnz == 0
    assert map_to_shards(HASHED, range(4), tmp_path / "shards", read=read, dtype="float32").computed == 0
    with pytest.raises(DataError, match="shard 0 was made from another part"):
        map_to_shards(HASHED, range(1, 5), tmp_path / "shards", read=read, dtype="float32")


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    def stopping() -> Iterator[Any]:
        for number, part in enumerate(parts()):
            if number == 4:
                raise KeyboardInterrupt
            yield part

    folder = tmp_path / "shards"
    with pytest.raises(KeyboardInterrupt):
        map_to_shards(HASHED, stopping(), folder)
    assert len(Shards(folder)) == 4
    (folder / "shard-00000001.safetensors").write_bytes(b"damage")
    with pytest.raises(ModelFileError, match="differs from its checksum; map the parts again"):
        Shards(folder)[1]
    again = map_to_shards(HASHED, parts(), folder)
    assert again.computed == 3
    whole = map_to_shards(HASHED, parts(), tmp_path / "whole")
    assert again.fingerprint == whole.fingerprint
    for number in range(6):
        assert (again[number][0] != whole[number][0]).nnz == 0
    (folder / "done" / "00000002.json").unlink()
    with pytest.raises(DataError, match="shard 2 is missing; call map_to_shards"):
        Shards(folder)


def test_other_runs_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    map_to_shards(HASHED, parts(), folder)
    with pytest.raises(DataError, match="holds a run with map"):
        map_to_shards(HashedFragmentMap(), parts(), folder)
    with pytest.raises(DataError, match="shard 0 was made from another part"):
        map_to_shards(HASHED, parts(200), folder)
    with pytest.raises(DataError, match="holds 6 shards, but there are only 3 parts"):
        map_to_shards(HASHED, in_parts(TREES[:300], LABELS[:300], size=100), folder)
    with pytest.raises(ParameterError, match="mapping must be a feature map"):
        map_to_shards("hashed", parts(), tmp_path / "other")
    with pytest.raises(NotFittedError):
        map_to_shards(FragmentMap(), parts(), tmp_path / "other")
    with pytest.raises(DataError, match="a part has 2 trees but labels of shape"):
        map_to_shards(HASHED, [(["(a b)", "(a c)"], [1])], tmp_path / "labels")


def test_kinds_of_labels(tmp_path: Path) -> None:
    for kind, labels in (("int", [3, 1]), ("float", [0.5, 1.5]), ("bool", [True, False]), ("object", ["yes", "no"])):
        given = np.array(labels, dtype=object if kind == "object" else None)
        shards = map_to_shards(HASHED, [(["(a b)", "(a c)"], given)], tmp_path / kind)
        found = shards[0][1]
        assert found is not None
        assert found.tolist() == labels
        assert shards.classes.tolist() == sorted(labels)
    without = map_to_shards(HASHED, [["(a b)", "(a c)"]], tmp_path / "none")
    assert without[0][1] is None
    assert len(without.classes) == 0
    with pytest.raises(DataError, match="the shards have no labels; a classifier needs at least two classes"):
        ShardClassifier().fit(without)


def test_training_is_gradient_descent_over_shards(tmp_path: Path) -> None:
    """One shard and one pass are scikit-learn's own pass; more learn what can be learnt."""
    one = map_to_shards(HASHED, in_parts(TREES, LABELS, size=600), tmp_path / "one")
    model = ShardClassifier(epochs=1, alpha=1e-4).fit(one)
    seed = int(np.random.default_rng((0, 0)).integers(2**31))
    solver = SGDClassifier(alpha=1e-4, random_state=seed)
    solver.partial_fit(normalize(HASHED.transform(TREES)), LABELS, classes=["a", "b", "c"])
    np.testing.assert_array_equal(model.coef_, solver.coef_)
    tested, expected = sample_labeled(300, seed=8, classes=3)
    shards = map_to_shards(HASHED, parts(), tmp_path / "six")
    trained = ShardClassifier(epochs=10, alpha=1e-4).fit(tmp_path / "six")
    assert trained.score(tested, expected) > 0.6
    np.testing.assert_array_equal(trained.coef_, ShardClassifier(epochs=10, alpha=1e-4).fit(shards).coef_)
    again = ShardClassifier(epochs=10, alpha=1e-4, random_state=1).fit(shards)
    assert not np.array_equal(trained.coef_, again.coef_)


def test_training_goes_on_from_a_checkpoint_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = map_to_shards(HASHED, parts(), tmp_path / "shards")
    whole = ShardClassifier(epochs=3, alpha=1e-4).fit(shards)
    monkeypatch.setattr(resuming.CheckpointFile, "wanted", property(lambda self: self._path is not None))
    read = Shards.__getitem__
    seen: list[int] = []

    def stopping(self: Shards, number: int) -> Any:
        seen.append(number)
        if len(seen) == 8:
            raise KeyboardInterrupt
        return read(self, number)

    monkeypatch.setattr(Shards, "__getitem__", stopping)
    with pytest.raises(KeyboardInterrupt):
        ShardClassifier(epochs=3, alpha=1e-4).fit(shards, checkpoint=tmp_path / "state.sap")
    assert (tmp_path / "state.sap").exists()
    with pytest.raises(ModelFileError, match="other data or parameters"):
        ShardClassifier(epochs=3, alpha=1e-3).fit(shards, checkpoint=tmp_path / "state.sap")
    resumed = ShardClassifier(epochs=3, alpha=1e-4).fit(shards, checkpoint=tmp_path / "state.sap")
    assert len(seen) == 8 + 18 - 7
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)
    np.testing.assert_array_equal(resumed.intercept_, whole.intercept_)
    assert not (tmp_path / "state.sap").exists()


def test_models_come_back_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shards = map_to_shards(HASHED, parts(), tmp_path / "shards")
    model = ShardClassifier(alpha=1e-4).fit(shards)
    sw.save(model, tmp_path / "model.sap")
    again = sw.load(tmp_path / "model.sap")
    np.testing.assert_array_equal(again.decision_function(TREES), model.decision_function(TREES))
    assert again.get_params() == model.get_params()
    sw.write_trees(TREES[:5], tmp_path / "trees.txt")
    assert main(["predict", str(tmp_path / "model.sap"), str(tmp_path / "trees.txt")]) == 0
    assert capsys.readouterr().out.split() == model.predict(TREES[:5]).tolist()
    labeled = (f"{label}\t{tree}\n" for label, tree in zip(LABELS, TREES, strict=True))
    (tmp_path / "labeled.tsv").write_text("".join(labeled))
    assert main(["evaluate", str(tmp_path / "model.sap"), str(tmp_path / "labeled.tsv"), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == pytest.approx(model.score(TREES, LABELS))
    two = map_to_shards(HASHED, [(TREES, LABELS == "a")], tmp_path / "two")
    binary = ShardClassifier(alpha=1e-4).fit(two)
    assert binary.decision_function(TREES[:3]).shape == (3,)
    sw.save(binary, tmp_path / "two.sap")
    np.testing.assert_array_equal(sw.load(tmp_path / "two.sap").predict(TREES), binary.predict(TREES))
    assert binary.predict([]).shape == (0,)


def test_parameters_of_the_classifier(tmp_path: Path) -> None:
    shards = map_to_shards(HASHED, parts(300), tmp_path / "shards")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"loss": "zero-one"}, "loss must be one of"),
        ({"loss": np.array(["hinge", "log_loss"])}, "loss must be one of"),
        ({"alpha": 0.0}, "alpha must be a finite number of more than 0"),
        ({"epochs": 0}, "epochs must be an integer of at least 1"),
        ({"random_state": None}, "random_state must be an integer"),
    ]
    for params, message in wrong:
        with pytest.raises(ParameterError, match=message):
            ShardClassifier(**params).fit(shards)
    with pytest.raises(DataError, match="labels are taken from the shards"):
        ShardClassifier().fit(shards, LABELS)  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        ShardClassifier().predict(TREES)
    alone = map_to_shards(HASHED, [(TREES[:5], ["a"] * 5)], tmp_path / "alone")
    with pytest.raises(DataError, match="only the class 'a'"):
        ShardClassifier().fit(alone)


def test_damaged_notes(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    map_to_shards(HASHED, parts(300), folder)
    note = folder / "done" / "00000001.json"
    note.write_text(json.dumps({"crc32": 1}))
    with pytest.raises(ModelFileError, match="notes of shards are damaged"):
        Shards(folder)
    with pytest.raises(IndexError, match="there is no shard 9"):
        Shards(map_to_shards(HASHED, parts(300), tmp_path / "other").folder)[9]


def test_memory_is_flat(fresh: Any) -> None:
    """Eight times the trees take no more memory to map, train on and predict."""
    done = fresh(
        """
        import pathlib
        from sapwood.corpora.sampled import sample_labeled
        from sapwood.kernels import HashedFragmentMap
        from sapwood.scale import ShardClassifier, map_to_shards, predict

        def read(seed):
            return sample_labeled(200, seed=seed)

        def run(count, folder):
            pathlib.Path("/proc/self/clear_refs").write_text("5")
            shards = map_to_shards(HashedFragmentMap(max_size=2, n_features=4096), range(count), folder, read=read)
            model = ShardClassifier(epochs=1).fit(shards)
            for answers in predict(model, range(count), read=read):
                assert len(answers) == 200
            lines = pathlib.Path("/proc/self/status").read_text().splitlines()
            return int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))

        run(1, "first")
        small, large = run(2, "small"), run(16, "large")
        print(small, large)
        """,
        timeout=240,
    )
    small, large = map(int, done.stdout.split())
    assert large < small + 4_000, done.stdout + done.stderr
