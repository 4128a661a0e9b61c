"""Model files: what goes in comes out, and whatever is wrong is refused with a reason, never with a crash."""

from __future__ import annotations

import errno
import io
import json
import os
import random
import re
import stat
import threading
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
import strategies
from sapwood.errors import DataError, ModelFileError, OutputError, ParameterError, SapwoodError
from sapwood.files import FORMAT_VERSION, describe
from sapwood.kernels import Linear, PartialTree, Polynomial, SubsetTree, Subtree
from sapwood.writing import atomic_write, check_writable


def examples() -> sw.Examples:
    return sw.Examples(
        tree=["(a (b c))", "(a d)"],
        bag=[["(a b)", "(a b)"], []],
        dense=np.array([[1.0, np.nan], [3.0, 4.0]]),
        sparse=sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]])),
        words=[{"w": "dog", "n": 1.5, "none": None}, {"i": 3, "b": True}],
    )


OBJECTS: dict[str, Any] = {
    "trees": sw.TreeArray(["(a (b c) (b c))", "é", "(a b)"]),
    "bags": sw.TreeArray([["(a b)", "c"], [], ["(a b)"]]),
    "no trees": sw.TreeArray([]),
    "no bags": sw.TreeArray([["(a b)"]])[:0],
    "kernel": 0.5 * SubsetTree(np.float64(0.3)).normalized().on("tree") + Polynomial().on("flat") ** 2 + 1,
    "examples": examples(),
}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, sw.TreeArray):
        return isinstance(b, sw.TreeArray) and list(a) == list(b) and a.has_bags == b.has_bags
    if isinstance(a, sw.Examples):
        return isinstance(b, sw.Examples) and a.views == b.views and all(same(a[v], b[v]) for v in a.views)
    if sparse.issparse(a):
        return bool((a.toarray() == b.toarray()).all())
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype != object))
    return bool(a == b)


