"""The experiment on the nursery in the clothes of a corpus: every table is made, and says what it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from sapwood import corpora
from sapwood.corpora import nursery
from sapwood.errors import DataError
from sapwood.experiments import EXPERIMENTS, Setting, run
from sapwood.experiments.roles import cost, data, features, fragments, kernels


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    sentences = nursery.generate(size=240).role_sentences()
    (tmp_path / "ewt-propbank").mkdir()
    for part, chosen in {"train": sentences[:140], "dev": sentences[140:180], "test": sentences[180:]}.items():
        corpora.propbank_columns.write(chosen, tmp_path / "ewt-propbank" / f"{part}.conll.gz")
    for module, name, value in (
        (kernels, "TRAIN", 150),
        (kernels, "TEST", 100),
        (kernels, "CURVE", (60, 120)),
        (features, "TUNED", 120),
        (features, "GAMMAS", (0.1, 0.3)),
        (features, "LINEAR", 150),
        (cost, "SIZES", (60, 120, 240)),
        (fragments, "TRAIN", 240),
        (fragments, "TEST", 120),
        (fragments, "COUNTS", (10, 100)),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    monkeypatch.setattr("sapwood.corpora.catalog.nltk_search_path", list)
    data.read_parts.cache_clear()
    return Setting(data=tmp_path, cache=tmp_path / "cache")


def test_every_table_is_made(setting: Setting) -> None:
    tables = {table.name: table for table in run("roles", setting)}
    assert list(tables) == [
        *("coverage ewt-propbank", "kernels ewt-propbank", "roles ewt-propbank", "curve ewt-propbank"),
        *("end-to-end ewt-propbank", "end-to-end roles ewt-propbank", "parsed", "fragments", "fragments chosen"),
        *("features", "all-data", "linear", "cost"),
    ]
    kernels = {row[0]: row for row in tables["kernels ewt-propbank"].rows}
    assert set(kernels) >= {"truncated", "plain", "nodes", "substructures", "both", "flat", "composite", "paf"}
    assert all(row[1] > 60 for row in kernels.values())
    ends = {row[0]: row for row in tables["end-to-end ewt-propbank"].rows}
    assert ends["predicates given"][3] > 85
    assert 50 < ends["our own parses, predicates given"][3] < ends["predicates given"][3] + 5
    assert tables["fragments"].rows[0][0] == 10
    assert max(row[2] for row in tables["fragments"].rows if row[2]) > 60
    chosen = tables["fragments chosen"].rows
    assert chosen[0][0].startswith("(")
    assert all(0 < row[3] <= 100 for row in chosen)
    # There are no trees to train a span parser on.
    parsed = {row[0]: row for row in tables["parsed"].rows}
    assert list(parsed) == ["gold", "PCFGParser"]
    assert parsed["gold"][2:4] == pytest.approx((100, ends["predicates given"][3]))
    assert parsed["PCFGParser"][3] == pytest.approx(ends["our own parses, predicates given"][3])
    assert [row[0] for row in tables["curve ewt-propbank"].rows] == [60, 120]
    sets = [row[0].split(",")[0] for row in tables["all-data"].rows]
    assert sets[-6:] == [*["full"] * 3, *["basic"] * 3]
    assert sets[:-6] in ([], ["rich"] * 3)  # only where there is WordNet
    asked = [row[2] is not None for row in tables["all-data"].rows]
    assert asked.count(True) == 2 * len(asked) // 3
    assert any("to the power of" in note for note in tables["cost"].notes)
    assert [row[0] for row in tables["cost"].rows][:2] == [60, 120]
    assert tables["features"].rows[1][0].startswith("basic, composite")
    # What was tuned is kept and used: the same figures come out again.
    assert setting.cache is not None
    assert list(setting.cache.glob("roles-*.json"))
    again = next(t for t in run("roles", Setting(setting.data, cache=setting.cache, tables=("features",))))
    assert again.rows == tables["features"].rows


def test_without_corpora_it_says_so(setting: Setting, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="see sapwood data"):
        list(run("roles", Setting(data=tmp_path / "empty")))
    assert "kernels" in EXPERIMENTS["roles"].tables
