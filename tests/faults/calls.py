"""Public calls that can last longer than anybody waits, to be stopped at any point.

Each is made in small steps: what it needs first, once, and then the call itself. Sizes are such that a call lasts for
seconds. ``stop`` sends a signal to one of them in a process of its own, forked from one that has imported and prepared
everything, and says what became of it.
"""

from __future__ import annotations

import atexit
import gc
import os
import random
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import sapwood as sw
import specimens

__all__ = ["CALLS", "LONGEST", "Stopped", "stop", "stop_often"]

Call = Callable[[], Any]


@cache
def _garden() -> Any:
    from sapwood.corpora import nursery

    return nursery.generate(size=1500)


@cache
def _trees(count: int) -> Any:
    trees = list(_garden().trees)
    return sw.TreeArray((trees * (count // len(trees) + 1))[:count])


def _labels(count: int) -> list[str]:
    return [("a", "b", "c")[number * 7 % 3] for number in range(count)]


def _gram(make: Call, count: int) -> Callable[[], Call]:
    def prepare() -> Call:
        kernel, X = make(), _trees(count)
        return lambda: kernel(X)

    return prepare


def _fit(make: Call, count: int, *, numbers: bool = False, groups: bool = False) -> Callable[[], Call]:
    def prepare() -> Call:
        X = _trees(count)
        y: Any = [float(number % 17) for number in range(count)] if numbers or groups else _labels(count)
        given = {"groups": [number // 10 for number in range(count)]} if groups else {}
        return lambda: make().fit(X, y, **given)

    return prepare


def _explaining() -> Call:
    from sapwood.learn import KernelSVC

    model = KernelSVC(sw.kernels.PartialTree()).fit(_trees(60), _labels(60))
    tree = "(S " + " ".join("(A (B x) (C (D y) (E z)))" for _ in range(400)) + ")"
    return lambda: [model.explain(tree) for _ in range(1000)]


def _parsing() -> Call:
    from sapwood.parse import PCFGParser

    parser = PCFGParser().fit([one.tree for one in _garden().sentences[:400]])
    words = [word for one in _garden().sentences[:60] for word in one.words][:110]
    return lambda: [parser.parse_nbest(words, 50) for _ in range(20)]


def _reading() -> Call:
    import tempfile

    text = "\n".join(str(tree) for tree in _garden().trees)
    path = Path(tempfile.gettempdir(), f"sapwood-{os.getpid()}.mrg")
    path.write_text(f"{text}\n" * 400)
    atexit.register(path.unlink)
    return lambda: sw.read_trees(path)


def _decoding() -> Call:
    from sapwood.decode import decode_roles_batch

    rng = np.random.default_rng(0)
    spans = [(-1, -1), *((a, b) for a in range(28) for b in range(a, min(a + 10, 28)))]
    from sapwood.decode import RoleProblem

    problems = [RoleProblem(rng.normal(size=(12, len(spans))), spans) for _ in range(3000)]
    return lambda: decode_roles_batch(problems, method="ad3")


def _labelling() -> Call:
    labeler = specimens.specimen("RoleLabeler")
    sentences = specimens.role_sentences() * 200
    return lambda: list(labeler.label_sentences(sentences))


def _frames() -> Call:
    from sapwood.tasks.frames import FrameLabeler

    lexicon, data = specimens.frame_data()
    return lambda: FrameLabeler(bits=16, epochs=200).fit(data, lexicon=lexicon)


def _saving() -> Call:
    import tempfile

    X = _trees(60_000)
    path = Path(tempfile.gettempdir(), f"sapwood-{os.getpid()}.sap")
    return lambda: [(sw.save(X, path), sw.load(path), path.unlink()) for _ in range(40)]


def _pairs() -> Call:
    from sapwood.tasks.pairs import PairFeatures

    X = sw.Examples(first=_trees(600), second=_trees(1200)[600:])
    features = PairFeatures(("lexical", "subset"))
    return lambda: features.fit(X).transform(X)


def _semantic() -> Any:
    return sw.kernels.SmoothedPartialTree(specimens.similarity())


def _graph(method: str, size: int, times: int) -> Callable[[], Call]:
    """Assignments with many pairs that earn something together: the relaxation leaves much to search."""

    def prepare() -> Call:
        from sapwood.decode import FactorGraph

        rng = np.random.default_rng(3)
        graph = FactorGraph()
        takes = graph.variables(rng.normal(size=(size, size)))
        graph.xor(takes, axis=1)
        graph.at_most_one(takes, axis=0)
        for one in range(size - 1):
            graph.pair(takes[one], takes[one + 1], rng.normal(size=size) * 3.0)
            graph.pair(takes[one], takes[one + 1][::-1], rng.normal(size=size) * 3.0)
        return lambda: [graph.solve(method=method) for _ in range(times)]

    return prepare


def _forests() -> Call:
    from sapwood.parse.incremental import ConnectionPaths, attachment_trees

    trees = attachment_trees(sw.TreeArray([one.tree for one in _garden().sentences[:600]]))
    paths = ConnectionPaths.from_trees(trees).recombined()
    return lambda: [paths.forests(trees) for _ in range(20)]


def _attachment() -> Call:
    from sapwood.parse.incremental import attachment_trees
    from sapwood.tasks.attachment import AttachmentRanker

    trees = attachment_trees(sw.TreeArray([one.tree for one in _garden().sentences[:300]]))
    return lambda: AttachmentRanker(sw.learn.RecursiveRanker(units=20, epochs=40)).fit(trees)


def _specimen(name: str, times: int, **parameters: Any) -> Callable[[], Call]:
    """Fit the specimen of a class again and again: every part of its training comes in turn."""

    def prepare() -> Call:
        one = specimens.ESTIMATORS[name]
        one.data(), one.fit_with()
        return lambda: [one.fit(one.make().set_params(**parameters)) for _ in range(times)]

    return prepare


def _questions() -> Call:
    from sapwood.tasks.questions import QuestionClassifier, semantic_kernel

    asked = [one for one in _garden().sentences if one.label is not None][:400]
    X, y = sw.TreeArray([one.tree for one in asked]), [one.label[0] for one in asked]
    return lambda: [QuestionClassifier(semantic_kernel(specimens.similarity())).fit(X, y) for _ in range(20)]


def _role_labeler() -> Call:
    from sapwood.tasks.roles import RoleLabeler

    sentences = _garden().role_sentences()
    return lambda: [RoleLabeler().fit(sentences) for _ in range(20)]


def _spans_fit() -> Call:
    import torch

    from sapwood.parse import SpanParser

    trees = [one.tree for one in _garden().sentences[:400]]

    def fit() -> None:
        # A fork lacks the threads that PyTorch may have in the parent, and would wait for them for ever.
        with sw.options(threads=1):
            torch.set_num_threads(1)
            SpanParser(epochs=50, encoder=None).fit(trees)

    return fit


def _spans_parse() -> Call:
    parser = specimens.untrained_span_parser()
    words = [word for one in _garden().sentences[:40] for word in one.words][:200]
    return lambda: [parser.transform([words] * 50) for _ in range(200)]


def _encoding() -> Call:
    import tempfile

    from sapwood.words import Encoder
    from tiny_encoders import make_encoder

    folder = Path(tempfile.mkdtemp(prefix="sapwood-encoder-"))
    atexit.register(shutil.rmtree, folder)
    make_encoder(folder, "bert")
    sentences = [list(one.words) for one in _garden().sentences] * 40
    # Opened by the child: what onnxruntime has begun does not survive a fork.
    return lambda: list(Encoder(folder, precision="float32").encode_batch(sentences))


def _conllu() -> Call:
    import io

    rows = "".join(f"{at}\tdogs\tdog\tNOUN\tNNS\t_\t{at - 1}\tdep\t_\t_\n" for at in range(1, 21))
    text = (rows + "\n") * 20_000
    return lambda: list(sw.corpora.conllu.read(io.StringIO(text)))


def _tokenizing() -> Call:
    from sapwood.parse import split_sentences

    text = "The dog barked at 3.30 p.m. in the park, but Mr. Smith didn't hear it. " * 60_000
    return lambda: list(split_sentences(text))


CALLS: dict[str, Callable[[], Call]] = {
    "Subtree": _gram(lambda: sw.kernels.Subtree(), 8_000),
    "SubsetTree": _gram(lambda: sw.kernels.SubsetTree().normalized(), 5_000),
    "PartialTree": _gram(lambda: sw.kernels.PartialTree(), 2_500),
    "SmoothedPartialTree": _gram(_semantic, 3_000),
    "GrammarDriven": _gram(lambda: sw.kernels.GrammarDriven().bind(_trees(3_000)), 3_000),
    "KernelSVC.fit": _fit(lambda: sw.learn.KernelSVC(sw.kernels.SubsetTree(), C=100.0), 2_500),
    "KernelSVC.fit, native": _fit(lambda: sw.learn.KernelSVC(sw.kernels.SubsetTree(), C=100.0, solver="native"), 4_000),
    "KernelSVR.fit": _fit(lambda: sw.learn.KernelSVR(sw.kernels.SubsetTree(), C=100.0), 2_500, numbers=True),
    "VotedPerceptron.fit": lambda: (lambda: sw.learn.VotedPerceptron(sw.kernels.PartialTree(), epochs=40).fit(
        _trees(2_500), [("a", "b")[number % 2] for number in range(2_500)]
    )),
    "KernelRanker.fit": _fit(lambda: sw.learn.KernelRanker(sw.kernels.PartialTree(), epochs=40), 2_000, groups=True),
    "RecursiveClassifier.fit": _fit(lambda: sw.learn.RecursiveClassifier(units=30, epochs=200), 2_000),
    "LandmarkMap.fit": _fit(lambda: sw.kernels.LandmarkMap(sw.kernels.SubsetTree(), n_components=2_500), 2_500),
    "FragmentMap.fit": _fit(lambda: sw.kernels.FragmentMap(max_fragments=10**7), 1_500),
    "HashedFragmentMap.transform": lambda: (lambda: sw.kernels.HashedFragmentMap().transform(_trees(12_000))),
    "FrameLabeler.fit": _frames,
    "RoleLabeler.label_sentences": _labelling,
    "PCFGParser.parse_nbest": _parsing,
    "PairFeatures.transform": _pairs,
    "KernelSVC.explain": _explaining,
    "FactorGraph.solve": _graph("ad3", 14, 200),
    "FactorGraph.solve, HiGHS": _graph("ilp", 30, 20),
    "ConnectionPaths.forests": _forests,
    "AttachmentRanker.fit": _attachment,
    "QuestionClassifier.fit": _questions,
    "PairClassifier.fit": _specimen("PairClassifier", 100),
    "RoleClassifier.fit": _specimen("RoleClassifier", 100),
    "RoleLabeler.fit": _role_labeler,
    "FrameIdentifier.fit": _specimen("FrameIdentifier", 20, epochs=100),
    "ParseReranker.fit": _specimen("ParseReranker", 200),
    "SpanParser.transform": _spans_parse,
    **({"SpanParser.fit": _spans_fit} if find_spec("torch") else {}),
    **({"Encoder.encode_batch": _encoding} if find_spec("onnxruntime") else {}),
    "conllu.read": _conllu,
    "split_sentences": _tokenizing,
    "decode_roles_batch": _decoding,
    "read_trees": _reading,
    "save and load": _saving,
}  # fmt: skip


LONGEST = (
    "SubsetTree", "PartialTree", "KernelSVC.fit", "KernelSVC.fit, native", "KernelSVR.fit", "VotedPerceptron.fit",
    "KernelRanker.fit", "RecursiveClassifier.fit", "LandmarkMap.fit", "SpanParser.fit",
)  # fmt: skip
"""Those that people wait for longest, which are stopped most often."""


# Seconds after which a call that was told to stop is killed, so that tests come to an end.
_PATIENCE = 60.0


@dataclass(frozen=True)
class Stopped:
    """What became of a call: ``stopped``, ``finished`` before the signal came, or what went wrong."""

    outcome: str
    seconds: float


def stop(call: Call, number: int, dice: random.Random, most: float = 0.5) -> Stopped:
    """Run a call in a process of its own, send it a signal within so many seconds, and wait for its end."""
    # What it imports is imported once, and not by every child.
    _next_call()
    receiving, sending = os.pipe()
    # A collection of garbage in the child would write to every object of the parent, and copy all memory for it.
    gc.freeze()
    process = os.fork()
    if process == 0:
        os.close(receiving)
        _work(call, sending)
    gc.unfreeze()
    os.close(sending)
    with os.fdopen(receiving, "rb", buffering=0) as stream:
        stream.read(1)
        time.sleep(dice.uniform(0.0, most))
        begin = time.monotonic()
        os.kill(process, number)
        # What the call has come to, or the end of the process.
        if not select.select([stream], [], [], _PATIENCE)[0]:
            os.kill(process, signal.SIGKILL)
        stream.read(1)
        seconds = time.monotonic() - begin
        if not select.select([stream], [], [], _PATIENCE)[0]:
            os.kill(process, signal.SIGKILL)
        rest = stream.read()
    _, status = os.waitpid(process, 0)
    if rest:
        return Stopped(rest.decode(), seconds)
    by_signal = os.WIFSIGNALED(status) and os.WTERMSIG(status) == number
    return Stopped("stopped" if by_signal else f"ended with {status}", seconds)


def stop_often(name: str, rounds: int) -> dict[int, list[Stopped]]:
    """Prepare a call, and stop it so many times with Ctrl-C and so many with SIGTERM."""
    call = CALLS[name]()
    return {
        number: [stop(call, number, dice) for _ in range(rounds)]
        for number in (signal.SIGINT, signal.SIGTERM)
        for dice in [random.Random(f"{name} {int(number)}")]
    }


def _next_call() -> float:
    return float(sw.kernels.SubsetTree(0.5)(["(a (b c))"], ["(a (b c))"])[0, 0])


def _work(call: Call, sending: int) -> None:
    """Do the work of a child, which must never return: it would go on with the tests of its parent."""
    try:
        try:
            said = _outcome(call, sending)
        except KeyboardInterrupt:
            # The signal came when the call was over.
            said = "finished"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(sending, said.encode())
        sys.stderr.flush()
    finally:
        os._exit(0)


def _outcome(call: Call, sending: int) -> str:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    said = "finished"
    try:
        os.write(sending, b"!")
        call()
    except KeyboardInterrupt:
        said = "stopped"
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    os.write(sending, b".")
    if said == "stopped":
        try:
            # Whatever was stopped, the next call must work: no lock held, no thread pool broken.
            value = _next_call()
            said = "stopped" if value == 1.25 else f"gave {value} afterwards"
        except KeyboardInterrupt:
            said = "interrupted twice"
        except BaseException as error:
            said = f"{type(error).__name__} afterwards: {error}"
    return said
