"""WordNet: known values, the ways it is found, and what it says when it is not."""

from __future__ import annotations

import gzip
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
from fuzz.structure import Stored
from paths import SHARED
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.words import Table, WordNet
from sapwood.words.taxonomy import pair_measure

COUNTS = SHARED / "data" / "wordnet" / "ic-brown.dat.gz"
WEIGHTS = ["full", "path", "wu-palmer", "lin", "resnik"]

# A WordNet of six synsets: entity > (animal > (dog, cat)), (place > the instance Paris).
SYNSETS = {
    "entity": "01 entity 0 000",
    "animal": "01 animal 0 001 @ {entity} n 0000",
    "dog": "02 dog 0 hound 0 001 @ {animal} n 0000",
    "cat": "01 cat 0 002 @ {animal} n 0000 + 00000001 v 0101",
    "place": "01 place 0 001 @ {entity} n 0000",
    "paris": "01 paris 0 001 @i {place} n 0000",
}
MEANINGS = {"animal": ["animal"], "cat": ["cat", "place"], "dog": ["dog"], "entity": ["entity"], "paris": ["paris"]}
COMMENT = "  1 This is a comment, as WordNet's licence is.\n"


def _offsets() -> dict[str, str]:
    """Synsets are named by the byte at which they begin, eight digits long."""
    offsets, at = {}, len(COMMENT)
    for name, text in SYNSETS.items():
        offsets[name] = f"{at:08d}"
        at += len(f"00000000 03 n {text.format(**dict.fromkeys(SYNSETS, '0' * 8))} | gloss\n")
    return offsets


AT = _offsets()
DATA = COMMENT + "".join(f"{AT[name]} 03 n {text.format(**AT)} | gloss\n" for name, text in SYNSETS.items())
INDEX = COMMENT + "".join(
    f"{word} n {len(meant)} 1 @ {len(meant)} 0 {' '.join(AT[name] for name in meant)}  \n"
    for word, meant in {**MEANINGS, "place": ["place"]}.items()
)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "dict"
    folder.mkdir()
    (folder / "data.noun").write_text(DATA)
    (folder / "index.noun").write_text(INDEX)
    (folder / "noun.exc").write_bytes(b"doggen dog\n")
    return folder


def real(**options: Any) -> WordNet:
    source = WordNet(**options)
    try:
        source("dog", "cat")
    except DataError as error:
        pytest.skip(str(error))
    return source


def test_senses_lemmas_and_instances(small: Path) -> None:
    full = WordNet(weights="full", normalized=False, path=str(small))
    assert full("dog", "cat") == 2.0
    assert full("dog", "dog") == 3.0
    assert full("Paris", "place") == 2.0
    for word in ("dogs", "Dogs", "doggen", "DOG"):
        assert full(word, "dog") == 3.0
    # Not listed, so unknown: only like itself.
    assert full("hounds", "dog") == 0.0
    assert full("hounds", "hounds") == 1.0
    assert WordNet(weights="full", inflected=False, path=str(small))("dogs", "dog") == 0.0


def test_all_senses_are_weighted_by_rank(small: Path) -> None:
    source = WordNet(weights="full", senses="all", path=str(small))
    cat, place = np.array([1, 1, 1, 0]) / np.sqrt(3), np.array([1, 0, 0, 1]) / np.sqrt(2)
    both = cat + place / 2
    assert source("cat", "place") == pytest.approx(float(both @ place) / float(np.linalg.norm(both)))
    assert WordNet(weights="full", path=str(small))("cat", "place") == pytest.approx(float(cat @ place))


def test_intrinsic_information_counts_synsets(small: Path) -> None:
    resnik = WordNet(weights="resnik", normalized=False, path=str(small))
    # animal has 3 of the 6 synsets under it.
    assert resnik("dog", "cat") == pytest.approx(np.log(2) ** 2)


