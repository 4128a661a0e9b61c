"""Many threads that use the same objects at the same time get what one thread gets, bit for bit."""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
import specimens
from sapwood.corpora.sampled import sample_labeled
from sapwood.decode import RoleProblem, decode_roles_batch

X, Y = sample_labeled(120, seed=3)


def _decoded() -> Any:
    rng = np.random.default_rng(0)
    spans = [(-1, -1), *((a, b) for a in range(6) for b in range(a, 6))]
    problems = [RoleProblem(rng.normal(size=(4, len(spans))), spans) for _ in range(5)]
    return [solution.value for solution in decode_roles_batch(problems)]


MODEL = sw.learn.KernelSVC(sw.kernels.PartialTree())
CALLS: dict[str, Callable[[], Any]] = {
    "Gram matrices": lambda: sw.kernels.SubsetTree()(X[:40]).tolist(),
    "one array, many kernels": lambda: sw.kernels.PartialTree(decay=0.3)(X[40:80]).tolist(),
    "one model that is asked": lambda: MODEL.decision_function(X[:30]).tolist(),
    "explanations": lambda: MODEL.explain(X[5]).bias,
    "strings and trees": lambda: [str(tree) for tree in sw.TreeArray(X.to_strings())[::7]],
    "choices from one array": lambda: sw.TreeArray([X[number] for number in range(0, 60, 3)]).to_strings(),
    "feature maps": lambda: sw.kernels.HashedFragmentMap(n_features=64).transform(X[:50]).sum(),
    "training": lambda: sw.learn.KernelSVC(sw.kernels.SubsetTree(), solver="native").fit(X, Y).dual_coef_.tolist(),
    "a ranker": lambda: specimens.specimen("KernelRanker").decision_function(X[:20]).tolist(),
    "a parser": lambda: specimens.specimen("PCFGParser").transform(["the dog saw a cat"]).to_strings(),
    "decoding": _decoded,
}


@pytest.fixture(scope="module", autouse=True)
def fitted() -> None:
    MODEL.fit(X[:80], Y[:80])
    for name in ("KernelRanker", "PCFGParser"):
        specimens.specimen(name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_threads_get_what_one_thread_gets(tmp_path: Path) -> None:
    expected = {name: call() for name, call in CALLS.items()}
    wrong: list[str] = []
    start = threading.Barrier(8)

    def work(number: int) -> None:
        # Each begins somewhere else, so that every pair of calls meets.
        names = [*CALLS][number:] + [*CALLS][:number]
        start.wait()
        for _ in range(3):
            for name in names:
                try:
                    if CALLS[name]() != expected[name]:
                        wrong.append(f"{name}: another result")
                except BaseException as error:
                    wrong.append(f"{name}: {error!r}")
        path = tmp_path / f"{number}.sap"
        sw.save(MODEL, path)
        if not np.array_equal(sw.load(path).dual_coef_, MODEL.dual_coef_):
            wrong.append("save and load: another model")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    switching = sys.getswitchinterval()
    # Threads take turns as often as they can.
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switching)
    assert wrong == []


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has no build without the GIL")
def test_the_core_asks_for_the_gil() -> None:
    """Objects of the core are not locked one by one, so a Python without the GIL switches it on for Sapwood."""
    assert sys._is_gil_enabled()
