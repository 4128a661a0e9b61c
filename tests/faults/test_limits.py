"""Full disks, read-only folders, too little memory, no network: errors of our own, and no half files."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sapwood as sw
import specimens
from sapwood.cli import main
from sapwood.errors import OutputError
from sapwood.writing import atomic_write

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def sealed(tiny: Path) -> Path:
    """The same disk, to be read only, with a file on it."""
    (tiny / "old.txt").write_text("old")
    subprocess.run(["mount", "-o", "remount,ro", str(tiny)], check=True)
    return tiny


LARGE = sw.TreeArray([f"(S (NP (NN w{n})) (VP (V v{n}) (NP (NN x{n}))))" for n in range(2000)])


def sentences(count: int) -> list[Any]:
    return (specimens.role_sentences() * (count // 60 + 1))[:count]


class TestFullDisk:
    def test_saving(self, tiny: Path) -> None:
        sw.save(specimens.specimen("KernelSVC"), tiny / "x.sap")
        before = (tiny / "x.sap").read_bytes()
        with pytest.raises(OutputError, match=r"x\.sap: the disk is full; make room") as caught:
            sw.save(LARGE, tiny / "x.sap")
        assert caught.value.errno == errno.ENOSPC
        # The old file is as it was, and nothing else is there.
        assert os.listdir(tiny) == ["x.sap"]
        assert (tiny / "x.sap").read_bytes() == before

    def test_writers(self, tiny: Path) -> None:
        with pytest.raises(OutputError, match="the disk is full"):
            sw.write_trees(LARGE, tiny / "x.mrg")
        with pytest.raises(OutputError, match="the disk is full"):
            sw.corpora.conll05.write(sentences(2000), tiny / "x.props")
        assert not os.listdir(tiny)

    def test_commands(self, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        sw.write_trees(LARGE[:300], tmp_path / "x.mrg")
        assert (
            main(["kernel", str(tmp_path / "x.mrg"), "--kernel", "SubsetTree()", "--output", str(tiny / "gram.npz")])
            == 1
        )
        assert "gram.npz: the disk is full" in capsys.readouterr().err
        assert not os.listdir(tiny)

    def test_labelling_keeps_what_fits_and_goes_on(
        self, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sapwood import drafts
        from sapwood.tasks.roles import runs

        monkeypatch.setattr(drafts, "_STEP", 5)
        labeler = specimens.specimen("RoleLabeler")
        with pytest.raises(OutputError, match=r"roles\.jsonl.*: the disk is full"):
            runs.label_to_file(labeler, sentences(240), tiny / "roles.jsonl")
        assert sorted(os.listdir(tiny)) == [".roles.jsonl.draft", ".roles.jsonl.note"]
        subprocess.run(["mount", "-o", "remount,size=4m", str(tiny)], check=True)
        assert runs.label_to_file(labeler, sentences(240), tiny / "roles.jsonl", resume=True) == 240
        runs.label_to_file(labeler, sentences(240), tmp_path / "at-once.jsonl")
        assert (tiny / "roles.jsonl").read_bytes() == (tmp_path / "at-once.jsonl").read_bytes()
        assert os.listdir(tiny) == ["roles.jsonl"]

    def test_training_stops_with_its_last_checkpoint_whole(self, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from sapwood import resuming
        from sapwood.learn import RecursiveRanker

        monkeypatch.setattr(resuming.CheckpointFile.__init__, "__defaults__", (0.0,))
        (tiny / "filler").write_bytes(b"x" * 60_000)
        ranker = RecursiveRanker(units=40, epochs=3, checkpoint=str(tiny / "state.sap"), random_state=0)
        with pytest.raises(OutputError, match=r"state\.sap: the disk is full"):
            ranker.fit(LARGE[:200], [0, 1] * 100, groups=[n // 2 for n in range(200)])
        assert os.listdir(tiny) == ["filler"]


def test_a_limit_on_the_size_of_files(fresh: Run) -> None:
    """Without root, a limit of the process does what a full disk does."""
    done = fresh(
        """
        import os, resource, signal
        import sapwood as sw
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            sw.save(sw.TreeArray([f"(a b{n})" for n in range(5000)]), "x.sap")
        except sw.errors.OutputError as error:
            print(error, os.listdir("."))
        """
    )
    assert done.stdout.strip() == "x.sap: cannot be written (File too large). []", done.stderr


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "disk is full"), (errno.EDQUOT, "disk is full"), (errno.EIO, "cannot be")]
)
def test_faults_of_the_disk_leave_the_old_file(
    number: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    atomic_write(tmp_path / "x", b"old")

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match=words):
        atomic_write(tmp_path / "x", b"new")
    assert os.listdir(tmp_path) == ["x"]
    assert (tmp_path / "x").read_bytes() == b"old"


def test_without_nameless_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system has no files without a name, a hidden draft does the same."""
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    atomic_write(tmp_path / "x", b"new")
    assert os.listdir(tmp_path) == ["x"]
    monkeypatch.setattr(os, "fsync", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(OutputError):
        atomic_write(tmp_path / "x", b"newer")
    assert os.listdir(tmp_path) == ["x"]
    assert (tmp_path / "x").read_bytes() == b"new"


class TestReadOnly:
    def test_everything_that_writes(self, sealed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        from sapwood.tasks.roles.runs import label_to_file

        with pytest.raises(OutputError, match="may not be written to; choose another"):
            sw.save(LARGE[:3], sealed / "x.sap")
        with pytest.raises(OutputError, match="may not be written to"):
            sw.write_trees(LARGE[:3], sealed / "x.mrg")
        with pytest.raises(OutputError, match="may not be written to"):
            label_to_file(specimens.specimen("RoleLabeler"), sentences(3), sealed / "x.jsonl")
        sw.write_trees(LARGE[:3], tmp_path / "x.mrg")
        assert (
            main(["kernel", str(tmp_path / "x.mrg"), "--kernel", "SubsetTree()", "--output", str(sealed / "gram.npz")])
            == 1
        )
        assert "may not be written to" in capsys.readouterr().err
        assert os.listdir(sealed) == ["old.txt"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_without_root(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        with pytest.raises(OutputError, match="may not be written to"):
            sw.save(LARGE[:3], tmp_path / "x.sap")


MEMORY = {
    "a Gram matrix": "SubsetTree()(X)",
    "a normalised sum": "(SubsetTree().normalized() + Subtree())(X)",
    "a cross matrix": "PartialTree()(X, X[:9000])",
    "Gram matrices of features": "Polynomial()(sw.Examples(f=np.ones((20000, 2)))['f'])",
    "a log-linear model": "LogLinear(bits=30).fit(*tiny_sets())",
    "a large model": "load_large()",
}


@pytest.mark.parametrize("what", MEMORY)
def test_too_little_memory_is_said_beforehand(what: str, fresh: Run) -> None:
    """With a limit of 1.5 GB on the process, what will not fit is refused before it is begun."""
    done = fresh(
        f"""
        import resource, time
        import numpy as np
        import sapwood as sw
        from sapwood.kernels import PartialTree, Polynomial, SubsetTree, Subtree
        from sapwood.learn.candidates import CandidateSets
        from sapwood.learn.loglinear import LogLinear

        def tiny_sets():
            sets = CandidateSets(np.array([1, 2], np.uint32), np.array([[1], [2]], np.uint64), np.array([2], np.uint64),
                                 np.array([1], np.uint64), np.array([1], np.uint64), np.array([7], np.uint32),
                                 np.array([1], np.uint32))
            return sets, np.array([0])

        def load_large():
            import json
            entry = {{"dtype": "F64", "shape": [1 << 28], "data_offsets": [0, 1 << 31]}}
            text = json.dumps({{"__metadata__": {{"sapwood": json.dumps({{"format": 1}})}}, "a0": entry}}).encode()
            with open("x.sap", "wb") as stream:
                stream.write(len(text).to_bytes(8, "little") + text)
                stream.truncate(8 + len(text) + (1 << 31))
            sw.load("x.sap")

        X = sw.TreeArray([f"(S (NP n{{n % 50}}) (VP v{{n}}))" for n in range(20000)])
        resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
        begin = time.process_time()
        try:
            {MEMORY[what]}
        except sw.errors.TooLargeError as error:
            print("refused", time.process_time() - begin < 5, error)
        """,
        OPENBLAS_NUM_THREADS="1",
        timeout=180,
    )
    assert done.stdout.startswith("refused True"), done.stdout + done.stderr
    assert "GB" in done.stdout


def test_native_memory_that_nobody_could_know_is_an_error_too(fresh: Run) -> None:
    """Reading, kernels and decoding with less and less room: a value, or MemoryError, never the end of the process.

    With less than what a few threads need to begin, the C library itself gives up, and nobody can catch that.
    """
    done = fresh(
        """
        import io, resource, sys
        from pathlib import Path
        import numpy as np
        import sapwood as sw
        from sapwood.decode import decode_roles
        from sapwood.kernels import FragmentMap, PartialTree, SubsetTree
        text = "\\n".join(f"(S (NP n{n}) (VP (V v{n % 91}) (NP (D d) (N n{n % 17}))))" for n in range(30000))
        rng = np.random.default_rng(0)
        spans = [(-1, -1)] + [(i, j) for i in range(40) for j in range(i, min(40, i + 9))]
        outcomes = set()
        page = resource.getpagesize()
        def attempt(work):
            try:
                work()
                outcomes.add("value")
            except MemoryError:
                outcomes.add("memory")
            except sw.SapwoodError:
                outcomes.add("refused")
        X = sw.read_trees(io.StringIO(text))
        jobs = [
            lambda: sw.read_trees(io.StringIO(text)),
            lambda: SubsetTree()(X[:1500]),
            lambda: PartialTree().diag(X),
            lambda: FragmentMap(max_size=4).fit_transform(X[:5000]),
            lambda: decode_roles(rng.random((30, len(spans))), spans),
            lambda: [str(tree) for tree in X],
        ]
        for job in jobs:
            attempt(job)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * page
        for room in (60, 120, 250, 500):
            resource.setrlimit(resource.RLIMIT_AS, (used + room * 1_000_000, resource.RLIM_INFINITY))
            for job in jobs:
                attempt(job)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(sorted(outcomes))
        """,
        timeout=120,
        OPENBLAS_NUM_THREADS="1",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'value'" in done.stdout


def test_no_network(fresh: Run) -> None:
    """Everything is imported, trained, saved, loaded and drawn while every door to the network is shut."""
    done = fresh(
        """
        import sys
        reached = []
        def watch(event, arguments):
            if event.startswith(("socket.", "urllib.", "http.", "ftplib.", "smtplib.")):
                # Making a socket is harmless, and so is asking whether there is IPv6, as urllib3 does; going anywhere
                # is not.
                if event not in ("socket.__new__", "socket.gethostname") and arguments[1:] != (("::1", 0),):
                    reached.append((event, str(arguments)[:100]))
                    raise OSError("no network here")
        sys.addaudithook(watch)
        import importlib, pkgutil
        import sapwood
        for module in pkgutil.walk_packages(sapwood.__path__, "sapwood."):
            if module.name not in ("sapwood.cli.__main__", "sapwood.torch"):
                importlib.import_module(module.name)
        from sapwood.cli import main
        from sapwood.corpora import nursery
        from sapwood.experiments import demo
        garden = nursery.generate(size=420)
        sections = 0
        # The roles want a larger garden than there is time for here.
        for name in set(demo.SECTIONS) - {"roles"}:
            for _ in importlib.import_module(f"sapwood.experiments.demo.{name}").run(garden):
                sections += 1
        with open("x.mrg", "w") as stream:
            stream.writelines(f"{tree}\\n" for tree in garden.trees[:5])
        main(["kernel", "x.mrg", "--kernel", "SubsetTree()"]), main(["show", "x.mrg"]), main(["data"])
        print(file=sys.stderr)
        print("reached", reached, sections > 5)
        """,
        timeout=180,
        SAPWOOD_DATA="",
        NLTK_DATA="",
    )
    assert done.stdout.endswith("reached [] True\n"), done.stdout[-500:] + done.stderr[-1500:]
