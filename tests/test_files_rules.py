"""The rules of model files: which versions are read, what is checked before memory is taken, and that nothing runs."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

import sapwood as sw
import specimens
from fuzz.structure import Stored
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


def signed(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """A document with the digest of itself and of the arrays of a file."""
    document = {key: value for key, value in document.items() if key != "sha256"}
    return {**document, "sha256": files._digest(document, load_file(path))}


def plain(value: Any) -> Any:
    """An answer as JSON has it."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    return value.tolist() if isinstance(value, np.ndarray) else value


def test_every_storable_class_has_a_specimen() -> None:
    assert {name.split(",")[0] for name in specimens.SPECIMENS} == set(registry.HOMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", specimens.SPECIMENS)
def test_every_kind_comes_back_and_works(name: str, tmp_path: Path) -> None:
    value = specimens.specimen(name)
    sw.save(value, tmp_path / "x.sap")
    again = sw.load(tmp_path / "x.sap")
    assert repr(specimens.use(again)) == repr(specimens.use(value))
    # The same model gives the same bytes, also after a trip through a file.
    sw.save(again, tmp_path / "y.sap")
    assert (tmp_path / "x.sap").read_bytes() == (tmp_path / "y.sap").read_bytes()


# Names of classes in files of format 1.4. A class may move or be renamed, but its name in files stays.
NAMES = [
    "AttachmentRanker",
    "BeneparParser",
    "BllipParser",
    "Checkpoint",
    "ConnectionPaths",
    "CoreNLPParser",
    "Examples",
    "FlatParser",
    "FragmentMap",
    "FrameIdentifier",
    "FrameLabeler",
    "FrameParser",
    "Grammar",
    "HashedFragmentMap",
    "Kernel",
    "KernelRanker",
    "KernelSVC",
    "KernelSVR",
    "LandmarkMap",
    "LogLinear",
    "PCFGParser",
    "PairClassifier",
    "PairFeatures",
    "ParseReranker",
    "QuestionClassifier",
    "RecursiveClassifier",
    "RecursiveRanker",
    "RecursiveRegressor",
    "RoleClassifier",
    "RoleLabeler",
    "ShardClassifier",
    "SpanParser",
    "StanzaParser",
    "SubtreeMap",
    "TreeArray",
    "TreeIndex",
    "VotedPerceptron",
    "WordSenses",
    "WordSimilarity",
]


class TestVersions:
    def test_names_in_files_stay(self) -> None:
        assert sorted(set(NAMES) - set(registry.HOMES)) == []

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
        document["minor"] = 2
        (tmp_path / "old.sap").write_bytes(whole(header, signed(document, tmp_path / "x.sap"), body))
        assert new.items() <= sw.load(tmp_path / "old.sap").get_params(deep=False).items()

    def test_a_newer_minor_version_is_read_and_what_it_adds_is_passed_over(self, tmp_path: Path) -> None:
        sw.save(specimens.specimen("KernelSVC"), tmp_path / "x.sap")
        header, document, body = parts((tmp_path / "x.sap").read_bytes())
        document.update(minor=files.FORMAT_MINOR + 7, licence="CC0")
        document["object"]["comment"] = {"of": ["a", "later", "time"]}
        (tmp_path / "new.sap").write_bytes(whole(header, signed(document, tmp_path / "x.sap"), body))
        assert type(sw.load(tmp_path / "new.sap")).__name__ == "KernelSVC"
        # If it cannot be read after all, the message says why that may be.
        del document["object"]["kernel"]
        (tmp_path / "new.sap").write_bytes(whole(header, signed(document, tmp_path / "x.sap"), body))
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
    @pytest.mark.slow
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

    def test_a_lost_digest_is_noticed(self, tmp_path: Path) -> None:
        """One bit of its name, and nothing would be compared."""
        path = tmp_path / "x.sap"
        sw.save(specimens.specimen("KernelSVC"), path)
        header, document, body = parts(path.read_bytes())
        del document["sha256"]
        path.write_bytes(whole(header, document, body))
        with pytest.raises(ModelFileError, match="its content is not what was saved"):
            sw.load(path)

    def test_the_digest_is_shown(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "x.sap"
        sw.save(specimens.specimen("KernelSVC"), path)
        assert main(["show", str(path)]) == 0
        shown = capsys.readouterr().out
        assert f"sha256: {hashlib.sha256(path.read_bytes()).hexdigest()}" in shown
        assert "format 1.4" in shown


def test_describe_reads_the_header_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = sw.TreeArray(list(specimens.TREES) * 2000)
    sw.save(trees, tmp_path / "x.sap")
    read: list[int] = []

    class Counted(io.FileIO):
        def read(self, size: int | None = -1) -> bytes:  # type: ignore[override]
            found = super().read(size)
            read.append(len(found))
            return found

    monkeypatch.setattr(files, "_opened", Counted)
    assert files.describe(tmp_path / "x.sap")["object"]["class"] == "TreeArray"
    header = int.from_bytes((tmp_path / "x.sap").read_bytes()[:8], "little")
    assert 0 < sum(read) <= 8 + header + 1 < (tmp_path / "x.sap").stat().st_size // 10


def test_other_programs_can_look_into_a_file(tmp_path: Path) -> None:
    sw.save(specimens.specimen("KernelSVC"), tmp_path / "x.sap")
    with safe_open(tmp_path / "x.sap", framework="numpy") as stream:
        document = json.loads(stream.metadata()["sapwood"])
        assert document["object"]["class"] == "KernelSVC"
        assert all(stream.get_tensor(name).dtype.kind in "iuf" for name in stream.keys())  # noqa: SIM118


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

    @pytest.mark.slow
    @pytest.mark.parametrize("inner", [False, True])
    def test_a_header_that_grows_in_memory_is_not_made(self, inner: bool, fresh: Run) -> None:
        """Empty lists take 25 times their bytes: here they would take 1.4 GB."""
        done = fresh(
            f"""
            import json, resource
            import sapwood as sw
            from sapwood.errors import ModelFileError
            from sapwood.files import is_model_file
            lists = "[" + "[]," * 20_000_000 + "[]]"
            document = '{{"format": 1, "object": ' + (lists if {inner} else "1") + "}}"
            header = '{{"__metadata__": {{"sapwood": ' + json.dumps(document) + '}}, "a0": '
            header += ("1" if {inner} else lists) + "}}"
            with open("x.sap", "w") as stream:
                stream.write(chr(0) * 8 + header)
            with open("x.sap", "r+b") as stream:
                stream.write(len(header).to_bytes(8, "little"))
            del lists, document, header
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            assert is_model_file("x.sap")
            # Had it been parsed, its lists would take more than a gigabyte.
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000
            try:
                sw.load("x.sap")
            except ModelFileError as error:
                print(error)
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
            """
        )
        message, grown = done.stdout.splitlines()
        assert "holds more than 5,000,000 values" in message, done.stderr
        assert int(grown) < 4 * 60_000 + 65_000

    def test_what_could_not_be_loaded_is_not_saved(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "_MOST_VALUES", 20)
        with pytest.raises(TooLargeError, match="at most 20 words"):
            sw.save(specimens.specimen("Examples"), tmp_path / "x.sap")
        assert not list(tmp_path.iterdir())

    def test_labels_are_no_wider_than_they_are_long(self, tmp_path: Path) -> None:
        """Text of one length in files may be a thousand times that in an array, whose elements are equally wide."""
        path = tmp_path / "x.sap"
        sw.save(specimens.specimen("KernelSVC"), path)
        header, document, body = parts(path.read_bytes())
        for labels, kind in ((["a", "b", "c"], "<U400000000"), (["x" * 4_000_000, "b", "c"], "U")):
            document["object"] |= {"classes": labels, "classes_kind": kind}
            path.write_bytes(whole(header, signed(document, path), body))
            if kind == "U":
                with pytest.raises(ModelFileError, match="labels are too long"):
                    sw.load(path)
            else:
                assert sw.load(path).classes_.dtype == np.dtype("<U1")

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


class TestHostileParts:
    """Files that are whole by their digest, and wrong."""

    def load(self, stored: Stored, path: Path) -> Any:
        path.write_bytes(stored.bytes())
        return sw.load(path)

    def test_ends_that_wrap_around(self, tmp_path: Path) -> None:
        """As signed numbers their differences are not negative; a copy by them writes past its end."""
        bags = Stored.of(sw.Examples(bag=[["(a b)"], ["(c d)"], ["(e f)"], ["(g h)"]])["bag"])
        name = bags.document["object"]["ends"]
        bags.arrays[name] = np.array([1, 2**63, 2**64 - 1, 4], np.uint64)
        with pytest.raises(ModelFileError, match="out of order"):
            self.load(bags, tmp_path / "x.sap")

    @pytest.mark.slow
    def test_fragments_that_double(self, tmp_path: Path, fresh: Run) -> None:
        """Node i is (b i-1 i-1): thirty nodes stand for a thousand million."""
        mapped = Stored.of(specimens.specimen("FragmentMap"))
        fragments = mapped.document["object"]["fragments"]
        count = 40
        fragments["labels"] = ["a", "b"]
        for key, values in {
            "node_labels": np.array([0] + [1] * count, np.uint32),
            "child_ends": np.arange(0, 2 * count + 1, 2, dtype=np.uint64),
            "children": np.repeat(np.arange(count, dtype=np.uint32), 2),
            "roots": np.array([count], np.uint32),
        }.items():
            mapped.arrays[fragments[key]] = values
        mapped.arrays[mapped.document["object"]["scores"]] = np.ones(1)
        (tmp_path / "x.sap").write_bytes(mapped.bytes())
        done = fresh(
            f"""
            import resource
            import sapwood as sw
            model = sw.load("x.sap")
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
            try:
                model.transform({specimens.TREES})
            except sw.errors.TooLargeError as error:
                print(error)
            """
        )
        assert "repeat subtrees over and over" in done.stdout, done.stderr

    def test_tables_that_are_empty_but_large(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        model = Stored.of(specimens.specimen("LogLinear"))
        model.document["object"]["params"]["bits"] = 30
        monkeypatch.setattr(registry, "available", lambda: 1 << 30)
        with pytest.raises(TooLargeError, match=r"x\.sap: its weights take 4\.3 GB, but only 1\.1 GB are free"):
            self.load(model, tmp_path / "x.sap")

    def test_many_columns_take_no_memory(self) -> None:
        from sapwood.kernels import HashedFragmentMap

        few, many = HashedFragmentMap(n_features=2**18), HashedFragmentMap(n_features=2**30)
        assert many.transform(specimens.TREES).shape == (4, 2**30)
        assert few.transform(specimens.TREES).nnz == many.transform(specimens.TREES).nnz

    @pytest.mark.parametrize(
        ("name", "place", "value"),
        [
            ("RoleLabeler", ("params", "min_seen"), "2"),
            ("RoleLabeler", ("params", "features"), "basic"),
            ("RoleLabeler", ("params", "threshold"), 10**30),
            ("RoleLabeler", ("params", "pruning"), "none"),
            ("ShardClassifier", ("map", "class"), "FlatParser"),
            ("RoleLabeler", ("identifier", "classes"), ["argument"]),
            ("RoleLabeler", ("classifier", "classes"), ["A0", "A0"]),
            ("RoleLabeler", ("lexicon", "counts", "give.01"), [1]),
            ("RoleLabeler", ("lexicon", "roles", "give.01"), ["A0", 1]),
            ("PCFGParser", ("models", 0, "lexicon", "parameters", "known"), -1.0),
            ("PCFGParser", ("models", 0, "lexicon", "parameters", "spelling"), "x"),
            ("AttachmentRanker", ("classes",), "nouns"),
            ("AttachmentRanker", ("params", "min_count"), "2"),
            ("FrameParser", ("labeler", "params", "null_offset"), {"class": "TreeArray"}),
            ("FrameIdentifier", ("params", "none_offset"), "0.5"),
            ("RoleClassifier", ("machine", "params", "multi_class"), "ovx"),
            ("RoleClassifier", ("params", "kernel"), "other"),
            ("ParseReranker", ("rules", "delete_labels"), [0.5]),
            ("KernelSVC", ("params", "tol"), True),
            ("KernelSVC", ("params", "C"), 10**400),
        ],
    )
    def test_fields_of_other_types(self, name: str, place: tuple[Any, ...], value: Any, tmp_path: Path) -> None:
        changed = Stored.of(specimens.specimen(name))
        holder = changed.document["object"]
        for key in place[:-1]:
            holder = holder[key]
        assert place[-1] in holder
        holder[place[-1]] = value
        with pytest.raises(ModelFileError, match=r"x\.sap: the file is damaged"):
            self.load(changed, tmp_path / "x.sap")

    def test_limits_beyond_what_the_core_can_count(self, tmp_path: Path) -> None:
        ranker = Stored.of(specimens.specimen("AttachmentRanker"))
        ranker.document["object"]["params"]["reduction"] = 2**64
        specimens.use(self.load(ranker, tmp_path / "x.sap"))
        grammar = Stored.of(specimens.specimen("Grammar"))
        grammar.document["object"] |= {"max_deletions": 2**70, "min_children": 2**70}
        again = self.load(grammar, tmp_path / "x.sap")
        assert again.statistics().types == specimens.specimen("Grammar").statistics().types


@pytest.mark.slow
def test_reading_runs_no_code(fresh: Run, tmp_path: Path) -> None:
    """Python reports whatever compiles, executes, unpickles, starts or connects; while files are read, nothing does."""
    for number, name in enumerate(specimens.SPECIMENS):
        sw.save(specimens.specimen(name), tmp_path / f"{number}.sap")
    names = ["os.system", "__import__('os')", "builtins.eval", "subprocess", "pickle", "KernelSVC.__init__", "Linear"]
    header, document, body = parts((tmp_path / "0.sap").read_bytes())
    for number, name in enumerate(names):
        changed = {**document, "object": {**document["object"], "class": name}}
        del changed["sha256"], changed["minor"]
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