def test_information_from_a_file(small: Path, tmp_path: Path) -> None:
    counts = {"entity": "100 ROOT", "animal": "25", "dog": "5", "cat": "20", "place": "75", "paris": "0"}
    text = "wnver::x\n" + "".join(f"{int(AT[name])}n {count}\n" for name, count in counts.items()) + "7v 3 ROOT\n"
    for name in ("ic.dat", "ic.dat.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        resnik = WordNet(weights="resnik", information=str(path), normalized=False, path=str(small))
        assert resnik("dog", "cat") == pytest.approx(np.log(4) ** 2)
        # Never seen: as rare as the rarest.
        assert resnik("paris", "paris") == pytest.approx(np.log(20) ** 2 + np.log(100 / 75) ** 2)
    (tmp_path / "ic.dat").write_text("hello\n")
    with pytest.raises(DataError, match=r"ic\.dat:1:1: .*expected something like"):
        WordNet(information=str(tmp_path / "ic.dat"), path=str(small))("dog", "cat")
    with pytest.raises(DataError, match=r"looked for .*nltk_data.*nltk.downloader wordnet_ic"):
        WordNet(information="ic-nowhere.dat", path=str(small))("dog", "cat")


def test_found_in_nltk_data_folders_and_archives(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpora = tmp_path / "nltk_data" / "corpora"
    corpora.mkdir(parents=True)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk_data"))
    monkeypatch.delitem(sys.modules, "nltk.data", raising=False)
    shutil.copytree(small, corpora / "wordnet")
    assert WordNet(weights="full", normalized=False)("dog", "cat") == 2.0
    shutil.rmtree(corpora / "wordnet")
    with zipfile.ZipFile(corpora / "wordnet.zip", "w") as archive:
        for file in small.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    assert WordNet(weights="full", normalized=False)("doggen", "cat") == 2.0


def test_says_where_it_looked_and_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        DataError, match=rf"looked for index.noun and data.noun in {tmp_path}.*apt-get.*nltk.downloader"
    ):
        WordNet(path=str(tmp_path))("dog", "cat")
    monkeypatch.setattr("sapwood.words.wordnet_files.os.path.isfile", lambda path: False)
    with pytest.raises(DataError, match=r"nltk_data.*/usr/share/wordnet.*Install"):
        WordNet()("dog", "cat")


def test_files_that_do_not_belong_together(small: Path) -> None:
    (small / "index.noun").write_text(INDEX.replace(f"dog n 1 1 @ 1 0 {AT['dog']}", "dog n 1 1 @ 1 0 00000137"))
    with pytest.raises(DataError, match="no synset at 137"):
        WordNet(weights="full", path=str(small))("dog", "cat")


def test_bad_parameters() -> None:
    for wrong in ({"weights": "jcn"}, {"senses": "some"}, {"inflected": 2}, {"normalized": "yes"}, {"information": 3}):
        with pytest.raises(ParameterError):
            WordNet(**wrong)  # type: ignore[arg-type]


def test_model_files_look_for_wordnet_in_the_usual_places(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = tmp_path / "nltk_data" / "corpora" / "wordnet"
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk_data"))
    monkeypatch.delitem(sys.modules, "nltk.data", raising=False)
    shutil.copytree(small, usual)
    source = WordNet(weights="path")
    # A file decides neither by what it was made with nor by what somebody writes into it which files are opened.
    sw.save(WordNet(weights="path", path=str(small)), tmp_path / "s.sap")
    assert sw.load(tmp_path / "s.sap") == source
    hostile = Stored.of(source)
    hostile.document["object"]["params"] |= {"path": str(tmp_path / "secret"), "information": str(tmp_path / "x.dat")}
    (tmp_path / "h.sap").write_bytes(hostile.bytes())
    again = sw.load(tmp_path / "h.sap")
    assert (again.path, again.information) == (None, "x.dat")
    (usual / "data.noun").write_text(DATA + f"{len(DATA):08d} 03 n 01 more 0 001 @ {AT['place']} n 0000 | m\n")
    with pytest.raises(ModelFileError, match="another version of WordNet"):
        sw.load(tmp_path / "s.sap")


@pytest.mark.slow
def test_published_similarities() -> None:
    """Values that NLTK 3.10 gives for WordNet 3.0 and the Brown counts."""
    if not COUNTS.exists():
        pytest.skip(f"the information content file is not on this machine ({COUNTS})")
    source = real(information=str(COUNTS))
    nouns = source._nouns()
    dog, cat = source._senses("dog")[0], source._senses("cat")[0]
    assert pair_measure(nouns, dog, cat, "lin") == pytest.approx(0.8768, abs=5e-5)
    assert pair_measure(nouns, dog, cat, "resnik") == pytest.approx(7.9117, abs=5e-5)
    assert pair_measure(nouns, dog, cat, "wu-palmer") == pytest.approx(0.8571, abs=5e-5)
    assert pair_measure(nouns, dog, cat, "path") == pytest.approx(0.2)


_NOUNS = """dog cat horse trout oak car bus bicycle road city town country nation government president company firm bank
bond share price market trade year month day week hour man woman child person friend doctor nurse teacher school book
novel letter word language music song film art water river sea mountain weather rain snow sun star idea thought plan
war peace law court judge crime prison money dollar pound gold silver iron house home room door window kitchen food
bread meat fruit apple orange Paris London heart hand eye head blood"""
NOUNS = list(_NOUNS.split())


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("senses", ["first", "all"])
def test_psd_on_real_nouns(weights: str, senses: str) -> None:
    source = real(weights=weights, senses=senses)
    values = source.matrix(NOUNS).toarray()
    assert np.linalg.eigvalsh(values)[0] > -1e-12
    np.testing.assert_allclose(np.diagonal(values), 1.0)
    assert source("dog", "cat") > source("dog", "idea")


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["lin", "resnik", "wu-palmer"])
def test_pairwise_measures_need_their_repair(measure: str) -> None:
    source = real()
    fixed = source.measured(NOUNS, measure=measure, repair="clip")
    values = fixed.matrix(NOUNS).toarray()
    assert np.linalg.eigvalsh(values)[0] > -1e-10
    raw = pair_measure(source._nouns(), source._senses("dog")[0], source._senses("horse")[0], measure)
    assert fixed("dog", "horse") == pytest.approx(raw, rel=0.15)


@pytest.mark.slow
def test_products_with_many_features_stay_small() -> None:
    source = real() * real(weights="path") * Table({("dog", "cat"): 0.5})
    assert source("dog", "cat") == pytest.approx(0.5 * real()("dog", "cat") * real(weights="path")("dog", "cat"))
    assert source.matrix(NOUNS).shape == (len(NOUNS), len(NOUNS))


def test_a_compound_that_is_not_listed_stands_for_its_head(tmp_path):
    try:
        words = WordNet(path=None)
        words("dog", "dog")
    except DataError:
        pytest.skip("WordNet is not on this machine")
    assert words("baseball_zebra", "zebra") == pytest.approx(1.0)
    assert words("prime_minister", "minister") < 1.0
    assert words("xyzzy_plugh", "plugh") == 0.0
