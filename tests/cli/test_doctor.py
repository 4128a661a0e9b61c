"""The doctor: finds what is there, says how to get the rest, and fails only where something needed is amiss."""

from __future__ import annotations

import json

import pytest

from sapwood.cli import main
from sapwood.cli.doctor import _numbers, _requirement
from sapwood.corpora.catalog import CATALOG


@pytest.fixture(autouse=True)
def _no_data_of_this_machine(monkeypatch):
    monkeypatch.setattr("sapwood.corpora.catalog.nltk_search_path", list)
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)


def findings(capsys, *arguments) -> dict[str, dict[str, str]]:
    main(["doctor", "--json", "-", *map(str, arguments)])
    return {one["name"]: one for one in json.loads(capsys.readouterr().out)}


def test_a_sound_installation_is_well(capsys):
    assert main(["doctor", "-v"]) == 0
    text = capsys.readouterr().out
    for name in ("version", "kernels", "decoding", "model files", "numpy", "scikit-learn", "nursery"):
        assert f"ok  {name}" in text
    assert "0 broken" in text
    # Paths of this machine may be longer; everything else must fit.
    assert [line for line in text.splitlines() if len(line) > 80 and "/" not in line] == []


def test_what_is_found_and_missing_fits_on_one_screen(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "--  " in "\n".join(lines)
    assert "doctor -v says" in lines[-1]


def test_every_corpus_is_looked_for_and_missing_ones_can_be_got(tmp_path, capsys):
    (tmp_path / "questionbank").mkdir()
    (tmp_path / "questionbank" / "4000qs.txt").write_text("(SBARQ (WP Why))\n")
    found = findings(capsys, "--data", tmp_path)
    for corpus in CATALOG:
        state = "ok" if corpus.name == "questionbank" else "missing"
        assert found[corpus.name]["state"] == state
        assert bool(found[corpus.name]["advice"]) == (state == "missing")


def test_a_missing_wordnet_is_no_fault(monkeypatch, capsys):
    monkeypatch.setattr("sapwood.words.wordnet_files._candidates", list)
    assert findings(capsys)["WordNet"]["state"] == "missing"
    assert main(["doctor", "-v"]) == 0
    assert "apt-get install wordnet-base" in capsys.readouterr().out


def test_a_core_that_computes_wrong_values_is_found(monkeypatch, capsys):
    monkeypatch.setattr("sapwood.kernels.SubsetTree.__call__", lambda self, *trees: 2.5)
    assert main(["doctor"]) == 1
    assert "NO  kernels: RuntimeError" in capsys.readouterr().out
    assert main(["doctor", "-v"]) == 1
    text = capsys.readouterr().out
    assert "NO  kernels" in text
    assert "a kernel value is 2.5; 3 is right" in text
    assert "1 broken" in text


def test_packages_that_are_missing_or_too_old(monkeypatch, capsys):
    wanted = [
        "numpy>=2.0",
        "scipy>=99.1",
        "nosuchthing>=1",
        'alsomissing>=2; extra == "some"',
        'pytest>=1; extra == "dev"',
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: wanted)
    found = findings(capsys)
    assert found["numpy"]["state"] == "ok"
    assert found["scipy"]["state"] == found["nosuchthing"]["state"] == "broken"
    assert "older than 99.1" in found["scipy"]["found"]
    assert found["alsomissing"]["state"] == "missing"
    assert found["alsomissing"]["advice"] == 'pip install "sapwood[some]"'
    assert "pytest" not in found
    assert main(["doctor"]) == 1


def test_a_folder_that_is_none_is_refused(tmp_path, capsys):
    assert main(["doctor", "--data", str(tmp_path / "nowhere")]) == 2
    assert "is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "numbers"), [("2.4.6", (2, 4, 6)), ("1.10rc1", (1, 10)), ("2.13.0+cpu", (2, 13, 0)), ("dev", ())]
)
def test_versions(text, numbers):
    assert _numbers(text) == numbers


def test_requirements():
    assert _requirement("numpy>=2.0 ") == ("numpy", "2.0")
    assert _requirement("tqdm (>=4.66)") == ("tqdm", "4.66")
    assert _requirement("plain") == ("plain", "0")
