"""A short run over changed model files of every kind; ``make fuzz-files`` is the long one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

import sapwood as sw
import specimens
from fuzz import structure
from sapwood import registry

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def fuzzer() -> Iterator[structure.Fuzzer]:
    made = structure.Fuzzer()
    yield made
    made.close()


def test_changed_files_do_no_harm(fuzzer: structure.Fuzzer) -> None:
    report = fuzzer.run(int(os.environ.get("SAPWOOD_FUZZ_FILES", "600")), seed=7)
    assert not report.findings, "\n".join(f"{name}: {what}\n  after {change}" for name, change, what in report.findings)
    # A fuzzer whose files are all refused, or all accepted, looks at half of the code.
    assert report.counts["refused by load"] > 100
    assert report.counts["used"] > 100


def test_every_class_is_covered(fuzzer: structure.Fuzzer) -> None:
    assert {name.split(",")[0] for name in fuzzer.names} == set(registry.HOMES)


def test_changes_can_be_made_again(fuzzer: structure.Fuzzer) -> None:
    for number in range(0, 200, 13):
        name, changed, change = fuzzer.make(number, 5)
        again = fuzzer.make(number, 5)
        assert (again[0], again[2]) == (name, change)
        assert fuzzer.stored[name].bytes() == structure.Stored.named(name).bytes()
        assert list(again[1].arrays) == list(changed.arrays)


class TestFindings:
    """What the fuzzer must notice, put in on purpose."""

    @pytest.fixture
    def one(self) -> Iterator[structure.Fuzzer]:
        made = structure.Fuzzer(["TreeArray"])
        yield made
        made.close()

    def found(self, one: structure.Fuzzer, monkeypatch: pytest.MonkeyPatch, use: object) -> str:
        monkeypatch.setattr(specimens, "use", use)
        monkeypatch.setattr(one, "make", lambda number, seed: ("TreeArray", one.stored["TreeArray"], "nothing"))
        report = one.run(1, 0)
        assert len(report.findings) == 1
        return report.findings[0][2]

    def test_a_bare_exception(self, one: structure.Fuzzer, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.found(one, monkeypatch, lambda value: {}["x"]).startswith("use: KeyError: 'x'")

    def test_a_crash(self, one: structure.Fuzzer, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.found(one, monkeypatch, lambda value: os.abort()) == "use: ended the process with signal 6"

    def test_memory(self, one: structure.Fuzzer, monkeypatch: pytest.MonkeyPatch) -> None:
        assert "use: took" in self.found(one, monkeypatch, lambda value: np.ones(60_000_000).sum())

    def test_a_hang(self, one: structure.Fuzzer, monkeypatch: pytest.MonkeyPatch) -> None:
        def hang(value: object) -> None:
            while True:
                pass

        monkeypatch.setattr(structure, "SECONDS", 0.3)
        assert "took more than" in self.found(one, monkeypatch, hang)

    def test_an_error_without_the_name_of_the_file(
        self, one: structure.Fuzzer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def load(path: object) -> None:
            raise sw.errors.ModelFileError("something is wrong")

        monkeypatch.setattr(sw, "load", load)
        assert "does not name the file" in self.found(one, monkeypatch, repr)
