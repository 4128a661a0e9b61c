"""Models over a cluster: the same answers in the same order, also where workers die; and the API of the cluster."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from distributed import Client

import sapwood as sw
from sapwood import cluster
from sapwood.corpora import nursery
from sapwood.corpora.sampled import sample_labeled
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelSVC
from sapwood.learn.solver.parallel import cluster_workers
from sapwood.scale import ClusterLabeler, in_parts, predict
from sapwood.scale.costs import Cost, gram_cost, map_cost
from sapwood.tasks.roles import RoleLabeler
from sapwood.tasks.roles.runs import label_to_file

TREES, LABELS = sample_labeled(200, seed=9, classes=4)


def test_predictions_keep_their_order(client: Client) -> None:
    model = KernelSVC().fit(TREES[:100], LABELS[:100])
    for parts in (
        in_parts(TREES, size=15),
        in_parts(TREES, LABELS, size=60),
        [list(TREES[k : k + 40]) for k in range(0, 200, 40)],
    ):
        answers = list(predict(model, parts, client=client))
        assert np.concatenate(answers).tolist() == model.predict(TREES).tolist()
    margins = list(predict(model, in_parts(TREES, size=90), client=client, method="decision_function"))
    # Where a tree stands among others may decide on the last bit of a sum.
    np.testing.assert_allclose(np.concatenate(margins), model.decision_function(TREES), rtol=1e-12)
    with pytest.raises(ParameterError, match="KernelSVC has no method 'guess'"):
        predict(model, [], method="guess")


def test_parts_are_taken_shortly_before_their_turn(client: Client) -> None:
    taken: list[int] = []

    def endless() -> Iterator[sw.TreeArray]:
        for number in range(10**9):
            taken.append(number)
            yield TREES[:3]

    model = KernelSVC().fit(TREES[:100], LABELS[:100])
    answers = predict(model, endless(), client=client)
    for _ in range(5):
        next(answers)
    answers.close()
    assert len(taken) < 60


def test_a_task_outlives_its_worker(client: Client, tmp_path: Path) -> None:
    def fragile(value: int, number: int) -> int:
        import os
        import pathlib
        import signal

        mark = pathlib.Path(folder) / str(number)
        if number in (3, 11) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return value * number

    folder = str(tmp_path)
    tasks = [(number,) for number in range(20)]
    found = list(cluster.run(client, fragile, tasks, shared=(cluster.share(client, 7),), ordered=True))
    assert found == [((number,), 7 * number) for number in range(20)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["11", "3"]


def test_a_task_that_kills_every_worker_is_given_up(client: Client) -> None:
    def deadly(number: int) -> None:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(DataError, match="the piece 5 was given to several workers and each of them died"):
        list(cluster.run(client, deadly, [(5,)]))


def test_errors_of_workers_are_ours(client: Client) -> None:
    def wrong(number: int) -> None:
        raise sw.BracketError("trees.mrg", 3, 4, "no bracket")

    with pytest.raises(sw.BracketError, match=r"trees\.mrg:3:4: no bracket"):
        list(cluster.run(client, wrong, [(number,) for number in range(9)]))

    def odd() -> str:
        return cluster._call("0.0.0", len, ())  # type: ignore[no-any-return]

    with pytest.raises(ParameterError, match=r"a worker has Sapwood .*, the client 0\.0\.0; install the same version"):
        list(cluster.run(client, odd, [()]))


def test_clients_that_cannot_be_used(client: Client) -> None:
    closed = Client(client.scheduler.address)
    closed.close()
    with pytest.raises(ParameterError, match="the client is closed; connect a new one"):
        list(cluster.run(closed, len, [((),)]))


def test_workers_use_one_thread_each(client: Client) -> None:
    def threads() -> int:
        from sapwood import settings

        return settings.threads()

    assert [count for _, count in cluster.run(client, threads, [()])] == [1]


def test_role_labelling_writes_the_same_bytes(client: Client, tmp_path: Path) -> None:
    sentences = nursery.generate(size=190).role_sentences()
    labeler = RoleLabeler().fit(sentences[:110])
    tested = sentences[110:]
    label_to_file(labeler, tested, tmp_path / "here.jsonl")
    spread = ClusterLabeler(labeler, client, part=10)
    count = label_to_file(spread, tested, tmp_path / "there.jsonl")
    assert count == len(tested)
    assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "there.jsonl").read_bytes()

    def stopping() -> Iterator[Any]:
        yield from tested[:35]
        raise KeyboardInterrupt

    # Stopped without a cluster, and finished with one.
    with pytest.raises(KeyboardInterrupt):
        label_to_file(labeler, stopping(), tmp_path / "resumed.jsonl")
    label_to_file(spread, tested, tmp_path / "resumed.jsonl", resume=True)
    assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "resumed.jsonl").read_bytes()


@pytest.mark.parametrize("solver", ["sklearn", "native"])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_problems_go_to_the_cluster(solver: str, multi_class: str, client: Client) -> None:
    """One-vs-rest and one-vs-one through joblib's Dask backend: solved there, the same to the last bit."""
    model = KernelSVC(SubsetTree().normalized(), solver=solver, multi_class=multi_class, class_weight="balanced")
    here = model.fit(TREES, LABELS)
    expected = here.dual_coef_.copy(), here.support_.copy(), here.intercept_.copy()
    before = _tasks_done(client)
    with joblib.parallel_config(backend="dask"):
        assert cluster_workers() == 2
        there = model.fit(TREES, LABELS)
    assert cluster_workers() == 0
    after = _tasks_done(client)
    assert sum(after.values()) > sum(before.values())
    for found, wanted in zip((there.dual_coef_, there.support_, there.intercept_), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_grid_search_over_the_cluster_does_not_nest(client: Client) -> None:
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(KernelSVC(solver="native"), {"C": [0.1, 1.0]}, cv=2)
    with joblib.parallel_config(backend="dask"):
        there = search.fit(TREES, LABELS).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(there, search.fit(TREES, LABELS).cv_results_["mean_test_score"])


def _tasks_done(client: Client) -> dict[str, int]:
    return dict(client.run(lambda dask_worker: dask_worker.state.generation and len(dask_worker.state.log)))


def test_cost_models() -> None:
    one, two = (gram_cost(20_000, rate=3e6, workers=workers, tile=1000) for workers in (1, 2))
    assert one.pieces == two.pieces == 210
    assert one.stored == 20_000**2 * 8
    assert two.read == 2 * one.read
    assert 1.8 < one.seconds / two.seconds < 2.0
    assert map_cost(10**8, rate=2000, row_bytes=1000, workers=100).seconds == pytest.approx(502.0, rel=0.05)
    for call in (
        lambda: gram_cost(0, rate=1.0),
        lambda: gram_cost(5, rate=0.0),
        lambda: map_cost(5, rate=-1.0, row_bytes=1.0),
        lambda: map_cost(5, rate=1.0, row_bytes=1.0, workers=0),
    ):
        with pytest.raises(ParameterError):
            call()
    assert str(Cost(1, 10**16, 10**18, 0, 0, 1e10)).endswith(
        "1e+16 values, 1e+03 PB stored, 0 B read, 0 B through the scheduler, 3.2e+02 years"
    )


Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_room_is_light(fresh: Run) -> None:
    done = fresh(
        """
        import sys
        import sapwood as sw
        sw.scale, dir(sw.scale)
        print(sorted({"dask", "distributed", "zarr", "sklearn", "numpy"} & set(sys.modules)))
        sw.scale.ClusterLabeler
        print(sorted({"dask", "distributed", "zarr"} & set(sys.modules)))
        """
    )
    assert done.stdout.splitlines() == ["[]", "[]"], done.stdout + done.stderr


@pytest.mark.parametrize("missing", ["zarr", "distributed"])
def test_a_missing_extra_says_what_to_install(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sapwood.scale import gram_to_zarr

    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ParameterError, match=rf"needs {missing}, which is not installed: pip install sapwood\[scale\]"):
        gram_to_zarr(SubsetTree(), TREES, tmp_path / "gram", client=object())
