"""One small cluster for all tests of this package: two processes of one thread, as on two machines."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the scale extra is not installed")
pytest.importorskip("zarr", reason="the scale extra is not installed")

from distributed import Client, LocalCluster

HERE = Path(__file__).parent


class Workers:
    """Two workers, and two others should they be lost: Dask replaces those that die, but not every time."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._client: Client | None = None

    def client(self) -> Client:
        if self._client is not None:
            try:
                self._client.wait_for_workers(2, timeout=20)
            except TimeoutError:
                self.close()
        if self._client is None:
            cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
            self._client = self._open.enter_context(Client(self._open.enter_context(cluster)))
        return self._client

    def close(self) -> None:
        self._open.close()
        self._client = None


WORKERS = Workers()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    # Workers that wait take processor time as well, so they do not wait for the end of all tests.
    if nextitem is None or HERE not in nextitem.path.parents:
        WORKERS.close()


@pytest.fixture
def client() -> Client:
    """The cluster with both workers alive, whatever the test before has done to them."""
    # Dask tells at length about workers that die, which here they do on purpose.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return WORKERS.client()


def content(folder: Path) -> dict[str, str]:
    """Digests of the chunks of a Gram matrix by name."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / "gram.zarr").rglob("*")
        if path.is_file()
    }
