"""The rules of model files: which versions are read, what is checked before memory is taken, and that nothing runs."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
import specimens
from sapwood import files, registry
from sapwood.cli import main
from sapwood.errors import ModelFileError, TooLargeError

OLD = Path(__file__).parent / "files" / "format-1.0"


def parts(data: bytes) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """The header, the document in it, and the bytes of the arrays."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    return header, json.loads(header["__metadata__"]["sapwood"]), data[8 + length :]


def whole(header: dict[str, Any], document: dict[str, Any], body: bytes) -> bytes:
    header = {**header, "__metadata__": {"sapwood": json.dumps(document)}}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def plain(value: Any) -> Any:
    """An answer as JSON has it."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    return value.tolist() if isinstance(value, np.ndarray) else value


def test_every_storable_class_has_a_specimen() -> None:
    assert {name.split(",")[0] for name in specimens.SPECIMENS} == set(registry.HOMES)


@pytest.mark.parametrize("name", specimens.SPECIMENS)
def test_every_kind_comes_back_and_works(name: str, tmp_path: Path) -> None:
    value = specimens.specimen(name)
    sw.save(value, tmp_path / "x.sap")
    again = sw.load(tmp_path / "x.sap")
    assert repr(specimens.use(again)) == repr(specimens.use(value))
    # The same model gives the same bytes, also after a trip through a file.
    sw.save(again, tmp_path / "y.sap")
    assert (tmp_path / "x.sap").read_bytes() == (tmp_path / "y.sap").read_bytes()


class TestVersions:
    @pytest.mark.parametrize("path", sorted(OLD.glob("*.sap")), ids=lambda path: path.stem)
    def test_files_of_version_1_0_are_read(self, path: Path) -> None:
        """Kept from the first version of the format, which had neither a minor number nor a digest."""
        document = files.describe(path)
        assert document["format"] == 1
        assert "minor" not in document
        assert "sha256" not in document
        expected = json.loads((OLD / "answers.json").read_text())[path.stem]
        found = specimens.use(sw.load(path))
        if isinstance(expected, str):
            assert repr(found) == expected
        elif isinstance(found, np.ndarray) and found.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-12)
        else:
            assert plain(found) == expected

    def test_an_older_file_made_here_is_read(self, tmp_path: Path) -> None:
        sw.save(specimens.specimen("KernelSVC"), tmp_path / "x.sap")
        header, document, body = parts((tmp_path / "x.sap").read_bytes())
        assert (document["format"], document["minor"]) == (files.FORMAT_VERSION, files.FORMAT_MINOR)
        del document["minor"], document["sha256"]
        (tmp_path / "old.sap").write_bytes(whole(header, document, body))
        expected = specimens.use(specimens.specimen("KernelSVC"))
        np.testing.assert_array_equal(specimens.use(sw.load(tmp_path / "old.sap")), expected)

    @pytest.mark.parametrize(
        ("name", "old", "new"),
        [
            ("KernelSVC", {"memory": 2.5, "cache_size": 200.0}, {"memory_limit": 2500.0}),
            ("KernelSVC", {"memory": None, "cache_size": 200.0}, {"memory_limit": None}),
            ("KernelSVC", {"memory": None, "cache_size": 50.0}, {"memory_limit": 50.0}),
            ("KernelRanker", {"cache_size": 50.0}, {"memory_limit": 50.0}),
            ("LogLinear", {"l2": 0.5, "rate": 0.2, "batch": 4}, {"alpha": 0.5, "learning_rate": 0.2, "batch_size": 4}),
            ("PCFGParser", {"memory_limit": 5_000_000}, {"memory_limit": 5.0}),
        ],
    )
    def test_parameters_of_format_1_2_have_new_names_and_units(
        self, name: str, old: dict[str, Any], new: dict[str, Any], tmp_path: Path
    ) -> None:
        sw.save(specimens.specimen(name), tmp_path / "x.sap")
        header, document, body = parts((tmp_path / "x.sap").read_bytes())
        given = document["object"]["params"]
        document["object"]["params"] = {key: value for key, value in given.items() if key not in new} | old
        del document["sha256"]
        document["minor"] = 2
        (tmp_path / "old.sap").write_bytes(whole(header, document, body))
        assert new.items() <= sw.load(tmp_path / "old.sap").get_params(deep=False).items()

    def test_a_newer_minor_version_is_read_and_what_it_adds_is_passed_over(self, tmp_path: Path) -> None:
        sw.save(specimens.specimen("KernelSVC"), tmp_path / "x.sap")
        header, document, body = parts((tmp_path / "x.sap").read_bytes())
        document.update(minor=files.FORMAT_MINOR + 7, licence="CC0")
        document["object"]["comment"] = {"of": ["a", "later", "time"]}
        del document["sha256"]
        (tmp_path / "new.sap").write_bytes(whole(header, document, body))
        assert type(sw.load(tmp_path / "new.sap")).__name__ == "KernelSVC"
        # If it cannot be read after all, the message says why that may be.
        del document["object"]["kernel"]
        (tmp_path / "new.sap").write_bytes(whole(header, document, body))
        with pytest.raises(ModelFileError, match=r"cannot be rebuilt.*newer version .*updating Sapwood may help"):
            sw.load(tmp_path / "new.sap")

    @pytest.mark.parametrize("version", [files.FORMAT_VERSION + 1, 0, -1, True, "1", 1.0, None])
    def test_a_newer_major_version_is_refused(self, version: Any, tmp_path: Path) -> None:
        sw.save(specimens.specimen("TreeArray"), tmp_path / "x.sap")
        header, document, body = parts((tmp_path / "x.sap").read_bytes())
        (tmp_path / "new.sap").write_bytes(whole(header, {**document, "format": version}, body))
        for read in (sw.load, files.describe):
            with pytest.raises(ModelFileError, match=r"newer version .*reads formats up to 1\. Update Sapwood"):
                read(tmp_path / "new.sap")


class TestDamage:
    def test_every_changed_bit_is_noticed(self, tmp_path: Path) -> None:
        path = tmp_path / "x.sap"
        sw.save(specimens.specimen("WordSimilarity, vectors"), path)
        data = path.read_bytes()
        for at in range(len(data)):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            try:
                again = sw.load(path)
            except ModelFileError:
                continue
            # Spaces that fill up the header, and the case of what they stand between, mean nothing.
            assert repr(again) == repr(specimens.specimen("WordSimilarity, vectors")), at

    def test_the_digest_is_shown(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "x.sap"
        sw.save(specimens.specimen("KernelSVC"), path)
        assert main(["show", str(path)]) == 0
        shown = capsys.readouterr().out
        assert f"sha256: {hashlib.sha256(path.read_bytes()).hexdigest()}" in shown
        assert "format 1.3" in shown


Run = Callable[..., "subprocess.CompletedProcess[str]"]


class TestSizes:
    def test_a_file_that_promises_more_than_it_holds(self, tmp_path: Path) -> None:
        path = tmp_path / "x.sap"
        sw.save(specimens.specimen("TreeArray"), path)
        header, document, body = parts(path.read_bytes())
        for end in (2**20, 2**40, 2**62, 2**80, -1, "9", None):
            changed = {**header, "a0": {**header["a0"], "data_offsets": [0, end]}}
            path.write_bytes(whole(changed, document, body))
            with pytest.raises(ModelFileError, match=r"truncated|damaged"):
                sw.load(path)

    def test_a_header_without_end_is_not_read(self, fresh: Run) -> None:
        done = fresh(
            """
            import resource
            import sapwood as sw
            from sapwood.errors import ModelFileError
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
            with open("x.sap", "wb") as stream:
                stream.write((99_999_999_999).to_bytes(8, "little") + b"{")
                stream.truncate(1 << 40)
            for name in ("x.sap", "/dev/zero"):
                try:
                    sw.load(name)
                except ModelFileError as error:
                    print(error)
            """
        )
        assert done.stdout.count("is not a Sapwood file") == 2, done.stderr

    def test_a_file_larger_than_memory_is_refused_before_it_is_read(self, fresh: Run) -> None:
        """A terabyte that takes no room on disk, whose header promises exactly that."""
        done = fresh(
            """
            import json
            import sapwood as sw
            from sapwood.errors import TooLargeError
            entry = {"dtype": "F64", "shape": [1 << 37], "data_offsets": [0, 1 << 40]}
            document = {"format": 1, "object": {"class": "Checkpoint"}}
            text = json.dumps({"__metadata__": {"sapwood": json.dumps(document)}, "a0": entry}).encode()
            with open("x.sap", "wb") as stream:
                stream.write(len(text).to_bytes(8, "little") + text)
                stream.truncate(8 + len(text) + (1 << 40))
            try:
                sw.load("x.sap")
            except TooLargeError as error:
                print(error)
            """
        )
        assert "holds 1,099.5 GB of numbers" in done.stdout, done.stderr
        assert issubclass(TooLargeError, MemoryError)


def test_reading_runs_no_code(fresh: Run, tmp_path: Path) -> None:
    """Python reports whatever compiles, executes, unpickles, starts or connects; while files are read, nothing does."""
    for number, name in enumerate(specimens.SPECIMENS):
        sw.save(specimens.specimen(name), tmp_path / f"{number}.sap")
    names = ["os.system", "__import__('os')", "builtins.eval", "subprocess", "pickle", "KernelSVC.__init__", "Linear"]
    header, document, body = parts((tmp_path / "0.sap").read_bytes())
    for number, name in enumerate(names):
        changed = {**document, "object": {**document["object"], "class": name}}
        del changed["sha256"]
        (tmp_path / f"hostile-{number}.sap").write_bytes(whole(header, changed, body))
    done = fresh(
        """
        import sys
        from importlib import import_module
        from pathlib import Path
        import sapwood as sw
        from sapwood import files
        # What is needed is imported beforehand: importing is the one thing that runs code, and that code is Sapwood's.
        for path in sorted(Path(".").glob("*.sap")):
            try:
                sw.load(path)
            except sw.SapwoodError:
                pass
        seen = []
        bad = ("exec", "compile", "pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen",
               "socket.connect", "socket.getaddrinfo", "marshal.loads", "code.__new__", "ctypes.dlopen", "import")
        active = False
        def watch(event, arguments):
            if active and event in bad:
                seen.append((event, str(arguments)[:200]))
        sys.addaudithook(watch)
        loaded = refused = 0
        for path in sorted(Path(".").glob("*.sap")):
            active = True
            try:
                sw.load(path)
                loaded += 1
            except sw.SapwoodError:
                refused += 1
            finally:
                active = False
        print(loaded, refused, [event for event in seen if event[0] != "import" or "sapwood" not in event[1]][:5])
        """,
        timeout=120,
    )
    assert done.stdout.strip() == f"{len(specimens.SPECIMENS)} {len(names)} []", done.stdout + done.stderr
    assert os.path.exists(tmp_path / "hostile-0.sap")
