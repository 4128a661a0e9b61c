"""Who computes the pieces of a long run: a Dask cluster through its client, or this process.

Only so many pieces are with the cluster at once that every worker has something to do next; so neither the scheduler's
nor the client's memory grows with their number. A piece whose worker dies is given to another one by Dask. What a
piece is belongs to the caller.
"""

from __future__ import annotations

import queue
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, nullcontext
from itertools import islice
from typing import Any, TypeVar

import sapwood
from sapwood import settings
from sapwood.errors import DataError, ParameterError, SapwoodError
from sapwood.extras import need

__all__ = ["run", "share"]

Task = TypeVar("Task", bound=tuple[Any, ...])

# Per thread of the cluster: one piece in work and two waiting, so that nobody waits for the client.
_AHEAD = 3
# How long a cluster may be without workers, at the beginning or because all of them have died.
_NO_WORKER_SECONDS = 60.0


def run(
    client: Any,
    function: Callable[..., Any],
    tasks: Iterable[Task],
    *,
    shared: tuple[Any, ...] = (),
    ordered: bool = False,
    what: str = "",
    total: int = 0,
    finished: int = 0,
) -> Iterator[tuple[Task, Any]]:
    """Yield each task with ``function(*shared, *task)``, as they become ready.

    Parameters
    ----------
    client : distributed.Client or None
        The cluster; None computes here, one task after the other.
    function : callable
        Of a module that the workers can import.
    tasks : iterable of tuples
        Taken from one by one, shortly before their turn.
    shared : tuple
        First arguments of every call; see ``share``.
    ordered : bool
        Whether to yield in the order of the tasks.
    what, total, finished
        What the tasks are called, in the plural, where progress is shown (nothing shows none), how many there are (0
        where nobody knows), and how many of them were finished before.

    Raises
    ------
    SapwoodError
        What a task raised, or that the cluster is gone, has no workers, or lost too many of them over one task.
    """
    if client is None:
        results = ((task, function(*shared, *task)) for task in tasks)
    else:
        results = _over(client, function, iter(tasks), shared, ordered)
    with settings.progress_bar(total, what.capitalize(), what) if what else nullcontext() as progress, closing(results):
        for done, result in enumerate(results, finished + 1):
            if progress is not None:
                progress(done)
            yield result


def share(client: Any, value: Any) -> Any:
    """Bring a value to the workers once; the result is passed as part of ``shared``.

    It is the result of a task rather than scattered data, because Dask makes it again where its worker died.
    """
    if client is None:
        return value
    _check(client)
    with warnings.catch_warnings():
        # Dask advises to scatter what is large, which would be lost with its worker.
        warnings.filterwarnings("ignore", message="Sending large graph")
        return client.submit(_same, value, pure=False)


def _same(value: Any) -> Any:
    return value


def _over(
    client: Any, function: Callable[..., Any], source: Iterator[Task], shared: tuple[Any, ...], ordered: bool
) -> Generator[tuple[Task, Any], None, None]:
    _check(client)
    ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
    waiting: dict[Any, tuple[int, Task]] = {}
    held: dict[int, tuple[Task, Any]] = {}  # finished before their turn
    room, asked = 0, float("-inf")
    given = yielded = 0
    try:
        while True:
            if time.monotonic() - asked > 1.0:
                room, asked = _AHEAD * max(1, sum(client.nthreads().values())), time.monotonic()
            # What waits for a slower one ahead of it takes memory too.
            limit = min(room - len(waiting), 4 * room - len(held)) if ordered else room - len(waiting)
            for task in islice(source, max(0, limit)):
                future = client.submit(_call, sapwood.__version__, function, shared, *task, pure=False)
                waiting[future] = given, task
                given += 1
                future.add_done_callback(ready.put)
            if not waiting:
                return
            future = _next(client, ready)
            number, task = waiting.pop(future)
            held[number] = task, _result(client, future, task)
            future.release()
            while held:
                if ordered and yielded not in held:
                    break
                number = yielded if ordered else next(iter(held))
                yielded += 1
                yield held.pop(number)
    finally:
        # Also when the caller has enough, or was interrupted: pieces in work are finished by their workers, no others.
        if waiting:
            client.cancel(list(waiting))


def _call(version: str, function: Callable[..., Any], shared: tuple[Any, ...], *task: Any) -> Any:
    """Run on a worker."""
    if version != sapwood.__version__:
        raise ParameterError(
            f"a worker has Sapwood {sapwood.__version__}, the client {version}; install the same version everywhere."
        )
    with settings.one_of_many():
        return function(*shared, *task)


def _next(client: Any, ready: queue.SimpleQueue[Any]) -> Any:
    """Wait for the next piece that is done, but not for a cluster that has lost all workers and gets no others."""
    alone = None
    while True:
        try:
            return ready.get(timeout=1.0)
        except queue.Empty:
            now = time.monotonic()
            if client.nthreads():
                alone = None
            elif now - (alone := now if alone is None else alone) > _NO_WORKER_SECONDS:
                raise _no_worker() from None


def _fetch(client: Any, future: Any) -> Any:
    """Return the result of a piece that is done; one that is lost with its worker on the way is computed again."""
    seconds = _NO_WORKER_SECONDS
    while True:
        try:
            return future.result(timeout=seconds)
        except TimeoutError:
            # The piece itself may have raised it.
            if future.status == "error":
                raise
            if not client.nthreads():
                raise _no_worker() from None
            # A large result on a slow network: the next attempt begins anew and gets more time.
            seconds *= 2


def _result(client: Any, future: Any, task: tuple[Any, ...]) -> Any:
    distributed = need("distributed", "a cluster")
    try:
        return _fetch(client, future)
    except SapwoodError:
        raise
    except distributed.KilledWorker:
        raise DataError(
            f"the piece {_name(task)} was given to several workers and each of them died; that is usually a lack of "
            "memory. Take smaller pieces or workers with more memory; what is finished is kept, and the same call goes "
            "on from there."
        ) from None
    except ModuleNotFoundError as error:
        if error.name not in ("sapwood", "zarr", "safetensors"):
            raise
        raise ParameterError(f"a worker has no {error.name}; pip install sapwood[scale] on every worker.") from None
    except Exception as error:
        if type(error).__name__ in ("CancelledError", "FutureCancelledError"):
            raise DataError(
                "the connection to the cluster was lost. What is finished is kept; connect again, and the same call "
                "goes on from there."
            ) from None
        raise


def _check(client: Any) -> None:
    distributed = need("distributed", "a cluster")
    if not isinstance(client, distributed.Client):
        raise ParameterError(f"client must be a dask.distributed.Client or None, got {type(client).__name__}.")
    if client.asynchronous:
        raise ParameterError("the client is asynchronous; make one with Client(..., asynchronous=False).")
    if client.status != "running":
        raise ParameterError(f"the client is {client.status}; connect a new one.")
    try:
        client.wait_for_workers(1, timeout=_NO_WORKER_SECONDS)
    except TimeoutError:
        raise _no_worker() from None


def _no_worker() -> DataError:
    return DataError(
        f"the cluster has had no worker for {_NO_WORKER_SECONDS:g} s; start some. What is finished is kept, and the "
        "same call goes on from there."
    )


def _name(task: tuple[Any, ...]) -> str:
    return "-".join(str(part) for part in task if isinstance(part, (int, str)))[:60]
