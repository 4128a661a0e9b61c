"""Independent problems at the same time: by threads here, or by the cluster that joblib has been told to use.

Inside ``with joblib.parallel_config(backend="dask")`` problems go to the workers of the cluster; otherwise threads of
this process solve them, as many as ``sapwood.options`` allows. What is solved belongs elsewhere.

Of joblib's Dask backend only the client is used. What the backend sends to workers is lost with them, and then it waits
forever or fails; ``sapwood.cluster`` gives the piece of a lost worker to another one.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from sapwood import cluster, settings
from sapwood.interrupts import leave_behind

__all__ = ["cluster_workers", "parallel_map"]


def cluster_workers() -> int:
    """Return how many workers of a cluster there are, or 0 where threads of this process do the work.

    >>> cluster_workers()
    0
    """
    backend, jobs = get_active_backend()
    # Processes of this machine would only be a slower kind of threads here.
    if type(backend).__module__ == "joblib._parallel_backends" or _in_a_worker():
        return 0
    return int(backend.effective_n_jobs(-1 if jobs is None else jobs))


def parallel_map(function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return what a function gives for each tuple of arguments.

    Arguments that several calls share should be the same object: it is sent once.
    """
    if cluster_workers():
        client = getattr(get_active_backend()[0], "client", None)
        if client is not None:
            return _over_cluster(client, function, list(calls))
        return list(Parallel()(delayed(_alone)(function, *given) for given in calls))
    workers = Parallel(n_jobs=settings.threads(), backend="threading")
    # libsvm does not notice Ctrl-C, and neither would whoever waits for threads that run it.
    return leave_behind(lambda: list(workers(delayed(function)(*given) for given in calls)))


def _over_cluster(client: Any, function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> list[Any]:
    uses = Counter(id(value) for given in calls for value in given)
    sent = {
        id(value): cluster.share(client, value)
        for value in {id(value): value for given in calls for value in given}.values()
        # Numbers and names are the same object by chance, and not worth a message of their own.
        if uses[id(value)] > 1 and not isinstance(value, (bool, int, float, str, type(None)))
    }
    tasks = [tuple(sent.get(id(value), value) for value in given) for given in calls]
    return [result for _, result in cluster.run(client, function, tasks, ordered=True)]


def _alone(function: Callable[..., Any], *given: Any) -> Any:
    with settings.one_of_many():
        return function(*given)


def _in_a_worker() -> bool:
    """Return whether this is already a task of the cluster, whose workers would then wait for each other."""
    worker = sys.modules.get("distributed.worker")
    return worker is not None and hasattr(worker.thread_state, "execution_state")
