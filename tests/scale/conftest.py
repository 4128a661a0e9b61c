"""One small cluster for all tests of this room: two processes of one thread, as on two machines."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the scale extra is not installed")
pytest.importorskip("zarr", reason="the scale extra is not installed")

from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def shared_client() -> Iterator[Client]:
    # Dask tells at length about workers that die, which here they do on purpose.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def client(shared_client: Client) -> Client:
    """The cluster with both workers alive, whatever the test before has done to them."""
    shared_client.wait_for_workers(2, timeout=60)
    return shared_client


def content(folder: Path) -> dict[str, str]:
    """Digests of the chunks of a Gram matrix by name."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / "gram.zarr").rglob("*")
        if path.is_file()
    }
