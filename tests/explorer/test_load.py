"""A short form of ``make explorer-load``: many users, slow connections, killed workers, and right answers only."""

from __future__ import annotations

from explorer.load import crowd, expected, killing, load
from explorer.running import Served


def test_many_users_get_right_answers(served: Served) -> None:
    right = expected(served)
    found = load(served, right, 30, 150)
    assert (found.wrong, set(found.statuses)) == (0, {200})


def test_slow_senders_and_readers_starve_nobody(served: Served) -> None:
    right = expected(served)
    for senders in (True, False):
        with crowd(served, 230, senders=senders):
            found = load(served, right, 1, 10)
        assert (found.wrong, set(found.statuses)) == (0, {200})


def test_killed_workers_cost_their_request_alone(served: Served) -> None:
    right = expected(served)
    with killing(served, 0.3, 2) as killed:
        while len(killed) < 2:
            found = load(served, right, 4, 40)
            # Whoever is answered is answered right; others are told that a worker has died, or that all are busy.
            assert found.wrong == 0
            assert set(found.statuses) <= {200, 500, 503}
    while set(load(served, right, 1, 5).statuses) != {200}:
        pass