@pytest.mark.parametrize("name", OBJECTS)
def test_round_trip(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.sap"
    sw.save(OBJECTS[name], path)
    assert same(OBJECTS[name], sw.load(path))
    assert same(OBJECTS[name], sw.load(str(path)))
    assert os.listdir(tmp_path) == ["x.sap"]
    document = describe(path)
    assert document["format"] == FORMAT_VERSION
    assert document["written_by"].startswith("sapwood ")
    # The same object gives the same file.
    before = path.read_bytes()
    sw.save(OBJECTS[name], path)
    assert path.read_bytes() == before


@pytest.mark.slow
@given(
    st.lists(st.one_of(strategies.trees_over(strategies.labels), st.lists(strategies.trees(4), max_size=3)), max_size=5)
)
def test_any_trees(tmp_path_factory: pytest.TempPathFactory, elements: list[Any]) -> None:
    path = tmp_path_factory.mktemp("f") / "x.sap"
    X = sw.TreeArray(elements)
    sw.save(X, path)
    assert same(X, sw.load(path))


def test_loaded_trees_work(tmp_path: Path) -> None:
    X = sw.TreeArray(["(a (b c) (b c))", "(a b)"])
    sw.save(X[::-1], tmp_path / "x.sap")
    Y = sw.load(tmp_path / "x.sap")
    for kernel in (Subtree(), SubsetTree(), PartialTree()):
        np.testing.assert_array_equal(kernel(Y), kernel(X[::-1]))
        np.testing.assert_allclose(kernel(Y, X), kernel(X[::-1], X))
    assert list(sw.trees.concatenate([Y[[0]], X])) == [X[1], X[0], X[1]]


class TestRefusals:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "x.sap"
        sw.save(examples(), path)
        return path

    def rewrite(self, path: Path, change: Any) -> None:
        """Change the JSON document of a file and put it back."""
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        document = json.loads(header["__metadata__"]["sapwood"])
        document = change(document, header) or document
        if isinstance(document, dict):
            # Whoever changes a file on purpose can do without the digest.
            document.pop("sha256", None), document.pop("minor", None)
        header["__metadata__"]["sapwood"] = document if isinstance(document, str) else json.dumps(document)
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])

    @pytest.mark.parametrize("name", OBJECTS)
    def test_truncated(self, name: str, tmp_path: Path) -> None:
        path = tmp_path / "x.sap"
        sw.save(OBJECTS[name], path)
        data = path.read_bytes()
        lengths = {*range(0, 20), *range(0, len(data), max(1, len(data) // 60)), len(data) - 1}
        for length in lengths:
            path.write_bytes(data[:length])
            with pytest.raises(ModelFileError, match=r"truncated|not a Sapwood file"):
                sw.load(path)
        path.write_bytes(data + b"x")
        with pytest.raises(ModelFileError):
            sw.load(path)

    def test_missing_and_unreadable(self, tmp_path: Path) -> None:
        with pytest.raises(ModelFileError, match=r"nope\.sap: no such file"):
            sw.load(tmp_path / "nope.sap")
        with pytest.raises(ModelFileError, match="cannot be read"):
            sw.load(tmp_path)

    @pytest.mark.parametrize(
        "data",
        [b"", b"x", b"(a b)\n", b"\x80\x04K\x01.", b"PK\x03\x04" + b"\0" * 100, b"\0" * 100, b"{}" * 50, b"\xff" * 64],
    )
    def test_foreign(self, data: bytes, tmp_path: Path) -> None:
        path = tmp_path / "x.sap"
        path.write_bytes(data)
        with pytest.raises(ModelFileError, match=r"x\.sap: is not a Sapwood file"):
            sw.load(path)

    def test_other_safetensors_file(self, tmp_path: Path) -> None:
        from safetensors.numpy import save_file

        for metadata in (None, {"format": "pt"}):
            save_file({"w": np.zeros(3)}, tmp_path / "x.sap", metadata=metadata)
            with pytest.raises(ModelFileError, match="is not a Sapwood file"):
                sw.load(tmp_path / "x.sap")

    @pytest.mark.parametrize("version", [FORMAT_VERSION + 1, 10**9, "2", None, 1.5, [1]])
    def test_newer(self, path: Path, version: Any) -> None:
        self.rewrite(path, lambda document, _: document.update(format=version))
        with pytest.raises(ModelFileError, match=r"newer version .*Update Sapwood"):
            sw.load(path)

    @pytest.mark.parametrize("name", ["Nope", "os.system", None, 3, ["TreeArray"], "", "Tree"])
    def test_unknown_class(self, path: Path, name: Any) -> None:
        self.rewrite(path, lambda document, _: document["object"].update({"class": name}))
        with pytest.raises(ModelFileError, match="unknown class"):
            sw.load(path)

    @pytest.mark.parametrize(
        "text", ["", "3", "[]", '"x"', "null", "{}", '{"format": 1}', '{"format": 1, "object": 3}', "[" * 9999]
    )
    def test_broken_document(self, path: Path, text: str) -> None:
        self.rewrite(path, lambda *_: text or " ")
        with pytest.raises(ModelFileError, match=r"not a Sapwood file|damaged|unknown class"):
            sw.load(path)
        if text.startswith('{"'):
            assert describe(path)["format"] == 1

    # Any part of the document replaced by something else.
    @pytest.mark.slow
    @pytest.mark.parametrize("name", OBJECTS)
    def test_tampered_document(self, name: str, tmp_path: Path) -> None:
        path = tmp_path / "x.sap"
        sw.save(OBJECTS[name], path)
        whole = path.read_bytes()

        def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
            inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            return [at, *(p for key, part in inner for p in places(part, (*at, key)))]

        junk = [None, 3, -1, 2**70, 1.5, "", "a0", "zzz", [], ["x"], {}, {"x": 1}, True, [[1]], "Linear()"]
        document = json.loads(json.dumps(describe(path)["object"]))
        for place in places(document):
            for value in junk:
                path.write_bytes(whole)

                def change(document: Any, _: Any, place: Any = place, value: Any = value) -> None:
                    target, *keys = (document, "object", *place)
                    for key in keys[:-1]:
                        target = target[key]
                    target[keys[-1]] = value

                self.rewrite(path, change)
                try:
                    loaded = sw.load(path)
                except ModelFileError as error:
                    assert str(error).startswith(str(path))  # noqa: PT017
                else:
                    assert_usable(loaded)
            if place:
                path.write_bytes(whole)

                def remove(document: Any, _: Any, place: Any = place) -> None:
                    target, *keys = (document, "object", *place)
                    for key in keys[:-1]:
                        target = target[key]
                    del target[keys[-1]]

                self.rewrite(path, remove)
                try:
                    assert_usable(sw.load(path))
                except ModelFileError as error:
                    assert str(error).startswith(str(path))  # noqa: PT017

    @pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "F16", "BOOL", "F64", "NOPE", 3, None])
    def test_tampered_array_types(self, path: Path, dtype: Any) -> None:
        def change(_: Any, header: Any) -> None:
            for name, entry in header.items():
                if name != "__metadata__":
                    entry["dtype"] = dtype

        self.rewrite(path, change)
        with pytest.raises(ModelFileError, match="damaged"):
            sw.load(path)

    def test_tampered_arrays(self, path: Path) -> None:
        """Every array replaced by numbers that point anywhere."""
        from safetensors.numpy import load, save

        document = describe(path)
        del document["sha256"], document["minor"]
        metadata = {"sapwood": json.dumps(document)}
        arrays = load(path.read_bytes())
        generator = random.Random(0)
        refused = 0
        for name, values in arrays.items():
            for _ in range(12):
                changed = values.copy()
                if changed.size == 0 or generator.random() < 0.2:
                    changed = np.concatenate([changed, np.zeros((1, *changed.shape[1:]), changed.dtype)])
                elif generator.random() < 0.2:
                    changed = changed[:-1]
                else:
                    at = generator.randrange(changed.size)
                    changed.flat[at] = generator.choice([0, 1, 2, 5, 2**31 - 1, 7])
                path.write_bytes(save({**arrays, name: changed}, metadata=metadata))
                try:
                    loaded = sw.load(path)
                except ModelFileError:
                    refused += 1
                else:
                    assert_usable(loaded)
        assert refused > 20

    def test_nested_without_end(self, path: Path) -> None:
        def change(document: Any, _: Any) -> None:
            part: Any = document["object"]
            for _ in range(300):
                part = {"class": "Examples", "views": {"v": part}}
            document["object"] = part

        self.rewrite(path, change)
        with pytest.raises(ModelFileError):
            sw.load(path)

    @pytest.mark.slow
    def test_random_damage_never_crashes(self, tmp_path: Path, fresh: Any) -> None:
        for name, value in OBJECTS.items():
            sw.save(value, tmp_path / f"{name}.sap")
        done = fresh(
            """
            import random, sys, warnings
            from pathlib import Path
            import sapwood as sw
            from sapwood.kernels import Kernel, PartialTree, SubsetTree

            random.seed(3)
            tried = refused = 0
            for path in sorted(Path(".").glob("*.sap")):
                whole = path.read_bytes()
                for _ in range(250):
                    data = bytearray(whole)
                    for _ in range(random.choice([1, 1, 2, 8])):
                        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
                    Path("damaged").write_bytes(data)
                    tried += 1
                    try:
                        value = sw.load("damaged")
                        for X in [value] if not isinstance(value, sw.Examples) else [value[v] for v in value.views]:
                            if isinstance(X, sw.TreeArray):
                                list(X), SubsetTree()(X), PartialTree()(X)
                        repr(value)
                    except sw.SapwoodError:
                        refused += 1
            print(tried, refused)
            """,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        tried, refused = map(int, done.stdout.split())
        assert tried == 1500
        assert refused > 500


def assert_usable(value: Any) -> None:
    """A file that is accepted must give an object that works."""
    repr(value)
    if isinstance(value, sw.Examples):
        for view in value.views:
            assert_usable(value[view])
    if isinstance(value, sw.TreeArray):
        list(value)
        SubsetTree()(value)
        PartialTree()(value)


class TestSaving:
    @pytest.mark.parametrize("value", [3, "x", None, [1], np.zeros(3), sw.Tree("a"), object()])
    def test_unknown_objects(self, value: Any, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match=r"cannot be saved; sapwood\.save takes .*Examples, .*Kernel"):
            sw.save(value, tmp_path / "x.sap")
        assert not os.listdir(tmp_path)

    @pytest.mark.slow
    def test_what_could_not_be_read_back(self, tmp_path: Path) -> None:
        kernel: Any = Subtree()
        for _ in range(700):
            kernel = kernel + Subtree()
        with pytest.raises(ParameterError, match="the kernel cannot be saved"):
            sw.save(kernel, tmp_path / "x.sap")
        with pytest.raises(
            SapwoodError, match=r"view 'f', row 0: the feature 'a' is nan, which no model file can hold; "
        ):
            sw.save(sw.Examples(f=[{"a": float("nan")}]), tmp_path / "x.sap")
        with pytest.raises(
            SapwoodError, match="row 1: the feature 'b' is an integer too large for a float, "
        ) as caught:
            sw.save(sw.Examples(f=[{"a": 1}, {"a": 1, "b": 10**5000}]), tmp_path / "x.sap")
        assert len(str(caught.value)) < 250
        assert not os.listdir(tmp_path)

    @pytest.mark.parametrize(
        "features",
        [
            {"1=x": 5.0, "1": "x", 1: 3.0},
            {"1=x": "y", "1": "x", 1: 3.0, "1=x=y": 2.0},
            {"1": "x", 1: "x", "1=x": None},
            {"1": True, 1: None, "2": 4},
        ],
    )
    def test_features_whose_names_become_one_are_added(self, features: dict[Any, Any], tmp_path: Path) -> None:
        kernel = Linear().on("f")
        for order in permutations(features.items()):
            examples = sw.Examples(f=[dict(order)])
            sw.save(examples, tmp_path / "x.sap")
            assert kernel(sw.load(tmp_path / "x.sap")).tolist() == kernel(examples).tolist()

    def test_text_that_is_no_unicode_is_named(self, tmp_path: Path) -> None:
        X, y = sw.TreeArray(["(a b)", "(c d)"] * 2), np.array(["x\ud800", "y"] * 2)
        machine = sw.learn.KernelSVC(SubsetTree()).fit(X, y)
        values = [
            (machine, "x\ud800"),
            (sw.Examples(flat=[{"a\udfff": 1.0}]), "a\udfff"),
            (sw.Examples(flat=[{"a": "v\ud800"}]), "v\ud800"),
            (SubsetTree().on("v\ud800"), "v\ud800"),
        ]
        for value, text in values:
            message = re.escape(f"{text!r} holds half of a surrogate pair") + ".*; rename that class, feature or view"
            with pytest.raises(ParameterError, match=message):
                sw.save(value, tmp_path / "x.sap")
        assert not os.listdir(tmp_path)

    def test_a_failure_leaves_the_old_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "x.sap"
        sw.save(Subtree(0.1), path)

        def fail(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(KeyboardInterrupt):
            sw.save(Subtree(0.2), path)
        assert os.listdir(tmp_path) == ["x.sap"]
        assert sw.load(path) == Subtree(0.1)

    def test_links_stay(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        real, link, dangling = tmp_path / "folder" / "real.sap", tmp_path / "link.sap", tmp_path / "dangling.sap"
        real.write_bytes(b"old")
        link.symlink_to(Path("folder", "real.sap"))
        dangling.symlink_to(tmp_path / "folder" / "new.sap")
        for path in (link, dangling):
            sw.save(Subtree(0.3), path)
            assert path.is_symlink()
            assert sw.load(path) == Subtree(0.3)
        assert sw.load(real) == Subtree(0.3)
        assert sorted(os.listdir(tmp_path / "folder")) == ["new.sap", "real.sap"]

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
    def test_pipes_are_written_into(self, tmp_path: Path) -> None:
        pipe, copy = tmp_path / "pipe", tmp_path / "copy.sap"
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()))
        reader.start()
        sw.save(Subtree(0.3), pipe)
        reader.join()
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert sw.load(copy) == Subtree(0.3)

    @pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not name open files")
    def test_open_files_are_written_into(self, tmp_path: Path) -> None:
        with open(tmp_path / "x.sap", "wb") as stream:
            sw.save(Subtree(0.3), f"/proc/self/fd/{stream.fileno()}")
            sw.save(Subtree(0.3), f"/dev/fd/{stream.fileno()}")
            assert os.fstat(stream.fileno()).st_ino == (tmp_path / "x.sap").stat().st_ino
        assert sw.load(tmp_path / "x.sap") == Subtree(0.3)

    @pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no terminals of one's own")
    def test_devices_are_written_into(self) -> None:
        # A terminal that belongs to this test, so that nobody else misses it if it is lost.
        master, slave = os.openpty()
        try:
            path = os.ttyname(slave)
            sw.save(Subtree(0.3), path)
            assert stat.S_ISCHR(os.stat(path).st_mode)
            assert b"sapwood" in os.read(master, 1000)
        finally:
            os.close(master)
            os.close(slave)

    @pytest.mark.parametrize("path", [3, None, b"x.sap", sw.TreeArray(["(a b)"]), io.BytesIO()])
    def test_only_names_of_files(self, path: Any) -> None:
        message = "path must be the name of a file, as a str or a pathlib.Path, got "
        for act in (lambda: sw.save(Subtree(), path), lambda: sw.load(path), lambda: describe(path)):
            with pytest.raises(ParameterError, match=message):
                act()
        # The arguments the wrong way round.
        with pytest.raises(ParameterError, match=message):
            sw.save("x.sap", path)

    def test_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(SapwoodError, match=r"x\.sap: there is no folder .*nope.*; make it first"):
            sw.save(Subtree(), tmp_path / "nope" / "x.sap")


def test_pieces_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "x.txt"
    atomic_write(path, (piece for piece in (b"one ", b"two")))
    assert path.read_bytes() == b"one two"

    def broken():
        yield b"new"
        raise DataError("the second piece cannot be made; make another.")

    for place in (path, Path("/dev/stdout")):
        with pytest.raises(DataError, match="the second piece cannot be made; make another"):
            atomic_write(place, broken())
    assert path.read_bytes() == b"one two"
    assert [one.name for one in tmp_path.iterdir()] == ["x.txt"]


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    atomic_write(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.fixture
def protected(tmp_path, monkeypatch):
    """A file that may not be written to, not even by root, who may do anything."""
    path = tmp_path / "x.txt"
    path.write_bytes(b"old")
    path.chmod(0o400)
    ask = os.access
    monkeypatch.setattr(os, "access", lambda name, mode: str(name) != str(path) and ask(name, mode))
    return path


def test_a_file_that_may_not_be_written_to_stays(protected):
    message = r"x\.txt: the file is write-protected; make it writable \(chmod u\+w\) or choose another name\."
    with pytest.raises(OutputError, match=message):
        atomic_write(protected, b"new")
    assert protected.read_bytes() == b"old"
    assert [one.name for one in protected.parent.iterdir()] == ["x.txt"]


def test_what_cannot_be_written_is_known_before_the_work(protected):
    folder = protected.parent
    link = folder / "link.txt"
    link.symlink_to(protected)
    check_writable(folder / "new.txt")
    check_writable(os.devnull)
    for path, message in (
        (protected, "write-protected"),
        (link, "write-protected"),
        (folder, "it is a folder; name a file in it"),
        (folder / "no" / "x.txt", "there is no folder"),
        (protected / "x.txt", "there is no folder"),
        (folder / "a\0b", "cannot be written"),
    ):
        with pytest.raises(OutputError, match=message) as early:
            check_writable(path)
        with pytest.raises(OutputError) as late:
            atomic_write(path, b"new")
        assert str(early.value) == str(late.value)
    for act in (check_writable, lambda path: atomic_write(path, b"new")):
        with pytest.raises(ParameterError, match="the name of the file to write is empty"):
            act("")
    assert sorted(one.name for one in folder.iterdir()) == ["link.txt", "x.txt"]


def test_in_a_folder_that_may_not_be_written_to_the_file_is_not_blamed(protected, monkeypatch):
    monkeypatch.setattr(os, "access", lambda name, mode: False)
    with pytest.raises(OutputError, match=r"x\.txt: the folder .* may not be written to; choose another\."):
        atomic_write(protected, b"new")


def test_a_system_that_keeps_no_permissions_still_writes(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    path.write_bytes(b"old")

    def refuse(*_):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchmod", refuse)
    atomic_write(path, b"new")
    assert path.read_bytes() == b"new"
    monkeypatch.delattr(os, "fchmod")
    atomic_write(path, b"newer")
    assert path.read_bytes() == b"newer"


def test_names_as_long_as_a_file_system_allows(tmp_path):
    from sapwood.drafts import write_answers

    path = tmp_path / ("n" * 251 + ".sap")
    for _ in range(2):
        sw.save(sw.TreeArray(["(a b)"]), path)
    assert str(sw.load(path)[0]) == "(a b)"
    answers = tmp_path / ("é" * 125 + ".txt")

    def fail(words):
        yield next(words).upper()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_answers(answers, ["a", "b"], fail, run={"job": 1})
    done = write_answers(
        answers, ["a", "b"], lambda words: (word.upper() for word in words), run={"job": 1}, resume=True
    )
    assert (done, answers.read_text()) == (2, "AB")
    assert sorted(tmp_path.iterdir()) == sorted([path, answers])
