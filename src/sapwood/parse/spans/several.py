"""Training the networks of one parser, one after the other or each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from secrets import token_bytes
from threading import Thread
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor
from numpy.typing import NDArray

from sapwood import settings
from sapwood.parse.spans.calibration import calibrate
from sapwood.parse.spans.decoding import span_f1
from sapwood.parse.spans.features import WordFeatures
from sapwood.parse.spans.labels import SpanSentence, SpanVocabulary
from sapwood.parse.spans.network import Network, Weights
from sapwood.parse.spans.training import Progress, SpanModel, Training, train
from sapwood.resuming import CheckpointFile

__all__ = ["Lesson", "Parsed", "train_networks"]

Report = Callable[[Progress], None]


@dataclass(frozen=True)
class Parsed:
    """Trees as labeled spans, with the vectors of their words where there is an encoder."""

    sentences: list[SpanSentence]
    dense: Sequence[NDArray[Any]] | None


@dataclass(frozen=True)
class Lesson:
    """What all networks of a parser learn from, and what they are evaluated by.

    Attributes
    ----------
    learnt, held : Parsed
        Training trees, and held-out ones if there are any.
    features, vocabulary
        Of the words and labels.
    dense_width : int
        The length of the vectors of the encoder; 0 for none.
    start : dict of arrays, optional
        Weights to go on from.
    """

    learnt: Parsed
    held: Parsed | None
    features: WordFeatures
    vocabulary: SpanVocabulary
    dense_width: int
    start: Weights | None

    def train(self, setting: Training, checkpoint: CheckpointFile, report: Report) -> Weights:
        """Return the weights of one network, whose probabilities hold on the held-out trees."""
        model = SpanModel(setting, self.features, self.vocabulary, self.dense_width)
        if self.start is not None:
            model.take_over(self.start)
        weights = train(
            model,
            self.learnt.sentences,
            self.learnt.dense,
            self.features,
            self.vocabulary,
            evaluate=None if self.held is None else self._score,
            report=report,
            checkpoint=checkpoint,
        )
        if self.held is None:
            return weights
        network = Network(self.features, weights)
        return calibrate(network, self.vocabulary, self.held.sentences, self.held.dense)

    def _score(self, weights: Weights) -> float:
        assert self.held is not None
        return span_f1(Network(self.features, weights), self.vocabulary, self.held.sentences, self.held.dense)


def train_networks(
    lesson: Lesson, settings_of: Sequence[Training], checkpoints: Sequence[CheckpointFile], jobs: int, report: Report
) -> list[Network]:
    """Return a network for each setting.

    Parameters
    ----------
    jobs : int
        How many are trained at once. Of several, each has a process and one thread: two threads that share one
        network wait for each other most of the time.
    report : function
        Called after every epoch of every network, in this process.
    """
    numbered = list(enumerate(zip(settings_of, checkpoints, strict=True)))
    if jobs == 1 or len(numbered) == 1:
        found = [lesson.train(*given, _of_network(number, report)) for number, given in numbered]
    else:
        # Epochs come over a socket: a queue of multiprocessing would fork this process, whose threads may hold locks.
        with Listener(authkey=(key := token_bytes(32))) as listener:
            failed: list[Exception] = []
            tell = _Teller(listener.address, key)
            listening = Thread(target=_listen, args=(listener, report, failed), daemon=True)
            listening.start()
            # A pool of its own: a warning that is taken for an error can end the one that all users of joblib share.
            pool = ProcessPoolExecutor(max_workers=min(jobs, len(numbered)))
            try:
                work = [pool.submit(_train_alone, lesson, number, *given, tell) for number, given in numbered]
                found = [one.result() for one in work]
            finally:
                # All are done, or one has failed or was stopped, and the others are not needed.
                pool.shutdown(kill_workers=True)
                tell(None)
                listening.join()
            if failed:
                raise failed[0]
    return [Network(lesson.features, weights) for weights in found]


def _of_network(number: int, report: Report) -> Report:
    return lambda progress: report(replace(progress, network=number))


@dataclass(frozen=True)
class _Teller:
    """Sends what it is called with to the process that listens."""

    address: Any
    key: bytes

    def __call__(self, progress: Progress | None) -> None:
        with Client(self.address, authkey=self.key) as connection:
            connection.send(progress)


def _train_alone(lesson: Lesson, number: int, setting: Training, checkpoint: CheckpointFile, tell: _Teller) -> Weights:
    """Train one network in a process of its own."""
    with settings.one_of_many():
        return lesson.train(setting, checkpoint, _of_network(number, tell))


def _listen(listener: Listener, report: Report, failed: list[Exception]) -> None:
    """Pass on what is sent, up to the first None; what `report` raises is kept, and nothing is reported after it."""
    while True:
        try:
            with listener.accept() as connection:
                progress = connection.recv()
        except (OSError, EOFError, AuthenticationError):
            continue  # a process that was stopped while it sent, or a stranger
        if progress is None:
            return
        if not failed:
            try:
                report(progress)
            except Exception as error:
                failed.append(error)
